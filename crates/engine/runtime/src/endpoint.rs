//! The endpoints of a process: the program's endpoint, and an endpoint that serves other tasks while the program
//! computes.
//!
//! Each endpoint has a separate engine, session and lock. Requests to the second endpoint therefore never wait for a
//! call of the first, or for memory that the first must not access. The second comes to be when an interface asks for
//! it. The code of the table is the same for both.

use crate::runtime::Runtime;
use parvum_sync::BiasedLock;
use parvum_wire::control::Role;
use rustix::fd::OwnedFd;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Where one endpoint lives.
pub(crate) struct EndpointCell {
    pub(crate) runtime: BiasedLock<Option<Runtime>>,
    /// Set in a forked child: the runtime that it sees is its parent's.
    pub(crate) forked: AtomicBool,
    /// Whether the thread runs that hands over what a send left behind. Written with the process lock only.
    pub(crate) is_pushed: AtomicBool,
    /// The descriptors that wake serving threads.
    pub(crate) bells: OnceLock<Bells>,
    pub(crate) role: Role,
}

/// The descriptors that wake serving threads.
pub(crate) struct Bells {
    /// A task that waits for this task makes it readable.
    pub(crate) called: OwnedFd,
    /// Readable when anything comes.
    pub(crate) everything: OwnedFd,
}

impl EndpointCell {
    const fn new(role: Role) -> EndpointCell {
        EndpointCell {
            runtime: BiasedLock::new(None),
            forked: AtomicBool::new(false),
            is_pushed: AtomicBool::new(false),
            bells: OnceLock::new(),
            role,
        }
    }

    /// The thread that hands messages over has ended, or belongs to another process. Called with the lock held, or in a
    /// forked child.
    pub(crate) fn stops_pushing(&self) {
        self.is_pushed.store(false, Ordering::Relaxed);
    }
}

/// One of the endpoints, as a type: each has its own copy of the short way, which asks nothing.
pub(crate) trait Endpoint: 'static {
    fn place() -> &'static EndpointCell;
}

/// The program's own.
pub(crate) struct Program;

impl Endpoint for Program {
    #[inline(always)]
    fn place() -> &'static EndpointCell {
        static PLACE: EndpointCell = EndpointCell::new(Role::Task);
        &PLACE
    }
}

/// The endpoint that serves while the program computes.
pub(crate) struct Service;

impl Endpoint for Service {
    #[inline(always)]
    fn place() -> &'static EndpointCell {
        static PLACE: EndpointCell = EndpointCell::new(Role::Service);
        &PLACE
    }
}

/// All that a process can have.
pub(crate) fn all() -> [&'static EndpointCell; 2] {
    [Program::place(), Service::place()]
}
