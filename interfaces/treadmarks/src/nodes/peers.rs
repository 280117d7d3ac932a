//! The processes of a run: how to write to them, and which of them have ended.

use crate::errors::{Trouble, end};
use crate::limits::NODES;
use crate::nodes::letters::kind;
use parvum_partition::Partition;
use parvum_service::Post;
use parvum_sync::{BiasedGuard, BiasedLock};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// All processes of a run.
pub(crate) struct Peers {
    pub(crate) own: usize,
    pub(crate) partition: Partition,
    pub(crate) post: Arc<Post>,
    /// Under which id each process is written to.
    pub(crate) services: Vec<i32>,
    /// Calls that wait for answers, one at a time.
    calls: BiasedLock<()>,
    /// The processes that are known to have ended.
    dead: Box<[AtomicBool]>,
    /// All want to leave, so no end is a death.
    pub(crate) all_leave: AtomicBool,
}

impl Peers {
    pub(crate) fn new(partition: Partition, post: Post, services: Vec<i32>) -> Peers {
        Peers {
            own: partition.own(),
            dead: services.iter().map(|_| AtomicBool::new(false)).collect(),
            partition,
            post: Arc::new(post),
            services,
            calls: BiasedLock::new(()),
            all_leave: AtomicBool::new(false),
        }
    }

    /// The turn to wait for answers.
    pub(crate) fn program(&self) -> Result<BiasedGuard<'_, ()>, Trouble> {
        self.calls.take_unless_own().ok_or(Trouble::InHandler)
    }

    /// The next answer: from which node, and what.
    pub(crate) fn next_answer(&self) -> Result<(usize, Vec<u8>), Trouble> {
        let (service, letter) =
            self.post.await_answer(None).map_err(|_| Trouble::Machine("the machine is gone".into()))?;
        let from = self.services.iter().position(|&other| other == service);
        // An answer of a dead process is useless: this process may have repeated the question to another process.
        let letter = if from.is_some_and(|from| self.is_dead(from)) { vec![kind::WAKE] } else { letter };
        Ok((from.unwrap_or(NODES), letter))
    }

    /// Whether a process has ended before its time.
    pub(crate) fn is_dead(&self, node: usize) -> bool {
        // Acquire: partner of the release in `set_dead`.
        self.dead.get(node).is_some_and(|dead| dead.load(Ordering::Acquire))
    }

    /// A process has ended before its time.
    pub(crate) fn set_dead(&self, node: usize) {
        // Release: partner of the acquire in `is_dead`.
        self.dead[node].store(true, Ordering::Release);
    }

    pub(crate) fn living(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.services.len()).filter(|&node| !self.is_dead(node))
    }

    /// The process that keeps the list of blocks and the list of processes that want to leave.
    pub(crate) fn keeper(&self) -> usize {
        self.living().next().unwrap_or(self.own)
    }

    /// Wakes the program's thread that waits for an answer.
    pub(crate) fn wake(&self) {
        // To oneself a letter is always on its way.
        let _ = self.post.answer(self.services[self.own], vec![kind::WAKE]);
    }

    /// The program does not know what to do without them.
    pub(crate) fn death(&self) -> Trouble {
        let node = (0..self.services.len()).find(|&node| self.is_dead(node)).unwrap_or(self.own);
        Trouble::Dead { node, task: self.partition.task(node as i64).unwrap_or_default() }
    }

    /// Ends this process, because another has ended before all leave.
    pub(crate) fn has_ended(&self, node: usize) {
        // Acquire: partner of the releases in `desk::question`, `Run::look_who_leaves` and `Run::abandon`.
        if !self.all_leave.load(Ordering::Acquire) {
            let task = self.partition.task(node as i64).unwrap_or_default();
            end(&Trouble::Dead { node, task });
        }
    }
}
