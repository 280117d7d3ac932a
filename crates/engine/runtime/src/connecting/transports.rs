//! The transports that are built in: the one list of them. Everybody else knows routes by number, and reads their names in the
//! task's page.

use crate::connecting::routes::RoutePolicy;
use crate::errors::{ConnectError, StartError};
use crate::inside::Inside;
use parvum_transport::{Route, Transport, own};
use parvum_wire::Tid;

/// A transport that is built in, and how a link of it is made.
struct Built {
    transport: Transport,
    /// Makes a link to the task, or waits for the one that the other has begun to make. Where no such way leads to it, which is
    /// [`ConnectError::NoWay`], the next transport is tried.
    connect: fn(&mut Inside, Tid) -> Result<(), ConnectError>,
}

/// All of them, the one to prefer first. One more is a line here.
static BUILT_IN: [Built; 3] = [
    Built { transport: parvum_shm::TRANSPORT, connect: Inside::connect_shm },
    Built { transport: parvum_tcp::TRANSPORT, connect: Inside::connect_tcp },
    Built { transport: parvum_routed::TRANSPORT, connect: Inside::connect_routed },
];

/// What they have registered, the way to oneself behind them.
pub(crate) static ALL: [Transport; BUILT_IN.len() + 1] = {
    let mut all = [own::TRANSPORT; BUILT_IN.len() + 1];
    let mut at = 0;
    while at < BUILT_IN.len() {
        all[at] = BUILT_IN[at].transport;
        at += 1;
    }
    assert!(Transport::are_apart(&all));
    all
};

// The page has room for all of them, and for a zero behind each name.
const _: () = assert!(parvum_control::ROUTES == Route::BOUND);
const _: () = assert!(parvum_control::ROUTE_NAME_BYTES > Transport::NAME_BYTES);

#[cfg(test)]
#[allow(unsafe_code)]
mod toy;

impl Inside {
    /// Makes a link to the task over that route.
    pub(crate) fn connect_over(&mut self, route: Route, to: Tid) -> Result<(), ConnectError> {
        let built = BUILT_IN.iter().find(|built| built.transport.route == route);
        (built.expect("routes are chosen among these").connect)(self, to)
    }
}

/// What the user says of the transports to take.
pub(crate) fn policy() -> Result<RoutePolicy, StartError> {
    let name = std::env::var("PARVUM_ROUTE").ok().filter(|name| !name.is_empty() && name != "auto");
    RoutePolicy::new(&ALL, name.as_deref()).map_err(|use_one_of| StartError::Option {
        name: "PARVUM_ROUTE",
        value: name.unwrap_or_default(),
        use_one_of,
    })
}
