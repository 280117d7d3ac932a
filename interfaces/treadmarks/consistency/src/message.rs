//! The messages between nodes.
//!
//! A *question* may come at any time; an *answer* comes to a node whose program waits for it, and only then. Questions
//! from one node to another keep their order.

use crate::pages::diff::Diff;
use crate::races::{Clock, Report};
use crate::stamp::Stamp;
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// One interval of a node: what it knew then, and which pages it changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Interval {
    pub(crate) owner: u32,
    pub(crate) number: u32,
    pub(crate) stamp: Stamp,
    /// Runs of pages: the first, and how many.
    pub(crate) pages: Vec<(u32, u32)>,
}

impl Interval {
    /// Roughly the memory of its record.
    pub(crate) fn bytes(&self) -> usize {
        48 + self.stamp.len() * 4 + self.pages.len() * 8
    }
}

/// Intervals of a node that one diff tells of: those from the first to the last that changed the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Span {
    pub(crate) node: u32,
    pub(crate) first: u32,
    pub(crate) last: u32,
}

/// A diff, and whose changes it has: of one node, or of several when it was folded out of several. A folded record
/// cannot be split again, even if all its changes are from one node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) spans: Vec<Span>,
    pub(crate) folded: bool,
    pub(crate) diff: Diff,
}

/// Changes of a page by a node: of the intervals after one number, up to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Wanted {
    pub(crate) node: u32,
    pub(crate) after: u32,
    pub(crate) upto: u32,
}

/// Pages whose copies have the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PrefetchHint {
    pub(crate) has: Stamp,
    pub(crate) pages: Vec<u32>,
}

/// All changes of a page from the state of the wish to this one, in an order in which they happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Fulfilled {
    pub(crate) page: u32,
    pub(crate) has: Stamp,
    pub(crate) records: Vec<Record>,
}

/// A page that is asked for together with another, before its first access: the state of the copy, and the changes that
/// it lacks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FurtherDiffs {
    pub(crate) page: u32,
    pub(crate) has: Stamp,
    pub(crate) wanted: Vec<Wanted>,
}

/// Changes of such a page.
pub(crate) type FurtherRecords = (u32, Vec<Record>);

/// A whole page that comes together with another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FurtherPage {
    pub(crate) page: u32,
    pub(crate) has: Stamp,
    pub(crate) data: Bytes,
}

/// Changes of a page, unasked, for a barrier.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Pushed {
    pub(crate) page: u32,
    /// The sender's own, all after this interval.
    pub(crate) after: u32,
    pub(crate) records: Vec<Record>,
}

/// The data of a request for a lock: the intervals that its sender knows, and the pages that it asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Asks {
    pub(crate) stamp: Stamp,
    pub(crate) wishes: Vec<PrefetchHint>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Message {
    // --- Questions ---
    /// To the manager of a lock.
    Acquire {
        lock: u32,
        asks: Asks,
    },
    /// From the manager to who asked before: give it to that node.
    Forward {
        lock: u32,
        to: u32,
        asks: Asks,
    },
    /// To the manager of barriers. `full`: there is little room for records.
    Arrive {
        barrier: u32,
        stamp: Stamp,
        intervals: Vec<Arc<Interval>>,
        full: bool,
        /// The nodes to which letters with changes are under way.
        pushes: Vec<u32>,
        /// When races are looked for: what was touched since the last.
        witnessed: Option<Box<Report>>,
    },
    /// To the same: what this node has changed is up to date here.
    Collected,
    /// To a node with a copy of a page. A request to a home names the changes that the page must contain, and the home
    /// waits for them. `further`: pages that are sent too, if they are here with their changes.
    PageWanted {
        page: u32,
        needs: Vec<Wanted>,
        further: Vec<(u32, Vec<Wanted>)>,
    },
    /// `alone`: only this node is asked. `passed`: how many barriers the asker has. `has`: what the page there
    /// contains. `further`: pages whose changes are sent too, if they are all here.
    DiffsWanted {
        page: u32,
        alone: bool,
        passed: u32,
        has: Stamp,
        wanted: Vec<Wanted>,
        further: Vec<FurtherDiffs>,
    },
    /// To a page's home: what an interval has changed.
    Flush {
        page: u32,
        interval: u32,
        diff: Diff,
    },
    /// To a node that asks for these pages each time: the changes up to the barrier with this number.
    Push {
        epoch: u32,
        pages: Vec<Pushed>,
    },
    /// To the sender of pushes: these pages were not used.
    Stop {
        pages: Vec<u32>,
    },
    /// To the manager of a view; which version of it is here.
    ViewWanted {
        view: u32,
        version: u32,
        writes: bool,
    },
    /// To the same: it is released, and these pages of it were changed.
    ViewDone {
        view: u32,
        writes: bool,
        diffs: Vec<(u32, Diff)>,
    },
    /// To the next node, in the second half of a barrier that will be the `whole`-th: the replica of the sender's
    /// pages. It adds to the kept replica, or replaces it if `fresh`. `last`: no more is to come.
    Replica {
        whole: u32,
        fresh: bool,
        last: bool,
        pages: Vec<(u32, Diff)>,
    },
    /// To the manager of barriers: what this node has to send and to keep for that is sent and here.
    Kept {
        whole: u32,
    },
    /// To a page's home, or to who keeps its pages: as it was at the last whole barrier.
    KeptWanted {
        page: u32,
    },
    /// To the first survivor: the known dead nodes, the number of whole barriers, and whether the sender is at a
    /// barrier.
    Regroup {
        dead: Vec<u32>,
        whole: u32,
        waits: bool,
    },
    // --- Answers ---
    /// All is kept.
    Whole {
        whole: u32,
    },
    KeptPage {
        page: u32,
        data: Bytes,
    },
    /// From the first survivor to a node that is still at a barrier that others have left: the barrier is over. The
    /// number of nodes that are known to be dead.
    Pass {
        dead: u32,
        whole: u32,
    },
    /// From there, when all are at a barrier: put back what was at the last whole one. Which pages have a home of their own.
    Restore {
        dead: Vec<u32>,
        whole: u32,
        regions: Vec<(u32, u32)>,
    },
    ViewGrant {
        view: u32,
        version: u32,
        diffs: Vec<(u32, Diff)>,
    },
    Grant {
        lock: u32,
        intervals: Vec<Arc<Interval>>,
        /// When races are looked for: what was known when the lock was released.
        clock: Option<Clock>,
        /// What was wished for.
        fulfilled: Vec<Fulfilled>,
    },
    Leave {
        intervals: Vec<Arc<Interval>>,
        collect: bool,
        /// The number of letters with changes that are on the way.
        pushes: u32,
        /// Runs of pages that move: the first page, the number of pages, and the node that is their home from now on.
        moves: Vec<(u32, u32, u32)>,
        /// Data of the library that is kept with the pages.
        carried: Option<Vec<u8>>,
    },
    /// All nodes have collected: older records are useless now.
    Clean,
    Page {
        page: u32,
        has: Stamp,
        data: Bytes,
        further: Vec<FurtherPage>,
    },
    /// `orderly`: all that was wanted, in an order in which it may be put into the page. Else single diffs, and what the node
    /// that was asked does not have.
    Diffs {
        page: u32,
        orderly: bool,
        records: Vec<Record>,
        missing: Vec<Wanted>,
        further: Vec<FurtherRecords>,
    },
}

impl Message {
    pub(crate) fn is_answer(&self) -> bool {
        use Message::{Clean, Diffs, Grant, KeptPage, Leave, Page, Pass, Restore, ViewGrant, Whole};
        matches!(self, ViewGrant { .. } | Grant { .. } | Leave { .. } | Clean | Page { .. } | Diffs { .. })
            || matches!(self, Whole { .. } | KeptPage { .. } | Pass { .. } | Restore { .. })
    }

    /// As it travels. With replicas it contains the number of deaths from which its sender has recovered.
    pub(crate) fn encode(&self, era: Option<u32>) -> Vec<u8> {
        match era {
            None => postcard::to_stdvec(self),
            Some(era) => postcard::to_stdvec(&(era, self)),
        }
        .expect("memory can be written to")
    }

    pub(crate) fn decode(bytes: &[u8], has_era: bool) -> Option<(u32, Message)> {
        let (era, bytes) = if has_era { postcard::take_from_bytes(bytes).ok()? } else { (0, bytes) };
        match postcard::take_from_bytes(bytes) {
            Ok((message, [])) => Some((era, message)),
            _ => None,
        }
    }
}
