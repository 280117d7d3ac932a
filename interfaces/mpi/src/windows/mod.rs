//! Windows: memory of each member that the others read and change without its help.
//!
//! What reaches the target needs not its program: between processes that share the memory it is load and store, between others of
//! one host the kernel copies, and the rest is asked of the target's service, a thread of its own. [`memory`] has the memory,
//! how windows are [made](allocating), [`serving`] what the target does when its [`service`] is asked [`questions`], [`elements`] how,
//! [`access`] who asks, [`epochs`] when that is permitted. Most calls are short: [`near`] has the way of those, [`reach`] what it
//! must know of a target, [`words`] the elements that the processor changes in one piece, [`seats`] the locks that all members see.
//!
//! A put, get or accumulate is over at the target when the call returns: flushing waits for nothing.
//! Memory that members share outlives a member: who locks that of one that has died, and puts there, hears of the death at the next call
//! that needs the process.

pub(crate) mod access;
pub(crate) mod allocating;
pub(crate) mod elements;
pub(crate) mod epochs;
#[allow(unsafe_code)]
pub(crate) mod memory;
#[allow(unsafe_code)]
pub(crate) mod near;
pub(crate) mod questions;
mod reach;
mod room;
mod runs;
#[allow(unsafe_code)]
pub(crate) mod seats;
pub(crate) mod service;
pub(crate) mod serving;
#[allow(unsafe_code)]
mod words;

use crate::comms::comm::Comm;
use crate::errors::{Error, Mpi, class};
use crate::objects::attributes::Attributes;
use crate::objects::errhandlers::Handler;
use crate::objects::handles::Objects;
use crate::objects::hints;
use crate::objects::info::Info;
use crate::objects::numbers::{Kind, PROC_NULL, WIN_NULL};
use crate::process::this::process;
use epochs::Epochs;
use memory::Mapping;
use parvum_service::Service;
use parvum_sync::{BiasedGuard, BiasedLock};
use reach::Reach;
use seats::SharedLock;
use serving::Exposed;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How a window was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub(crate) enum Flavor {
    /// Of memory of the program's.
    Create = 1,
    /// Of memory of its own.
    Allocate = 2,
    /// The program attaches and detaches memory.
    Dynamic = 3,
    /// All members see the memory of all.
    Shared = 4,
}

/// Loads and stores of the target see what others have put: there is one copy only.
pub(crate) const UNIFIED: i32 = 2;

/// A window.
pub(crate) struct Win {
    /// The members, in a context of the window's own.
    pub(crate) comm: Arc<Comm>,
    pub(crate) flavor: Flavor,
    /// What attributes show, where C finds it by a pointer.
    pub(crate) shown: Shown,
    pub(crate) targets: Vec<Target>,
    pub(crate) exposed: Arc<Exposed>,
    pub(crate) service: Arc<Service>,
    /// Mostly one thread opens and closes them.
    epochs: BiasedLock<Epochs>,
    /// What the short way knows.
    reach: Reach,
    pub(crate) attributes: Attributes,
    /// Memory of its own.
    _memory: Option<Arc<Mapping>>,
    rest: Mutex<Rest>,
}

/// Base, size, unit, flavor and model.
pub(crate) struct Shown {
    pub(crate) base: usize,
    pub(crate) size: i64,
    pub(crate) unit: i32,
    pub(crate) flavor: i32,
    pub(crate) model: i32,
}

/// What the program may change.
struct Rest {
    name: Vec<u8>,
    /// Nothing: the program has not set one.
    errhandler: Option<Handler>,
    info: Info,
}

/// The memory of one member.
#[derive(Clone)]
pub(crate) struct Target {
    /// Whom to ask.
    pub(crate) service: i32,
    /// Its number for the window, as part of all windows of that process.
    pub(crate) id: u32,
    /// The memory by the name that its service has for it.
    pub(crate) window: Option<parvum_service::Window>,
    /// Where it lies there.
    pub(crate) base: u64,
    pub(crate) size: u64,
    pub(crate) unit: i64,
    /// Where this process has the same memory.
    pub(crate) here: Option<u64>,
    /// Its locks, where this process sees them.
    pub(crate) lock: Option<SharedLock>,
}

pub(crate) static WINS: Objects<Win> = Objects::new(Kind::Win);

/// The window of a handle.
#[inline]
pub(crate) fn win(handle: i32) -> Mpi<Arc<Win>> {
    process()?;
    WINS.get(handle).ok_or_else(|| {
        let text = match handle {
            WIN_NULL => "the window is MPI_WIN_NULL",
            _ => "the handle names no window; it may have been freed",
        };
        Error::new(class::WIN, text)
    })
}

impl Win {
    pub(crate) fn epochs(&self) -> BiasedGuard<'_, Epochs> {
        self.epochs.take()
    }

    /// The member of a rank; `None` for `MPI_PROC_NULL`.
    #[inline]
    pub(crate) fn target(&self, rank: i32) -> Mpi<Option<(usize, &Target)>> {
        match self.targets.get(rank as usize) {
            Some(target) => Ok(Some((rank as usize, target))),
            None if rank == PROC_NULL => Ok(None),
            None => self.comm.peer(rank).map(|_| None),
        }
    }

    fn rest(&self) -> MutexGuard<'_, Rest> {
        self.rest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn name(&self) -> Vec<u8> {
        self.rest().name.clone()
    }

    pub(crate) fn set_name(&self, name: &[u8]) {
        name.clone_into(&mut self.rest().name);
    }

    pub(crate) fn errhandler(&self) -> Handler {
        self.chosen_errhandler().unwrap_or(Handler::FATAL)
    }

    /// The error handler, if the program has set it.
    pub(crate) fn chosen_errhandler(&self) -> Option<Handler> {
        self.rest().errhandler.clone()
    }

    pub(crate) fn set_errhandler(&self, errhandler: Handler) {
        self.rest().errhandler = Some(errhandler);
    }

    /// The hints, with the defaults of those that nobody gave.
    pub(crate) fn info(&self) -> Mpi<Info> {
        hints::WIN.shown(&self.rest().info)
    }

    pub(crate) fn set_info(&self, given: &Info) -> Mpi {
        let mut rest = self.rest();
        rest.info = hints::WIN.merged(&rest.info, given)?;
        Ok(())
    }
}
