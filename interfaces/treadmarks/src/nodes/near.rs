//! All processes on one host: they map the same memory, and locks are words in it.
//!
//! A view's word counts its readers, or marks a writer. The view is in the same memory, so it needs nothing else.
//!
//! A lock's word is 0, or the number of its holder from 1 on. Its highest bit marks that a process may sleep until the
//! lock is free. The engine runs the barrier: each process first writes the id of the barrier into its own place, and
//! compares with the others afterwards.

use crate::errors::Trouble;
use crate::limits::{BARRIERS, LOCKS, NODES, VIEWS};
use crate::shown::Shown;
use crate::words;
use parvum_collectives::Failure;
use parvum_consistency::Counts;
use parvum_partition::Partition;
use parvum_sync::futex::{self, Among};
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};

/// Bytes of [`Control`] in the segment, in whole pages of any size.
pub(crate) const CONTROL: usize = size_of::<Control>().next_multiple_of(65536);

const WANTED: u32 = 1 << 31;
/// State of a view: a process has it for writing.
const WRITTEN: u32 = 1 << 30;
/// The number of times that a waiting process looks before it sleeps, if each process has a core.
const LOOKS: u32 = 200;

/// The part of the segment after the heap. Zeros are its beginning.
#[repr(C)]
pub(crate) struct Control {
    locks: [Lock; LOCKS as usize],
    /// At which barrier each is, its id from 1 on; the two rows by turns.
    at: [[AtomicU32; NODES]; 2],
    views: [Lock; VIEWS as usize],
}

#[repr(C, align(64))]
struct Lock(AtomicU32);

/// This process's part in it.
pub(crate) struct Near {
    control: &'static Control,
    own: u32,
    /// How many barriers there have been. Only one thread at a time uses it.
    turns: AtomicU64,
    looks: u32,
    /// How this process holds each view: 0 not, 1 to read, 2 to write. Its threads agree among themselves.
    holds: Box<[AtomicU8]>,
    shown: Shown,
}

impl Near {
    /// `control` is the address of a mapping of [`CONTROL`] bytes that stays as long as the process.
    pub(crate) fn new(control: usize, own: usize, nodes: usize, shown: Shown) -> Near {
        // SAFETY: the mapping is large enough, aligned to pages, and never unmapped; the structure is atomics alone.
        let control = unsafe { &*std::ptr::with_exposed_provenance::<Control>(control) };
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Near {
            control,
            own: own as u32 + 1,
            turns: AtomicU64::new(0),
            looks: if nodes <= cores { LOOKS } else { 0 },
            holds: (0..VIEWS).map(|_| AtomicU8::new(0)).collect(),
            shown,
        }
    }

    #[inline]
    pub(crate) fn acquire(&self, lock: u32) -> Result<(), Trouble> {
        let word = &self.control.locks.get(lock as usize).ok_or(Trouble::NoSuchLock(lock))?.0;
        // Acquire: partner of the release in `release`.
        match word.compare_exchange(0, self.own, Ordering::Acquire, Ordering::Relaxed) {
            Ok(_) => self.shown.count_lock_here(),
            Err(seen) => self.wait(lock, word, seen)?,
        }
        self.shown.took(lock);
        Ok(())
    }

    #[cold]
    fn wait(&self, lock: u32, word: &AtomicU32, seen: u32) -> Result<(), Trouble> {
        if seen & !WANTED == self.own {
            return Err(Trouble::HeldAlready(lock));
        }
        self.shown.count_lock_fetched();
        for _ in 0..self.looks {
            // Acquire: as above, and in what follows.
            if word.compare_exchange_weak(0, self.own, Ordering::Acquire, Ordering::Relaxed).is_ok() {
                return Ok(());
            }
            std::hint::spin_loop();
        }
        self.shown.waiting(words::lock(), Some(lock), || self.sleep_for(word));
        Ok(())
    }

    fn sleep_for(&self, word: &AtomicU32) {
        loop {
            // Relaxed: the exchange below decides, and acquires as in `acquire`.
            let seen = word.load(Ordering::Relaxed);
            // A process that has slept assumes that others sleep too, because it cannot know.
            if seen == 0 {
                let taken = self.own | WANTED;
                if word.compare_exchange(0, taken, Ordering::Acquire, Ordering::Relaxed).is_ok() {
                    return;
                }
                continue;
            }
            sleep_while(word, seen);
        }
    }

    #[inline]
    pub(crate) fn release(&self, lock: u32) -> Result<(), Trouble> {
        let word = &self.control.locks.get(lock as usize).ok_or(Trouble::NoSuchLock(lock))?.0;
        // Relaxed: only this process writes its own number.
        if word.load(Ordering::Relaxed) & !WANTED != self.own {
            return Err(Trouble::NotHeld(lock));
        }
        self.shown.gives(lock);
        // Release: partner of the acquires above.
        if word.swap(0, Ordering::Release) & WANTED != 0 {
            futex::wake(word, 1, Among::Processes);
        }
        Ok(())
    }

    /// One writes, or any number read.
    pub(crate) fn acquire_view(&self, view: u32, writes: bool) -> Result<(), Trouble> {
        let word = &self.control.views.get(view as usize).ok_or(Trouble::NoSuchView(view))?.0;
        let how = if writes { 2 } else { 1 };
        // Relaxed: of this process alone.
        let free = self.holds[view as usize].compare_exchange(0, how, Ordering::Relaxed, Ordering::Relaxed);
        free.map_err(|_| Trouble::ViewHeldAlready(view))?;
        let lock = LOCKS + view;
        if !enter(word, writes) {
            self.shown.waiting(words::lock(), Some(lock), || {
                while !enter(word, writes) {
                    // Relaxed: `enter` decides, and acquires.
                    let seen = word.load(Ordering::Relaxed);
                    if seen & !WANTED != 0 {
                        sleep_while(word, seen);
                    }
                }
            });
        }
        self.shown.took(lock);
        Ok(())
    }

    pub(crate) fn release_view(&self, view: u32, writes: bool) -> Result<(), Trouble> {
        let word = &self.control.views.get(view as usize).ok_or(Trouble::NoSuchView(view))?.0;
        let how = if writes { 2 } else { 1 };
        // Relaxed: as in `acquire_view`.
        let held = self.holds[view as usize].compare_exchange(how, 0, Ordering::Relaxed, Ordering::Relaxed);
        held.map_err(|_| Trouble::ViewNotHeld(view))?;
        self.shown.gives(LOCKS + view);
        let less = if writes { WRITTEN } else { 1 };
        // Release: partner of the acquire in `enter`, which sees through the relaxed exchanges too: they continue this release. The
        // process that leaves last wakes all that wait: one may write, or all read.
        let before = word.fetch_sub(less, Ordering::Release);
        if before - less == WANTED
            && word.compare_exchange(WANTED, 0, Ordering::Relaxed, Ordering::Relaxed).is_ok()
        {
            futex::wake(word, futex::ALL, Among::Processes);
        }
        Ok(())
    }

    pub(crate) fn barrier(&self, barrier: u32, partition: &Partition) -> Result<(), Trouble> {
        if barrier >= BARRIERS {
            return Err(Trouble::NoSuchBarrier(barrier));
        }
        // Relaxed: one thread of the process at a time is in a barrier.
        let turn = self.turns.fetch_add(1, Ordering::Relaxed);
        let row = &self.control.at[(turn % 2) as usize];
        // Release and acquire: partners of each other; the barrier in between orders them too, but by other means.
        row[partition.own()].store(barrier + 1, Ordering::Release);
        partition.calls_it(words::barrier());
        partition.is_about(barrier as i32);
        self.shown.meeting(barrier, || partition.barrier()).map_err(|failure| lost(failure, partition))?;
        partition.is_about(-1);
        self.shown.count_barrier();
        // Acquire: partner of the release above, of each node.
        let at = |node: usize| (node, row[node].load(Ordering::Acquire).wrapping_sub(1));
        match (1..partition.size()).map(at).find(|other| other.1 != at(0).1) {
            Some(other) => Err(Trouble::DifferentBarriers(at(0), other)),
            None => Ok(()),
        }
    }

    pub(crate) fn counts(&self) -> Counts {
        Counts {
            locks_here: self.shown.locks_here(),
            locks_fetched: self.shown.locks_fetched(),
            barriers: self.shown.barriers(),
            ..Counts::default()
        }
    }
}

/// The error of a collective that did not complete.
pub(crate) fn lost(failure: Failure, partition: &Partition) -> Trouble {
    match failure.gone() {
        Some(node) => Trouble::Dead { node, task: partition.task(node as i64).unwrap_or_default() },
        None => match partition.api().last_error() {
            // The engine has nothing to say of a task that has left.
            said if said.is_empty() => Trouble::Left,
            said => Trouble::Machine(said),
        },
    }
}

/// Marks a waiter, and sleeps while the word has this value; does not sleep if the word has changed.
fn sleep_while(word: &AtomicU32, seen: u32) {
    let wanted = seen | WANTED;
    // Relaxed: the mark carries no data.
    if seen == wanted || word.compare_exchange(seen, wanted, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
        let _ = futex::sleep(word, wanted, None, Among::Processes);
    }
}

/// Enters a view if it may be entered now.
fn enter(word: &AtomicU32, writes: bool) -> bool {
    let more = |seen: u32| match seen & !WANTED {
        0 if writes => Some(seen | WRITTEN),
        held if !writes && held & WRITTEN == 0 => Some(seen + 1),
        _ => None,
    };
    // Acquire: partner of the release in `release_view`.
    word.fetch_update(Ordering::Acquire, Ordering::Relaxed, more).is_ok()
}
