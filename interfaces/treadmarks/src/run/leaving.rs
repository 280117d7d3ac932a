//! Leaving: processes leave together, and do not wait for dead processes.

use super::{Run, Sharing};
use crate::errors::Trouble;
use crate::nodes::letters::{kind, letter};
use crate::words;
use parvum_consistency::Fault;
use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};

/// Adds a process to a set of them.
pub(crate) fn insert(set: &Mutex<BTreeSet<usize>>, node: usize) {
    set.lock().unwrap_or_else(PoisonError::into_inner).insert(node);
}

impl Run {
    /// A process has ended before its time, and its memory is kept.
    pub(crate) fn died(&self, node: usize) {
        self.peers.set_dead(node);
        if let Sharing::Far(far) = &self.way {
            far.gone(&self.peers, node);
        }
        self.look_who_leaves();
    }

    /// All know that all leave.
    pub(crate) fn may_go(&self) {
        // Release: partner of the acquire in `leave`.
        self.leaving.go.store(true, Ordering::Release);
        self.peers.wake();
    }

    /// Ends this process's part: serves the other processes until all of them want to end.
    pub(crate) fn leave(&self) -> Result<(), Trouble> {
        // Relaxed: the second call, at the end of the process, is of the same thread.
        if self.leaving.left.swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        if self.tells {
            self.notify_counts();
        }
        let witnessed = match (&self.way, &self.races) {
            (Sharing::Far(far), Some(_)) => far.testify(&self.peers),
            _ => Vec::new(),
        };
        let _alone = self.peers.program()?;
        let mut told = None;
        self.shown.waiting(words::exit(), None, || {
            // Acquire: partner of the release in `may_go`.
            while !self.leaving.go.load(Ordering::Acquire) {
                let keeper = self.peers.keeper();
                if told.replace(keeper) == Some(keeper) {
                    self.peers.next_answer()?;
                } else if keeper == self.peers.own {
                    self.leaves(keeper, &witnessed)?;
                } else {
                    let _ =
                        self.peers.post.ask(self.peers.services[keeper], letter(kind::LEAVING, &witnessed));
                }
            }
            Ok::<(), Trouble>(())
        })?;
        if let (Sharing::Far(far), Some(races), 0) = (&self.way, &self.races, self.peers.own) {
            races.tell(&self.peers, far);
            races.sum_up(&self.peers, far);
        }
        Ok(())
    }

    /// This process ends, and with it the run: what it hears of others' ends from now on is its own doing.
    pub(crate) fn abandon(&self) {
        // Release: partner of the acquires in `desk::gone` and `Peers::has_ended`.
        self.peers.all_leave.store(true, Ordering::Release);
    }

    fn notify_counts(&self) {
        let counts = self.counts();
        eprintln!(
            "libTmk: node {}: {} messages, {} bytes, {} misses, {} requests, {} pages, {} fetched ahead, {} twins, {} diffs ({} bytes) made, {} applied, {} pushes, {} pages pushed, \
             {} intervals, {} + {} locks, {} views, {} barriers, {} replicas, {} collections, {} bytes of records at most",
            self.peers.own,
            counts.messages,
            counts.bytes,
            counts.misses,
            counts.requests,
            counts.page_fetches,
            counts.further,
            counts.twins,
            counts.diffs_made,
            counts.diff_bytes,
            counts.diffs_applied,
            counts.pushes,
            counts.pushed,
            counts.intervals,
            counts.locks_here,
            counts.locks_fetched,
            counts.views,
            counts.barriers,
            counts.replicas,
            counts.collections,
            counts.most_held,
        );
    }

    /// At who keeps the list: one more wants to leave; what it has touched last, when races are looked for.
    pub(crate) fn leaves(&self, from: usize, witnessed: &[u8]) -> Result<(), Fault> {
        if let (Sharing::Far(far), Some(_)) = (&self.way, &self.races) {
            far.hear(&self.peers, from, witnessed)?;
        }
        insert(&self.leaving.want, from);
        self.look_who_leaves();
        Ok(())
    }

    /// At the same: tells all when all that live want to leave, and lets them go when all know it.
    pub(crate) fn look_who_leaves(&self) {
        if self.peers.keeper() != self.peers.own {
            return;
        }
        let others = || self.peers.living().filter(|&node| node != self.peers.own);
        let all_are_in = |set: &Mutex<BTreeSet<usize>>, with_own: bool| {
            let set = set.lock().unwrap_or_else(PoisonError::into_inner);
            others().chain(with_own.then_some(self.peers.own)).all(|node| set.contains(&node))
        };
        if !all_are_in(&self.leaving.want, true) {
            return;
        }
        // Release: partner of the acquire in `desk::gone`.
        if !self.peers.all_leave.swap(true, Ordering::Release) {
            others().for_each(|node| self.tell(node, kind::OVER));
        }
        // Relaxed: it is asked for alone. A process that got the message may be gone already.
        if all_are_in(&self.leaving.known, false) && !self.leaving.told.swap(true, Ordering::Relaxed) {
            others().for_each(|node| self.tell(node, kind::GO));
            self.may_go();
        }
    }

    /// Sends a letter of one byte.
    pub(crate) fn tell(&self, to: usize, kind: u8) {
        // The machine reports a process that is gone.
        let _ = self.peers.post.ask(self.peers.services[to], letter(kind, &[]));
    }
}
