//! The common code of all methods to make a link. Which route is taken is chosen in [`crate::connecting::reach`]; each
//! way has a file in `transports`.

use crate::connecting::daemon::MINUTE;
use crate::errors::{ConnectError, remember};
use crate::inside::Inside;
use parvum_api::{Notes, call};
use parvum_transport::Route;
use parvum_wire::Tid;
use parvum_wire::control::{ErrorKind, Failure, Request};

/// For a minute: what a task waits for that joins another, its daemon's answer or the other's connection.
pub(crate) fn joining(to: Tid) -> Notes {
    Notes { call: call::JOIN, peer: to.0, ..MINUTE }
}

impl Inside {
    /// Tells the daemon, which tells the other task, that the connection to it does not come about.
    pub(crate) fn take_offer_back(&mut self, route: Route, to: Tid) {
        let request = Request::NotConnected { to, route: route.number() };
        if let Err(why) = self.ask(request, &[], &joining(to)) {
            remember(&ConnectError::from(why));
        }
    }

    /// The task may have ended right after the daemon's answer, and then there is no second report.
    pub(crate) fn still_there(&mut self, to: Tid) -> Result<(), ConnectError> {
        if self.engine.is_gone(to) || self.engine.is_leaving(to) {
            return Err(Failure::new(ErrorKind::NoSuchTask, to.to_string()).into());
        }
        Ok(())
    }
}
