//! The only list of the built-in transports. Only this file and the files of its folder contain their names. Other code
//! uses the numbers of routes, and reads their names in the task's control block.

mod calls;
mod hands;
mod memory;
pub(crate) mod parts;
mod routed;

use crate::connecting::routes::RoutePolicy;
use crate::errors::{ConnectError, StartError};
use crate::inside::Inside;
use parvum_fabric::Fabric;
use parvum_stream::sockets::{Called, Handed};
use parvum_transport::{Route, Transport, own};
use parvum_wire::Tid;

/// A transport that is built in.
struct Built {
    transport: Transport,
    contact: Contact,
}

/// How two tasks come to have a link. If no such way leads to the other, which is [`ConnectError::NoWay`], the next transport is
/// tried.
#[derive(Clone, Copy)]
enum Contact {
    /// One makes memory for both, and the daemon hands it to the other.
    Memory,
    /// One makes both ends of a connection, and the daemon hands one to the other.
    #[cfg_attr(not(debug_assertions), allow(dead_code, reason = "no transport of an installed library does"))]
    Handed(&'static dyn Handed),
    /// One calls a listener of the other.
    Called(&'static dyn Called),
    /// The daemons carry everything.
    Daemons,
}

/// The transports of all users, the one to prefer first. One more is a line here.
static BUILT_IN: [Built; 3] = [
    Built { transport: parvum_shm::TRANSPORT, contact: Contact::Memory },
    Built { transport: parvum_tcp::TRANSPORT, contact: Contact::Called(&parvum_tcp::Tcp) },
    Built { transport: parvum_routed::TRANSPORT, contact: Contact::Daemons },
];

/// The transports of users who ask for them.
static ON_REQUEST: [Built; 1] =
    [Built { transport: parvum_fabric::TRANSPORT, contact: Contact::Called(&Fabric) }];

/// The transports for tests, by name. Installed libraries do not contain them.
#[cfg(debug_assertions)]
static FOR_TESTS: [Built; 1] =
    [Built { transport: parvum_unix::TRANSPORT, contact: Contact::Handed(&parvum_unix::Unix) }];
#[cfg(not(debug_assertions))]
static FOR_TESTS: [Built; 0] = [];

const fn registered<const COUNT: usize>(more: &[Built]) -> [Transport; COUNT] {
    assert!(COUNT == BUILT_IN.len() + more.len() + 1);
    let mut all = [own::TRANSPORT; COUNT];
    let mut at = 0;
    while at < COUNT - 1 {
        all[at] =
            if at < BUILT_IN.len() { BUILT_IN[at].transport } else { more[at - BUILT_IN.len()].transport };
        at += 1;
    }
    assert!(Transport::are_apart(&all));
    all
}

/// Their registrations, followed by the route of a task to itself.
static USUAL: [Transport; BUILT_IN.len() + 1] = registered(&[]);
/// The same with the transports on request.
pub(crate) static ALL: [Transport; BUILT_IN.len() + ON_REQUEST.len() + 1] = registered(&ON_REQUEST);
/// The same for users who ask for the fabric: between hosts the fabric comes first.
static FABRIC_FIRST: [Transport; ALL.len()] = [
    parvum_shm::TRANSPORT,
    parvum_fabric::TRANSPORT,
    parvum_tcp::TRANSPORT,
    parvum_routed::TRANSPORT,
    own::TRANSPORT,
];
const _: () = assert!(Transport::are_apart(&FABRIC_FIRST));
static WITH_TESTS: [Transport; BUILT_IN.len() + FOR_TESTS.len() + 1] = registered(&FOR_TESTS);

// The control block has room for all of them, and for a zero behind each name.
const _: () = assert!(parvum_control::ROUTES == Route::BOUND);
const _: () = assert!(parvum_control::ROUTE_NAME_BYTES > Transport::NAME_BYTES);

#[cfg(test)]
#[allow(unsafe_code)]
mod toy;

fn built() -> impl Iterator<Item = &'static Built> {
    BUILT_IN.iter().chain(&ON_REQUEST).chain(&FOR_TESTS)
}

/// How tasks meet over a route.
fn contact(route: Route) -> Option<Contact> {
    built().find(|built| built.transport.route == route).map(|built| built.contact)
}

/// The route whose frames the daemons carry.
pub(crate) fn by_daemons() -> Route {
    let built = built().find(|built| matches!(built.contact, Contact::Daemons));
    built.expect("there is one").transport.route
}

/// The transport that callers of a route's listener come by.
pub(crate) fn called(route: Route) -> Option<&'static dyn Called> {
    match contact(route)? {
        Contact::Called(called) => Some(called),
        _ => None,
    }
}

/// Routes that may still bring data after the end of a peer. Its last messages may be in the buffers of a connection,
/// or in the daemons if they have carried frames of the peer.
pub(crate) fn that_drain(routed: bool) -> Vec<Route> {
    let drains = |built: &&Built| match built.contact {
        Contact::Memory => false,
        Contact::Handed(_) | Contact::Called(_) => true,
        Contact::Daemons => routed,
    };
    built().filter(drains).map(|built| built.transport.route).collect()
}

impl Inside {
    /// Makes a link to the task over this route, or waits for a link that the other task has begun.
    pub(crate) fn connect_over(&mut self, route: Route, to: Tid) -> Result<(), ConnectError> {
        self.engine.forget_gone(to);
        match contact(route).expect("routes are chosen among these") {
            Contact::Memory => self.connect_by_memory(route, to),
            Contact::Handed(handed) => self.connect_by_hand(handed, route, to),
            Contact::Called(called) => self.connect_by_call(called, route, to),
            Contact::Daemons => self.connect_routed(to),
        }
    }
}

/// The user's choice of transports.
pub(crate) fn policy() -> Result<RoutePolicy, StartError> {
    let name = std::env::var("PARVUM_ROUTE").ok().filter(|name| !name.is_empty() && name != "auto");
    let fabric = parvum_fabric::TRANSPORT.name;
    let is_for_tests = FOR_TESTS.iter().any(|built| Some(built.transport.name) == name.as_deref());
    let names_provider = std::env::var_os(parvum_fabric::PROVIDER).is_some_and(|name| !name.is_empty());
    let all: &[Transport] = match name.as_deref() {
        _ if is_for_tests => &WITH_TESTS,
        Some(name) if name == fabric => {
            Fabric::prepare().map_err(|why| StartError::Transport(why.to_string()))?;
            &FABRIC_FIRST
        }
        // Without the fabric, messages take TCP.
        None if names_provider => match Fabric::prepare() {
            Ok(()) => &FABRIC_FIRST,
            Err(_) => &USUAL,
        },
        Some(name) if !USUAL.iter().any(|transport| transport.name == name) => &ALL,
        _ => &USUAL,
    };
    RoutePolicy::new(all, name.as_deref()).map_err(|use_one_of| StartError::Option {
        name: "PARVUM_ROUTE",
        value: name.unwrap_or_default(),
        use_one_of,
    })
}
