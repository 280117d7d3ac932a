//! Links that are there: taking them in, and saying why messages take them.

use crate::errors::ConnectError;
use crate::inside::Inside;
use crate::runtime::Runtime;
use parvum_control::{ControlBlock, ControlError, Taken};
use parvum_shm::{Peer, PeerBell, Segment, ShmLink};
use parvum_transport::{Link, Route};
use parvum_wire::Tid;
use rustix::fd::OwnedFd;
use std::sync::Arc;

impl Inside {
    /// Opens the connection that carries routed frames, once; other threads work meanwhile.
    pub(crate) fn open_routed_apart(&mut self) -> Result<(), ConnectError> {
        if self.connections.routed.is_some() {
            return Ok(());
        }
        let me = self.engine.me();
        self.begin_joining(me)?;
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

    /// A link through that memory to the task, by its page and eventfd. It keeps no descriptors where this process may
    /// hardly have more: what another task has put into such memory already must not be lost.
    pub(crate) fn shm_link(
        &mut self,
        to: Tid,
        segment: Segment,
        page: OwnedFd,
        event: OwnedFd,
    ) -> Result<ShmLink, ControlError> {
        let page = Arc::new(ControlBlock::open(page)?);
        self.connections.crowd.add(to, page.clone());
        let peer = Peer { page, bell: PeerBell::Event(event) };
        let mut link = ShmLink::new(segment, peer, self.connections.single_copy);
        if !self.identity.session.keep_spares() {
            let calls = self.connections.calls.get_or_insert_default().clone();
            link.keep_no_descriptors(Arc::new(move || calls.add(to)));
            self.identity.session.keep_spares();
        }
        Ok(link)
    }

    /// Says for onlookers why messages to a task take a route, and not the others.
    pub(crate) fn explain(&mut self, to: Tid, taken: Route, refused: &[Route]) {
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
            let hub = parvum_routed::Hub::new(socket)
                .map_err(|error| ConnectError::NoWay("the daemon".into(), error))?;
            self.watch(self.engine.me(), hub.socket(), None);
            self.connections.routed = Some(hub);
        }
        Ok(())
    }
}
