//! A meeting in shared memory, and how its members sleep and are woken.

use crate::map::Map;
use crate::meeting::{Arrival, Meeting, Outcome};
use crate::page::{PageError, TaskPage, check_shape};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
use rustix::io::Errno;
use rustix::thread::ClockId;
use rustix::thread::futex::{self, Wait, WaitFlags, WaitPtr, WaitvFlags};
use rustix::time::{Timespec, clock_gettime};
use std::io;
use std::time::Duration;

/// A mapped meeting.
pub struct MeetingPage {
    map: Map,
}

/// Where the kernel cannot wait for two things at once (before Linux 5.16), a waiter looks this often.
const LOOKS: Duration = Duration::from_micros(200);

impl MeetingPage {
    /// Makes a meeting of so many members; gives the descriptor to hand on as well.
    pub fn create(members: u32) -> io::Result<(MeetingPage, OwnedFd)> {
        let file = memfd_create("parvum-meeting", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
        ftruncate(&file, crate::PAGE_BYTES as u64)?;
        fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
        let page = MeetingPage { map: Map::new(&file)? };
        page.meeting().set_members(members);
        Ok((page, file))
    }

    /// Maps the meeting behind `file`, which may be closed afterwards; refuses what is no sealed page.
    pub fn open(file: impl AsFd) -> Result<MeetingPage, PageError> {
        check_shape(file.as_fd(), crate::PAGE_BYTES)?;
        Ok(MeetingPage { map: Map::new(file)? })
    }

    fn meeting(&self) -> &Meeting {
        self.map.meeting()
    }

    /// How many members the group has.
    pub fn members(&self) -> u32 {
        self.meeting().members()
    }

    /// See [`Meeting::schedule_in`].
    pub fn schedule_in(&self, group: u32) {
        self.meeting().schedule_in(group);
    }

    /// See [`Meeting::is_scheduled_in`].
    pub fn is_scheduled_in(&self, group: u32) -> bool {
        self.meeting().is_scheduled_in(group)
    }

    /// Comes to the meeting; see [`Meeting::arrive`]. The last one wakes those who sleep.
    pub fn arrive(&self, count: Option<u32>) -> Arrival {
        let arrival = self.meeting().arrive(count);
        if arrival == (Arrival::Opened { wake: true }) {
            self.wake();
        }
        arrival
    }

    /// See [`Meeting::outcome`].
    pub fn outcome(&self, turn: u32) -> Option<Outcome> {
        self.meeting().outcome(turn)
    }

    /// Closes it and wakes everybody.
    pub fn close(&self) {
        self.meeting().close();
        self.wake();
    }

    fn wake(&self) {
        // The only error (a bad address) cannot happen to mapped memory.
        let _ = futex::wake(&self.meeting().changes, futex::Flags::empty(), i32::MAX as u32);
    }

    /// To be called before looking once more and going to sleep with [`MeetingPage::sleep`].
    pub fn fall_asleep(&self) -> u32 {
        self.meeting().fall_asleep()
    }

    /// Sleeps until the meeting changes from `changes`, somebody rings at `page` (`rings` is from
    /// [`TaskPage::fall_asleep`]), or the limit is over. Afterwards the task says at its page that it is awake.
    pub fn sleep(&self, changes: u32, page: &TaskPage, rings: u32, limit: Duration) {
        let until = clock_gettime(ClockId::Monotonic);
        let until = Duration::new(until.tv_sec as u64, until.tv_nsec as u32) + limit;
        let until = Timespec { tv_sec: until.as_secs() as i64, tv_nsec: until.subsec_nanos().into() };
        let on = |futex: *const u32, value: u32| {
            let mut wait = Wait::new();
            wait.val = value.into();
            wait.uaddr = WaitPtr::new(futex.cast_mut().cast());
            // Not private: the others live in other processes.
            wait.flags = WaitFlags::SIZE_U32;
            wait
        };
        let both = [on(self.meeting().changes.as_ptr(), changes), on(page.door().rings.as_ptr(), rings)];
        if let Err(Errno::NOSYS) = futex::waitv(&both, WaitvFlags::empty(), Some(&until), ClockId::Monotonic)
        {
            page.sleep(rings, Some(limit.min(LOOKS)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn many_threads_meet_many_times_and_each_round_is_whole() {
        const MEMBERS: u32 = 6;
        const ROUNDS: u32 = 300;
        let (page, file) = MeetingPage::create(MEMBERS).expect("a meeting");
        drop(page);
        let rounds = Arc::new(std::sync::Mutex::new(vec![0; ROUNDS as usize]));
        let threads: Vec<_> = (0..MEMBERS)
            .map(|_| {
                let (meeting, rounds) = (MeetingPage::open(&file).expect("it opens"), rounds.clone());
                std::thread::spawn(move || {
                    let own = TaskPage::create().expect("a page").0;
                    for round in 0..ROUNDS as usize {
                        rounds.lock().expect("no panic")[round] += 1;
                        if let Arrival::Waits(turn) = meeting.arrive(None) {
                            loop {
                                let changes = meeting.fall_asleep();
                                let rings = own.fall_asleep();
                                if meeting.outcome(turn).is_some() {
                                    break;
                                }
                                meeting.sleep(changes, &own, rings, Duration::from_secs(20));
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
    fn members_of_several_scheduling_groups_are_noticed() {
        let (page, _file) = MeetingPage::create(3).expect("a meeting");
        page.schedule_in(7);
        page.schedule_in(7);
        assert!(page.is_scheduled_in(7) && !page.is_scheduled_in(9));
        page.schedule_in(9);
        page.schedule_in(7);
        assert!(!page.is_scheduled_in(7) && !page.is_scheduled_in(9));
    }

    #[test]
    fn what_is_no_meeting_is_refused() {
        let file = memfd_create("short", MemfdFlags::CLOEXEC).expect("a file");
        assert!(MeetingPage::open(&file).is_err());
    }
}
