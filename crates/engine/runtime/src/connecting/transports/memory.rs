//! Links through memory that two tasks share: one makes it, and the daemon hands it to the other.

use crate::connecting::connect::joining;
use crate::connecting::transports::parts::Unmapped;
use crate::errors::{ConnectError, OUT_OF_DESCRIPTORS, remember, say_lost};
use crate::inside::Inside;
use crate::runtime::Runtime;
use parvum_control::{ControlBlock, ControlError};
use parvum_shm::{BadSegment, Peer, PeerBell, Segment, ShmLink};
use parvum_transport::Route;
use parvum_wire::Tid;
use parvum_wire::control::{Reply, Request};
use rustix::fd::{AsFd, OwnedFd};
use std::sync::Arc;

impl From<BadSegment> for ConnectError {
    fn from(why: BadSegment) -> ConnectError {
        ConnectError::Memory(why.to_string())
    }
}

impl Inside {
    pub(super) fn connect_by_memory(&mut self, route: Route, to: Tid) -> Result<(), ConnectError> {
        // Offer and answer bring a few, of which a process at its limit keeps none.
        self.identity.session.give_up_spares();
        let offered = self.offer_segment(route, to);
        self.identity.session.keep_spares();
        if let Err(ConnectError::Descriptors(_) | ConnectError::Page(_)) = offered {
            self.take_offer_back(route, to);
        }
        offered
    }

    fn offer_segment(&mut self, route: Route, to: Tid) -> Result<(), ConnectError> {
        let (segment, file) = Segment::create()?;
        parvum_task::keep_room_beyond(&file);
        let request = Request::Connect { to, route: route.number() };
        let answer = self.ask(request, &[file.as_fd()], &joining(to))?;
        match answer.reply? {
            Reply::Connected { .. } => {
                let mut fds = answer.fds.into_iter();
                let (Some(control_block), Some(event)) = (fds.next(), fds.next()) else {
                    return Err(ConnectError::Descriptors(to));
                };
                drop(file);
                self.still_there(to)?;
                let link = self.memory_link(to, segment, control_block, event)?;
                self.engine.attach(to, route, Box::new(link));
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
}

impl Runtime {
    /// A link through that memory to the task, by its control block and eventfd. If this process is near its limit of
    /// descriptors, the link keeps none, because data that another task has already put into the memory must not be
    /// lost.
    fn memory_link(
        &mut self,
        to: Tid,
        segment: Segment,
        control_block: OwnedFd,
        event: OwnedFd,
    ) -> Result<ShmLink, ControlError> {
        let control_block = Arc::new(ControlBlock::open(control_block)?);
        self.connections.crowd.add(to, control_block.clone());
        let peer = Peer { control_block, bell: PeerBell::Event(event) };
        let mut link = ShmLink::new(segment, peer, self.connections.single_copy);
        if !self.identity.session.keep_spares() {
            let calls = self.connections.calls.get_or_insert_default().clone();
            link.keep_no_descriptors(Arc::new(move || calls.add(to)));
            self.identity.session.keep_spares();
        }
        Ok(link)
    }

    /// Another task shares memory with this one. It may have put messages there, and be gone.
    pub(super) fn accept_segment(
        &mut self,
        from: Tid,
        route: Route,
        fds: Vec<OwnedFd>,
    ) -> Result<(), Box<dyn std::error::Error>> {
        let mut fds = fds.into_iter();
        let (Some(segment), Some(control_block), Some(event)) = (fds.next(), fds.next(), fds.next()) else {
            let why = format!("E-RESOURCES: {from} cannot be joined, {OUT_OF_DESCRIPTORS}");
            say_lost(&why);
            return Err(why.into());
        };
        let offered = match Segment::open(&segment) {
            Ok(offered) => offered,
            Err(BadSegment::System(why)) => {
                let text = format!(
                    "E-NOMEMORY: {from} cannot be joined yet: {why}; help: give this process more memory"
                );
                say_lost(&text);
                self.connections.unmapped.push((route, Unmapped { from, segment, control_block, event }));
                return Err(text.into());
            }
            Err(why) => return Err(why.into()),
        };
        drop(segment);
        let link = self.memory_link(from, offered, control_block, event)?;
        self.joined_by(from, route, Box::new(link));
        Ok(())
    }

    /// Tries again what could not be mapped.
    pub(crate) fn map_anew(&mut self) {
        for (route, Unmapped { from, segment, control_block, event }) in
            std::mem::take(&mut self.connections.unmapped)
        {
            if let Err(why) = self.accept_segment(from, route, vec![segment, control_block, event]) {
                remember(&why);
            }
        }
    }
}
