//! The broadcast ring: a root shows data to all other members and waits for nobody.
//!
//! Entries are numbered from the opening of the segment on. All members know which number is next and who writes it. An entry keeps its
//! place until the next round: a member that comes to a round has read all entries before it, so a round frees all places. The writer
//! stores the data and then the number on the line of the entry; a reader looks for the number. Nobody counts readers.
//!
//! A reader that waits for long sleeps on the barrier's futex. It marks one line that all share, then looks at the entry once more behind
//! a fence. The writer looks at the mark behind a fence too, and removes it before it wakes all. So either the sleeper sees the entry,
//! or the writer sees the mark. Checked under loom, with a lock and a queue in place of the futex.

use crate::pair::Head;
#[cfg(loom)]
use loom::sync::atomic::{Ordering, fence};
use parvum_sync::global_fences;
#[cfg(not(loom))]
use std::sync::atomic::{Ordering, fence};
#[cfg(not(loom))]
use {
    crate::barrier::Outcome,
    crate::layout::{ANNOUNCED_ROOM, ANNOUNCEMENTS, SHORT},
    crate::segment::GroupSegment,
    parvum_sync::{fetch_for_reading, fetch_for_writing},
};

impl Head {
    /// Says that a member is about to sleep until there is an announcement; it looks once more before it does. One of two
    /// makes the fence for both, because the writer's fence waits until the line of the entry has come from the reader.
    /// Among more members sleep is frequent, and that fence takes long.
    fn mark_sleepers(&self, are_two: bool) {
        // Relaxed: the fence orders it before that look. Partner: the fence in `take_sleepers`.
        self.asleep.store(1, Ordering::Relaxed);
        match are_two {
            true => global_fences::heavy(),
            false => fence(Ordering::SeqCst),
        }
    }

    /// Whether members must be woken, for an announcement that has just been made.
    #[inline]
    fn take_sleepers(&self, are_two: bool) -> bool {
        // Partner: the fence in `mark_sleepers`. A mark that is made behind this look, and taken away here, is of one who sees the
        // announcement.
        global_fences::before_look(|| are_two);
        let any = self.asleep.load(Ordering::Relaxed) != 0;
        if any {
            self.asleep.store(0, Ordering::Relaxed);
        }
        any
    }
}

/// The writer fetches the line that is this number of entries ahead.
#[cfg(not(loom))]
const AHEAD: usize = 6;

#[cfg(not(loom))]
impl GroupSegment {
    /// Makes the announcement of that number at a place, under a word, and wakes who sleeps for it. The place is free: no round has come
    /// since the segment was opened in which somebody may not have heard what is there. False: there is no such place, or no room for so much.
    #[inline]
    pub fn announce(&self, number: u64, place: usize, word: u32, data: &[u8]) -> bool {
        if place >= ANNOUNCEMENTS || data.len() > ANNOUNCED_ROOM || !self.has_segment() {
            return false;
        }
        self.map.write(self.announced_at(place, data.len()), data);
        let head = self.announcement(place);
        // Relaxed: whoever reads them, and the data, has seen the number on the line.
        head.word.store(word, Ordering::Relaxed);
        head.length.store(data.len() as u32, Ordering::Relaxed);
        head.show(number);
        // The writer mostly runs ahead, and the others have looked at these lines a round ago.
        fetch_for_writing(self.announcement((place + AHEAD) % ANNOUNCEMENTS));
        if self.announcement(ANNOUNCEMENTS).take_sleepers(self.shape.members == 2) {
            self.barrier().count_change();
            self.wake();
        }
        true
    }

    /// A member has found its entry at the first look, and will look at the entry of this place soon: the writers run ahead.
    #[inline]
    pub fn expect_announcement(&self, place: usize) {
        if self.has_segment() {
            fetch_for_reading(self.announcement(place % ANNOUNCEMENTS));
        }
    }

    /// How the wait for the announcement of that number at a place ended; nothing while it lasts, or when there is no such place.
    #[inline]
    pub fn outcome_of_announcement(&self, number: u64, place: usize) -> Option<Outcome> {
        if place >= ANNOUNCEMENTS || !self.has_segment() {
            return None;
        }
        if self.announcement(place).is_of(number) {
            return Some(Outcome::Opened);
        }
        // What was announced before the closing is heard, so the line is looked at again behind it.
        match self.is_closed() {
            true if self.announcement(place).is_of(number) => Some(Outcome::Opened),
            true => Some(Outcome::Closed),
            false => None,
        }
    }

    /// Copies an announcement that is there under this word, from byte `from` on. False: it is another, or shorter.
    #[inline]
    pub fn hear(&self, place: usize, word: u32, from: usize, out: &mut [u8]) -> bool {
        if place >= ANNOUNCEMENTS || !self.has_segment() {
            return false;
        }
        let head = self.announcement(place);
        // Relaxed: the number on the line has ordered it.
        let length = (head.length.load(Ordering::Relaxed) as usize).min(ANNOUNCED_ROOM);
        let is_it = head.word.load(Ordering::Relaxed) == word
            && from.checked_add(out.len()).is_some_and(|end| end <= length);
        if is_it {
            self.map.read(self.announced_at(place, length) + from, out);
        }
        is_it
    }

    /// As [`GroupSegment::fall_asleep`], of one who waits for an announcement.
    pub fn fall_asleep_unannounced(&self) -> u32 {
        let changes = self.barrier().changes();
        self.announcement(ANNOUNCEMENTS).mark_sleepers(self.shape.members == 2);
        changes
    }

    #[inline]
    fn announcement(&self, place: usize) -> &Head {
        self.map.line(self.shape.announcement(place))
    }

    #[inline]
    fn announced_at(&self, place: usize, length: usize) -> usize {
        match length <= SHORT {
            true => self.shape.announcement(place) + size_of::<Head>(),
            false => self.shape.announced(place),
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use parvum_control::ControlBlock;
    use std::time::Duration;

    #[test]
    fn announcement_reaches_awake_and_sleeping_members() {
        const MEMBERS: u32 = 4;
        const ROUNDS: u64 = 40;
        let (_page, file) = GroupSegment::create(MEMBERS).expect("a segment");
        let data = |number: u64| vec![number as u8; [0, 8, 48, 49, ANNOUNCED_ROOM][number as usize % 5]];
        let announces = || {
            let segment = GroupSegment::open(&file).expect("it opens");
            for round in 0..ROUNDS {
                for place in 0..ANNOUNCEMENTS {
                    let number = round * ANNOUNCEMENTS as u64 + place as u64;
                    assert!(segment.announce(number, place, number as u32, &data(number)));
                }
                meet(&segment);
            }
        };
        let hears = || {
            let segment = GroupSegment::open(&file).expect("it opens");
            let page = ControlBlock::create().expect("a page").0;
            for round in 0..ROUNDS {
                for place in 0..ANNOUNCEMENTS {
                    let number = round * ANNOUNCEMENTS as u64 + place as u64;
                    while segment.outcome_of_announcement(number, place) != Some(Outcome::Opened) {
                        let changes = segment.fall_asleep_unannounced();
                        let rings = page.fall_asleep();
                        if segment.outcome_of_announcement(number, place).is_none() {
                            segment.sleep(changes, &page, rings, Duration::from_secs(20));
                        }
                        page.stay_awake();
                    }
                    let mut heard = vec![0; data(number).len()];
                    assert!(
                        segment.hear(place, number as u32, 0, &mut heard) && heard == data(number),
                        "{number}"
                    );
                    assert!(!segment.hear(place, number as u32 + 1, 0, &mut heard), "another word");
                    heard.push(0);
                    assert!(!segment.hear(place, number as u32, 0, &mut heard), "shorter");
                }
                meet(&segment);
            }
        };
        std::thread::scope(|scope| {
            (1..MEMBERS).for_each(|_| drop(scope.spawn(hears)));
            announces();
        });
    }

    fn meet(segment: &GroupSegment) {
        if let crate::barrier::Arrival::Waits(round) = segment.arrive(None) {
            while segment.outcome(round).is_none() {
                std::thread::yield_now();
            }
        }
    }

    #[test]
    fn announcement_before_close_is_heard_and_later_is_not() {
        let (_page, file) = GroupSegment::create(3).expect("a segment");
        let segment = GroupSegment::open(&file).expect("it opens");
        assert!(segment.outcome_of_announcement(0, 0).is_none());
        assert!(segment.announce(0, 0, 1, &[7]));
        segment.close();
        assert_eq!(segment.outcome_of_announcement(0, 0), Some(Outcome::Opened));
        assert_eq!(segment.outcome_of_announcement(1, 1), Some(Outcome::Closed));
        assert_eq!(segment.outcome_of_announcement(1, 0), Some(Outcome::Closed), "an older one is there");
    }

    #[test]
    fn announcement_out_of_range_is_refused() {
        let (_page, file) = GroupSegment::create(2).expect("a segment");
        let segment = GroupSegment::open(&file).expect("it opens");
        assert!(
            !segment.announce(0, ANNOUNCEMENTS, 1, &[])
                && !segment.announce(0, 0, 1, &[0; ANNOUNCED_ROOM + 1])
        );
        assert!(segment.outcome_of_announcement(0, ANNOUNCEMENTS).is_none());
    }
}

#[cfg(all(test, loom))]
mod model {
    use super::*;
    use loom::cell::UnsafeCell;
    use loom::sync::atomic::AtomicU32;
    use loom::sync::{Arc, Condvar, Mutex};

    struct SharedSegment {
        lines: [Head; 2],
        told: [UnsafeCell<u32>; 2],
        waiters: Head,
        are_two: bool,
        changes: AtomicU32,
        /// The futex's queue.
        lock: Mutex<()>,
        sleepers: Condvar,
    }

    // SAFETY: who may touch which cell when is what the model is there to find out.
    #[allow(unsafe_code)]
    unsafe impl Sync for SharedSegment {}

    impl SharedSegment {
        #[allow(unsafe_code)]
        fn announce(&self, numbers: u64) {
            for number in 0..numbers {
                let place = number as usize;
                // SAFETY: loom gives a pointer to a cell that lives, and checks that nobody else uses it.
                self.told[place].with_mut(|cell| unsafe { *cell = 7 + number as u32 });
                self.lines[place].show(number);
                if self.waiters.take_sleepers(self.are_two) {
                    self.changes.fetch_add(1, Ordering::Release);
                    drop(self.lock.lock().expect("nobody panics"));
                    self.sleepers.notify_all();
                }
            }
        }

        #[allow(unsafe_code)]
        fn hear(&self, numbers: u64) {
            for number in 0..numbers {
                let place = number as usize;
                while !self.lines[place].is_of(number) {
                    let changes = self.changes.load(Ordering::Acquire);
                    self.waiters.mark_sleepers(self.are_two);
                    if self.lines[place].is_of(number) {
                        break;
                    }
                    // Asleep: nobody but who announces ends it.
                    let mut held = self.lock.lock().expect("nobody panics");
                    while self.changes.load(Ordering::Acquire) == changes {
                        held = self.sleepers.wait(held).expect("nobody panics");
                    }
                }
                // SAFETY: as above.
                let heard = self.told[place].with(|cell| unsafe { *cell });
                assert_eq!(heard, 7 + number as u32);
            }
        }
    }

    /// Loom reports who hears what is not yet written, and a sleeper that nobody wakes.
    fn all_hear(listeners: usize, numbers: u64) {
        loom::model(move || {
            let told = || UnsafeCell::new(0);
            let segment = SharedSegment {
                lines: [Head::new(), Head::new()],
                told: [told(), told()],
                waiters: Head::new(),
                are_two: listeners == 1,
                changes: AtomicU32::new(0),
                lock: Mutex::new(()),
                sleepers: Condvar::new(),
            };
            let segment = Arc::new(segment);
            let threads: Vec<_> = (0..listeners)
                .map(|_| {
                    let segment = segment.clone();
                    loom::thread::spawn(move || segment.hear(numbers))
                })
                .collect();
            segment.announce(numbers);
            threads.into_iter().for_each(|thread| thread.join().expect("it ends"));
        });
    }

    #[test]
    fn model_announcements_reach_one_listener() {
        all_hear(1, 2);
    }

    #[test]
    fn model_announcement_reaches_two_listeners() {
        all_hear(2, 1);
    }
}
