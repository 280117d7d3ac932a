//! Making links: which route, and what it takes to open it.

use crate::events::OUT_OF_DESCRIPTORS;
use crate::runtime::{AskError, Runtime};
use parvum_engine::Pattern;
use parvum_page::{Taken, TaskPage};
use parvum_shm::{BadSegment, Bell, Segment, ShmLink};
use parvum_task::SessionError;
use parvum_transport::{Link, Route};
use parvum_waist::{Notes, call};
use parvum_wire::Tid;
use parvum_wire::control::{ErrorKind, Failure, Reply, Request};
use rustix::fd::AsFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Why there is no link to a task.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConnectError {
    #[error("{0}")]
    Refused(#[from] Failure),
    #[error(transparent)]
    Lost(#[from] SessionError),
    #[error("E-DEADLINE: the daemon did not answer within a minute")]
    Late,
    #[error("E-PROTOCOL: the daemon answered {0}")]
    Protocol(&'static str),
    #[error("E-NOMEMORY: {0}")]
    Segment(#[from] BadSegment),
    #[error("E-RESOURCES: {0} cannot be joined, {OUT_OF_DESCRIPTORS}")]
    Descriptors(Tid),
    #[error("E-PROTOCOL: {0}")]
    Page(#[from] parvum_page::PageError),
    /// The machine's hosts speak to each other through the daemons alone.
    #[error("E-TCP: this machine encrypts what passes between hosts")]
    ByDaemons,
    #[error("E-TCP: no connection to {0}: {1}")]
    Tcp(String, std::io::Error),
}

impl From<AskError> for ConnectError {
    fn from(error: AskError) -> ConnectError {
        match error {
            AskError::Late => ConnectError::Late,
            AskError::Lost(why) => ConnectError::Lost(why),
        }
    }
}

/// A task that will connect by TCP, and what it will show.
pub(crate) struct Expected {
    from: Tid,
    token: [u8; 16],
}

/// A connection that nobody has announced yet.
pub(crate) struct Early {
    caller: parvum_tcp::Caller,
    since: Instant,
}

/// A connection that has not said yet who it is.
pub(crate) struct Silent {
    pub(crate) greeting: parvum_tcp::Greeting,
    since: Instant,
}

/// So many connections may come before they are announced, and so many be silent; more take the places of the oldest. As
/// many tasks may connect at once: the words of each are on their way for a moment.
const EARLY: usize = 1024;
/// So long a connection waits to be announced.
const EARLY_FOR: Duration = Duration::from_secs(60);
/// So long it may be silent. A task says who it is with its first bytes.
const SILENT_FOR: Duration = Duration::from_secs(5);
/// So many connections are taken at a time: behind them the task has other work.
const AT_A_TIME: usize = 256;

/// The daemon answers at once; a minute means that it hangs.
pub(crate) const MINUTE: Notes =
    Notes { limit: 60_000_000_000, call: call::MACHINE, peer: -1, tag: -1, context: -1 };

impl Runtime {
    /// Makes sure that messages to `to` go over the wanted route.
    #[inline]
    pub(crate) fn reach(&mut self, to: Tid) -> Result<(), ConnectError> {
        if self.is_leaving(to) {
            // Its last words may still come, but it hears no more.
            return Err(Failure::new(ErrorKind::NoSuchTask, to.to_string()).into());
        }
        let wanted = self.routes.wanted(self.engine.me(), to);
        match self.engine.route_to(to) {
            Some(route) if route == wanted || route == Route::Own => Ok(()),
            // The send says that it is gone.
            None if self.is_lately_gone(to) => Ok(()),
            _ => {
                let reached = self.reach_slowly(to, wanted);
                if let Err(ConnectError::Refused(why)) = &reached
                    && why.kind == ErrorKind::NoSuchTask
                {
                    self.lose(to);
                }
                reached
            }
        }
    }

    /// Whether the daemon has said within a second that there is no such task: it is not asked again for each message. Later
    /// its id may be another's.
    #[cold]
    fn is_lately_gone(&self, to: Tid) -> bool {
        const LATELY: Duration = Duration::from_secs(1);
        self.engine.is_gone(to) && self.gone_at.get(&to).is_some_and(|at| at.elapsed() < LATELY)
    }

    #[inline(never)]
    fn reach_slowly(&mut self, to: Tid, wanted: Route) -> Result<(), ConnectError> {
        // What the peer offered meanwhile will do.
        self.attend();
        if self.engine.prefer(to, wanted) {
            self.explain(to, wanted, Taken::NotNeeded);
            return Ok(());
        }
        match wanted {
            Route::Own | Route::Shm => self.connect_shm(to)?,
            Route::Tcp => match self.connect_tcp(to) {
                // No direct way between the two hosts: through their daemons.
                Err(why @ (ConnectError::Tcp(..) | ConnectError::ByDaemons))
                    if self.engine.me().host() != to.host() =>
                {
                    let by_daemons = matches!(why, ConnectError::ByDaemons);
                    let tcp = if by_daemons { Taken::Encrypted } else { Taken::Refused };
                    self.connect_routed(to)?;
                    self.engine.prefer(to, Route::Routed);
                    self.explain(to, Route::Routed, tcp);
                    return Ok(());
                }
                connected => connected?,
            },
            Route::Routed => self.connect_routed(to)?,
        }
        self.engine.prefer(to, wanted);
        self.explain(to, wanted, Taken::NotNeeded);
        Ok(())
    }

    /// Takes in a link that the other task has made.
    pub(crate) fn joined_by(&mut self, from: Tid, route: Route, link: Box<dyn Link>) {
        self.engine.attach(from, route, link);
        // Else the first send asks for another, and says why.
        if self.engine.route_to(from) == Some(route) && self.routes.wanted(self.engine.me(), from) == route {
            self.explain(from, route, Taken::NotNeeded);
        }
    }

    /// Says for onlookers why messages to a task take a route, and not the others.
    fn explain(&mut self, to: Tid, taken: Route, tcp: Taken) {
        let here = self.engine.me().host() == to.host();
        let asked = self.routes.fixed.or(self.routes.asked).is_some();
        let words = Route::ALL.map(|route| match route {
            _ if route == taken => Taken::InUse,
            Route::Own => Taken::Unknown,
            Route::Shm if !here => Taken::OtherHost,
            Route::Tcp if tcp != Taken::NotNeeded => tcp,
            _ if asked => Taken::AskedOther,
            _ => Taken::NotNeeded,
        });
        self.engine.explain_route(to, words.map(|word| word as u8));
    }

    /// Whether such a message may still come. Of one certain task that is waited for the
    /// daemon is asked to tell when it is gone.
    #[inline]
    pub(crate) fn may_hear(&mut self, pattern: &Pattern) -> bool {
        match pattern.from {
            Some(from) if from.is_task() => {
                self.engine.route_to(from).is_some() || self.may_hear_from(from, pattern)
            }
            _ => true,
        }
    }

    #[inline(never)]
    fn may_hear_from(&mut self, from: Tid, pattern: &Pattern) -> bool {
        let has_come = |runtime: &mut Runtime| {
            runtime.attend();
            runtime.progress();
            runtime.engine.probe(pattern).is_some()
        };
        // Its last words came before the daemon's answer.
        has_come(self) || !self.is_gone(from) || has_come(self)
    }

    fn connect_shm(&mut self, to: Tid) -> Result<(), ConnectError> {
        self.engine.forget_gone(to);
        let (segment, file) = Segment::create()?;
        parvum_task::keep_room_beyond(&file);
        let answer = self.ask(Request::Connect { to }, &[file.as_fd()], &MINUTE)?;
        match answer.reply? {
            Reply::Connected { .. } => {
                let mut fds = answer.fds.into_iter();
                let (Some(page), Some(event)) = (fds.next(), fds.next()) else {
                    return Err(ConnectError::Descriptors(to));
                };
                let page = Arc::new(TaskPage::open(page)?);
                self.still_there(to)?;
                self.crowd.add(to, page.clone());
                let bell = Bell { page, event };
                self.engine.attach(to, Route::Shm, Box::new(ShmLink::new(segment, bell, self.single_copy)));
                Ok(())
            }
            // The offer came before this answer and is attached when it has been attended to.
            Reply::AlreadyOffered => {
                self.attend();
                Ok(())
            }
            _ => Err(ConnectError::Protocol("something else to an offer")),
        }
    }

    /// The task may have ended right after the daemon's answer: then nobody will tell again.
    fn still_there(&mut self, to: Tid) -> Result<(), ConnectError> {
        if self.engine.is_gone(to) || self.is_leaving(to) {
            return Err(Failure::new(ErrorKind::NoSuchTask, to.to_string()).into());
        }
        Ok(())
    }

    fn connect_tcp(&mut self, to: Tid) -> Result<(), ConnectError> {
        self.engine.forget_gone(to);
        let answer = self.ask(Request::ConnectTcp { to }, &[], &MINUTE)?;
        let (addr, token) = match answer.reply? {
            Reply::TcpAddress { addr, token } => (addr, token),
            // The other is about to connect to this task: its connection will serve both ways.
            Reply::AlreadyOffered => return self.await_tcp(to),
            Reply::ByDaemons => return Err(ConnectError::ByDaemons),
            _ => return Err(ConnectError::Protocol("something else to a request for an address")),
        };
        let me = self.engine.me();
        let link = match parvum_tcp::connect(&addr, me, &token) {
            Ok(link) => link,
            Err(error) => {
                // Who refuses may just have died; the daemon is about to say so.
                let gone = |runtime: &mut Runtime| runtime.engine.is_gone(to).then_some(());
                self.wait_until(&Notes { limit: 1_000_000_000, ..MINUTE }, gone);
                self.still_there(to)?;
                return Err(ConnectError::Tcp(addr, error));
            }
        };
        self.still_there(to)?;
        self.watch(to, link.socket());
        self.engine.attach(to, Route::Tcp, Box::new(link));
        Ok(())
    }

    fn await_tcp(&mut self, from: Tid) -> Result<(), ConnectError> {
        self.attend();
        let arrived = |runtime: &mut Runtime| {
            runtime.accept_tcp();
            let over = runtime.engine.is_attached(from, Route::Tcp) || runtime.engine.is_gone(from);
            over.then_some(())
        };
        self.wait_until(&MINUTE, arrived).ok_or(ConnectError::Late)
    }

    /// Joins a task over the daemons; it prefers the way that it had.
    pub(crate) fn connect_routed(&mut self, to: Tid) -> Result<(), ConnectError> {
        // Whether there is such a task only the daemon knows.
        self.engine.forget_gone(to);
        let answer = self.ask(Request::Tasks { of: Some(to), deep: false }, &[], &MINUTE)?;
        answer.reply?;
        self.open_routed()?;
        self.still_there(to)?;
        if let Some(hub) = &self.routed {
            self.engine.attach(to, Route::Routed, Box::new(hub.link(to)));
        }
        Ok(())
    }

    /// Opens the connection that carries routed frames, once.
    pub(crate) fn open_routed(&mut self) -> Result<(), ConnectError> {
        if self.routed.is_none() {
            let socket = self.session.open_data()?;
            let hub = parvum_routed::Hub::new(socket)
                .map_err(|error| ConnectError::Tcp("the daemon".into(), error))?;
            self.watch(self.engine.me(), hub.socket());
            self.routed = Some(hub);
        }
        Ok(())
    }

    /// Accepts the connections that have come, and greets those who made them. What a stranger may do is take places
    /// from other strangers: a task's first words come with its connection or right behind it.
    pub(crate) fn accept_tcp(&mut self) {
        self.early.retain(|early| early.since.elapsed() < EARLY_FOR);
        for Silent { greeting, since } in std::mem::take(&mut self.silent) {
            self.greet(greeting, since);
        }
        for _ in 0..AT_A_TIME {
            let Some(greeting) = self.listener.as_ref().and_then(parvum_tcp::accept) else { return };
            self.greet(greeting, Instant::now());
        }
    }

    fn greet(&mut self, greeting: parvum_tcp::Greeting, since: Instant) {
        match greeting.heard() {
            parvum_tcp::Heard::NotYet(greeting) if since.elapsed() < SILENT_FOR => {
                if self.silent.len() >= EARLY {
                    self.silent.remove(0);
                }
                self.silent.push(Silent { greeting, since });
            }
            parvum_tcp::Heard::NotYet(_) | parvum_tcp::Heard::Nothing => {}
            parvum_tcp::Heard::Hello(caller) => self.admit(caller),
        }
    }

    /// Takes a connection in. The daemon's word that it would come may be slower than the
    /// connection itself: until then it waits. A stranger waits in vain, and is dropped without a word.
    fn admit(&mut self, caller: parvum_tcp::Caller) {
        let from = caller.from;
        let known = |expected: &Expected| expected.from == from && caller.has(&expected.token);
        if let Some(at) = self.expected.iter().position(known) {
            let link = caller.admit(&self.expected.swap_remove(at).token);
            self.watch(from, link.socket());
            return self.joined_by(from, Route::Tcp, Box::new(link));
        }
        if self.early.len() >= EARLY {
            self.early.remove(0);
        }
        self.early.push(Early { caller, since: Instant::now() });
    }

    /// A task will connect, or has done so already.
    pub(crate) fn expect(&mut self, from: Tid, token: [u8; 16]) {
        self.expected.push(Expected { from, token });
        let meant = |early: &Early| early.caller.from == from && early.caller.has(&token);
        if let Some(at) = self.early.iter().position(meant) {
            let Early { caller, .. } = self.early.swap_remove(at);
            self.admit(caller);
        }
        self.accept_tcp();
    }

    /// Whether the task was to connect and has not been let in. On a busy host the connection
    /// of one that has ended already may still be on its way.
    pub(crate) fn expects(&self, tid: Tid) -> bool {
        self.expected.iter().any(|expected| expected.from == tid)
    }

    /// Forgets that the task was to connect.
    pub(crate) fn expect_no_more(&mut self, tid: Tid) {
        self.expected.retain(|expected| expected.from != tid);
        self.early.retain(|early| early.caller.from != tid);
    }

    /// Moves on what only sockets move. Whether anything moved.
    pub(crate) fn tend_sockets(&mut self, moved: bool) -> bool {
        if !self.expected.is_empty() || !self.silent.is_empty() {
            self.accept_tcp();
        }
        if !self.leaving.is_empty() {
            self.let_go(moved);
        }
        let strangers = self.routed.as_ref().map(parvum_routed::Hub::strangers).unwrap_or_default();
        let moved = !strangers.is_empty();
        for tid in strangers {
            if let Some(hub) = &self.routed {
                let link = hub.link(tid);
                self.joined_by(tid, Route::Routed, Box::new(link));
            }
        }
        moved
    }

    fn watch(&mut self, peer: Tid, socket: rustix::fd::BorrowedFd<'_>) {
        if let Ok(socket) = socket.try_clone_to_owned() {
            parvum_task::keep_room_beyond(&socket);
            self.watched.push((peer, socket));
        }
    }
}
