//! The runtime: engine, session and transports of one process, and the step that moves them on.

use crate::connect::{Early, Expected};
use crate::events::Leaving;
use crate::ledger::{self, Account};
use crate::recording;
use crate::time::Time;
use crate::waiting::{Crowd, Patience, sleep_limit, woken_from_own_core};
use crate::watching::Noticed;
use parvum_engine::{Block, Counter, Engine, Ledger, PullRefused, Remote, RequestId, Settings};
use parvum_page::{Book, MeetingPage, Recording, TaskPage, WaitingFor, monotonic_ns};
use parvum_task::{Options, Session, SessionError};
use parvum_transport::Route;
use parvum_waist::{Notes, REMOTE};
use parvum_wire::Tid;
use parvum_wire::control::{Request, Role};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Memory that no message has used for so long is given back, at the latest after twice that time.
const REST: Duration = Duration::from_millis(400);

/// The longest sleep of a task that has something to hand over.
const NAP: Duration = Duration::from_millis(1);

/// Everything a task has while it is part of a machine.
pub(crate) struct Runtime {
    pub(crate) engine: Engine,
    pub(crate) session: Session,
    pub(crate) page: Arc<TaskPage>,
    pub(crate) event: OwnedFd,
    /// What this task does, if its job is recorded.
    pub(crate) recording: Option<Arc<Recording>>,
    pub(crate) parent: Option<Tid>,
    /// The page's control counter when the session was last looked at.
    control_seen: u32,
    pub(crate) patience: Patience,
    /// Where the time goes, as far as it is measured.
    pub(crate) time: Time,
    /// How long it has slept, and how often it has asked in vain, since it last looked for the daemon.
    slept_unlooked: Duration,
    asked_unlooked: u32,
    /// It has spun for the wait that is about to begin.
    pub(crate) has_spun: bool,
    /// Its beginning was recorded.
    pub(crate) wait_is_noted: bool,
    /// When memory that nobody uses was last looked for.
    rested: Instant,
    /// The tasks of this host that this one talks to.
    pub(crate) crowd: Crowd,
    pub(crate) routes: RoutePolicy,
    pub(crate) single_copy: bool,
    /// Sockets of links, to be watched while the task sleeps.
    pub(crate) watched: Vec<(Tid, OwnedFd)>,
    pub(crate) routed: Option<parvum_routed::Hub>,
    pub(crate) listener: Option<OwnedFd>,
    pub(crate) expected: Vec<Expected>,
    /// Connections that came before the daemon said so.
    pub(crate) early: Vec<Early>,
    pub(crate) greeting: Vec<parvum_tcp::Greeting>,
    /// Tasks that are gone and have routed frames on their way to us.
    pub(crate) leaving: Vec<Leaving>,
    /// Tasks whose end the daemon was asked to tell, though there is no link to them.
    pub(crate) looked_after: HashSet<Tid>,
    /// The receiver of long messages that did not catch up when it was waited for.
    pub(crate) slow: Option<Tid>,
    /// The one descriptor that stands for all others, if the program waits for descriptors itself.
    pub(crate) all: Option<OwnedFd>,
    /// What the program knows of its messages when it waits for descriptors.
    pub(crate) noticed: Noticed,
    /// The pages in which the members of groups meet, by the group's name.
    pub(crate) meetings: Vec<(String, Arc<MeetingPage>)>,
    /// The barrier that the page names.
    pub(crate) shown_barrier: (String, i32),
    /// The meeting that this task waits in, beside everything else.
    pub(crate) also: Option<Arc<MeetingPage>>,
    /// The resource manager, if a task plays it.
    pub(crate) manager: Option<Tid>,
    /// What a tracer of all tasks wants, in its interface's words.
    pub(crate) tracer: Option<Vec<u8>>,
    /// Blocks lent to interfaces, by handle.
    pub(crate) lent: Vec<Option<Block>>,
    /// Data that is still with its sender, by handle.
    pub(crate) remotes: Vec<Option<Remote>>,
}

/// Which routes messages take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RoutePolicy {
    /// From `PARVUM_ROUTE`; goes before what the program asks for.
    pub(crate) fixed: Option<Route>,
    /// What the program asked for.
    pub(crate) asked: Option<Route>,
}

impl RoutePolicy {
    /// The route to use from one task to another.
    #[inline]
    pub(crate) fn wanted(&self, from: Tid, to: Tid) -> Route {
        let wanted = self.fixed.or(self.asked).unwrap_or(Route::Shm);
        // Hosts share no memory.
        if wanted == Route::Shm && from.host() != to.host() { Route::Tcp } else { wanted }
    }
}

/// Why there is no runtime.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StartError {
    #[error(transparent)]
    Session(#[from] SessionError),
    #[error("E-OPTION: {name}={value} makes no sense; use {use_one_of}")]
    Option { name: &'static str, value: String, use_one_of: &'static str },
    #[error("E-PROTOCOL: the daemon gave this task no page; use command and libraries of one release")]
    NoPage,
    #[error("E-PROTOCOL: {0}")]
    Page(#[from] parvum_page::PageError),
}

impl Runtime {
    /// Joins the machine, starting it if there is none. `beside` is where this library lies.
    pub(crate) fn start(interface: &str, beside: Option<PathBuf>) -> Result<Runtime, StartError> {
        let routes = RoutePolicy { fixed: route_option()?, asked: None };
        let credit = number_option("PARVUM_CREDIT", Settings::default().credit)?;
        let single_copy = match std::env::var("PARVUM_SINGLE_COPY").as_deref() {
            Err(_) | Ok("" | "on") => true,
            Ok("off") => false,
            Ok(other) => {
                let value = other.to_owned();
                return Err(StartError::Option {
                    name: "PARVUM_SINGLE_COPY",
                    value,
                    use_one_of: "on or off",
                });
            }
        };
        let name = std::env::current_exe()
            .ok()
            .and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned()))
            .unwrap_or_else(|| "?".into());
        let mut session = Session::open(&Options { beside, ..Options::new(Role::Task, name) })?;
        if let Ok(daemon) = rustix::net::sockopt::socket_peercred(session.fd()) {
            crate::process::trust(daemon.pid.as_raw_nonzero().get());
        }
        let (page, event) = session.me.channel.take().ok_or(StartError::NoPage)?;
        let book = Book::open(&page)?;
        let page = Arc::new(TaskPage::open(page)?);
        page.set_interface(interface);
        page.door().set_scheduled_in(crate::scheduling::group());
        let settings = Settings { credit };
        let recording = session.me.recording.take().map(recording::open).transpose()?;
        let mut engine = Engine::new(session.me.tid, settings, ledger_in(&page, book));
        if let Some(recording) = &recording {
            engine.record_to(Box::new(recording::Messages(recording.clone())));
        }
        Ok(Runtime {
            engine,
            parent: session.me.parent,
            session,
            control_seen: page.door().control_count().wrapping_sub(1),
            page,
            event,
            recording,
            patience: Patience::new(),
            time: Time::default(),
            slept_unlooked: Duration::ZERO,
            asked_unlooked: 0,
            has_spun: false,
            wait_is_noted: false,
            rested: Instant::now(),
            crowd: Crowd::new(),
            routes,
            single_copy,
            watched: Vec::new(),
            routed: None,
            listener: None,
            expected: Vec::new(),
            early: Vec::new(),
            greeting: Vec::new(),
            leaving: Vec::new(),
            looked_after: HashSet::new(),
            slow: None,
            all: None,
            noticed: Noticed::default(),
            meetings: Vec::new(),
            shown_barrier: Default::default(),
            also: None,
            manager: None,
            tracer: None,
            lent: Vec::new(),
            remotes: Vec::new(),
        })
    }

    /// Moves everything on. Whether anything moved. Never blocks.
    #[inline]
    pub(crate) fn progress(&mut self) -> bool {
        let moved = self.engine.progress();
        let control = self.page.door().control_count();
        if control != self.control_seen {
            self.control_seen = control;
            self.attend();
            return true;
        }
        if self.has_sockets() {
            return self.tend_sockets(moved) || moved;
        }
        moved
    }

    /// Whether something may come that no door is rung for.
    #[inline]
    pub(crate) fn has_sockets(&self) -> bool {
        !self.watched.is_empty() || !self.expected.is_empty() || !self.greeting.is_empty()
    }

    /// Whether this task sleeps in poll(2).
    pub(crate) fn must_poll(&self) -> bool {
        self.has_sockets()
    }

    /// How long it makes sense to spin now. The daemon may need this core to bring what is waited for; so may a peer.
    pub(crate) fn spinning_budget(&self) -> Duration {
        let in_the_way = self.meets_many() || self.routed.is_some() || self.crowd.exceeds_cores();
        if in_the_way { Duration::ZERO } else { self.patience.budget() }
    }

    /// Whether it waits for more tasks than could all run at once.
    fn meets_many(&self) -> bool {
        self.also.as_ref().is_some_and(|meeting| meeting.members() as usize > self.crowd.cores())
    }

    /// Works and waits until `done` gives something, as `notes` say; `None` when the time is over
    /// or the machine is lost.
    #[inline]
    pub(crate) fn wait_until<T>(
        &mut self,
        notes: &Notes,
        mut done: impl FnMut(&mut Runtime) -> Option<T>,
    ) -> Option<T> {
        if let Some(found) = done(self) {
            self.end_noted_wait(notes);
            return Some(found);
        }
        self.progress();
        if let Some(found) = done(self) {
            self.end_noted_wait(notes);
            return Some(found);
        }
        if notes.limit == 0 {
            self.look_after(Duration::ZERO);
            return None;
        }
        self.wait_patiently(notes, done)
    }

    /// Looks for the daemon now and then, after sleeps of some length in all or many questions in vain: nothing rings
    /// when it dies, and a program may never wait for long at once.
    fn look_after(&mut self, slept: Duration) {
        const SLEPT: Duration = Duration::from_millis(400);
        const IN_VAIN: u32 = 256;
        self.slept_unlooked += slept;
        self.asked_unlooked += 1;
        if self.slept_unlooked >= SLEPT || self.asked_unlooked >= IN_VAIN {
            (self.slept_unlooked, self.asked_unlooked) = (Duration::ZERO, 0);
            self.attend();
            self.rest(Instant::now());
        }
    }

    /// Gives back memory of pairs that are idle, now and then. A pair that is used more often than that keeps it,
    /// even if its tasks sleep before each message.
    pub(crate) fn rest(&mut self, now: Instant) {
        if now.saturating_duration_since(self.rested) >= REST {
            self.rested = now;
            self.engine.rest();
        }
    }

    /// So long a task takes turns before it sleeps: some rounds of a few dozen tasks on a core.
    const TURNS: Duration = Duration::from_micros(200);

    /// So many turns a task takes with members of a meeting that the kernel may not let it take turns with.
    const FEW_TURNS: u32 = 4;

    /// Who waits so long for its turn shares the core with somebody who computes: asleep it would be called at once.
    const LONG_TURN: Duration = Duration::from_millis(1);

    /// Looks at the clock once in so many rounds of spinning.
    pub(crate) const ROUNDS: u32 = 32;

    /// So many times longer a task spins that has a connection to another host: the kernel takes more
    /// than a wake-up's time to bring a message, and likes to wake a receiver on the core where the
    /// network's work is done, which is the sender's when both are on one host.
    const FAR: u32 = 4;

    #[inline(never)]
    fn wait_patiently<T>(&mut self, notes: &Notes, done: impl FnMut(&mut Runtime) -> Option<T>) -> Option<T> {
        let began = self.time.begins_wait();
        if !std::mem::take(&mut self.wait_is_noted) {
            self.note_wait(notes);
        }
        let found = self.look_and_sleep(notes, done);
        self.note_end_of_wait(notes);
        self.time.ends_wait(began);
        found
    }

    #[inline(always)]
    fn look_and_sleep<T>(
        &mut self,
        notes: &Notes,
        mut done: impl FnMut(&mut Runtime) -> Option<T>,
    ) -> Option<T> {
        let deadline = (notes.limit > 0).then(|| Instant::now() + Duration::from_nanos(notes.limit as u64));
        loop {
            let far = if self.has_sockets() { Self::FAR } else { 1 };
            let has_spun = std::mem::take(&mut self.has_spun);
            let budget = if has_spun { Duration::ZERO } else { self.spinning_budget() * far };
            let mut since = Instant::now();
            while !budget.is_zero() {
                for _ in 0..Self::ROUNDS {
                    if self.progress() {
                        // What has begun to come goes on coming.
                        since = Instant::now();
                    }
                    if let Some(found) = done(self) {
                        self.patience.spun(since);
                        return Some(found);
                    }
                    std::hint::spin_loop();
                }
                if far > 1 {
                    // The kernel may have put the sender on this core; it does not move it while this
                    // task spins.
                    rustix::thread::sched_yield();
                }
                if since.elapsed() >= budget || self.crowd.wants_this_core(&self.page) {
                    break;
                }
            }
            if let Some(found) = self.take_turns(deadline, &mut done) {
                return Some(found);
            }
            if let Some(found) = self.sleep_until(notes, deadline, &mut done) {
                return found;
            }
            if deadline.is_some_and(|end| Instant::now() >= end) {
                return None;
            }
        }
    }

    /// Lets others have this core, and looks after each time, for a while. Tasks that exchange messages and are more than
    /// there are cores go on so without anybody falling asleep and being woken, which costs far more than a turn.
    fn take_turns<T>(
        &mut self,
        deadline: Option<Instant>,
        done: &mut impl FnMut(&mut Runtime) -> Option<T>,
    ) -> Option<T> {
        let mut turns = match self.can_take_turns() {
            _ if !self.is_in_the_way() || !self.patience.takes_turns() => return None,
            true => u32::MAX,
            // If all have only to come to a meeting, one turn of each is enough, in whatever group.
            false if self.meets_many() => Self::FEW_TURNS,
            false => return None,
        };
        let began = Instant::now();
        let until = deadline.map_or(began + Self::TURNS, |end| end.min(began + Self::TURNS));
        let mut turn = began;
        while turn < until && turns > 0 {
            turns -= 1;
            rustix::thread::sched_yield();
            self.progress();
            if let Some(found) = done(self) {
                return Some(found);
            }
            let now = Instant::now();
            if now - turn >= Self::LONG_TURN {
                self.patience.waited_for_turn();
                return None;
            }
            turn = now;
        }
        None
    }

    /// Whether others that the message may depend on want this core.
    fn is_in_the_way(&self) -> bool {
        self.meets_many() || self.crowd.wants_this_core(&self.page)
    }

    /// Whether the kernel gives this core to those others when this task yields.
    fn can_take_turns(&self) -> bool {
        let group = self.page.door().scheduled_in();
        let meeting = self.also.as_ref().is_none_or(|meeting| meeting.is_scheduled_in(group));
        meeting && self.crowd.takes_turns_with(&self.page)
    }

    /// Sleeps until something comes. `Some` when the wait is over, either way.
    fn sleep_until<T>(
        &mut self,
        notes: &Notes,
        deadline: Option<Instant>,
        done: &mut impl FnMut(&mut Runtime) -> Option<T>,
    ) -> Option<Option<T>> {
        let Notes { call, peer, tag, context, .. } = *notes;
        let since = monotonic_ns();
        let until = deadline.map_or(0, |end| {
            let left = end.saturating_duration_since(Instant::now());
            since.saturating_add(left.as_nanos() as u64)
        });
        self.page.wait_for(WaitingFor { call, peer, tag, context, since, until });
        let began = Instant::now();
        self.page.door().set_own_cpu(rustix::thread::sched_getcpu() as u32);
        let mut slept = Duration::ZERO;
        // Who wakes by a socket does not say where it ran, and the page still tells of another.
        let mut waker_is_known = true;
        let over = loop {
            let in_poll = self.has_sockets();
            let changes = self.also.as_ref().map(|meeting| meeting.fall_asleep());
            let rings = if in_poll { self.page.fall_asleep_in_poll() } else { self.page.fall_asleep() };
            let moved = self.progress();
            if let Some(found) = done(self) {
                self.page.stay_awake();
                break Some(Some(found));
            }
            // What moved may have made more to do, such as reading from a new link; who sleeps on
            // the futex hears no socket.
            if moved || in_poll != self.has_sockets() {
                self.page.stay_awake();
                continue;
            }
            let mut limit = sleep_limit(deadline);
            if self.engine.has_output() {
                // A reader that makes room rings, but may just have missed that we wait for it.
                limit = limit.min(NAP);
            }
            if in_poll {
                if self.also.is_some() {
                    // No page wakes who sleeps there.
                    limit = limit.min(NAP);
                }
                self.sleep_in_poll(limit);
            } else if let (Some(meeting), Some(changes)) = (&self.also, changes) {
                meeting.sleep(changes, &self.page, rings, limit);
            } else {
                self.page.sleep(rings, Some(limit));
            }
            waker_is_known = !in_poll || self.page.was_rung(rings);
            let before = std::mem::replace(&mut slept, began.elapsed());
            self.progress();
            if let Some(found) = done(self) {
                break Some(Some(found));
            }
            self.look_after(slept - before);
            if self.session.is_lost() || deadline.is_some_and(|end| Instant::now() >= end) {
                break Some(None);
            }
        };
        self.page.wait_over();
        if !slept.is_zero() {
            let nanoseconds = slept.as_nanos() as u64;
            self.time.asleep += nanoseconds;
            self.engine.ledger().add(Counter::Asleep, nanoseconds);
            self.engine.ledger().add(Counter::Sleeps, 1);
            if Tid(peer).is_task() {
                self.engine.waited_for(Tid(peer), nanoseconds);
            }
            self.patience.slept(slept, waker_is_known && woken_from_own_core(&self.page));
        }
        over
    }

    /// Sleeps in poll(2) on the eventfd and all sockets.
    fn sleep_in_poll(&mut self, limit: Duration) {
        let limit = Timespec { tv_sec: limit.as_secs() as i64, tv_nsec: limit.subsec_nanos().into() };
        let output = if self.engine.has_output() { PollFlags::OUT } else { PollFlags::empty() };
        let flags = PollFlags::IN | PollFlags::RDHUP | output;
        let session = self.session.fd();
        let mut sources = vec![PollFd::new(&self.event, PollFlags::IN), PollFd::new(&session, PollFlags::IN)];
        sources.extend(self.watched.iter().map(|(_, socket)| PollFd::new(socket, flags)));
        sources.extend(
            self.greeting.iter().map(|greeting| PollFd::from_borrowed_fd(greeting.socket(), PollFlags::IN)),
        );
        sources.extend(
            self.listener
                .iter()
                .filter(|_| self.accepts_more())
                .map(|socket| PollFd::new(socket, PollFlags::IN)),
        );
        let _ = poll(&mut sources, Some(&limit));
        let over = PollFlags::RDHUP | PollFlags::HUP | PollFlags::ERR;
        let watched = &sources[2..2 + self.watched.len()];
        let has_ended = watched.iter().any(|socket| socket.revents().intersects(over));
        drop(sources);
        self.page.stay_awake();
        let _ = rustix::io::read(&self.event, &mut [0; 8]);
        if has_ended {
            self.forget_ended();
        }
    }

    /// A connection that has ended is readable for ever. The daemon says later what became of the peer, seconds later
    /// when its host was lost: until then nobody must wait for that socket.
    fn forget_ended(&mut self) {
        self.progress();
        let engine = &self.engine;
        // The daemon's own stands under the name of this task.
        self.watched.retain(|(peer, _)| *peer == engine.me() || engine.is_attached(*peer, Route::Tcp));
    }

    /// Gives a receiver that is behind with long messages a moment to catch up: memory that it has
    /// read is still in the caches, memory that was never used is slow. One that does not use the
    /// moment is not waited for again until it has caught up.
    #[inline]
    pub(crate) fn give_way(&mut self, to: Tid, length: usize) {
        const LONG: usize = 64 << 10;
        if length < LONG {
            return;
        }
        if self.has_far_to_go(to, length) {
            self.await_taking(to, length);
        } else if self.slow == Some(to) {
            self.slow = None;
        }
    }

    /// Whether the receiver would have too much in memory that was lent for it.
    fn has_far_to_go(&mut self, to: Tid, length: usize) -> bool {
        const CACHED: usize = 4 << 20;
        let lent = self.engine.lent_to(to);
        lent > 0 && lent + length > CACHED
    }

    #[cold]
    fn await_taking(&mut self, to: Tid, length: usize) {
        if self.slow == Some(to) {
            return;
        }
        let notes =
            Notes { limit: 1_000_000, call: parvum_waist::call::SEND, peer: to.0, tag: -1, context: -1 };
        let caught_up = self.wait_until(&notes, |runtime| {
            (!runtime.has_far_to_go(to, length) || runtime.engine.is_gone(to)).then_some(())
        });
        self.slow = if caught_up.is_none() { Some(to) } else { None };
    }

    /// Asks the daemon, going on with messages meanwhile.
    pub(crate) fn ask(
        &mut self,
        request: Request,
        fds: &[BorrowedFd<'_>],
        notes: &Notes,
    ) -> Result<parvum_task::Answer, AskError> {
        let id = self.session.start_with(request, fds).map_err(AskError::Lost)?;
        let answer = self.wait_until(notes, |runtime| {
            if let Some(answer) = runtime.session.take_reply(id) {
                return Some(Ok(answer));
            }
            runtime.session.is_lost().then(|| Err(AskError::Lost(SessionError::Lost)))
        });
        match answer {
            Some(answer) => answer,
            None if self.session.is_lost() => Err(AskError::Lost(SessionError::Lost)),
            None => Err(AskError::Late),
        }
    }

    /// Hands over everything that was sent, then leaves the machine.
    pub(crate) fn depart(mut self) {
        let notes = Notes { limit: -1, call: parvum_waist::call::EXIT, peer: -1, tag: -1, context: -1 };
        self.engine.hand_over();
        let flushed = |runtime: &mut Runtime| (runtime.engine.unfinished() == 0).then_some(());
        self.wait_until(&notes, flushed);
        self.await_acknowledgements(&notes);
        if !self.session.is_lost()
            && let Ok(id) = self.session.start(Request::Depart)
        {
            let brief = Notes { limit: 1_000_000_000, ..notes };
            self.wait_until(&brief, |runtime| {
                (runtime.session.take_reply(id).is_some() || runtime.session.is_lost()).then_some(())
            });
        }
    }

    /// Waits until the systems of the peers have what was sent by TCP. A socket that is closed
    /// while something unread lies in it, or comes later, takes back what is still in its buffer.
    fn await_acknowledgements(&mut self, notes: &Notes) {
        // Nothing rings for an acknowledgement.
        let nap = Notes { limit: NAP.as_nanos() as i64, ..*notes };
        let arrived = |runtime: &mut Runtime| (!runtime.is_unacknowledged()).then_some(());
        while self.wait_until(&nap, arrived).is_none() && !self.session.is_lost() {}
    }

    fn is_unacknowledged(&self) -> bool {
        let open = |peer: Tid| self.engine.is_attached(peer, Route::Tcp);
        let mut sockets = self.watched.iter();
        sockets.any(|(peer, socket)| open(*peer) && crate::process::unacknowledged(socket.as_fd()) > 0)
    }

    /// Keeps a block that an interface has, and names it.
    pub(crate) fn lend(&mut self, block: Block) -> u64 {
        keep(&mut self.lent, block)
    }

    /// Keeps what an interface knows of data that is with its sender, and names it.
    pub(crate) fn lend_remote(&mut self, remote: Remote) -> u64 {
        keep(&mut self.remotes, remote) | REMOTE
    }

    /// Takes the data of that name out of the list.
    pub(crate) fn take_remote(&mut self, handle: u64) -> Option<Remote> {
        let at = ((handle & !REMOTE) as usize).checked_sub(1)?;
        if handle & REMOTE == 0 { None } else { self.remotes.get_mut(at)?.take() }
    }

    /// Reads data that is with its sender.
    pub(crate) fn read_remote(&mut self, handle: u64, from: u64, out: &mut [u8]) -> Result<(), PullRefused> {
        let at = ((handle & !REMOTE) as usize).wrapping_sub(1);
        let remote = self.remotes.get(at).and_then(Option::as_ref).ok_or(PullRefused::NotPermitted)?;
        self.engine.read_remote(remote, from, out)
    }

    /// The lent block of that name.
    pub(crate) fn lent(&self, handle: u64) -> Option<&Block> {
        self.lent.get((handle as usize).checked_sub(1)?)?.as_ref()
    }

    /// Takes a block back.
    pub(crate) fn give_back(&mut self, handle: u64) {
        if let Some(remote) = self.take_remote(handle) {
            return self.engine.release_remote(remote);
        }
        let at = (handle as usize).wrapping_sub(1);
        if let Some(block) = self.lent.get_mut(at).and_then(Option::take) {
            self.engine.recycle(block);
        }
    }

    /// Whether the request is over; waits as the notes say.
    #[inline]
    pub(crate) fn wait_for(&mut self, request: RequestId, notes: &Notes) -> bool {
        self.wait_until(notes, |runtime| runtime.engine.is_over(request).then_some(())).is_some()
    }
}

/// Puts a thing into the first free place; names it by that place, counted from 1.
fn keep<T>(list: &mut Vec<Option<T>>, thing: T) -> u64 {
    let free = list.iter().position(Option::is_none);
    let at = free.unwrap_or_else(|| {
        list.push(None);
        list.len() - 1
    });
    list[at] = Some(thing);
    at as u64 + 1
}

/// Why the daemon gave no answer.
#[derive(Debug)]
pub(crate) enum AskError {
    /// The time was over.
    Late,
    /// The session is no more.
    Lost(SessionError),
}

/// A ledger whose cells are those of the page, and of the book behind it. The program may ask for them from now on.
fn ledger_in(page: &Arc<TaskPage>, book: Book) -> Ledger {
    // Both must outlive the process's engine: these references are never dropped.
    let page: &'static TaskPage = Box::leak(Box::new(page.clone()));
    let book: &'static Book = Box::leak(Box::new(book));
    ledger::open(Account { page, book });
    let counters = page.counters().first_chunk().expect("a page has more counters than a ledger");
    Ledger::new(counters, book.pairs(), &page.layout().unmatched)
}

fn route_option() -> Result<Option<Route>, StartError> {
    match std::env::var("PARVUM_ROUTE") {
        Err(_) => Ok(None),
        Ok(name) if name.is_empty() || name == "auto" => Ok(None),
        Ok(name) => match Route::ALL.into_iter().skip(1).find(|route| route.name() == name) {
            Some(route) => Ok(Some(route)),
            None => Err(StartError::Option {
                name: "PARVUM_ROUTE",
                value: name,
                use_one_of: "auto, shm, tcp or routed",
            }),
        },
    }
}

fn number_option(name: &'static str, default: u64) -> Result<u64, StartError> {
    match std::env::var(name) {
        Err(_) => Ok(default),
        Ok(text) => match text.parse() {
            Ok(number) if number > 0 => Ok(number),
            _ => Err(StartError::Option { name, value: text, use_one_of: "a positive number of bytes" }),
        },
    }
}

impl AsFd for Runtime {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.event.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use parvum_engine::Counter;
    use parvum_page::COUNTER_NAMES;

    #[test]
    fn the_page_names_the_counters_as_the_engine_numbers_them() {
        for (counter, name) in [
            (Counter::Sent, "messages sent"),
            (Counter::PulledBytes, "bytes fetched from their sender"),
            (Counter::Unexpected, "messages that found none"),
            (Counter::BufferedAtSender, "bytes buffered here, at the sender"),
            (Counter::CreditStalls, "sends that waited for credit"),
            (Counter::Refused, "single copies the system refused"),
            (Counter::SentOver, "messages sent to this task itself"),
            (Counter::WaitingSends, "sends under way now"),
            (Counter::CopiedFromHere, "bytes copied out of what was buffered here"),
        ] {
            assert_eq!(COUNTER_NAMES[counter as usize], name);
        }
    }
}
