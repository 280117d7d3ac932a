//! The open sessions, by their handles.

use crate::errors::{Error, Mpi, class};
use crate::messages::attached::Buffer;
use crate::objects::errhandlers::{Handler, HandlerSlot};
use crate::objects::handles::Objects;
use crate::objects::numbers::Kind;
use std::sync::Arc;

/// One session.
pub(crate) struct Session {
    pub(crate) errhandler: HandlerSlot,
    pub(crate) buffer: Buffer,
}

pub(crate) static SESSIONS: Objects<Session> = Objects::new(Kind::Session);

/// The session of a handle.
pub(crate) fn session(handle: i32) -> Mpi<Arc<Session>> {
    SESSIONS.get(handle).ok_or_else(|| Error::new(class::SESSION, "the handle names no session"))
}

/// The error handler of a session, if there is such a one.
pub(crate) fn handler_of(handle: i32) -> Option<Handler> {
    SESSIONS.get(handle).map(|session| session.errhandler.get())
}

/// What has the buffer of a session, if one is attached.
pub(crate) fn with_buffer_of<T>(handle: i32, then: impl FnOnce(&Buffer) -> T) -> Option<T> {
    let session = SESSIONS.get(handle)?;
    session.buffer.is_attached().then(|| then(&session.buffer))
}
