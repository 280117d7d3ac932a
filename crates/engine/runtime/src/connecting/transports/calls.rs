//! Links by calls: one task calls a listener of the other, which their daemons made.

use crate::connecting::connect::joining;
use crate::errors::ConnectError;
use crate::inside::Inside;
use crate::runtime::Runtime;
use parvum_api::Notes;
use parvum_stream::sockets::{Called, Pass};
use parvum_transport::Route;
use parvum_wire::Tid;
use parvum_wire::control::{Reply, Request};
use std::io;

impl Inside {
    pub(super) fn connect_by_call(
        &mut self,
        called: &dyn Called,
        route: Route,
        to: Tid,
    ) -> Result<(), ConnectError> {
        let answer = self.ask(Request::Call { to, route: route.number() }, &[], &joining(to))?;
        let (addr, token, encrypted) = match answer.reply? {
            Reply::Listener { addr, token, encrypted } => (addr, token, encrypted),
            // The other is about to connect to this task: its connection will serve both ways.
            Reply::AlreadyOffered => return self.await_call(route, to),
            _ => return Err(ConnectError::Protocol("something else to a request for an address")),
        };
        let pass = Pass { caller: self.engine.me(), token: &token, encrypted };
        let connection = match self.away(|| called.call(&addr, &pass)) {
            Ok(connection) => connection,
            Err(error) => {
                // A peer that refuses may just have died, and the daemon will report it soon.
                let gone = |runtime: &mut Runtime| runtime.engine.is_gone(to).then_some(());
                self.wait_until(&Notes { limit: 1_000_000_000, ..joining(to) }, gone);
                self.take_offer_back(route, to);
                self.still_there(to)?;
                self.connections.unreachable.insert((to, route));
                return Err(ConnectError::NoWay(addr, error));
            }
        };
        self.still_there(to)?;
        let link = self.watch(to, route, connection);
        self.engine.attach(to, route, link);
        Ok(())
    }

    fn await_call(&mut self, route: Route, from: Tid) -> Result<(), ConnectError> {
        self.attend();
        let arrived = |runtime: &mut Runtime| {
            runtime.accept_callers();
            if runtime.engine.is_attached(from, route) || runtime.engine.is_gone(from) {
                return Some(Ok(()));
            }
            let cannot = || ConnectError::NoWay(from.to_string(), io::ErrorKind::HostUnreachable.into());
            runtime.connections.unreachable.contains(&(from, route)).then(|| Err(cannot()))
        };
        self.wait_until(&joining(from), arrived).unwrap_or(Err(ConnectError::NoCaller(from)))
    }
}
