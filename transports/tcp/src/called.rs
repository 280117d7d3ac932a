//! The contract between the runtime and TCP, besides links: how a task calls another, and the identity of callers.

use crate::{Greeting, TcpLink, accept, connect};
use parvum_stream::sockets::{self, Called, Connection, Heard, Pass};
use parvum_wire::Tid;
use std::io;
use std::os::fd::BorrowedFd;

/// TCP between two tasks.
pub struct Tcp;

impl Called for Tcp {
    fn call(&self, address: &str, pass: &Pass<'_>) -> io::Result<Connection> {
        connect(address, pass.caller, pass.token, pass.encrypted).map(connection)
    }

    fn accept(&self, listener: BorrowedFd<'_>) -> io::Result<Box<dyn sockets::Greeting>> {
        Ok(Box::new(accept(listener)?))
    }
}

fn connection(link: TcpLink) -> Connection {
    let socket = link.socket().try_clone_to_owned().ok();
    let gate = Some(link.gate().clone());
    Connection { link: Box::new(link), socket, gate, acknowledged: true }
}

impl sockets::Greeting for Greeting {
    fn socket(&self) -> BorrowedFd<'_> {
        Greeting::socket(self)
    }

    fn heard(self: Box<Self>) -> Heard {
        match Greeting::heard(*self) {
            crate::Heard::NotYet(greeting) => Heard::NotYet(Box::new(greeting)),
            crate::Heard::Nothing => Heard::Nothing,
            crate::Heard::Hello(caller) => Heard::Hello(Box::new(caller)),
        }
    }
}

impl sockets::Caller for crate::Caller {
    fn from(&self) -> Tid {
        self.from
    }

    fn has(&self, token: &[u8; 16]) -> bool {
        crate::Caller::has(self, token)
    }

    fn admit(self: Box<Self>, token: &[u8; 16], encrypted: bool) -> Connection {
        connection(crate::Caller::admit(*self, token, encrypted))
    }
}
