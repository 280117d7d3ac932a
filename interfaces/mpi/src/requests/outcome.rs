//! How operations end: what statuses and errors a program is given of them.

use crate::errors::{Error, class};
use crate::messages::status::Status;
use crate::objects::numbers::PROC_NULL;
use parvum_api::Message;

/// How an operation ended.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    pub(crate) status: Status,
    pub(crate) error: Option<Error>,
}

impl Outcome {
    pub(crate) const EMPTY: Outcome = Outcome { status: Status::EMPTY, error: None };

    pub(crate) fn of(status: Status) -> Outcome {
        Outcome { status, error: None }
    }

    pub(crate) fn failed(error: Error) -> Outcome {
        Outcome { status: Status::EMPTY, error: Some(error) }
    }

    /// Whether the operation is not over, though this is what is told of it.
    pub(crate) fn goes_on(&self) -> bool {
        self.error.as_ref().is_some_and(|error| error.code == class::PROC_FAILED_PENDING)
    }
}

/// How the receive of a message into so many bytes ended.
#[inline]
pub(crate) fn outcome_of(message: &Message, length: usize) -> Outcome {
    outcome_of_bytes(message.meta as i32, message.tag, message.length, length)
}

/// The same of a message of so many bytes from that rank.
#[inline]
pub(crate) fn outcome_of_bytes(source: i32, tag: i32, bytes: u64, length: usize) -> Outcome {
    let status = Status::of(source, tag, bytes.min(length as u64));
    match bytes <= length as u64 {
        true => Outcome::of(status),
        false => Outcome { status, error: Some(too_long(source, tag, bytes, length)) },
    }
}

#[cold]
fn too_long(source: i32, tag: i32, bytes: u64, length: usize) -> Error {
    let text =
        format!("the message from rank {source} with tag {tag} has {bytes} bytes, and the buffer {length}");
    Error::new(class::TRUNCATE, text)
}

/// The outcome of an operation with nobody.
pub(crate) fn with_nobody(receives: bool) -> Outcome {
    match receives {
        true => Outcome::of(Status { source: PROC_NULL, ..Status::EMPTY }),
        false => Outcome::EMPTY,
    }
}
