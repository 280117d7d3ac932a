//! Making links: which route, and what it takes to open it.

use crate::events::OUT_OF_DESCRIPTORS;
use crate::inside::Inside;
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
use std::time::Duration;

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
    #[error("E-TCP: no connection to {0}: {1}")]
    NoWay(String, std::io::Error),
}

impl From<AskError> for ConnectError {
    fn from(error: AskError) -> ConnectError {
        match error {
            AskError::Late => ConnectError::Late,
            AskError::Lost(why) => ConnectError::Lost(why),
        }
    }
}

/// The daemon answers at once; a minute means that it hangs.
pub(crate) const MINUTE: Notes =
    Notes { limit: 60_000_000_000, call: call::MACHINE, peer: -1, tag: -1, context: -1 };

impl Inside {
    /// Makes sure that messages to `to` go over the wanted route.
    #[inline]
    pub(crate) fn reach(&mut self, to: Tid) -> Result<(), ConnectError> {
        if self.engine.is_leaving(to) {
            // Its last words may still come, but it hears no more.
            return Err(Failure::new(ErrorKind::NoSuchTask, to.to_string()).into());
        }
        let wanted = self.connections.routes.wanted(self.engine.me(), to);
        match self.engine.route_to(to) {
            Some(route) if route == wanted || route == Route::OWN => Ok(()),
            // The send says that it is gone.
            None if self.is_lately_gone(to) => Ok(()),
            _ => {
                // Two threads that joined the same peer at once would make two links.
                let before = std::mem::replace(&mut self.keeps_turn, true);
                let reached = self.reach_slowly(to, wanted);
                self.keeps_turn = before;
                if let Err(ConnectError::Refused(why)) = &reached
                    && why.kind == ErrorKind::NoSuchTask
                {
                    self.task_gone(to);
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
        self.engine.is_gone(to) && self.connections.gone_at.get(&to).is_some_and(|at| at.elapsed() < LATELY)
    }

    #[inline(never)]
    fn reach_slowly(&mut self, to: Tid, wanted: Route) -> Result<(), ConnectError> {
        if let Some(taken) = self.connections.routes.detour(to, wanted)
            && self.engine.route_to(to) == Some(taken)
            && !self.engine.is_attached(to, wanted)
        {
            return Ok(());
        }
        // What the peer offered meanwhile will do.
        self.attend();
        let (mut route, mut refused) = (wanted, Vec::new());
        while !self.engine.prefer(to, route) {
            match self.connect_over(route, to) {
                Err(ConnectError::NoWay(address, why)) => {
                    let is_elsewhere = self.engine.me().host() != to.host();
                    let Some(next) = self.connections.routes.after(route).filter(|_| is_elsewhere) else {
                        return Err(ConnectError::NoWay(address, why));
                    };
                    refused.push(route);
                    route = next;
                }
                connected => {
                    connected?;
                    self.engine.prefer(to, route);
                    break;
                }
            }
        }
        if route != wanted {
            self.connections.routes.take_detour(to, wanted, route);
        }
        self.explain(to, route, &refused);
        Ok(())
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

    pub(crate) fn connect_shm(&mut self, to: Tid) -> Result<(), ConnectError> {
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
                self.connections.crowd.add(to, page.clone());
                let link = ShmLink::new(segment, Bell { page, event }, self.connections.single_copy);
                self.engine.attach(to, parvum_shm::TRANSPORT.route, Box::new(link));
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
        if self.engine.is_gone(to) || self.engine.is_leaving(to) {
            return Err(Failure::new(ErrorKind::NoSuchTask, to.to_string()).into());
        }
        Ok(())
    }

    pub(crate) fn connect_tcp(&mut self, to: Tid) -> Result<(), ConnectError> {
        self.engine.forget_gone(to);
        let answer = self.ask(Request::ConnectTcp { to }, &[], &MINUTE)?;
        let (addr, token, encrypted) = match answer.reply? {
            Reply::TcpAddress { addr, token, encrypted } => (addr, token, encrypted),
            // The other is about to connect to this task: its connection will serve both ways.
            Reply::AlreadyOffered => return self.await_tcp(to),
            _ => return Err(ConnectError::Protocol("something else to a request for an address")),
        };
        let me = self.engine.me();
        let link = match parvum_tcp::connect(&addr, me, &token, encrypted) {
            Ok(link) => link,
            Err(error) => {
                // Who refuses may just have died; the daemon is about to say so.
                let gone = |runtime: &mut Runtime| runtime.engine.is_gone(to).then_some(());
                self.wait_until(&Notes { limit: 1_000_000_000, ..MINUTE }, gone);
                self.still_there(to)?;
                return Err(ConnectError::NoWay(addr, error));
            }
        };
        self.still_there(to)?;
        self.watch(to, link.socket());
        self.engine.attach(to, parvum_tcp::TRANSPORT.route, Box::new(link));
        Ok(())
    }

    fn await_tcp(&mut self, from: Tid) -> Result<(), ConnectError> {
        self.attend();
        let arrived = |runtime: &mut Runtime| {
            runtime.accept_tcp();
            let over =
                runtime.engine.is_attached(from, parvum_tcp::TRANSPORT.route) || runtime.engine.is_gone(from);
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
        if let Some(link) = self.connections.routed.as_ref().map(|hub| hub.link(to)) {
            self.engine.attach(to, parvum_routed::TRANSPORT.route, Box::new(link));
        }
        Ok(())
    }
}

impl Runtime {
    /// Takes in a link that the other task has made.
    pub(crate) fn joined_by(&mut self, from: Tid, route: Route, link: Box<dyn Link>) {
        self.engine.attach(from, route, link);
        // Else the first send asks for another, and says why.
        if self.engine.route_to(from) == Some(route)
            && self.connections.routes.wanted(self.engine.me(), from) == route
        {
            self.explain(from, route, &[]);
        }
    }

    /// Says for onlookers why messages to a task take a route, and not the others.
    fn explain(&mut self, to: Tid, taken: Route, refused: &[Route]) {
        let here = self.engine.me().host() == to.host();
        let mut reasons = self.connections.routes.reasons(taken, refused, here);
        if !self.engine.stands(to, taken) {
            reasons[taken.place()] = Taken::Unanswered as u8;
            self.connections.unanswered.push((to, taken));
        }
        self.engine.explain_route(to, reasons);
    }

    /// Says so of those that have let this task in meanwhile.
    #[cold]
    pub(crate) fn look_who_answered(&mut self) {
        for (to, route) in std::mem::take(&mut self.connections.unanswered) {
            if self.engine.stands(to, route) {
                self.explain(to, route, &[]);
            } else if self.engine.is_attached(to, route) {
                self.connections.unanswered.push((to, route));
            }
        }
    }

    /// Opens the connection that carries routed frames, once.
    pub(crate) fn open_routed(&mut self) -> Result<(), ConnectError> {
        if self.connections.routed.is_none() {
            let socket = self.identity.session.open_data()?;
            let hub = parvum_routed::Hub::new(socket)
                .map_err(|error| ConnectError::NoWay("the daemon".into(), error))?;
            self.watch(self.engine.me(), hub.socket());
            self.connections.routed = Some(hub);
        }
        Ok(())
    }
}
