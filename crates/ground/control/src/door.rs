//! The door: how a task sleeps and how it is woken, without a wake-up ever being lost.
//!
//! Sleeper and ringer play Dekker's game, each with a fence between its own
//! store and its look at the other's:
//!
//! ```text
//! sleeper                          ringer
//!   rings -> r                       make the message visible
//!   state = asleep                   fence
//!   fence                            state -> awake?   nothing to do
//!   look for messages                state = awake, rings += 1, wake
//!   sleep while rings = r
//! ```
//!
//! Either the sleeper finds the message, or the ringer finds the sleeper. Checked
//! under loom, with the futex played by a loop on `rings`.
//!
//! A task that is awake for long takes the ringers' fences upon itself: before it plays, it makes one on all
//! [their processors](parvum_sync::global_fences), and from then on they make their own again.

use crate::inbox::Opened;
#[cfg(loom)]
use loom::sync::atomic::{AtomicU32, Ordering, fence};
use parvum_sync::global_fences;
#[cfg(not(loom))]
use std::sync::atomic::{AtomicU32, Ordering, fence};

/// How a task sleeps, or that it does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Asleep {
    /// It is awake, or about to be: a woken task counts as awake at once, for it wants a core.
    No = 0,
    /// On the futex `rings`.
    OnFutex = 1,
    /// In poll(2), with its eventfd among the descriptors.
    InPoll = 2,
}

/// A line of its own: peers read it while the task works elsewhere.
#[repr(C, align(64))]
pub struct Door {
    /// An [`Asleep`].
    pub(crate) state: AtomicU32,
    /// The futex word: counts the rings that found a sleeper.
    pub(crate) rings: AtomicU32,
    /// Counts the control messages that the daemon has sent to this task.
    pub(crate) control: AtomicU32,
    /// The CPU the last waker ran on: a hint for spinning.
    pub(crate) waker_cpu: AtomicU32,
    /// The CPU the task itself ran on when it last began to wait for long: a hint for its peers.
    pub(crate) own_cpu: AtomicU32,
    /// A number for the group in which the kernel schedules the task; 0 until it is known.
    pub(crate) scheduled_in: AtomicU32,
    /// Whether the task wants marks in its inbox.
    pub(crate) inbox: Opened,
    /// Not 0: the task makes the fence of those who ring, before it sleeps or opens its inbox.
    pub(crate) fences: AtomicU32,
}

impl Door {
    /// Declares that the task is about to sleep; gives the value of `rings` to sleep on.
    /// The task looks for work once more before it does.
    pub(crate) fn declare(&self, how: Asleep) -> u32 {
        self.end_fences();
        // Acquire: partner of the release in `knock`.
        let rings = self.rings.load(Ordering::Acquire);
        self.state.store(how as u32, Ordering::Relaxed);
        // Partner: the fence in `knock`.
        fence(Ordering::SeqCst);
        rings
    }

    /// Says that the task makes the fence of those who ring, who need none of their own then. It is to stay awake for long.
    pub(crate) fn fence_for_ringers(&self) {
        // Relaxed: who does not see it makes its own.
        self.fences.store(1, Ordering::Relaxed);
    }

    /// From now on those who ring make their own fences. Those who have rung without have their messages where the task sees them.
    pub(crate) fn end_fences(&self) {
        if self.fences.load(Ordering::Relaxed) != 0 {
            self.fences.store(0, Ordering::Relaxed);
            // Partner: the order of the program in `before_the_look`, which this makes the processor's.
            global_fences::heavy();
        }
    }

    /// The fence between a message and the look at this door, unless the task makes it.
    #[inline]
    pub(crate) fn before_the_look(&self) {
        global_fences::before_look(|| self.fences.load(Ordering::Relaxed) != 0);
    }

    /// Takes `declare` back, or notes that the sleep is over.
    pub(crate) fn stay_awake(&self) {
        // Relaxed: a ringer that still sees a sleeper rings once too often, no more.
        self.state.store(Asleep::No as u32, Ordering::Relaxed);
    }

    /// Finds out whether somebody sleeps behind the door, and how: the caller wakes it.
    /// To be called after the message is visible.
    #[inline]
    pub(crate) fn knock(&self, here: impl FnOnce() -> u32) -> Asleep {
        // Partner: the fence in `declare`, or before it.
        self.before_the_look();
        self.knock_behind_fence(here)
    }

    /// As [`Door::knock`], after the caller's own fence.
    #[inline]
    pub(crate) fn knock_behind_fence(&self, here: impl FnOnce() -> u32) -> Asleep {
        if self.is_awake() {
            return Asleep::No;
        }
        // One waker is enough.
        let how = match self.state.swap(Asleep::No as u32, Ordering::Relaxed) {
            1 => Asleep::OnFutex,
            2 => Asleep::InPoll,
            _ => return Asleep::No,
        };
        self.waker_cpu.store(here(), Ordering::Relaxed);
        // Release: partner of the acquire in `declare`.
        self.rings.fetch_add(1, Ordering::Release);
        how
    }

    /// Counts a ring of the task's own: nobody sleeps on, or begins to, on an older count.
    pub(crate) fn count_ring(&self) {
        // Release: partner of the acquire in `declare`.
        self.rings.fetch_add(1, Ordering::Release);
    }

    /// Whether the task is awake, as far as one can tell.
    #[inline]
    pub fn is_awake(&self) -> bool {
        self.state.load(Ordering::Relaxed) == Asleep::No as u32
    }

    /// How many control messages the daemon has sent to this task.
    #[inline]
    pub fn control_count(&self) -> u32 {
        // Acquire: partner of the count in `ControlBlock::announce_control`: what is counted can be read.
        self.control.load(Ordering::Acquire)
    }

    /// Where the task's last waker ran.
    pub fn waker_cpu(&self) -> u32 {
        self.waker_cpu.load(Ordering::Relaxed)
    }

    /// Where the task itself ran when it last began to wait for long.
    pub fn own_cpu(&self) -> u32 {
        self.own_cpu.load(Ordering::Relaxed)
    }

    /// With whom the task shares its scheduling group: those of the same number.
    pub fn scheduled_in(&self) -> u32 {
        self.scheduled_in.load(Ordering::Relaxed)
    }

    /// Says in which group the kernel schedules this task.
    pub fn set_scheduled_in(&self, group: u32) {
        self.scheduled_in.store(group, Ordering::Relaxed);
    }

    /// Says where this task runs.
    pub fn set_own_cpu(&self, cpu: u32) {
        // A store takes the line away from those who ring, and seldom says anything new.
        if self.own_cpu.load(Ordering::Relaxed) != cpu {
            self.own_cpu.store(cpu, Ordering::Relaxed);
        }
    }
}

#[cfg(all(test, loom))]
mod model {
    use super::*;
    use loom::sync::Arc;

    fn door() -> Door {
        let zero = || AtomicU32::new(0);
        Door {
            state: zero(),
            rings: zero(),
            control: zero(),
            waker_cpu: zero(),
            own_cpu: zero(),
            scheduled_in: zero(),
            inbox: Opened(zero()),
            fences: zero(),
        }
    }

    /// Whatever the interleaving, a task that sleeps is woken by each of its
    /// messages: loom reports a sleeper that loops for ever.
    fn nobody_sleeps_over_a_message(ringers: u32) {
        loom::model(move || {
            let shared = Arc::new((door(), AtomicU32::new(0)));
            let threads: Vec<_> = (0..ringers)
                .map(|_| {
                    let shared = shared.clone();
                    loom::thread::spawn(move || {
                        let (door, messages) = &*shared;
                        messages.fetch_add(1, Ordering::Release);
                        door.knock(|| 0);
                    })
                })
                .collect();
            let (door, messages) = &*shared;
            while messages.load(Ordering::Acquire) < ringers {
                let rings = door.declare(Asleep::OnFutex);
                if messages.load(Ordering::Acquire) < ringers {
                    while door.rings.load(Ordering::Acquire) == rings {
                        loom::thread::yield_now();
                    }
                }
                door.stay_awake();
            }
            threads.into_iter().for_each(|thread| thread.join().expect("a ringer ends"));
        });
    }

    #[test]
    fn door_wakes_sleeper_for_one_message() {
        nobody_sleeps_over_a_message(1);
    }

    #[test]
    fn door_wakes_sleeper_for_two_messages() {
        nobody_sleeps_over_a_message(2);
    }
}
