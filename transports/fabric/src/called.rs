//! How tasks meet: one calls the other by TCP, as for the transport `tcp`, with the same proof of who they are.

use crate::domain::Domain;
use crate::link::FabricLink;
use crate::ofi::FabricError;
use crate::secret::Secret;
use parvum_stream::sockets::{self, Called, Connection, Heard, Pass};
use parvum_sync::without_signals;
use parvum_tcp::TcpLink;
use parvum_tcp::proof::End;
use parvum_wire::Tid;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;

/// Messages over a fabric.
pub struct Fabric;

impl Fabric {
    /// Opens the endpoint of this process. Links of a process that has not done this stay on TCP.
    pub fn prepare() -> Result<(), FabricError> {
        Domain::prepare()
    }
}

impl Called for Fabric {
    fn call(&self, address: &str, pass: &Pass<'_>) -> io::Result<Connection> {
        let domain = Domain::prepared().map_err(io::Error::other)?;
        let link = parvum_tcp::connect(address, pass.caller, pass.token, pass.encrypted)?;
        let secret = pass.encrypted.then(|| Secret::new(End::Caller, pass.token, pass.caller));
        // A signal handler that sends would wait for the turn of this thread.
        Ok(without_signals(|| connection(link, Ok(domain), secret)))
    }

    fn accept(&self, listener: BorrowedFd<'_>) -> io::Result<Box<dyn sockets::Greeting>> {
        Ok(Box::new(Greeting(parvum_tcp::accept(listener)?)))
    }
}

/// The connection for the runtime. Without a fabric, or a descriptor to watch it by, all frames go over TCP; a note tells the peer why.
fn connection(link: TcpLink, domain: Result<Arc<Domain>, FabricError>, secret: Option<Secret>) -> Connection {
    let no_descriptor = |why: io::Error| FabricError::Call { call: "epoll", why: why.to_string() };
    let watched =
        domain.and_then(|domain| Ok((watch(link.socket(), &domain).map_err(no_descriptor)?, domain)));
    let (socket, domain) = match watched {
        Ok((socket, domain)) => (Some(socket), Ok(domain)),
        Err(why) => (link.socket().try_clone_to_owned().ok(), Err(why)),
    };
    Connection {
        link: Box::new(FabricLink::new(link, domain, secret)),
        socket,
        gate: None,
        acknowledged: false,
    }
}

/// A descriptor that is readable if the connection or the endpoint has something.
fn watch(connection: BorrowedFd<'_>, domain: &Domain) -> io::Result<OwnedFd> {
    let all = epoll::create(CreateFlags::CLOEXEC)?;
    let add = |one: BorrowedFd<'_>| {
        epoll::add(&all, one, EventData::new_u64(0), EventFlags::IN | EventFlags::RDHUP)
    };
    add(connection)?;
    for one in domain.turn().descriptors().into_iter().flatten() {
        add(one)?;
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
        connection(self.0.admit(token, encrypted), Domain::prepared(), secret)
    }
}
