//! One task's conversation with the daemon of its host: enrol, ask, be told.
//!
//! No message engine, no threads, no runtime: a [`Session`] is a socket and two
//! queues, and its owner decides when to look at it and how to wait.

#![forbid(unsafe_code)]

mod alive;
mod inherited;
mod session;
mod start;

pub use alive::Daemon;
pub use inherited::inherited;
pub use parvum_socket::{MachineDirectory, PlaceError, keep_room_beyond, make_room};
pub use session::{Answer, Arrival, DataOpener, Enrolment, Session, SessionError};
pub use start::{Options, find_command};
