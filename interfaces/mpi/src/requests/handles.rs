//! The requests by which programs name operations.

use crate::errors::{Error, Mpi, class};
use crate::messages::partitioned::Transfer;
use crate::messages::status::Status;
use crate::objects::handles::Objects;
use crate::objects::numbers::Kind;
use crate::requests::deferred;
use crate::requests::operations::{DONE, Operation, State};
use crate::requests::outcome::Outcome;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What a program's request names.
pub(crate) enum Named {
    /// One operation; the request is gone when it is over.
    Once(Arc<Operation>),
    /// One that was over at once.
    Done,
    /// One that is begun again and again.
    Again(Arc<Persistent>),
}

/// A persistent request.
pub(crate) struct Persistent {
    start: Box<dyn Fn() -> Mpi<Arc<Operation>> + Send + Sync>,
    /// Whose errors it has: a communicator's handle.
    on: i32,
    active: Mutex<Option<Arc<Operation>>>,
    /// Its partitions, if it has any.
    pub(crate) transfer: Option<Arc<Transfer>>,
    pub(crate) is_collective: bool,
}

/// Requests that are gone when their operation is over.
static ONCE: Objects<Operation> = Objects::new(Kind::Request);
/// Those that are begun again and again: another kind of handle tells them apart.
static AGAIN: Objects<Persistent> = Objects::new(Kind::Persistent);

impl Persistent {
    /// One of a communicator, which has its errors.
    pub(crate) fn new(
        on: i32,
        start: impl Fn() -> Mpi<Arc<Operation>> + Send + Sync + 'static,
    ) -> Persistent {
        Persistent {
            start: Box::new(start),
            on,
            active: Mutex::new(None),
            transfer: None,
            is_collective: false,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Arc<Operation>>> {
        self.active.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn start(&self) -> Mpi {
        if self.lock().is_some() {
            return Err(Error::new(
                class::REQUEST,
                "the request is active already; wait for it before you start it again",
            )
            .of_comm(self.on));
        }
        let begun = (self.start)().map_err(|error| error.of_comm(self.on))?;
        *self.lock() = Some(begun);
        Ok(())
    }

    pub(crate) fn active(&self) -> Option<Arc<Operation>> {
        self.lock().clone()
    }

    /// It is over, or was given up.
    pub(crate) fn rest(&self) -> Option<Arc<Operation>> {
        self.lock().take()
    }
}

/// Refuses to begin what could have no request.
#[inline]
pub(crate) fn room_for_one() -> Mpi {
    if ONCE.has_room() && AGAIN.has_room() { Ok(()) } else { Err(too_many()) }
}

/// Gives an operation a request. There is [room](room_for_one): it was asked for before the operation was begun.
#[inline]
pub(crate) fn keep(operation: impl Into<Arc<Operation>>) -> Mpi<i32> {
    let operation = operation.into();
    if let State::Over(Outcome { status: Status::EMPTY, error: None }) = &*operation.lock() {
        return Ok(DONE);
    }
    keep_shared(operation)
}

/// The same of one that others move as well.
pub(crate) fn keep_shared(operation: Arc<Operation>) -> Mpi<i32> {
    ONCE.insert(operation).ok_or_else(too_many)
}

/// The same of a persistent one.
pub(crate) fn keep_persistent(persistent: Persistent) -> Mpi<i32> {
    AGAIN.insert(Arc::new(persistent)).ok_or_else(too_many)
}

#[cold]
fn too_many() -> Error {
    Error::new(class::OTHER, "there are more requests than handles: wait for some first")
}

/// What a request's handle names.
#[inline]
pub(crate) fn named(handle: i32) -> Mpi<Named> {
    if let Some(operation) = ONCE.get(handle) {
        return Ok(Named::Once(operation));
    }
    if handle == DONE {
        return Ok(Named::Done);
    }
    let none = || Error::new(class::REQUEST, "the handle names no request; it may be over or freed");
    if let Some(operation) = deferred::named(handle) {
        return Ok(Named::Once(operation));
    }
    AGAIN.get(handle).map(Named::Again).ok_or_else(none)
}

/// Forgets a request.
pub(crate) fn forget(handle: i32) {
    if ONCE.remove(handle).is_none() && !deferred::forget(handle) {
        AGAIN.remove(handle);
    }
}
