//! The communicators that the program names by handles.

use crate::comms::comm::Comm;
use crate::errors::{Error, Mpi, class};
use crate::objects::handles::Objects;
use crate::objects::numbers::{COMM_NULL, COMM_SELF, COMM_WORLD, Kind};
use crate::process::this::{Process, process};
use std::ops::Deref;
use std::sync::Arc;

pub(crate) static COMMS: Objects<Comm> = Objects::new(Kind::Comm);

/// A communicator that a call uses.
pub(crate) enum InUse {
    Always(&'static Arc<Comm>),
    Made(Arc<Comm>),
}

impl Deref for InUse {
    type Target = Arc<Comm>;

    #[inline]
    fn deref(&self) -> &Arc<Comm> {
        match self {
            InUse::Always(comm) => comm,
            InUse::Made(comm) => comm,
        }
    }
}

/// The communicator of a handle.
#[inline(always)]
pub(crate) fn comm(handle: i32) -> Mpi<InUse> {
    comm_of(process()?, handle)
}

/// The same of a process that is known.
#[inline(always)]
pub(crate) fn comm_of(process: &'static Process, handle: i32) -> Mpi<InUse> {
    match handle {
        COMM_WORLD => Ok(InUse::Always(&process.world)),
        COMM_SELF => Ok(InUse::Always(&process.own)),
        _ => COMMS.get(handle).map(InUse::Made).ok_or_else(|| no_comm(handle)),
    }
}

#[cold]
fn no_comm(handle: i32) -> Error {
    let text = match handle {
        COMM_NULL => "the communicator is MPI_COMM_NULL",
        _ => "the handle names no communicator; it may have been freed",
    };
    Error::new(class::COMM, text)
}

/// Keeps a new communicator for the program.
pub(crate) fn keep(comm: Comm) -> Mpi<i32> {
    let comm = Arc::new(comm);
    let none = || Error::new(class::OTHER, "there are too many communicators");
    let handle = COMMS.insert(comm.clone()).ok_or_else(none)?;
    comm.set_handle(handle);
    Ok(handle)
}
