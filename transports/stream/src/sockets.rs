//! The contract between the runtime and a transport whose links have sockets. The runtime knows no such transport by
//! name. Each gives an implementation of one of these traits where it is registered.

use crate::readiness::Gate;
use parvum_transport::Link;
use parvum_wire::Tid;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};

/// A link, and what the runtime keeps of its connection beside it.
pub struct Connection {
    /// The link.
    pub link: Box<dyn Link>,
    /// A duplicate of its socket: who sleeps watches it. It is readable if the link may have brought something. `None`: there was no
    /// descriptor for it.
    pub socket: Option<OwnedFd>,
    /// Whether a look at the link is worth a read, if it can be asked for together with others.
    pub gate: Option<Gate>,
    /// The socket may have taken bytes that the peer's system does not have yet, and acknowledges later. A task that leaves waits
    /// for that.
    pub acknowledged: bool,
}

/// A transport between tasks of one host: one of them makes both ends, and the daemon hands one to the other.
pub trait Handed: Sync {
    /// Makes a connection: this task's end, and what the other makes its own of.
    fn make(&self) -> io::Result<(Connection, OwnedFd)>;

    /// Makes this task's end of what the other task has handed over.
    fn take(&self, end: OwnedFd) -> io::Result<Connection>;
}

/// The data that two tasks get from their daemons before one calls the other.
pub struct Pass<'a> {
    /// Who calls.
    pub caller: Tid,
    /// What both show.
    pub token: &'a [u8; 16],
    /// Whether all that follows the greeting is encrypted.
    pub encrypted: bool,
}

/// A transport whose links are connections that one task makes to a listener of the other. The daemon makes the listener, so that a
/// call does not wait for a task that computes.
pub trait Called: Sync {
    /// Calls the listener at that address. Blocks until the connection stands, which needs the other host, and not the other task.
    fn call(&self, address: &str, pass: &Pass<'_>) -> io::Result<Connection>;

    /// The next caller at the nonblocking listener: [`io::ErrorKind::WouldBlock`] if there is none.
    fn accept(&self, listener: BorrowedFd<'_>) -> io::Result<Box<dyn Greeting>>;
}

/// A connection that has come, and has not identified itself yet.
pub trait Greeting: Send {
    /// Its socket, for poll(2).
    fn socket(&self) -> BorrowedFd<'_>;

    /// Listens, without blocking.
    fn heard(self: Box<Self>) -> Heard;
}

/// The first message of a new connection.
pub enum Heard {
    /// Nothing whole yet.
    NotYet(Box<dyn Greeting>),
    /// It closed first.
    Nothing,
    /// The identity that the caller claims.
    Hello(Box<dyn Caller>),
}

/// A connection that has identified itself, without proof yet.
pub trait Caller: Send {
    /// The id that it claims.
    fn from(&self) -> Tid;

    /// Whether it has this token.
    fn has(&self, token: &[u8; 16]) -> bool;

    /// The connection; shows the caller that this end has the token as well.
    fn admit(self: Box<Self>, token: &[u8; 16], encrypted: bool) -> Connection;
}
