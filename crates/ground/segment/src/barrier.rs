//! The barrier of a group on one host, which asks no daemon.
//!
//! One word holds everything: how many members have come, how many are awaited, whether a member sleeps, how often the barrier has
//! opened, and whether it is closed. The last member opens the barrier by one exchange, and makes no system call if nobody sleeps. The
//! others look at the word; then they sleep on a futex beside it, one for all. The daemon closes a barrier when its group changes. A
//! member that waits then asks the daemon.

#[cfg(loom)]
use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering};
#[cfg(not(loom))]
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Bits of the word: who has come, whether one sleeps, who is awaited, closed, and the round above.
const CAME: u64 = 0x7fff;
const SLEEPS: u64 = 1 << 15;
const AWAITED_SHIFT: u32 = 16;
const AWAITED: u64 = 0x7fff;
const CLOSED: u64 = 1 << 31;
const ROUND_SHIFT: u32 = 32;

/// As many may meet at most.
pub const LARGEST_BARRIER: u32 = AWAITED as u32;

/// What coming to a barrier leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// This was the last, and it is open.
    Opened {
        /// Whether one of the others sleeps, or is about to, and must be woken.
        wake: bool,
    },
    /// Others are awaited: until [`SegmentBarrier::outcome`] of this round.
    Waits(u32),
    /// The barrier is closed: ask the daemon.
    Closed,
    /// Others wait for another number.
    Mismatch,
}

/// How a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All have come.
    Opened,
    /// The group changed meanwhile: ask the daemon.
    Closed,
}

/// In memory that all members share.
#[repr(C, align(64))]
pub struct SegmentBarrier {
    word: AtomicU64,
    /// The futex: changes after each opening and at the closing.
    pub(crate) changes: AtomicU32,
    /// How many members the group has, as long as the barrier is not closed.
    members: AtomicU32,
    /// The scheduling group of all who have come so far: 0 of nobody, `MIXED` of several.
    scheduled_in: AtomicU32,
}

/// Members are of several scheduling groups.
const MIXED: u32 = u32::MAX;

impl SegmentBarrier {
    /// Says how many members there are, before anybody has come.
    pub fn set_members(&self, members: u32) {
        self.members.store(members, Ordering::Relaxed);
    }

    /// How many members there are.
    pub fn members(&self) -> u32 {
        self.members.load(Ordering::Relaxed)
    }

    /// Says that a member is of this scheduling group, before it comes for the first time.
    pub fn schedule_in(&self, group: u32) {
        // Relaxed: a hint that stands alone.
        let others = self.scheduled_in.compare_exchange(0, group, Ordering::Relaxed, Ordering::Relaxed);
        if others.is_err_and(|others| others != group) {
            self.scheduled_in.store(MIXED, Ordering::Relaxed);
        }
    }

    /// Whether all members, as far as they have said so, are of this scheduling group.
    pub fn is_scheduled_in(&self, group: u32) -> bool {
        self.scheduled_in.load(Ordering::Relaxed) == group
    }

    /// Comes to the barrier of `count` members, or of all.
    pub fn arrive(&self, count: Option<u32>) -> Arrival {
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            if word & CLOSED != 0 {
                return Arrival::Closed;
            }
            let (came, round) = (word & CAME, (word >> ROUND_SHIFT) as u32);
            let awaited = match (came, count) {
                (0, _) => count.unwrap_or_else(|| self.members()),
                (_, Some(count)) if u64::from(count) != word >> AWAITED_SHIFT & AWAITED => {
                    return Arrival::Mismatch;
                }
                _ => (word >> AWAITED_SHIFT & AWAITED) as u32,
            };
            if awaited == 0 || awaited > LARGEST_BARRIER {
                return Arrival::Mismatch;
            }
            let opens = came + 1 >= u64::from(awaited);
            let next = if opens {
                u64::from(round.wrapping_add(1)) << ROUND_SHIFT
            } else {
                u64::from(round) << ROUND_SHIFT
                    | u64::from(awaited) << AWAITED_SHIFT
                    | word & SLEEPS
                    | (came + 1)
            };
            // Release, and acquire: what members did before the barrier is seen by all after it.
            // Partners: each other's exchanges, that in `fall_asleep`, and the load in `outcome`.
            match self.word.compare_exchange_weak(word, next, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) if opens => {
                    self.count_change();
                    return Arrival::Opened { wake: word & SLEEPS != 0 };
                }
                Ok(_) => return Arrival::Waits(round),
                Err(now) => word = now,
            }
        }
    }

    /// How the wait of that round ended; nothing while it lasts.
    pub fn outcome(&self, round: u32) -> Option<Outcome> {
        // Acquire: partner of the exchange in `arrive` that opened it.
        let word = self.word.load(Ordering::Acquire);
        if (word >> ROUND_SHIFT) as u32 != round {
            Some(Outcome::Opened)
        } else if word & CLOSED != 0 {
            Some(Outcome::Closed)
        } else {
            None
        }
    }

    /// Declares that a member is about to sleep, and gives what the futex is at: the member looks at
    /// `outcome` once more, and sleeps while the futex is at that.
    ///
    /// An opening either comes later in the word's history and sees the mark, or came before, and
    /// then that look finds it. A mark that is left for the next round wakes once too often, no more.
    pub fn fall_asleep(&self) -> u32 {
        // Acquire: partner of `tell`.
        let changes = self.changes.load(Ordering::Acquire);
        // AcqRel: partner of the exchange in `arrive`. Most others have marked it already, but only
        // a change of the word puts this sleeper before an opening: a look might see an old mark.
        self.word.fetch_or(SLEEPS, Ordering::AcqRel);
        changes
    }

    /// Nobody passes it any more. Whoever waits must be woken.
    pub fn close(&self) {
        // AcqRel: partner of the exchanges in `arrive`: an opening comes wholly before or not at all.
        self.word.fetch_or(CLOSED, Ordering::AcqRel);
        self.count_change();
    }

    /// Whether nobody passes it any more.
    pub fn is_closed(&self) -> bool {
        // Acquire: partner of the exchange in `close`: what came before the closing is seen.
        self.word.load(Ordering::Acquire) & CLOSED != 0
    }

    #[cfg(not(loom))]
    /// What the futex is at. Whoever sleeps on it looks once more between the two.
    pub(crate) fn changes(&self) -> u32 {
        // Acquire: partner of `count_change`.
        self.changes.load(Ordering::Acquire)
    }

    pub(crate) fn count_change(&self) {
        // Release: who sees this change sees the word's.
        self.changes.fetch_add(1, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn barrier(members: u32) -> SegmentBarrier {
        SegmentBarrier {
            word: AtomicU64::new(0),
            changes: AtomicU32::new(0),
            members: AtomicU32::new(members),
            scheduled_in: AtomicU32::new(0),
        }
    }

    #[cfg(not(loom))]
    #[test]
    fn barrier_opens_for_last_and_resets_for_next_round() {
        let barrier = barrier(3);
        for round in 0..5 {
            assert_eq!(barrier.arrive(None), Arrival::Waits(round));
            assert_eq!(barrier.arrive(Some(3)), Arrival::Waits(round));
            assert_eq!(barrier.arrive(Some(2)), Arrival::Mismatch);
            assert_eq!(barrier.outcome(round), None);
            assert_eq!(barrier.arrive(None), Arrival::Opened { wake: false });
            assert_eq!(barrier.outcome(round), Some(Outcome::Opened));
        }
        assert_eq!(barrier.arrive(Some(1)), Arrival::Opened { wake: false });
        assert_eq!(barrier.arrive(Some(0)), Arrival::Mismatch);
        assert_eq!(barrier.arrive(Some(u32::MAX)), Arrival::Mismatch);
    }

    #[cfg(not(loom))]
    #[test]
    fn barrier_wakes_only_sleepers_of_its_round() {
        let barrier = barrier(3);
        for round in [0, 2] {
            assert_eq!(barrier.arrive(None), Arrival::Waits(round));
            barrier.fall_asleep();
            assert_eq!(barrier.arrive(None), Arrival::Waits(round), "the mark is none of the numbers");
            assert_eq!(barrier.arrive(None), Arrival::Opened { wake: true });
            assert_eq!(barrier.arrive(None), Arrival::Waits(round + 1));
            assert_eq!(barrier.arrive(None), Arrival::Waits(round + 1));
            assert_eq!(barrier.arrive(None), Arrival::Opened { wake: false });
        }
    }

    #[cfg(not(loom))]
    #[test]
    fn closed_barrier_sends_members_to_daemon() {
        let barrier = barrier(2);
        assert_eq!(barrier.arrive(None), Arrival::Waits(0));
        let before = barrier.fall_asleep();
        barrier.close();
        assert_ne!(barrier.fall_asleep(), before);
        assert_eq!(barrier.outcome(0), Some(Outcome::Closed));
        assert_eq!(barrier.arrive(None), Arrival::Closed);
    }

    /// The barrier, and a futex as the kernel has it: who finds the value changed does not sleep.
    #[cfg(loom)]
    struct BarrierMemory {
        barrier: SegmentBarrier,
        lock: loom::sync::Mutex<()>,
        sleepers: loom::sync::Condvar,
    }

    #[cfg(loom)]
    impl BarrierMemory {
        fn wake(&self) {
            let _held = self.lock.lock().expect("no panic");
            self.sleepers.notify_all();
        }

        fn pass(&self) -> Outcome {
            match self.barrier.arrive(None) {
                Arrival::Opened { wake } => {
                    if wake {
                        self.wake();
                    }
                    Outcome::Opened
                }
                Arrival::Waits(round) => loop {
                    let seen = self.barrier.fall_asleep();
                    if let Some(outcome) = self.barrier.outcome(round) {
                        break outcome;
                    }
                    let held = self.lock.lock().expect("no panic");
                    if self.barrier.changes.load(Ordering::Acquire) == seen {
                        drop(self.sleepers.wait(held));
                    }
                },
                Arrival::Closed => Outcome::Closed,
                Arrival::Mismatch => unreachable!("all want the same"),
            }
        }
    }

    /// All come, or one closes it instead: either all pass, or all are told that it is closed; and
    /// nobody sleeps for ever, which loom would report.
    #[cfg(loom)]
    fn all_or_nobody(members: u32, closes: bool) {
        loom::model(move || {
            let place = loom::sync::Arc::new(BarrierMemory {
                barrier: barrier(members),
                lock: loom::sync::Mutex::new(()),
                sleepers: loom::sync::Condvar::new(),
            });
            let threads: Vec<_> = (1..members)
                .map(|_| {
                    let place = place.clone();
                    loom::thread::spawn(move || place.pass())
                })
                .collect();
            let first = if closes {
                place.barrier.close();
                place.wake();
                Outcome::Closed
            } else {
                place.pass()
            };
            for thread in threads {
                assert_eq!(thread.join().expect("it ends"), first);
            }
            assert_eq!(first == Outcome::Closed, closes);
        });
    }

    /// The segment's rule: two slots for each member, used in turn. Loom reports a place that is written to while somebody reads
    /// it, and a reader that does not see what was written.
    #[cfg(loom)]
    fn what_is_shown_is_seen(members: u32, rounds: u32) {
        use loom::cell::UnsafeCell;
        struct SharedSegment(BarrierMemory, Vec<[UnsafeCell<u32>; 2]>);
        // SAFETY: who may touch which cell when is what the model is there to find out.
        #[allow(unsafe_code)]
        unsafe impl Sync for SharedSegment {}
        #[allow(unsafe_code)]
        fn take_part(segment: &SharedSegment, member: u32, rounds: u32) {
            let SharedSegment(place, places) = segment;
            for round in 0..rounds {
                let shown = |member: u32| 10 * round + member;
                // SAFETY: loom gives a pointer to a cell that lives, and checks that nobody else uses it.
                places[member as usize][round as usize % 2].with_mut(|cell| unsafe { *cell = shown(member) });
                assert_eq!(place.pass(), Outcome::Opened);
                for other in 0..places.len() as u32 {
                    // SAFETY: as above.
                    let seen = places[other as usize][round as usize % 2].with(|cell| unsafe { *cell });
                    assert_eq!(seen, shown(other));
                }
            }
        }
        loom::model(move || {
            let place = BarrierMemory {
                barrier: barrier(members),
                lock: loom::sync::Mutex::new(()),
                sleepers: loom::sync::Condvar::new(),
            };
            let places = (0..members).map(|_| [UnsafeCell::new(0), UnsafeCell::new(0)]).collect();
            let segment = loom::sync::Arc::new(SharedSegment(place, places));
            let threads: Vec<_> = (1..members)
                .map(|member| {
                    let segment = segment.clone();
                    loom::thread::spawn(move || take_part(&segment, member, rounds))
                })
                .collect();
            take_part(&segment, 0, rounds);
            threads.into_iter().for_each(|thread| thread.join().expect("it ends"));
        });
    }

    #[cfg(loom)]
    #[test]
    fn model_two_members_show_each_other() {
        what_is_shown_is_seen(2, 3);
    }

    #[cfg(loom)]
    #[test]
    fn model_three_members_show_each_other() {
        what_is_shown_is_seen(3, 1);
    }

    #[cfg(loom)]
    #[test]
    fn model_barrier_of_two_members() {
        all_or_nobody(2, false);
    }

    #[cfg(loom)]
    #[test]
    fn model_barrier_of_three_members() {
        all_or_nobody(3, false);
    }

    #[cfg(loom)]
    #[test]
    fn model_barrier_closes() {
        all_or_nobody(3, true);
    }
}
