//! Barriers: the state of the manager and of the other nodes.

use crate::message::{Interval, Message};
use crate::races::Report;
use crate::stamp::Stamp;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// A node that has arrived.
pub(crate) struct Arrival {
    pub(crate) barrier: u32,
    pub(crate) stamp: Stamp,
    pub(crate) intervals: Vec<Arc<Interval>>,
    pub(crate) full: bool,
    pub(crate) pushes: Vec<u32>,
    pub(crate) witnessed: Option<Box<Report>>,
}

/// The report of an arrived node, in addition to its intervals.
pub(crate) type BarrierReport = (u32, Stamp, bool, Vec<u32>, Option<Box<Report>>);

/// The manager's part.
#[derive(Default)]
pub(crate) struct BarrierState {
    pub(crate) come: Vec<Option<Arrival>>,
    /// How many have collected.
    pub(crate) collected: usize,
    /// The previous barrier announced the manager's own intervals up to this one.
    pub(crate) told: u32,
    pub(crate) movers: Movers,
    /// At anyone: what others say who have left the barrier and know of new homes.
    pub(crate) early: Vec<(usize, Message)>,
}

/// The manager's record of the writers of pages.
#[derive(Default)]
pub(crate) struct Movers {
    /// By page: the only writer at the last barriers with writes to the page, and the number of these barriers in a
    /// row.
    pub(crate) alone: FxHashMap<u32, (usize, u32)>,
    /// The present homes of pages whose home has moved.
    pub(crate) homes: FxHashMap<u32, usize>,
}

/// Pages whose home a node was.
pub(crate) type Gone = FxHashSet<u32>;
