//! A barrier in shared memory with its segment, and how its members sleep and are woken.

use crate::barrier::{Arrival, Outcome, SegmentBarrier};
use crate::layout::SLOT_BYTES;
use crate::layout::{SHORT, Shape};
use crate::map::SegmentMap;
use crate::pair::Head;
use parvum_control::{ControlBlock, ControlError, PAGE_BYTES, check_seals};
use parvum_sync::futex::{self, Among, Woken};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
use std::io;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// A mapped barrier, and its segment if it has one.
pub struct GroupSegment {
    pub(crate) map: SegmentMap,
    pub(crate) shape: Shape,
}

/// Where the kernel cannot wait for two things at once (before Linux 5.16), a waiter looks this often.
const LOOKS: Duration = Duration::from_micros(200);

impl GroupSegment {
    /// Makes a barrier of so many members; gives the descriptor to hand on as well.
    pub fn create(members: u32) -> io::Result<(GroupSegment, OwnedFd)> {
        let file = memfd_create("parvum-segment", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
        let shape = Shape { members };
        ftruncate(&file, shape.bytes() as u64)?;
        fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
        // Who makes it for others needs no segment.
        let page = GroupSegment { map: SegmentMap::new(&file, PAGE_BYTES)?, shape: Shape { members: 0 } };
        page.barrier().set_members(members);
        Ok((page, file))
    }

    /// Maps the barrier behind `file`, which may be closed afterwards; refuses what is not sealed, or not as long as a barrier of
    /// so many members is.
    pub fn open(file: impl AsFd) -> Result<GroupSegment, ControlError> {
        let file = file.as_fd();
        let bytes = check_seals(file)?;
        if bytes < PAGE_BYTES {
            return Err(ControlError::Shape);
        }
        let shape = Shape { members: SegmentMap::new(file, PAGE_BYTES)?.barrier().members() };
        if shape.bytes() != bytes {
            return Err(ControlError::Shape);
        }
        Ok(GroupSegment { map: SegmentMap::new(file, bytes)?, shape })
    }

    #[inline]
    pub(crate) fn barrier(&self) -> &SegmentBarrier {
        self.map.barrier()
    }

    /// How many members the group has.
    pub fn members(&self) -> u32 {
        self.barrier().members()
    }

    /// See [`SegmentBarrier::schedule_in`].
    pub fn schedule_in(&self, group: u32) {
        self.barrier().schedule_in(group);
    }

    /// See [`SegmentBarrier::is_scheduled_in`].
    pub fn is_scheduled_in(&self, group: u32) -> bool {
        self.barrier().is_scheduled_in(group)
    }

    /// Comes to the barrier; see [`SegmentBarrier::arrive`]. The last one wakes those who sleep.
    #[inline]
    pub fn arrive(&self, count: Option<u32>) -> Arrival {
        let arrival = self.barrier().arrive(count);
        if arrival == (Arrival::Opened { wake: true }) {
            self.wake();
        }
        arrival
    }

    /// See [`SegmentBarrier::outcome`].
    #[inline]
    pub fn outcome(&self, round: u32) -> Option<Outcome> {
        self.barrier().outcome(round)
    }

    /// How many members can show each other data here, if they can.
    pub fn members_if_shown(&self) -> Option<u32> {
        self.has_segment().then_some(self.shape.members)
    }

    #[inline]
    pub(crate) fn has_segment(&self) -> bool {
        self.shape.has_places()
    }

    /// Shows data in a round, under a word: before coming to its barrier, and after that of the round before has opened. False:
    /// there is no such member, or no room for so much.
    #[inline]
    pub fn show<'d>(
        &self,
        member: u32,
        round: u64,
        word: u32,
        pieces: impl Iterator<Item = &'d [u8]> + Clone,
    ) -> bool {
        let length = pieces.clone().try_fold(0usize, |sum, piece| sum.checked_add(piece.len()));
        let Some(length) = length.filter(|length| *length <= SLOT_BYTES) else { return false };
        if member >= self.shape.members || !self.has_segment() {
            return false;
        }
        let mut at = self.data_at(member, round, length);
        for piece in pieces {
            self.map.write(at, piece);
            at += piece.len();
        }
        let head = self.head(member, round);
        // Relaxed: whoever reads them, and the data, has come to the barrier, or seen the round on the line, after this.
        head.word.store(word, Ordering::Relaxed);
        head.length.store(length as u32, Ordering::Relaxed);
        true
    }

    /// The same where two members need no barrier: the other is woken if it sleeps. False also when they are not two.
    #[inline]
    pub fn show_other<'d>(
        &self,
        member: u32,
        round: u64,
        word: u32,
        pieces: impl Iterator<Item = &'d [u8]> + Clone,
    ) -> bool {
        if self.shape.members != 2 || !self.show(member, round, word, pieces) {
            return false;
        }
        self.head(member, round).show(round);
        if self.head(1 - member, round).sleeps() {
            self.barrier().count_change();
            self.wake();
        }
        true
    }

    /// Whether the other of two members has shown what belongs to a round.
    ///
    /// # Panics
    /// When this is not one of two.
    #[inline]
    pub fn other_has_shown(&self, member: u32, round: u64) -> bool {
        assert!(self.shape.members == 2 && member < 2, "one of two");
        self.head(1 - member, round).is_of(round)
    }

    /// How a member's wait for the other of two ended; nothing while it lasts. Panics as [`GroupSegment::other_has_shown`].
    #[inline]
    pub fn outcome_beside(&self, member: u32, round: u64) -> Option<Outcome> {
        // Who leaves after it has shown what belongs to the round has not missed it, so the line is looked at behind the closing.
        let is_closed = self.is_closed();
        match self.other_has_shown(member, round) {
            true => Some(Outcome::Opened),
            false => is_closed.then_some(Outcome::Closed),
        }
    }

    /// Whether nobody can come any more.
    #[inline]
    pub fn is_closed(&self) -> bool {
        self.barrier().is_closed()
    }

    /// As [`GroupSegment::fall_asleep`], of one of two who waits for the other in a round.
    pub fn fall_asleep_beside(&self, member: u32, round: u64) -> u32 {
        let changes = self.barrier().changes();
        self.head(member, round).fall_asleep();
        changes
    }

    /// The round has come: it sleeps no more.
    #[inline]
    pub fn stay_awake_beside(&self, member: u32, round: u64) {
        self.head(member, round).stay_awake();
    }

    #[inline]
    fn head(&self, member: u32, round: u64) -> &Head {
        self.map.line(self.shape.line(member, round))
    }

    /// The word under which a member shows something in a round whose barrier has opened, and how many bytes that is.
    ///
    /// # Panics
    /// When there is no such member, or no segment.
    #[inline]
    pub fn shown(&self, member: u32, round: u64) -> (u32, usize) {
        assert!(member < self.shape.members && self.has_segment(), "a member with a board");
        let head = self.head(member, round);
        // Relaxed: the barrier, or the round on the line, has ordered it.
        (head.word.load(Ordering::Relaxed), (head.length.load(Ordering::Relaxed) as usize).min(SLOT_BYTES))
    }

    /// Copies what a member shows in a round whose barrier has opened, from byte `from` on. False: there is no such member, or it
    /// shows less.
    #[inline]
    pub fn read(&self, member: u32, round: u64, from: usize, out: &mut [u8]) -> bool {
        if member >= self.shape.members || !self.has_segment() {
            return false;
        }
        let (_, length) = self.shown(member, round);
        if from.checked_add(out.len()).is_none_or(|end| end > length) {
            return false;
        }
        self.map.read(self.data_at(member, round, length) + from, out);
        true
    }

    #[inline]
    fn data_at(&self, member: u32, round: u64, length: usize) -> usize {
        match length <= SHORT {
            true => self.shape.line(member, round) + size_of::<Head>(),
            false => self.shape.place(member, round),
        }
    }

    /// Closes it and wakes everybody.
    pub fn close(&self) {
        self.barrier().close();
        self.wake();
    }

    pub(crate) fn wake(&self) {
        futex::wake(&self.barrier().changes, futex::ALL, Among::Processes);
    }

    /// To be called before looking once more and going to sleep with [`GroupSegment::sleep`].
    pub fn fall_asleep(&self) -> u32 {
        self.barrier().fall_asleep()
    }

    /// Sleeps until the barrier changes from `changes`, somebody rings at `page` (`rings` is from
    /// [`ControlBlock::fall_asleep`]), or the limit is over. Afterwards the task says at its page that it is awake.
    pub fn sleep(&self, changes: u32, page: &ControlBlock, rings: u32, limit: Duration) -> Woken {
        let door = (page.rings(), rings, Among::Processes);
        let slept = futex::sleep_on_either([self.changes(changes), door], limit);
        // A kernel without the call: the thread looks at the other word now and then.
        slept.unwrap_or_else(|_| page.sleep(rings, Some(limit.min(LOOKS))))
    }

    /// The same for a thread that is woken by others of its process: by a private futex while that is 0.
    pub fn sleep_beside(&self, changes: u32, word: &AtomicU32, limit: Duration) -> Woken {
        let slept = futex::sleep_on_either([self.changes(changes), (word, 0, Among::Threads)], limit);
        slept.unwrap_or_else(|_| futex::sleep(word, 0, Some(limit.min(LOOKS)), Among::Threads))
    }

    fn changes(&self, seen: u32) -> (&AtomicU32, u32, Among) {
        (&self.barrier().changes, seen, Among::Processes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn barrier_rounds_stay_whole_with_many_threads() {
        const MEMBERS: u32 = 6;
        const ROUNDS: u32 = 300;
        let (page, file) = GroupSegment::create(MEMBERS).expect("a segment");
        drop(page);
        let rounds = Arc::new(std::sync::Mutex::new(vec![0; ROUNDS as usize]));
        let threads: Vec<_> = (0..MEMBERS)
            .map(|_| {
                let (barrier, rounds) = (GroupSegment::open(&file).expect("it opens"), rounds.clone());
                std::thread::spawn(move || {
                    let own = ControlBlock::create().expect("a page").0;
                    for round in 0..ROUNDS as usize {
                        rounds.lock().expect("no panic")[round] += 1;
                        if let Arrival::Waits(round) = barrier.arrive(None) {
                            loop {
                                let changes = barrier.fall_asleep();
                                let rings = own.fall_asleep();
                                if barrier.outcome(round).is_some() {
                                    break;
                                }
                                barrier.sleep(changes, &own, rings, Duration::from_secs(20));
                                own.stay_awake();
                            }
                        }
                        assert_eq!(rounds.lock().expect("no panic")[round], MEMBERS, "all have come");
                    }
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().expect("no round was cut"));
    }

    #[test]
    fn thread_wakes_by_barrier_or_by_its_own_process() {
        let (page, _file) = GroupSegment::create(2).expect("a segment");
        let word = AtomicU32::new(0);
        let long = Duration::from_secs(100);
        // It does not even fall asleep: the barrier has changed, then the word is not 0.
        let changes = page.fall_asleep();
        page.close();
        page.sleep_beside(changes, &word, long);
        word.store(1, Ordering::Relaxed);
        page.sleep_beside(page.fall_asleep(), &word, long);
        word.store(0, Ordering::Relaxed);
        std::thread::scope(|scope| {
            let (changes, page, word) = (page.fall_asleep(), &page, &word);
            let asleep = scope.spawn(move || page.sleep_beside(changes, word, long));
            while !asleep.is_finished() {
                word.store(1, Ordering::Release);
                futex::wake(word, 1, Among::Threads);
                std::thread::yield_now();
            }
        });
    }

    #[test]
    fn pair_members_see_shown_data_asleep_or_awake() {
        const ROUNDS: u64 = 3000;
        let (_page, file) = GroupSegment::create(2).expect("a segment");
        let member = |own: u32| {
            let segment = GroupSegment::open(&file).expect("it opens");
            move || {
                let page = ControlBlock::create().expect("a page").0;
                for round in 0..ROUNDS {
                    let length = [8, 48, 49, 5000][round as usize % 4];
                    let shown = |member: u32| vec![(round as u8).wrapping_mul(3) ^ member as u8; length];
                    assert!(segment.show_other(own, round, round as u32, [&shown(own)[..]].into_iter()));
                    while segment.outcome_beside(own, round) != Some(Outcome::Opened) {
                        let changes = segment.fall_asleep_beside(own, round);
                        let rings = page.fall_asleep();
                        if segment.outcome_beside(own, round).is_none() {
                            segment.sleep(changes, &page, rings, Duration::from_secs(20));
                        }
                        page.stay_awake();
                        segment.stay_awake_beside(own, round);
                    }
                    let mut read = vec![0; length];
                    assert!(
                        segment.read(1 - own, round, 0, &mut read) && read == shown(1 - own),
                        "round {round}"
                    );
                    assert_eq!(segment.shown(1 - own, round), (round as u32, length));
                }
            }
        };
        let (one, other) = (std::thread::spawn(member(0)), std::thread::spawn(member(1)));
        [one, other].into_iter().for_each(|thread| thread.join().expect("no turn was missed"));
    }

    #[test]
    fn round_shown_before_close_is_complete() {
        let (one, other) = open_pair();
        let show = |segment: &GroupSegment, own, round| segment.show_other(own, round, 1, std::iter::empty());
        assert!(show(&one, 0, 0) && one.outcome_beside(0, 0).is_none());
        assert!(show(&other, 1, 0));
        other.close();
        assert_eq!(one.outcome_beside(0, 0), Some(Outcome::Opened));
        assert!(show(&one, 0, 1) && one.is_closed());
        assert_eq!(one.outcome_beside(0, 1), Some(Outcome::Closed));
        let (three, _file) = GroupSegment::create(3).expect("a segment");
        assert!(!show(&three, 0, 0), "three need the barrier");
    }

    #[test]
    fn members_of_several_scheduling_groups_are_detected() {
        let (page, _file) = GroupSegment::create(3).expect("a segment");
        page.schedule_in(7);
        page.schedule_in(7);
        assert!(page.is_scheduled_in(7) && !page.is_scheduled_in(9));
        page.schedule_in(9);
        page.schedule_in(7);
        assert!(!page.is_scheduled_in(7) && !page.is_scheduled_in(9));
    }

    #[test]
    fn file_that_is_no_segment_is_refused() {
        let file = memfd_create("short", MemfdFlags::CLOEXEC).expect("a file");
        assert!(GroupSegment::open(&file).is_err());
        let (page, file) = GroupSegment::create(3).expect("a segment");
        assert!(GroupSegment::open(&file).is_ok());
        page.barrier().set_members(4);
        assert!(GroupSegment::open(&file).is_err(), "as long as one of three");
    }

    fn open_pair() -> (GroupSegment, GroupSegment) {
        let (_page, file) = GroupSegment::create(2).expect("a segment");
        let open = || GroupSegment::open(&file).expect("it opens");
        (open(), open())
    }

    #[test]
    fn shown_data_is_read_at_every_length() {
        let (one, other) = open_pair();
        for (round, length) in [0, 1, SHORT, SHORT + 1, SLOT_BYTES].into_iter().enumerate() {
            let data: Vec<u8> = (0..length).map(|at| (at * 7 + round) as u8).collect();
            let (first, second) = data.split_at(length / 3);
            assert!(one.show(1, round as u64, 40 + round as u32, [first, second].into_iter()));
            assert_eq!(other.shown(1, round as u64), (40 + round as u32, length));
            let mut read = vec![0; length - length / 2];
            assert!(other.read(1, round as u64, length / 2, &mut read));
            assert!(read == data[length / 2..]);
            read.push(0);
            assert!(!other.read(1, round as u64, length / 2, &mut read), "more than was shown");
        }
        assert!(!one.show(1, 0, 0, [&[0; SLOT_BYTES + 1][..]].into_iter()), "too much");
        assert!(!one.show(2, 0, 0, std::iter::empty()) && !other.read(2, 0, 0, &mut []), "no such member");
    }

    #[test]
    fn round_leaves_data_of_previous_round_intact() {
        let (one, other) = open_pair();
        assert!(
            one.show(0, 6, 1, [&[6; 100][..]].into_iter()) && one.show(0, 7, 2, [&[7; 9][..]].into_iter())
        );
        let (mut before, mut now) = ([0; 100], [0; 9]);
        assert!(other.read(0, 6, 0, &mut before) && other.read(0, 7, 0, &mut now));
        assert_eq!((before, now), ([6; 100], [7; 9]));
    }

    #[test]
    fn shown_length_is_clamped_to_slot() {
        let (one, other) = open_pair();
        assert!(one.show(0, 0, 1, [&[1; 8][..]].into_iter()));
        one.head(0, 0).length.store(u32::MAX, Ordering::Relaxed);
        assert_eq!(other.shown(0, 0).1, SLOT_BYTES);
        assert!(!other.read(0, 0, SLOT_BYTES, &mut [0]));
    }
}
