//! Making links: what it takes to open a route. Which one is chosen in [`crate::connecting::reach`].

use crate::connecting::daemon::MINUTE;
use crate::errors::{ConnectError, remember};
use crate::inside::Inside;
use crate::runtime::Runtime;
use parvum_api::{Notes, call};
use parvum_shm::Segment;
use parvum_transport::Route;
use parvum_wire::Tid;
use parvum_wire::control::{ErrorKind, Failure, Reply, Request};
use rustix::fd::AsFd;
use std::io;

/// For a minute: what a task waits for that joins another, its daemon's answer or the other's connection.
pub(crate) fn joining(to: Tid) -> Notes {
    Notes { call: call::JOIN, peer: to.0, ..MINUTE }
}

impl Inside {
    pub(crate) fn connect_shm(&mut self, to: Tid) -> Result<(), ConnectError> {
        self.engine.forget_gone(to);
        // Offer and answer bring a few, of which a process at its limit keeps none.
        self.identity.session.give_up_spares();
        let offered = self.offer_segment(to);
        self.identity.session.keep_spares();
        if let Err(ConnectError::Descriptors(_) | ConnectError::Page(_)) = offered {
            self.take_offer_back(parvum_shm::TRANSPORT.route, to);
        }
        offered
    }

    /// Tells the daemon, which tells the other task, that the connection to it does not come about.
    fn take_offer_back(&mut self, route: Route, to: Tid) {
        let request = Request::NotConnected { to, route: route.number() };
        if let Err(why) = self.ask(request, &[], &joining(to)) {
            remember(&ConnectError::from(why));
        }
    }

    fn offer_segment(&mut self, to: Tid) -> Result<(), ConnectError> {
        let (segment, file) = Segment::create()?;
        parvum_task::keep_room_beyond(&file);
        let route = parvum_shm::TRANSPORT.route.number();
        let answer = self.ask(Request::Connect { to, route }, &[file.as_fd()], &joining(to))?;
        match answer.reply? {
            Reply::Connected { .. } => {
                let mut fds = answer.fds.into_iter();
                let (Some(page), Some(event)) = (fds.next(), fds.next()) else {
                    return Err(ConnectError::Descriptors(to));
                };
                drop(file);
                self.still_there(to)?;
                let link = self.shm_link(to, segment, page, event)?;
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
        let answer =
            self.ask(Request::Call { to, route: parvum_tcp::TRANSPORT.route.number() }, &[], &joining(to))?;
        let (addr, token, encrypted) = match answer.reply? {
            Reply::Listener { addr, token, encrypted } => (addr, token, encrypted),
            // The other is about to connect to this task: its connection will serve both ways.
            Reply::AlreadyOffered => return self.await_tcp(to),
            _ => return Err(ConnectError::Protocol("something else to a request for an address")),
        };
        let me = self.engine.me();
        let link = match self.away(|| parvum_tcp::connect(&addr, me, &token, encrypted)) {
            Ok(link) => link,
            Err(error) => {
                // Who refuses may just have died; the daemon is about to say so.
                let gone = |runtime: &mut Runtime| runtime.engine.is_gone(to).then_some(());
                self.wait_until(&Notes { limit: 1_000_000_000, ..joining(to) }, gone);
                self.take_offer_back(parvum_tcp::TRANSPORT.route, to);
                self.still_there(to)?;
                self.connections.unreachable.insert((to, parvum_tcp::TRANSPORT.route));
                return Err(ConnectError::NoWay(addr, error));
            }
        };
        self.still_there(to)?;
        self.watch(to, link.socket(), Some(link.gate()));
        self.engine.attach(to, parvum_tcp::TRANSPORT.route, Box::new(link));
        Ok(())
    }

    fn await_tcp(&mut self, from: Tid) -> Result<(), ConnectError> {
        self.attend();
        let arrived = |runtime: &mut Runtime| {
            runtime.accept_tcp();
            let route = parvum_tcp::TRANSPORT.route;
            if runtime.engine.is_attached(from, route) || runtime.engine.is_gone(from) {
                return Some(Ok(()));
            }
            let cannot = || ConnectError::NoWay(from.to_string(), io::ErrorKind::HostUnreachable.into());
            runtime.connections.unreachable.contains(&(from, route)).then(|| Err(cannot()))
        };
        self.wait_until(&joining(from), arrived).unwrap_or(Err(ConnectError::NoCaller(from)))
    }

    /// Joins a task over the daemons; it prefers the way that it had.
    pub(crate) fn connect_routed(&mut self, to: Tid) -> Result<(), ConnectError> {
        // Whether there is such a task only the daemon knows.
        self.engine.forget_gone(to);
        let answer = self.ask(Request::Tasks { of: Some(to), deep: false }, &[], &joining(to))?;
        answer.reply?;
        self.open_routed_apart()?;
        self.still_there(to)?;
        // Its own first message may have joined it meanwhile.
        if !self.engine.is_attached(to, parvum_routed::TRANSPORT.route)
            && let Some(link) = self.connections.routed.as_ref().map(|hub| hub.link(to))
        {
            self.engine.attach(to, parvum_routed::TRANSPORT.route, Box::new(link));
        }
        Ok(())
    }
}
