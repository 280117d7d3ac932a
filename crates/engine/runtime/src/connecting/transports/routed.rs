//! Links over the daemons: all of a task's share one connection to its daemon.

use crate::connecting::connect::joining;
use crate::connecting::connections::Watched;
use crate::connecting::transports::by_daemons;
use crate::errors::ConnectError;
use crate::inside::Inside;
use crate::runtime::Runtime;
use parvum_routed::{Hub, Waiting};
use parvum_wire::Tid;
use parvum_wire::control::Request;
use rustix::fd::OwnedFd;

impl Inside {
    /// Joins a task over the daemons; it prefers the way that it had.
    pub(crate) fn connect_routed(&mut self, to: Tid) -> Result<(), ConnectError> {
        // Whether there is such a task only the daemon knows.
        self.engine.forget_gone(to);
        let answer = self.ask(Request::Tasks { of: Some(to), deep: false }, &[], &joining(to))?;
        answer.reply?;
        self.open_routed_apart()?;
        self.still_there(to)?;
        self.attach_routed(to);
        Ok(())
    }

    /// Opens the connection for routed frames, once. Other threads work during this time.
    fn open_routed_apart(&mut self) -> Result<(), ConnectError> {
        if self.connections.routed.is_some() {
            return Ok(());
        }
        let me = self.engine.me();
        self.start_joining(me)?;
        let opened = match self.connections.routed {
            Some(_) => Ok(()),
            None => {
                let opener = self.identity.session.data_opener();
                let opened = self.away(|| opener.open());
                opened.map_err(ConnectError::from).and_then(|socket| self.take_routed(socket))
            }
        };
        self.end_joining(me);
        opened
    }
}

impl Runtime {
    /// Opens the connection that carries routed frames, once. The daemon has just spoken, so it answers at once.
    pub(crate) fn open_routed(&mut self) -> Result<(), ConnectError> {
        match self.connections.routed {
            Some(_) => Ok(()),
            // Another thread is opening it.
            None if self.connections.is_joining(self.engine.me()) => Ok(()),
            None => self.take_routed(self.identity.session.data_opener().open()?),
        }
    }

    fn take_routed(&mut self, socket: OwnedFd) -> Result<(), ConnectError> {
        if self.connections.routed.is_none() {
            let hub = Hub::new(socket).map_err(|error| ConnectError::NoWay("the daemon".into(), error))?;
            if let Ok(socket) = hub.socket().try_clone_to_owned() {
                let (peer, route) = (self.engine.me(), by_daemons());
                self.keep_watched(Watched { peer, route, socket, gate: None, acknowledged: false });
            }
            self.connections.routed = Some(hub);
        }
        Ok(())
    }

    /// Attaches a link to the task, unless the task's own first message has done this already.
    pub(crate) fn attach_routed(&mut self, to: Tid) {
        let route = by_daemons();
        if !self.engine.is_attached(to, route)
            && let Some(hub) = &self.connections.routed
        {
            self.engine.attach(to, route, Box::new(hub.link(to)));
        }
    }

    /// Reads data that came over the daemon's socket since its links were polled. It is in memory by now: no thread
    /// that sleeps there, or is about to, would hear of it.
    pub(crate) fn tend_routed(&mut self) -> bool {
        /// A peer that sends this fast finds this task awake anyway.
        const AT_A_TIME: usize = 64;
        for round in 0..AT_A_TIME {
            let Some(hub) = &self.connections.routed else { return round > 0 };
            match hub.waiting() {
                Waiting::Nothing => return round > 0,
                Waiting::Frame => {}
                Waiting::Stranger(tid) => {
                    let link = hub.link(tid);
                    self.joined_by(tid, by_daemons(), Box::new(link));
                }
            }
            self.engine.progress();
            self.pass_calls();
            self.waits.waiters.stirred = true;
        }
        true
    }
}
