//! Several tasks that share the pages of one node, like the tasks of a host. Hosts exchange diffs, and tasks of one
//! host do not.
//!
//! The tasks map the same memory, so what one writes another sees, and between them no page moves. A lock goes from one
//! task to another without a message while no other node wants it. If another node wants the lock, it goes there first,
//! so that the tasks of one host do not keep others waiting. A barrier is the node's when all its tasks have come. The
//! node fetches pages one after the other, in the order of the accesses. During a fetch other tasks may wait for locks,
//! get them, and so learn of more changes.
//!
//! To [`Memory::protect`] a page is to do so for all tasks, and it returns when none of them is still writing. A task
//! whose fault is over touches the page again, and may find it closed once more. An interval has the writes of all
//! tasks. A node that learns of the interval may see more writes than necessary, but never fewer. A correct program
//! does not read words that others write without synchronisation.
//!
//! A task may take a lock that is here without the node, through the words behind [`Memory::is_free`]. This call then
//! also marks that another task waits, and [`Memory::taken`] returns the holder. Views are in [`views`].
//!
//! Such a node finds no races, because it does not see the accesses of each task. It has no replicas.

mod views;

use crate::Counts;
use crate::pages::memory::{Access, Memory};
use crate::setup::{Fault, Letter, Progress, Setup};
use crate::state::Node;
use rustc_hash::FxHashMap;
use std::collections::{BTreeSet, VecDeque};
use views::LocalView;

/// The operation that a task waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wait {
    Lock(u32),
    View(u32),
    Page(u32, Access),
    Barrier(u32),
}

/// A lock, among the tasks of a node.
#[derive(Default)]
struct Local {
    holder: Option<usize>,
    queue: VecDeque<usize>,
}

/// A node and its tasks, numbered from 0.
pub struct Tasks {
    node: Node,
    waits: Vec<Option<Wait>>,
    locks: FxHashMap<u32, Local>,
    /// The locks with waiting tasks.
    queued: BTreeSet<u32>,
    views: FxHashMap<u32, LocalView>,
    /// Likewise.
    views_queued: BTreeSet<u32>,
    /// The tasks with page faults, in order. The node is serving the first one.
    faults: VecDeque<usize>,
}

impl Tasks {
    /// The state of `own`, a node with this number of tasks.
    ///
    /// # Panics
    /// When the setup is invalid, or needs something that nodes with tasks do not have.
    pub fn new(setup: Setup, own: usize, tasks: usize) -> Tasks {
        assert!(tasks > 0 && !setup.races && !setup.replicas);
        Tasks {
            node: Node::new(setup, own),
            waits: vec![None; tasks],
            locks: FxHashMap::default(),
            queued: BTreeSet::new(),
            views: FxHashMap::default(),
            views_queued: BTreeSet::new(),
            faults: VecDeque::new(),
        }
    }

    /// See [`Node::untouched`].
    pub fn untouched(&self) -> Access {
        self.node.untouched()
    }

    /// See [`Node::give_home`].
    pub fn give_home(&mut self, first: u32, count: u32) -> Result<(), Fault> {
        self.node.give_home(first, count)
    }

    /// See [`Node::outbox`].
    pub fn outbox(&mut self) -> Vec<Letter> {
        self.node.outbox()
    }

    /// See [`Node::counts`].
    pub fn counts(&self) -> Counts {
        self.node.counts()
    }

    /// Whether a task's call is not over yet.
    pub fn is_waiting(&self, task: usize) -> bool {
        self.waits[task].is_some()
    }

    /// A task takes a lock.
    pub fn acquire(&mut self, task: usize, lock: u32, memory: &mut impl Memory) -> Result<Progress, Fault> {
        self.begin(task)?;
        if lock >= self.node.setup.locks {
            return Err(Fault::NoSuchLock(lock));
        }
        let local = self.locks.entry(lock).or_default();
        let is_first = local.holder.is_none() && local.queue.is_empty();
        if is_first && self.node.keeps(lock) && !memory.is_free(lock) {
            self.node.found_taken(lock);
            self.see_who_has_taken(memory);
        } else if is_first {
            self.node.ask_for_lock(lock, memory)?;
        }
        let local = self.locks.entry(lock).or_default();
        if local.holder == Some(task) {
            return Err(Fault::HeldAlready(lock));
        }
        local.queue.push_back(task);
        self.queued.insert(lock);
        self.waits[task] = Some(Wait::Lock(lock));
        self.go_on(memory)?;
        Ok(self.progress(task))
    }

    /// A task gives it back.
    pub fn release(&mut self, task: usize, lock: u32, memory: &mut impl Memory) -> Result<Progress, Fault> {
        self.begin(task)?;
        if lock >= self.node.setup.locks {
            return Err(Fault::NoSuchLock(lock));
        }
        let Some(local) = self.locks.get_mut(&lock).filter(|local| local.holder == Some(task)) else {
            return Err(Fault::NotHeld(lock));
        };
        local.holder = None;
        let is_wanted_here = !local.queue.is_empty();
        if !is_wanted_here || self.node.is_wanted_elsewhere(lock) {
            self.node.give_lock(lock, memory)?;
            if is_wanted_here {
                self.node.ask_for_lock(lock, memory)?;
            }
        }
        self.go_on(memory)?;
        Ok(Progress::Done)
    }

    /// Whether a lock is here and no task holds it or waits for it, of this node or another: one may take it by itself.
    pub fn keeps(&mut self, lock: u32) -> bool {
        let is_held = |local: &Local| local.holder.is_some() || !local.queue.is_empty();
        !self.locks.get(&lock).is_some_and(is_held) && self.node.keeps(lock)
    }

    /// A task that waits at a barrier, if one does, and at which.
    pub fn meets(&self) -> Option<(usize, u32)> {
        self.waits.iter().enumerate().find_map(|(task, wait)| match wait {
            Some(Wait::Barrier(barrier)) => Some((task, *barrier)),
            _ => None,
        })
    }

    /// A task comes to a barrier.
    pub fn barrier(
        &mut self,
        task: usize,
        barrier: u32,
        memory: &mut impl Memory,
    ) -> Result<Progress, Fault> {
        self.begin(task)?;
        if barrier >= self.node.setup.barriers {
            return Err(Fault::NoSuchBarrier(barrier));
        }
        if let Some((_, other)) = self.meets().filter(|(_, other)| *other != barrier) {
            let node = self.node.own;
            return Err(Fault::DifferentBarriers { nodes: (node, node), at: (other, barrier) });
        }
        self.waits[task] = Some(Wait::Barrier(barrier));
        if self.waits.iter().all(|wait| *wait == Some(Wait::Barrier(barrier))) {
            self.node.barrier(barrier, memory)?;
        }
        self.go_on(memory)?;
        Ok(self.progress(task))
    }

    /// A task has touched a page that is closed to it.
    pub fn fault(
        &mut self,
        task: usize,
        page: u32,
        access: Access,
        memory: &mut impl Memory,
    ) -> Result<Progress, Fault> {
        self.begin(task)?;
        if let Some(view) = self.node.view_of(page) {
            return self.fault_in_view(task, (view, page), access, memory);
        }
        self.waits[task] = Some(Wait::Page(page, access));
        self.faults.push_back(task);
        self.go_on(memory)?;
        Ok(self.progress(task))
    }

    /// See [`Node::overwrite`]; of a task.
    pub fn overwrite(
        &mut self,
        task: usize,
        (first, count): (u32, u32),
        memory: &mut impl Memory,
    ) -> Result<Progress, Fault> {
        self.begin(task)?;
        self.node.overwrite_by_one(first, count, memory)?;
        Ok(Progress::Done)
    }

    /// A message of another node has come. The waiting task then checks whether it still waits.
    pub fn receive(&mut self, from: usize, bytes: &[u8], memory: &mut impl Memory) -> Result<(), Fault> {
        self.node.receive(from, bytes, memory)?;
        self.see_who_has_taken(memory);
        self.go_on(memory)
    }

    /// Another node wants locks that tasks have taken without this node. This node marks them as held, as if it had
    /// given them.
    fn see_who_has_taken(&mut self, memory: &mut impl Memory) {
        for (lock, task) in memory.taken() {
            self.locks.entry(lock).or_default().holder = Some(task);
        }
    }

    fn begin(&self, task: usize) -> Result<(), Fault> {
        if self.waits[task].is_some() { Err(Fault::Busy) } else { Ok(()) }
    }

    fn progress(&self, task: usize) -> Progress {
        if self.is_waiting(task) { Progress::Wait } else { Progress::Done }
    }

    /// Lets tasks continue whose wait is over, and does the work that depended on them.
    fn go_on(&mut self, memory: &mut impl Memory) -> Result<(), Fault> {
        self.queued.retain(|&lock| {
            let local = self.locks.entry(lock).or_default();
            if local.holder.is_none()
                && self.node.has(lock)
                && let Some(task) = local.queue.pop_front()
            {
                local.holder = Some(task);
                self.waits[task] = None;
            }
            !local.queue.is_empty()
        });
        self.go_on_with_views(memory)?;
        if self.node.is_at_work() {
            return Ok(());
        }
        let come = |wait: &Option<Wait>| matches!(wait, Some(Wait::Barrier(_)));
        if self.waits.iter().all(come) {
            self.waits.fill(None);
        }
        while let Some(&task) = self.faults.front() {
            let Some(Wait::Page(page, access)) = self.waits[task] else {
                self.faults.pop_front();
                continue;
            };
            // Open by now, perhaps for the fault of another; or this is what opens it.
            self.node.fault_of_one(page, access, memory)?;
            if self.node.is_at_work() {
                return Ok(());
            }
            if access == Access::Write {
                self.node.write_ahead(page, memory);
            }
            self.waits[task] = None;
            self.faults.pop_front();
        }
        Ok(())
    }
}
