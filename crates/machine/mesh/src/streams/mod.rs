//! Streams for task data: one way, each with back pressure of its own.
//!
//! A stream outlives the connection that carries it, as messages do ([`crate::session`]): its sender
//! keeps what the reader has not taken, and sends that again over the next connection.

pub(crate) mod accepting;
pub(crate) mod incoming;
pub(crate) mod outgoing;
pub(crate) mod reader;
pub(crate) mod sender;

use crate::errors::StreamError;

/// What is said of a stream whose reader has had all, or does not want more.
const READER_GONE: u64 = u64::MAX;
/// The sender is told when its reader has taken so much more.
const PORTION: u64 = 128 * 1024;

fn lost() -> StreamError {
    StreamError::Lost("the host is out, or has ended the connection".to_owned())
}
