//! The pair: two members exchange data in rounds, without a word that both write.
//!
//! Each member has lines of its own. On the line of a round it says that its data for the round is complete, and waits until the line of
//! the other says so too: only two cache lines move. Slots are used in round, as in every segment: a member that shows data for a round has
//! read all that it wants of the round before.
//!
//! A member that waits for long sleeps on the barrier's futex, by the rules of the [door](parvum_control::Door). It says on its line that
//! it sleeps, and makes the fence for both, on all processors, so the other one needs no fence. Checked under loom, with a loop on a
//! count in place of the futex.

#[cfg(loom)]
use loom::sync::atomic::{AtomicU32, Ordering, fence};
use parvum_sync::global_fences;
#[cfg(not(loom))]
use std::sync::atomic::{AtomicU32, Ordering};

/// What stands at the beginning of a member's line: the two first numbers are the pair's, the others name what is shown.
#[repr(C)]
pub(crate) struct Head {
    /// The round whose data is there, counted from 1; 0 before the first.
    round: AtomicU32,
    /// Not 0: the member sleeps, or is about to, until the other has shown what belongs to the round.
    pub(crate) asleep: AtomicU32,
    /// The word under which it is shown.
    pub(crate) word: AtomicU32,
    /// How many bytes there are.
    pub(crate) length: AtomicU32,
}

impl Head {
    /// Says that what the member shows in that round is there.
    #[inline]
    pub(crate) fn show(&self, round: u64) {
        // Release: partner of the acquire in `is_of`.
        self.round.store(stamp(round), Ordering::Release);
    }

    /// Whether what the member shows in that round is there.
    #[inline]
    pub(crate) fn is_of(&self, round: u64) -> bool {
        // Acquire: partner of the release in `show`.
        self.round.load(Ordering::Acquire) == stamp(round)
    }

    /// Says that the member is about to sleep. It looks for the other's line once more before it does.
    pub(crate) fn fall_asleep(&self) {
        // Relaxed: the fence orders it before that look. Partner: the look in `sleeps`, which comes behind the other's line.
        self.asleep.store(1, Ordering::Relaxed);
        global_fences::heavy();
    }

    /// Takes that back, or says that the sleep is over.
    #[inline]
    pub(crate) fn stay_awake(&self) {
        // Relaxed: who still sees a sleeper wakes once too often, no more.
        if self.asleep.load(Ordering::Relaxed) != 0 {
            self.asleep.store(0, Ordering::Relaxed);
        }
    }

    /// Whether the member must be woken. To be asked by the other, behind its own `show`.
    #[inline]
    pub(crate) fn sleeps(&self) -> bool {
        global_fences::before_look(|| true);
        self.asleep.load(Ordering::Relaxed) != 0
    }
}

#[cfg(all(test, loom))]
impl Head {
    /// Of a line that nothing was written to.
    pub(crate) fn new() -> Head {
        let zero = || AtomicU32::new(0);
        Head { round: zero(), asleep: zero(), word: zero(), length: zero() }
    }
}

/// A round's number on a line. It comes again after four billion rounds; a line is two rounds old at most.
#[inline]
fn stamp(round: u64) -> u32 {
    (round as u32).wrapping_add(1)
}

#[cfg(all(test, loom))]
mod model {
    use super::*;
    use loom::cell::UnsafeCell;
    use loom::sync::Arc;

    struct PairMemory {
        head: Head,
        shown: UnsafeCell<u32>,
    }

    struct SharedSegment {
        /// Two of each member.
        places: [[PairMemory; 2]; 2],
        changes: AtomicU32,
    }

    // SAFETY: who may touch which cell when is what the model is there to find out.
    #[allow(unsafe_code)]
    unsafe impl Sync for SharedSegment {}

    impl SharedSegment {
        fn new() -> SharedSegment {
            let zero = || AtomicU32::new(0);
            let place = || PairMemory { head: Head::new(), shown: UnsafeCell::new(0) };
            let member = || [place(), place()];
            SharedSegment { places: [member(), member()], changes: zero() }
        }

        #[allow(unsafe_code)]
        fn take_part(&self, own: usize, rounds: u64) {
            for round in 0..rounds {
                let place = |member: usize| &self.places[member][round as usize % 2];
                let shown = |member: usize| 10 * round as u32 + member as u32;
                // SAFETY: loom gives a pointer to a cell that lives, and checks that nobody else uses it.
                place(own).shown.with_mut(|cell| unsafe { *cell = shown(own) });
                place(own).head.show(round);
                let other = place(1 - own);
                if other.head.sleeps() {
                    self.changes.fetch_add(1, Ordering::Release);
                }
                while !other.head.is_of(round) {
                    let changes = self.changes.load(Ordering::Acquire);
                    place(own).head.fall_asleep();
                    if !other.head.is_of(round) {
                        // Asleep: nobody but the other ends it.
                        while self.changes.load(Ordering::Acquire) == changes {
                            loom::thread::yield_now();
                        }
                    }
                    place(own).head.stay_awake();
                }
                // SAFETY: as above.
                let seen = other.shown.with(|cell| unsafe { *cell });
                assert_eq!(seen, shown(1 - own));
            }
        }
    }

    /// Loom reports a place that is written to while somebody reads it, a reader that does not see what was written, and a sleeper
    /// that nobody wakes.
    fn two_members_exchange(rounds: u64) {
        loom::model(move || {
            let segment = Arc::new(SharedSegment::new());
            let other = segment.clone();
            let thread = loom::thread::spawn(move || other.take_part(1, rounds));
            segment.take_part(0, rounds);
            thread.join().expect("it ends");
        });
    }

    #[test]
    fn model_pair_in_one_round() {
        two_members_exchange(1);
    }

    #[test]
    fn model_pair_reuses_its_slots() {
        two_members_exchange(3);
    }
}
