//! The ledger: what happened to the messages, counted where it happens.
//!
//! Counters about a peer exist for each peer and route ([`PairCounters`]). Other counters, and counters that go up and
//! down, exist once for the task. One thread writes the cells with plain stores. The cells may be in a page that other
//! processes read while the program runs or hangs.

use parvum_transport::Route;
use parvum_wire::Tid;
use std::sync::atomic::{AtomicU64, Ordering};

pub use parvum_wire::Counter;

/// The cells of one pair.
pub type PairCells = [AtomicU64; Counters::CELLS];
/// The cells of a message that no receive has taken.
pub type UnmatchedCells = [AtomicU64; 4];

/// The cells of a pair for its peer and route, the reason for the route, and the time of waits for the peer.
const WHO: usize = 24;
const WHY: usize = 25;
const WAITED: usize = 26;

/// A task's counters.
#[derive(Clone, Copy)]
pub struct Counters {
    cells: &'static [AtomicU64; Counters::CELLS],
    pairs: &'static [PairCells],
    unmatched: &'static [UnmatchedCells],
}

/// The counters of one peer over one route.
#[derive(Clone, Copy)]
pub struct PairCounters(&'static PairCells);

impl Counters {
    /// How many cells there are, named or not.
    pub const CELLS: usize = 32;

    /// A ledger in memory that other processes may read: the task's own counters, the counters of pairs, and the
    /// messages that no receive has taken. The last pair serves all pairs that find no other free.
    ///
    /// # Panics
    /// Without any pair.
    pub fn new(
        cells: &'static [AtomicU64; Counters::CELLS],
        pairs: &'static [PairCells],
        unmatched: &'static [UnmatchedCells],
    ) -> Counters {
        assert!(!pairs.is_empty(), "a ledger for all pairs at least");
        Counters { cells, pairs, unmatched }
    }

    /// A ledger that only this process reads. The memory is never given back.
    pub fn private() -> Counters {
        let zeros = || [const { AtomicU64::new(0) }; Counters::CELLS];
        let pairs = std::iter::repeat_with(zeros).take(8).collect::<Vec<_>>();
        Counters::new(Box::leak(Box::new(zeros())), pairs.leak(), &[])
    }

    /// Takes a pair's ledger into use: the `taken`-th.
    pub(crate) fn pair(&self, taken: usize, peer: Tid, route: Route) -> PairCounters {
        let last = self.pairs.len() - 1;
        let who =
            if taken < last { u64::from(peer.0 as u32) | u64::from(route.number()) << 32 } else { 1 << 63 };
        let cells = &self.pairs[taken.min(last)];
        // Relaxed: as in `add`.
        cells[WHO].store(who, Ordering::Relaxed);
        PairCounters(cells)
    }

    /// The ledger of what has none.
    pub(crate) fn others(&self) -> PairCounters {
        PairCounters(&self.pairs[self.pairs.len() - 1])
    }

    /// Adds to a counter of the task.
    #[inline]
    pub fn add(&self, counter: Counter, amount: u64) {
        add(&self.cells[counter as usize], amount);
    }

    /// Sets a counter that goes up and down.
    #[inline]
    pub(crate) fn set(&self, counter: Counter, value: u64) {
        // Relaxed: as in `add`.
        self.cells[counter as usize].store(value, Ordering::Relaxed);
    }

    /// A counter's present value, over all pairs.
    pub fn read(&self, counter: Counter) -> u64 {
        self.read_at(counter as usize)
    }

    /// The present value of the counter with that number, over all pairs.
    pub fn read_at(&self, place: usize) -> u64 {
        // Relaxed: as in `add`.
        let word = |cell: &AtomicU64| cell.load(Ordering::Relaxed);
        let pairs = self.pairs.iter();
        let in_pairs: u64 = if place < WHO { pairs.map(|pair| word(&pair[place])).sum() } else { 0 };
        word(&self.cells[place]) + in_pairs
    }

    /// How many messages were sent over a route, to peers that have a ledger of their own.
    pub fn sent_over(&self, route: Route) -> u64 {
        // Relaxed: as in `add`.
        let word = |cell: &AtomicU64| cell.load(Ordering::Relaxed);
        let is_over = |pair: &&PairCells| {
            let who = word(&pair[WHO]);
            who as u32 != 0 && (who >> 32) as u8 == route.number()
        };
        self.pairs.iter().filter(is_over).map(|pair| word(&pair[Counter::Sent as usize])).sum()
    }

    /// How many unmatched messages can be shown.
    pub(crate) fn windows(&self) -> usize {
        self.unmatched.len()
    }

    /// Shows a message that no receive has taken, or clears its place.
    pub(crate) fn show(&self, place: usize, words: [u64; 4]) {
        let cells = &self.unmatched[place];
        // Relaxed: as in `add`. The word that marks the entry as valid is among them; a reader at this moment may see a
        // mixed message.
        for (cell, word) in cells.iter().zip(words) {
            cell.store(word, Ordering::Relaxed);
        }
    }
}

impl PairCounters {
    /// Adds to a counter.
    #[inline]
    pub(crate) fn add(&self, counter: Counter, amount: u64) {
        add(&self.0[counter as usize], amount);
    }

    /// Writes down why each route is in use or not, one byte each.
    pub(crate) fn explain(&self, reasons: u64) {
        // Relaxed: as in `add`.
        self.0[WHY].store(reasons, Ordering::Relaxed);
    }

    /// The peer was waited for.
    pub(crate) fn waited(&self, nanoseconds: u64) {
        add(&self.0[WAITED], nanoseconds);
    }
}

#[inline]
fn add(cell: &AtomicU64, amount: u64) {
    // Relaxed, and no read-modify-write: one writer; readers want a recent value and no order.
    cell.store(cell.load(Ordering::Relaxed).wrapping_add(amount), Ordering::Relaxed);
}
