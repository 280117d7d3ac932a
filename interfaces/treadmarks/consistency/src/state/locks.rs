//! Locks and views: the state that one node keeps of them.

use crate::message::Asks;
use crate::pages::diff::Diff;
use crate::pages::memory::Access;
use crate::state::habits::Habit;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, VecDeque};

/// A lock, as one node sees it.
#[derive(Default)]
pub(crate) struct Lock {
    /// Nobody had it after this node.
    pub(crate) here: bool,
    pub(crate) held: bool,
    /// Who gets it next.
    pub(crate) next: Option<(usize, Asks)>,
    /// At the manager: who asked last.
    pub(crate) last: usize,
}

impl Lock {
    /// What its holder does with it will be undone, so others may have it as well.
    pub(crate) fn take_anyway(&mut self) {
        (self.here, self.held, self.next) = (true, true, None);
    }
}

/// A page's changes, each with the version of the view that it made.
#[derive(Default)]
pub(crate) struct Changes {
    /// Who has a version below this gets the whole page.
    pub(crate) floor: u32,
    pub(crate) list: VecDeque<(u32, Diff)>,
}

/// A view, as one node sees it.
pub(crate) struct View {
    pub(crate) first: u32,
    pub(crate) count: u32,
    /// What the program may do to it now.
    pub(crate) access: Access,
    /// How often it was granted to this node and is not released: more than once only to read, to several tasks.
    pub(crate) grants: u32,
    /// The version of the copy here.
    pub(crate) version: u32,
    /// What the pages were that the program has written to since it acquired the view.
    pub(crate) twins: FxHashMap<u32, Box<[u8]>>,
    // --- At the manager ---
    pub(crate) latest: u32,
    pub(crate) readers: usize,
    pub(crate) is_written: bool,
    /// Who waits: which node, with which version, to write or not.
    pub(crate) queue: VecDeque<(usize, u32, bool)>,
    pub(crate) changes: FxHashMap<u32, Changes>,
}

impl View {
    /// At the manager: a node has the latest copy by now, also if another task of it has asked for the view before that.
    pub(crate) fn is_current_at(&mut self, node: usize) {
        let latest = self.latest;
        self.queue.iter_mut().filter(|one| one.0 == node).for_each(|one| one.1 = latest);
    }
}

/// What a node has noticed of its locks.
#[derive(Default)]
pub(crate) struct Wishes {
    /// By lock and page, counted in grants of the lock to this node.
    pub(crate) habits: BTreeMap<(u32, u32), Habit>,
    pub(crate) grants: FxHashMap<u32, u32>,
    /// What was got last and not given back since.
    pub(crate) held: Option<u32>,
    /// Up to date by a wish, and not touched since: with which lock it came.
    pub(crate) unused: BTreeMap<u32, u32>,
}
