//! The counters of a node.

/// Counts of one node since it began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Messages sent to other nodes.
    pub messages: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Faults of the program that were no misses: a first write to a page.
    pub write_faults: u64,
    /// Faults that needed data of another node.
    pub misses: u64,
    /// Twins made.
    pub twins: u64,
    /// Diffs made of the own writes.
    pub diffs_made: u64,
    /// Bytes of them.
    pub diff_bytes: u64,
    /// Diffs of others put into pages.
    pub diffs_applied: u64,
    /// Whole pages fetched.
    pub page_fetches: u64,
    /// Pages whose data came with another page, before the first access.
    pub further: u64,
    /// Requests for diffs or pages sent to other nodes.
    pub requests: u64,
    /// Own intervals.
    pub intervals: u64,
    /// Write notices received that made a page invalid.
    pub invalidations: u64,
    /// Locks taken without a message.
    pub locks_here: u64,
    /// Locks fetched from another node.
    pub locks_fetched: u64,
    /// Barriers passed.
    pub barriers: u64,
    /// Views acquired.
    pub views: u64,
    /// Letters with changes that no node had requested yet.
    pub pushes: u64,
    /// Pages brought up to date by such, here.
    pub pushed: u64,
    /// Pages whose home has moved to this node.
    pub homes_moved: u64,
    /// Letters sent with pages that the next node keeps.
    pub replicas: u64,
    /// Times that old records were thrown away.
    pub collections: u64,
    /// Bytes of twins, diffs and intervals held now.
    pub held: u64,
    /// The most that ever were.
    pub most_held: u64,
}
