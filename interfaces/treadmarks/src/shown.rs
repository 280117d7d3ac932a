//! The state for tools: the kind of sharing, the counts, the locks that this process holds, and the operation that it
//! waits for.
//!
//! All of it is in the task's control block. `parvum why` and `parvum info` therefore need no answer of a process that
//! hangs or holds a lock.

use crate::words;
use parvum_api::{ANY_TASK, CoreApi, Notes};
use parvum_consistency::Counts;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Places among the cells: `parvum_control::MEMORY_WAY` and `HELD`, from `MEMORY` on.
const WAY: usize = 18;
const HELD: usize = 19;
const LOCKS_HERE: usize = 12;
const LOCKS_FETCHED: usize = 13;
const BARRIERS: usize = 14;

/// Where it is shown.
#[derive(Clone, Copy)]
pub(crate) struct Shown {
    api: CoreApi,
    cells: &'static [AtomicU64; 24],
}

impl Shown {
    /// The state of a process. Tools see it while the process is a task.
    pub(crate) fn new(api: CoreApi) -> Shown {
        let cells = api.memory_cells();
        Shown { api, cells: cells.unwrap_or_else(|| Box::leak(Box::default())) }
    }

    /// Publishes the kind of sharing, by its number, and the first task of the run.
    pub(crate) fn says(&self, way: u64, first: i32) {
        // Relaxed, here and below: for people, who want a recent picture.
        self.cells[WAY].store(way | u64::from(first as u32) << 32, Ordering::Relaxed);
    }

    /// At which barrier this process is from now on; at none.
    fn at_barrier(&self, barrier: Option<u32>) {
        // The call refuses an invalid number before it waits.
        let at = barrier.map_or(0, |barrier| u64::from(barrier as u16).wrapping_add(1)) & 0xffff;
        let rest = self.cells[WAY].load(Ordering::Relaxed) & !0xff_ff00;
        self.cells[WAY].store(rest | at << 8, Ordering::Relaxed);
    }

    /// Relaxed everywhere in this file: what is shown is for people, and decides nothing.
    fn held(&self) -> &[AtomicU32] {
        let cells = &self.cells[HELD..];
        // SAFETY: the same memory as halves; they are used as atomics alone, by this process, and their readers see whole cells.
        unsafe { std::slice::from_raw_parts(cells.as_ptr().cast(), 2 * cells.len()) }
    }

    /// This process has a lock from now on. Two threads that take one at the same time may lose sight of one.
    #[inline]
    pub(crate) fn took(&self, lock: u32) {
        if let Some(free) = self.held().iter().find(|held| held.load(Ordering::Relaxed) == 0) {
            free.store(lock + 1, Ordering::Relaxed);
        }
    }

    /// It gives it back now.
    #[inline]
    pub(crate) fn gives(&self, lock: u32) {
        if let Some(held) = self.held().iter().find(|held| held.load(Ordering::Relaxed) == lock + 1) {
            held.store(0, Ordering::Relaxed);
        }
    }

    /// One more lock was taken that was here.
    #[inline]
    pub(crate) fn count_lock_here(&self) {
        count(&self.cells[LOCKS_HERE]);
    }

    /// One more was waited for.
    pub(crate) fn count_lock_fetched(&self) {
        count(&self.cells[LOCKS_FETCHED]);
    }

    pub(crate) fn count_barrier(&self) {
        count(&self.cells[BARRIERS]);
    }

    pub(crate) fn locks_here(&self) -> u64 {
        self.cells[LOCKS_HERE].load(Ordering::Relaxed)
    }

    pub(crate) fn locks_fetched(&self) -> u64 {
        self.cells[LOCKS_FETCHED].load(Ordering::Relaxed)
    }

    pub(crate) fn barriers(&self) -> u64 {
        self.cells[BARRIERS].load(Ordering::Relaxed)
    }

    /// The counts of the node of the protocol. Locks that were here have a separate count.
    pub(crate) fn counts(&self, counts: &Counts) {
        let numbers = numbers(counts);
        for (place, number) in numbers.into_iter().enumerate().filter(|(place, _)| *place != LOCKS_HERE) {
            self.cells[place].store(number, Ordering::Relaxed);
        }
    }

    /// The same, of a node of several tasks: locks and barriers each task counts for itself.
    pub(crate) fn counts_of_host(&self, counts: &Counts) {
        let numbers = numbers(counts).into_iter().enumerate();
        for (place, number) in numbers.filter(|(place, _)| !(LOCKS_HERE..=BARRIERS).contains(place)) {
            self.cells[place].store(number, Ordering::Relaxed);
        }
    }

    /// Does what may wait: for which lock, barrier or page, if for one.
    pub(crate) fn waiting<R>(&self, call: u32, which: Option<u32>, work: impl FnOnce() -> R) -> R {
        let tag = which.and_then(|which| i32::try_from(which).ok()).unwrap_or(-1);
        self.api.show_wait(Some(&Notes { limit: -1, call, peer: ANY_TASK, tag, context: -1 }));
        let result = work();
        self.api.show_wait(None);
        result
    }

    /// The same, for a barrier.
    pub(crate) fn meeting<R>(&self, barrier: u32, work: impl FnOnce() -> R) -> R {
        self.at_barrier(Some(barrier));
        let result = self.waiting(words::barrier(), Some(barrier), work);
        self.at_barrier(None);
        result
    }
}

/// In the order of `struct Tmk_stat`.
pub(crate) fn numbers(counts: &Counts) -> [u64; 18] {
    [
        counts.messages,
        counts.bytes,
        counts.write_faults,
        counts.misses,
        counts.twins,
        counts.diffs_made,
        counts.diff_bytes,
        counts.diffs_applied,
        counts.page_fetches,
        counts.requests,
        counts.intervals,
        counts.invalidations,
        counts.locks_here,
        counts.locks_fetched,
        counts.barriers,
        counts.collections,
        counts.held,
        counts.most_held,
    ]
}

/// One more. A thread that is interrupted in between may lose one: these are for people.
#[inline]
fn count(number: &AtomicU64) {
    number.store(number.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
}
