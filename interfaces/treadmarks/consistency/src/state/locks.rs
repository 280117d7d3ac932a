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
    /// No other node has had it after this node.
    pub(crate) here: bool,
    pub(crate) held: bool,
    /// The node that gets it next.
    pub(crate) next: Option<(usize, Asks)>,
    /// At the manager: who asked last.
    pub(crate) last: usize,
}

impl Lock {
    /// The work of the holder will be undone, so several nodes may have the lock.
    pub(crate) fn take_anyway(&mut self) {
        (self.here, self.held, self.next) = (true, true, None);
    }
}

/// A page's changes, each with the version of the view that it made.
#[derive(Default)]
pub(crate) struct Changes {
    /// A node with an older version gets the whole page.
    pub(crate) floor: u32,
    pub(crate) list: VecDeque<(u32, Diff)>,
}

/// A view, as one node sees it.
pub(crate) struct View {
    pub(crate) first: u32,
    pub(crate) count: u32,
    /// The program's present access to the view.
    pub(crate) access: Access,
    /// How often it was granted to this node and is not released: more than once only to read, to several tasks.
    pub(crate) grants: u32,
    /// The version of the copy here.
    pub(crate) version: u32,
    /// The earlier contents of pages that the program has written since it acquired the view.
    pub(crate) twins: FxHashMap<u32, Box<[u8]>>,
    // --- At the manager ---
    pub(crate) latest: u32,
    pub(crate) readers: usize,
    pub(crate) is_written: bool,
    /// The waiting nodes, with their version, and whether they want to write.
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

/// The habits that a node has noticed for its locks.
#[derive(Default)]
pub(crate) struct Wishes {
    /// By lock and page, counted in grants of the lock to this node.
    pub(crate) habits: BTreeMap<(u32, u32), Habit>,
    pub(crate) grants: FxHashMap<u32, u32>,
    /// The lock that was acquired last and is still held.
    pub(crate) held: Option<u32>,
    /// Up to date by a wish, and not touched since: with which lock it came.
    pub(crate) unused: BTreeMap<u32, u32>,
}
