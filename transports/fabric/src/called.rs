//! How tasks meet: one calls the other by TCP, as for the transport `tcp`, with the same proof of who they are.

use crate::domain::Domain;
use crate::link::FabricLink;
use crate::ofi::FabricError;
use crate::secret::Secret;
use parvum_stream::sockets::{self, Called, Connection, Heard, Pass};
use parvum_tcp::proof::End;
use parvum_wire::Tid;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;

/// Messages over a fabric.
pub struct Fabric;

impl Fabric {
    /// Opens the endpoint of this process, so that no link waits for this later. If this fails, the first link tells why.
    pub fn prepare() {
        let _ = Domain::shared();
    }
}

impl Called for Fabric {
    fn call(&self, address: &str, pass: &Pass<'_>) -> io::Result<Connection> {
        // The user has asked for the fabric, and learns why there is none.
        let domain = Domain::shared().map_err(io::Error::other)?;
        let link = parvum_tcp::connect(address, pass.caller, pass.token, pass.encrypted)?;
        let secret = pass.encrypted.then(|| Secret::new(End::Caller, pass.token, pass.caller));
        connection(FabricLink::new(link, Ok(domain), secret))
    }

    fn accept(&self, listener: BorrowedFd<'_>) -> io::Result<Box<dyn sockets::Greeting>> {
        Ok(Box::new(Greeting(parvum_tcp::accept(listener)?)))
    }
}

/// The connection for the runtime: its socket is readable if the connection or the endpoint has something.
pub fn connection(link: FabricLink) -> io::Result<Connection> {
    let socket = watch(&link)?;
    Ok(Connection { link: Box::new(link), socket: Some(socket), gate: None, acknowledged: false })
}

fn watch(link: &FabricLink) -> io::Result<OwnedFd> {
    let all = epoll::create(CreateFlags::CLOEXEC)?;
    let add = |one: BorrowedFd<'_>| {
        epoll::add(&all, one, EventData::new_u64(0), EventFlags::IN | EventFlags::RDHUP)
    };
    add(link.socket())?;
    if let Some(domain) = link.domain() {
        for one in domain.turn().descriptors().into_iter().flatten() {
            add(one)?;
        }
    }
    Ok(all)
}

struct Greeting(parvum_tcp::Greeting);

impl sockets::Greeting for Greeting {
    fn socket(&self) -> BorrowedFd<'_> {
        self.0.socket()
    }

    fn heard(self: Box<Self>) -> Heard {
        match self.0.heard() {
            parvum_tcp::Heard::NotYet(greeting) => Heard::NotYet(Box::new(Greeting(greeting))),
            parvum_tcp::Heard::Nothing => Heard::Nothing,
            parvum_tcp::Heard::Hello(caller) => Heard::Hello(Box::new(Caller(caller))),
        }
    }
}

struct Caller(parvum_tcp::Caller);

impl sockets::Caller for Caller {
    fn from(&self) -> Tid {
        self.0.from
    }

    fn has(&self, token: &[u8; 16]) -> bool {
        self.0.has(token)
    }

    fn admit(self: Box<Self>, token: &[u8; 16], encrypted: bool) -> Connection {
        let secret = encrypted.then(|| Secret::new(End::Listener, token, self.0.from));
        admitted(self.0.admit(token, encrypted), Domain::shared(), secret)
    }
}

/// The link of a caller. Without a fabric, all frames go over the connection; a note tells the caller why. Without a descriptor, sleepers watch the connection.
fn admitted(
    link: parvum_tcp::TcpLink,
    domain: Result<Arc<Domain>, FabricError>,
    secret: Option<Secret>,
) -> Connection {
    let socket = link.socket().try_clone_to_owned().ok();
    let link = FabricLink::new(link, domain, secret);
    match watch(&link) {
        Ok(watched) => {
            Connection { link: Box::new(link), socket: Some(watched), gate: None, acknowledged: false }
        }
        Err(_) => Connection { link: Box::new(link), socket, gate: None, acknowledged: false },
    }
}
