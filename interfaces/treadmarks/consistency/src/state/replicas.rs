//! Replicas: the state that one node keeps of them.

use crate::message::Message;
use crate::pages::diff::Diff;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// What a node has for replicas.
pub(crate) struct Replicas {
    /// How many barriers were whole.
    pub(crate) whole: u32,
    /// Who lived at the last of them: the pages of each are kept by the next.
    pub(crate) ring: Vec<usize>,
    /// Then: for each node who is the home of the pages whose home it was in the beginning.
    pub(crate) heirs: Vec<usize>,
    /// The same now.
    pub(crate) heirs_now: Vec<usize>,
    /// Own pages that were changed since, as they were then.
    pub(crate) base: BTreeMap<u32, Box<[u8]>>,
    /// When what was changed was sent, and the barrier is not whole yet: what of others, who know that it is, was changed since.
    pub(crate) next: BTreeMap<u32, Box<[u8]>>,
    /// Own pages that were ever changed, and are kept at the next node.
    pub(crate) ours: BTreeSet<u32>,
    /// Of these those that were another's at the last whole barrier.
    pub(crate) inherited: BTreeSet<u32>,
    /// Pages of the node before this one, as they were at the last whole barrier. One that is missing is all zeros.
    pub(crate) kept: FxHashMap<u32, Box<[u8]>>,
    /// Own pages that wait for changes which this node has heard of.
    pub(crate) late: BTreeSet<u32>,
    /// Who is known to have died.
    pub(crate) gone: Vec<bool>,
    /// From how many deaths this node has recovered.
    pub(crate) era: u32,
    pub(crate) stage: Stage,
    /// At the manager: who has told that all is kept.
    pub(crate) told: BTreeSet<usize>,
    /// Replaces the pages kept here, or changes them, when the barrier is whole.
    pub(crate) coming: Vec<(u32, Diff)>,
    pub(crate) fresh: bool,
    pub(crate) has_come: bool,
    /// What the program's side wants to be kept as well, of the last whole barrier, and of the one to be.
    pub(crate) carried: Option<Vec<u8>>,
    pub(crate) coming_carried: Option<Vec<u8>>,
    /// At the first survivor: how many whole barriers each knows of, and whether it is at one.
    pub(crate) regroups: BTreeMap<usize, (u32, bool)>,
    /// What has come from nodes that have recovered already, as this one has not.
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
    /// It waits for changes of its own pages.
    Late,
    /// It has sent them, and waits for those of the node before it.
    Sent,
    /// It has told the manager.
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

    /// What was under way to a whole barrier is of no use.
    pub(crate) fn drop_coming(&mut self) {
        self.stage = Stage::None;
        self.told.clear();
        self.coming.clear();
        (self.fresh, self.has_come, self.coming_carried) = (false, false, None);
    }
}

/// Who follows in a ring.
pub(crate) fn next_in(ring: &[usize], node: usize) -> usize {
    let at = ring.iter().position(|&other| other == node);
    at.map_or(node, |at| ring[(at + 1) % ring.len()])
}

pub(crate) fn before_in(ring: &[usize], node: usize) -> usize {
    let at = ring.iter().position(|&other| other == node);
    at.map_or(node, |at| ring[(at + ring.len() - 1) % ring.len()])
}
