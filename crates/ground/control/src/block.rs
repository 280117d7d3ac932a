//! Making, opening and using a control block.

use crate::bell::Bell;
use crate::door::{Asleep, Door};
use crate::inbox::Marks;
use crate::layout::{COUNTERS, FILE_BYTES, Identity, Layout, MAGIC, PAGE_BYTES, VERSION};
use crate::map::Map;
use crate::text::{load_text, store_text};
use parvum_sync::futex::{self, Among, Woken};
use parvum_sync::global_fences;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, fcntl_get_seals, fstat, ftruncate, memfd_create};
use std::io;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Why a descriptor is not a control block.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// The file has the wrong size, or could still be shrunk under its readers.
    #[error("this is no control block of a task: wrong size, or not sealed")]
    Shape,
    /// The magic number is missing.
    #[error("this is no control block of a task: wrong magic number")]
    Magic,
    /// A control block of another version of Parvum.
    #[error("the control block has version {found}, this program knows {VERSION}")]
    Version {
        /// The version found.
        found: u32,
    },
    /// The system refused.
    #[error("the control block could not be mapped: {0}")]
    System(#[from] io::Error),
}

/// Among the counters: how often [`ControlBlock::notify`] was called.
const NOTICES: usize = 30;

/// What a task waits for, as read at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitingFor {
    /// Which kind of wait, and in the high half the number of the interface's word.
    pub call: u32,
    /// From whom; -1 anyone.
    pub peer: i32,
    /// Which tag; -1 any.
    pub tag: i32,
    /// Which context.
    pub context: i32,
    /// Since when, nanoseconds of CLOCK_MONOTONIC.
    pub since: u64,
    /// Until when at most; 0 without end.
    pub until: u64,
}

/// What a function does among the members of a communicator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Which function, by the number that the high half of a wait's call has.
    pub function: u32,
    /// The context of its messages.
    pub context: u32,
    /// The task's rank.
    pub rank: u32,
    /// How many members there are.
    pub size: u32,
    /// The root, or -1.
    pub root: i32,
    /// Which operation of the communicator's it is; -1 none.
    pub turn: i32,
    /// Bytes of data; all ones: no such number.
    pub bytes: u64,
    /// The communicator's name, in UTF-8, padded with zeros.
    pub name: [u64; 2],
}

/// A mapped control block. Everything in it may change at any time by the hand of
/// another process.
pub struct ControlBlock {
    map: Map,
}

impl Operation {
    /// The communicator's name, as far as there was room for it.
    pub fn name(&self) -> String {
        let bytes: Vec<u8> =
            self.name.iter().flat_map(|word| word.to_ne_bytes()).take_while(|byte| *byte != 0).collect();
        // Of a character that was cut in two nothing is shown.
        String::from_utf8_lossy(&bytes).trim_end_matches('\u{fffd}').to_owned()
    }
}

impl ControlBlock {
    /// Makes a control block of zeros, sealed so that nobody can shrink it under the
    /// others. Returns it with the descriptor to hand on (close-on-exec).
    pub fn create() -> io::Result<(ControlBlock, OwnedFd)> {
        let file = memfd_create("parvum-control", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
        ftruncate(&file, FILE_BYTES as u64)?;
        fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
        let control_block = ControlBlock { map: Map::new(&file)? };
        let header = &control_block.layout().header;
        header.version.store(VERSION, Ordering::Relaxed);
        header.size.store(PAGE_BYTES as u32, Ordering::Relaxed);
        // Release: partner of the acquire in `open`, so that who sees the magic
        // sees the version and size too.
        header.magic.store(MAGIC, Ordering::Release);
        Ok((control_block, file))
    }

    /// Maps the control block behind `file`, which may be closed afterwards.
    ///
    /// Refuses whatever is not a sealed control block of this version, so that a wrong
    /// descriptor from a peer can never raise SIGBUS here.
    pub fn open(file: impl AsFd) -> Result<ControlBlock, ControlError> {
        let file = file.as_fd();
        check_shape(file, FILE_BYTES)?;
        let control_block = ControlBlock { map: Map::new(file)? };
        let header = &control_block.layout().header;
        // Acquire: partner of the release in `create`.
        if header.magic.load(Ordering::Acquire) != MAGIC {
            return Err(ControlError::Magic);
        }
        let found = header.version.load(Ordering::Relaxed);
        if found != VERSION {
            return Err(ControlError::Version { found });
        }
        Ok(control_block)
    }

    /// The whole control block.
    pub fn layout(&self) -> &Layout {
        self.map.layout()
    }

    /// How to wake the task.
    pub fn door(&self) -> &Door {
        &self.layout().door
    }

    /// The counters.
    pub fn counters(&self) -> &[AtomicU64; COUNTERS] {
        &self.layout().counters
    }

    /// Says that something lies at `place` of the task's inbox, if it wants to be told, and wakes it if it sleeps; costs a fence
    /// and two loads when neither is so. `bell` is the task's eventfd. Call it after the message is visible.
    #[inline]
    pub fn announce(&self, place: impl FnOnce() -> u32, bell: impl Bell) {
        // Partner: the fences in `Door::declare`, `Opened::set` and `Marks::next`.
        self.door().before_the_look();
        if self.door().inbox.is_set() {
            self.layout().inbox.mark(place());
        }
        self.wake(self.door().knock_behind_fence(|| rustix::thread::sched_getcpu() as u32), bell);
    }

    /// Says that this task, which is awake and will be for long, makes the fence of those who ring before it sleeps: they need none.
    pub fn fence_for_ringers(&self) {
        if !self.door().inbox.is_set() && global_fences::is_known() {
            self.door().fence_for_ringers();
        }
    }

    /// Wants to be told from now on who has brought something. The task looks at all peers once more behind this.
    pub fn open_inbox(&self) {
        self.door().end_fences();
        self.door().inbox.set();
    }

    /// Where something was brought next since that was asked last; `None`: nowhere.
    pub fn next_mark(&self, marks: &mut Marks) -> Option<u32> {
        marks.next(&self.layout().inbox)
    }

    /// Wakes the task if it sleeps; costs a fence and a load when it does not.
    /// `bell` is the task's eventfd. Call it after the message is visible.
    #[inline]
    pub fn ring(&self, bell: impl Bell) {
        self.wake(self.door().knock(|| rustix::thread::sched_getcpu() as u32), bell);
    }

    /// Wakes who sleeps so.
    #[inline]
    fn wake(&self, how: Asleep, bell: impl Bell) {
        match how {
            Asleep::No => {}
            Asleep::OnFutex => {
                futex::wake(&self.door().rings, futex::ALL, Among::Processes);
            }
            Asleep::InPoll => {
                bell.ring();
            }
        }
    }

    /// As [`ControlBlock::ring`], for what lies in a socket: a task that sleeps in poll(2) hears that by itself.
    pub fn ring_for_socket(&self) {
        if self.door().knock(|| rustix::thread::sched_getcpu() as u32) == Asleep::OnFutex {
            futex::wake(&self.door().rings, futex::ALL, Among::Processes);
        }
    }

    /// Says that a thread of the task's takes in what comes, when it is called, while the program computes.
    pub fn set_attended(&self) {
        // Relaxed: a hint. Who does not see it yet keeps the data itself.
        self.layout().attended.store(1, Ordering::Relaxed);
    }

    /// Whether somebody takes in what comes while the task's program computes.
    #[inline]
    pub fn is_attended(&self) -> bool {
        self.layout().attended.load(Ordering::Relaxed) != 0
    }

    /// Calls that thread, unless the task waits for something itself and so sees what comes.
    pub fn summon(&self, bell: impl Bell) {
        if self.is_attended() && self.waiting_for().is_none() {
            bell.ring();
        }
    }

    /// Says that a note for the task's interface lies in its links; the only counter that others write.
    pub fn notify(&self) {
        // Release: who sees the count and then looks at the link finds the note there.
        self.counters()[NOTICES].fetch_add(1, Ordering::Release);
    }

    /// Counts a control message sent to the task, and wakes it. The daemon calls
    /// this after the message is in the task's socket.
    pub fn announce_control(&self, bell: impl Bell) {
        // Release: partner of the acquire in `Door::control_count`.
        self.door().control.fetch_add(1, Ordering::Release);
        self.ring(bell);
    }

    /// Declares that the task is about to sleep on the futex and returns the
    /// value for [`ControlBlock::sleep`]. Afterwards the task looks for work once
    /// more; if it finds some, it calls [`ControlBlock::stay_awake`].
    pub fn fall_asleep(&self) -> u32 {
        self.door().declare(Asleep::OnFutex)
    }

    /// As [`ControlBlock::fall_asleep`], for a task that will sleep in poll(2) with
    /// its eventfd among the descriptors.
    pub fn fall_asleep_in_poll(&self) -> u32 {
        self.door().declare(Asleep::InPoll)
    }

    /// Wakes whoever sleeps behind the door, a thread of this very task, also where peers ring no more because somebody has
    /// rung already. `bell` is the task's eventfd.
    pub fn rouse(&self, bell: impl Bell) {
        self.door().count_ring();
        futex::wake(&self.door().rings, futex::ALL, Among::Processes);
        bell.ring();
    }

    /// Sleeps until somebody rings or `limit` is over (`None`: without limit).
    /// `rings` comes from [`ControlBlock::fall_asleep`]. When the sleeper has found out what other threads of its task do,
    /// it says that it is awake, with [`ControlBlock::stay_awake`].
    pub fn sleep(&self, rings: u32, limit: Option<Duration>) -> Woken {
        futex::sleep(&self.door().rings, rings, limit, Among::Processes)
    }

    /// The word that changes when somebody rings.
    pub fn rings(&self) -> &AtomicU32 {
        &self.door().rings
    }

    /// Whether somebody has rung since the task declared that it was about to sleep.
    pub fn was_rung(&self, rings: u32) -> bool {
        // Acquire: partner of the release in `knock`, so that the waker's place is the one of that ring.
        self.door().rings.load(Ordering::Acquire) != rings
    }

    /// Takes back [`ControlBlock::fall_asleep`].
    pub fn stay_awake(&self) {
        self.door().stay_awake();
    }

    /// Writes who the task is. The daemon calls this when it makes the task, the
    /// task itself when it learns more.
    pub fn identify(&self, tid: i32, pid: u32, program: &str) {
        let identity = self.identity();
        identity.tid.store(tid, Ordering::Relaxed);
        identity.pid.store(pid, Ordering::Relaxed);
        identity.started.store(monotonic_ns(), Ordering::Relaxed);
        store_text(&identity.program, program);
    }

    /// Names the interface the program speaks.
    pub fn set_interface(&self, name: &str) {
        store_text(&self.identity().interface, name);
    }

    /// The interface the program speaks; empty when it has not said.
    pub fn interface(&self) -> String {
        load_text(&self.identity().interface)
    }

    /// The program's name.
    pub fn program(&self) -> String {
        load_text(&self.identity().program)
    }

    /// Notes whether the program must say that it ends before it does.
    pub fn set_owes_end(&self, owes: bool) {
        // Relaxed: it is read when the process has ended.
        self.layout().header.owes_end.store(owes.into(), Ordering::Relaxed);
    }

    /// Whether the program has yet to say that it ends.
    pub fn owes_end(&self) -> bool {
        self.layout().header.owes_end.load(Ordering::Relaxed) == 1
    }

    /// Names the routes with these numbers.
    pub fn name_routes(&self, names: &[(u8, &str)]) {
        self.layout().routes.write(names);
    }

    /// The names of routes, by number; an empty one is of a number not in use.
    pub fn routes(&self) -> Vec<String> {
        self.layout().routes.read()
    }

    /// Who the task is.
    pub fn identity(&self) -> &Identity {
        &self.layout().identity
    }

    /// Says what the task is about to wait for.
    pub fn wait_for(&self, what: WaitingFor) {
        let waiting = &self.layout().waiting;
        waiting.peer.store(what.peer, Ordering::Relaxed);
        waiting.tag.store(what.tag, Ordering::Relaxed);
        waiting.context.store(what.context, Ordering::Relaxed);
        waiting.since.store(what.since, Ordering::Relaxed);
        waiting.until.store(what.until, Ordering::Relaxed);
        // Release: partner of the acquire in `waiting_for`.
        waiting.call.store(what.call, Ordering::Release);
    }

    /// Says in which group's barrier the task is about to wait, and for how many; -1 for all members.
    pub fn set_barrier(&self, group: &str, count: i32) {
        let barrier = &self.layout().barrier;
        store_text(&barrier.group, group);
        barrier.count.store(count, Ordering::Relaxed);
    }

    /// In which group's barrier the task waits, if in any, and for how many.
    pub fn barrier(&self) -> (String, i32) {
        let barrier = &self.layout().barrier;
        (load_text(&barrier.group), barrier.count.load(Ordering::Relaxed))
    }

    /// Says what the task is about to do among the members of a communicator. It stays when that is over.
    #[inline]
    pub fn set_operation(&self, what: &Operation) {
        let cells = &self.layout().operation;
        // Relaxed: a wait that shows the same function and context is written with a release behind it.
        cells.function.store(what.function, Ordering::Relaxed);
        cells.context.store(what.context, Ordering::Relaxed);
        cells.rank.store(what.rank, Ordering::Relaxed);
        cells.size.store(what.size, Ordering::Relaxed);
        cells.root.store(what.root, Ordering::Relaxed);
        cells.turn.store(what.turn, Ordering::Relaxed);
        cells.bytes.store(what.bytes, Ordering::Relaxed);
        cells.name[0].store(what.name[0], Ordering::Relaxed);
        cells.name[1].store(what.name[1], Ordering::Relaxed);
    }

    /// What the task said last that it does; its function is 0 when it said nothing.
    pub fn operation(&self) -> Operation {
        let cells = &self.layout().operation;
        Operation {
            function: cells.function.load(Ordering::Relaxed),
            context: cells.context.load(Ordering::Relaxed),
            rank: cells.rank.load(Ordering::Relaxed),
            size: cells.size.load(Ordering::Relaxed),
            root: cells.root.load(Ordering::Relaxed),
            turn: cells.turn.load(Ordering::Relaxed),
            bytes: cells.bytes.load(Ordering::Relaxed),
            name: [cells.name[0].load(Ordering::Relaxed), cells.name[1].load(Ordering::Relaxed)],
        }
    }

    /// Says that the task computes again.
    pub fn wait_over(&self) {
        self.layout().waiting.call.store(0, Ordering::Relaxed);
    }

    /// What the task waits for; `None` while it computes.
    pub fn waiting_for(&self) -> Option<WaitingFor> {
        let waiting = &self.layout().waiting;
        // Acquire: partner of the release in `wait_for`.
        let call = waiting.call.load(Ordering::Acquire);
        (call != 0).then(|| WaitingFor {
            call,
            peer: waiting.peer.load(Ordering::Relaxed),
            tag: waiting.tag.load(Ordering::Relaxed),
            context: waiting.context.load(Ordering::Relaxed),
            since: waiting.since.load(Ordering::Relaxed),
            until: waiting.until.load(Ordering::Relaxed),
        })
    }
}

/// Nanoseconds of CLOCK_MONOTONIC, the clock of everything in the control block.
pub fn monotonic_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

pub(crate) fn check_shape(file: BorrowedFd<'_>, bytes: usize) -> Result<(), ControlError> {
    if check_seals(file)? == bytes { Ok(()) } else { Err(ControlError::Shape) }
}

/// How long a file is that cannot become shorter.
pub fn check_seals(file: BorrowedFd<'_>) -> Result<usize, ControlError> {
    let size = fstat(file).map_err(io::Error::from)?.st_size;
    let seals = fcntl_get_seals(file).map_err(|_| ControlError::Shape)?;
    if !seals.contains(SealFlags::SHRINK) {
        return Err(ControlError::Shape);
    }
    usize::try_from(size).map_err(|_| ControlError::Shape)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::event::{EventfdFlags, eventfd};
    use std::sync::Arc;

    #[test]
    fn control_block_shares_writes_between_mappings() {
        let (control_block, file) = ControlBlock::create().expect("a page");
        let other = ControlBlock::open(&file).expect("the same page");
        control_block.identify(0x40001, 77, "räuber-und-gendarm-mit-sehr-langem-namen");
        control_block.set_interface("pvm");
        control_block.set_barrier("workers", -1);
        let name = *b"MPI_COMM_WORLD\0\0";
        let name = [0, 8].map(|at| u64::from_ne_bytes(name[at..at + 8].try_into().expect("eight")));
        let does =
            Operation { function: 3, context: 9, rank: 1, size: 2, root: -1, turn: 7, bytes: u64::MAX, name };
        control_block.set_operation(&does);
        assert_eq!((other.operation(), other.operation().name()), (does, "MPI_COMM_WORLD".to_owned()));
        assert_eq!(other.barrier(), ("workers".into(), -1));
        assert_eq!(other.identity().tid.load(Ordering::Relaxed), 0x40001);
        assert_eq!(other.interface(), "pvm");
        assert!(other.program().starts_with("räuber-und-gendarm"));
        let what = WaitingFor { call: 3, peer: -1, tag: 7, context: 0, since: 9, until: 10 };
        control_block.wait_for(what);
        assert_eq!(other.waiting_for(), Some(what));
        control_block.wait_over();
        assert_eq!(other.waiting_for(), None);
    }

    #[test]
    fn control_block_open_refuses_other_files() {
        let empty = memfd_create("x", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING).expect("memfd");
        assert!(matches!(ControlBlock::open(&empty), Err(ControlError::Shape)));
        ftruncate(&empty, FILE_BYTES as u64).expect("grows");
        assert!(matches!(ControlBlock::open(&empty), Err(ControlError::Shape)), "not sealed");
        fcntl_add_seals(&empty, SealFlags::SHRINK).expect("seals");
        assert!(matches!(ControlBlock::open(&empty), Err(ControlError::Magic)));
        let (control_block, file) = ControlBlock::create().expect("a page");
        control_block.layout().header.version.store(VERSION + 1, Ordering::Relaxed);
        assert!(
            matches!(ControlBlock::open(&file), Err(ControlError::Version { found }) if found == VERSION + 1)
        );
    }

    #[test]
    fn sleeper_with_fence_never_misses_message() {
        global_fences::join();
        let (control_block, _file) = ControlBlock::create().expect("a page");
        let (control_block, count) = (Arc::new(control_block), Arc::new(AtomicU64::new(0)));
        let bell = eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC).expect("eventfd");
        let (ringer, counted) = (control_block.clone(), count.clone());
        const MESSAGES: u64 = 20_000;
        let thread = std::thread::spawn(move || {
            for message in 1..=MESSAGES {
                counted.store(message, Ordering::Release);
                ringer.announce(|| 0, &bell);
                // Now and then the sleeper has time to lie down.
                for _ in 0..message % 97 * 20 {
                    std::hint::spin_loop();
                }
            }
        });
        let mut seen = 0;
        let mut slept = 0;
        while seen < MESSAGES {
            control_block.fence_for_ringers();
            let before = std::mem::replace(&mut seen, count.load(Ordering::Acquire));
            if seen > before || seen == MESSAGES {
                continue;
            }
            let rings = control_block.fall_asleep();
            assert_eq!(
                control_block.door().fences.load(Ordering::Relaxed),
                0,
                "who is rung now makes its own"
            );
            if count.load(Ordering::Acquire) == seen {
                // A lost ring sleeps to the end of this.
                assert_eq!(control_block.sleep(rings, Some(Duration::from_secs(30))), Woken::Rung);
                slept += 1;
            }
            control_block.stay_awake();
        }
        thread.join().expect("the ringer");
        assert!(slept > 0, "it was always awake");
        control_block.fence_for_ringers();
        control_block.open_inbox();
        assert_eq!(control_block.door().fences.load(Ordering::Relaxed), 0, "marks want the ringer's own");
    }

    #[test]
    fn ring_wakes_sleeper_in_every_sleep_mode() {
        let (control_block, _file) = ControlBlock::create().expect("a page");
        let control_block = Arc::new(control_block);
        let bell = Arc::new(eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC).expect("eventfd"));
        let (ringer, its_bell) = (control_block.clone(), bell.clone());
        let thread = std::thread::spawn(move || {
            while ringer.door().is_awake() {
                std::thread::yield_now();
            }
            ringer.announce_control(&*its_bell);
        });
        let rings = control_block.fall_asleep();
        assert_eq!(control_block.sleep(rings, Some(Duration::from_secs(20))), Woken::Rung);
        thread.join().expect("the ringer");
        assert_eq!(control_block.door().control.load(Ordering::Relaxed), 1);

        control_block.fall_asleep_in_poll();
        control_block.ring(&*bell);
        control_block.stay_awake();
        let mut count = [0; 8];
        rustix::io::read(&*bell, &mut count).expect("it was rung");
        assert_eq!(u64::from_ne_bytes(count), 1);
        assert!(control_block.was_rung(rings) && !control_block.was_rung(control_block.fall_asleep()));

        let rings = control_block.fall_asleep();
        assert_eq!(control_block.sleep(rings, Some(Duration::from_millis(1))), Woken::TimedOut);
        control_block.ring(&*bell);
        assert!(rustix::io::read(&*bell, &mut count).is_err(), "nobody slept, nobody was rung");
    }
}
