//! Links by hand: one task makes both ends of a connection, and the daemon hands one to the other.

use super::{Contact, contact};
use crate::connecting::connect::joining;
use crate::errors::{ConnectError, remember};
use crate::inside::Inside;
use crate::runtime::Runtime;
use parvum_stream::sockets::Handed;
use parvum_transport::Route;
use parvum_wire::Tid;
use parvum_wire::control::{Reply, Request};
use rustix::fd::{AsFd, OwnedFd};

impl Inside {
    pub(super) fn connect_by_hand(
        &mut self,
        handed: &dyn Handed,
        route: Route,
        to: Tid,
    ) -> Result<(), ConnectError> {
        let no_way = |why| ConnectError::NoWay(to.to_string(), why);
        let (own, other) = handed.make().map_err(no_way)?;
        let request = Request::Connect { to, route: route.number() };
        let answer = self.ask(request, &[other.as_fd()], &joining(to))?;
        match answer.reply? {
            Reply::Connected { .. } => {
                self.still_there(to)?;
                let link = self.watch(to, route, own);
                self.engine.attach(to, route, link);
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
    /// Another task has made a link to this one, and offers what it takes.
    pub(crate) fn take_offer(&mut self, from: Tid, route: u8, fds: Vec<OwnedFd>) {
        let Some(route) = Route::of_number(route) else { return };
        let taken = match contact(route) {
            Some(Contact::Memory) => self.accept_segment(from, route, fds),
            Some(Contact::Handed(handed)) => self.accept_hand(handed, from, route, fds),
            _ => Err(format!("E-PROTOCOL: {from} offers a link that this release does not know").into()),
        };
        if let Err(why) = taken {
            remember(&why);
        }
    }

    fn accept_hand(
        &mut self,
        handed: &dyn Handed,
        from: Tid,
        route: Route,
        fds: Vec<OwnedFd>,
    ) -> Result<(), Box<dyn std::error::Error>> {
        let end = fds.into_iter().next().ok_or_else(|| ConnectError::Descriptors(from).to_string())?;
        let connection = handed.take(end)?;
        let link = self.watch(from, route, connection);
        self.joined_by(from, route, link);
        Ok(())
    }
}
