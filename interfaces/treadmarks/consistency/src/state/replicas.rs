//! Replicas: the state that one node keeps of them.

use crate::message::Message;
use crate::pages::diff::Diff;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// The state of a node for replicas.
pub(crate) struct Replicas {
    /// How many barriers were whole.
    pub(crate) whole: u32,
    /// The living nodes at the last whole barrier: each node keeps the pages of the node before it.
    pub(crate) ring: Vec<usize>,
    /// Then: for each node, the present home of the pages whose first home it was.
    pub(crate) heirs: Vec<usize>,
    /// The same now.
    pub(crate) heirs_now: Vec<usize>,
    /// Own pages that were changed since, as they were then.
    pub(crate) base: BTreeMap<u32, Box<[u8]>>,
    /// When what was changed was sent, and the barrier is not whole yet: what of others, who know that it is, was changed since.
    pub(crate) next: BTreeMap<u32, Box<[u8]>>,
    /// Own pages that were ever changed, and are kept at the next node.
    pub(crate) ours: BTreeSet<u32>,
    /// The pages among these that had another home at the last whole barrier.
    pub(crate) inherited: BTreeSet<u32>,
    /// Pages of the node before this one, as they were at the last whole barrier. A missing page is all zeros.
    pub(crate) kept: FxHashMap<u32, Box<[u8]>>,
    /// Own pages that wait for changes which this node has heard of.
    pub(crate) late: BTreeSet<u32>,
    /// The nodes that are known to be dead.
    pub(crate) gone: Vec<bool>,
    /// From how many deaths this node has recovered.
    pub(crate) era: u32,
    pub(crate) stage: Stage,
    /// At the manager: the nodes that have reported their replicas.
    pub(crate) told: BTreeSet<usize>,
    /// Replaces the pages kept here, or changes them, when the barrier is whole.
    pub(crate) coming: Vec<(u32, Diff)>,
    pub(crate) fresh: bool,
    pub(crate) has_come: bool,
    /// Data of the library to keep with the pages, of the last whole barrier and of the next.
    pub(crate) carried: Option<Vec<u8>>,
    pub(crate) coming_carried: Option<Vec<u8>>,
    /// At the first survivor: how many whole barriers each knows of, and whether it is at one.
    pub(crate) regroups: BTreeMap<usize, (u32, bool)>,
    /// Messages from nodes that have already recovered, before this node has.
    pub(crate) early: Vec<(usize, u32, Message)>,
    /// The barrier under way recovers from deaths.
    pub(crate) recovers: bool,
    /// The last one did.
    pub(crate) recovered: bool,
}

/// How far this node is with the second half of a barrier.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// It is in none.
    None,
    /// The node waits for changes of its own pages.
    Late,
    /// The node has sent its pages, and waits for the pages of the node before it.
    Sent,
    /// The node has told the manager.
    Told,
}

impl Replicas {
    pub(crate) fn new(nodes: usize) -> Replicas {
        Replicas {
            whole: 0,
            ring: (0..nodes).collect(),
            heirs: (0..nodes).collect(),
            heirs_now: (0..nodes).collect(),
            base: BTreeMap::new(),
            next: BTreeMap::new(),
            ours: BTreeSet::new(),
            inherited: BTreeSet::new(),
            kept: FxHashMap::default(),
            late: BTreeSet::new(),
            gone: vec![false; nodes],
            era: 0,
            stage: Stage::None,
            told: BTreeSet::new(),
            coming: Vec::new(),
            fresh: false,
            has_come: false,
            carried: None,
            coming_carried: None,
            regroups: BTreeMap::new(),
            early: Vec::new(),
            recovers: false,
            recovered: false,
        }
    }

    pub(crate) fn is_prepared(&self) -> bool {
        matches!(self.stage, Stage::Sent | Stage::Told)
    }

    /// Drops the data for a whole barrier that did not complete.
    pub(crate) fn drop_coming(&mut self) {
        self.stage = Stage::None;
        self.told.clear();
        self.coming.clear();
        (self.fresh, self.has_come, self.coming_carried) = (false, false, None);
    }
}

/// The next node in a ring.
pub(crate) fn next_in(ring: &[usize], node: usize) -> usize {
    let at = ring.iter().position(|&other| other == node);
    at.map_or(node, |at| ring[(at + 1) % ring.len()])
}

pub(crate) fn before_in(ring: &[usize], node: usize) -> usize {
    let at = ring.iter().position(|&other| other == node);
    at.map_or(node, |at| ring[(at + ring.len() - 1) % ring.len()])
}
