//! The errors, and their numbers in C.

use parvum_api::Status;
use parvum_wire::control::{ErrorKind, Failure};
use std::fmt;

/// Why a call did not do what it was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// An argument is not valid.
    BadArgument,
    /// There is no virtual machine and none could be started, or it died. The text says why.
    NoMachine(String),
    /// The name is bound already, and who bound it lives.
    NameTaken(String),
    /// No task has bound the name in time.
    Unbound,
    /// The container is not there any more, or its task is gone: look its name up again.
    Gone,
    /// The message is longer than the room for it, and stays in the container.
    NoRoom {
        /// Its true length in bytes.
        length: usize,
    },
    /// The message is longer than the container may ever hold.
    TooLarge,
    /// The container holds as much as it may, and the sender does not wait.
    Full,
    /// No message is there.
    Empty,
    /// The time was over, and the timer's handler ended the operation.
    TimedOut,
    /// All network buffers are in use, and the pool may not grow.
    NoBuffer,
    /// The container, or the representative, is of the process that this one was forked from.
    Forked,
    /// The port, or the other side, cannot do this. The text says what.
    Unable(&'static str),
    /// The machine refused. The text says why.
    Refused(String),
}

impl Error {
    /// Its number in `containers.h`.
    pub fn number(&self) -> i32 {
        match self {
            Error::BadArgument => -1,
            Error::NoMachine(_) => -2,
            Error::NameTaken(_) => -3,
            Error::Unbound => -4,
            Error::Gone => -5,
            Error::NoRoom { .. } => -6,
            Error::TooLarge => -7,
            Error::Full => -8,
            Error::Empty => -9,
            Error::TimedOut => -10,
            Error::NoBuffer => -11,
            Error::Forked => -12,
            Error::Unable(_) => -13,
            Error::Refused(_) => -14,
        }
    }

    /// The error for a status of the engine, if no other rule applies.
    pub(crate) fn of(status: Status, said: impl FnOnce() -> String) -> Error {
        match status {
            Status::Gone | Status::Unknown => Error::Gone,
            Status::Pending => Error::Empty,
            Status::BadArgument | Status::Done | Status::Cancelled | Status::Cut => Error::BadArgument,
            Status::NoMachine => Error::NoMachine(said()),
            Status::Refused | Status::NoMemory => Error::Refused(said()),
        }
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Error {
        match failure.kind {
            ErrorKind::NameTaken => Error::NameTaken(failure.detail),
            ErrorKind::BadParameter => Error::BadArgument,
            _ => Error::Refused(failure.to_string()),
        }
    }
}

/// The text of a number of `containers.h`, in English.
pub fn text(number: i32) -> &'static std::ffi::CStr {
    match number {
        0 => c"no error",
        -1 => c"an argument is not valid; ch_reason() names it",
        -2 => c"there is no machine, and none could be started; try `parvum up`",
        -3 => c"the name is bound already; choose another, or wait until who bound it takes it back or ends",
        -4 => c"nobody has bound the name; the task that binds it must run first, or the time-out be longer",
        -5 => c"the container or its task is gone; look its name up again",
        -6 => {
            c"the message is longer than the room for it and stays in the container; receive with more room"
        }
        -7 => c"the message is longer than the container may hold; make the container larger, or send less",
        -8 => c"the container is full; receive from it, or send reliably and so wait",
        -9 => c"no message is there; try later, or receive and so wait",
        -10 => c"the time was over; the timer's handler may extend it",
        -11 => c"buffers of the pool are in use; give them back, or let the pool grow",
        -12 => c"it belongs to the process that this one was forked from; make or look up your own",
        -13 => c"the other side or this port cannot do that; ch_reason() says what",
        -14 => c"the machine refused; ch_reason() says why",
        _ => c"no such error; the numbers are those of containers.h",
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NoMachine(why) | Error::Refused(why) => f.write_str(why),
            Error::NameTaken(name) => write!(f, "{}: {}", name, text(-3).to_string_lossy()),
            Error::NoRoom { length } => write!(f, "{} ({length} bytes)", text(-6).to_string_lossy()),
            Error::Unable(what) => f.write_str(what),
            other => write!(f, "{}", text(other.number()).to_string_lossy()),
        }
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_has_its_number_and_remedy() {
        let all = [
            Error::BadArgument,
            Error::NoMachine("E-LOST: x".into()),
            Error::NameTaken("name".into()),
            Error::Unbound,
            Error::Gone,
            Error::NoRoom { length: 7 },
            Error::TooLarge,
            Error::Full,
            Error::Empty,
            Error::TimedOut,
            Error::NoBuffer,
            Error::Forked,
            Error::Unable("it cannot"),
            Error::Refused("E-DENIED: x".into()),
        ];
        for (at, error) in all.iter().enumerate() {
            assert_eq!(error.number(), -1 - at as i32);
            assert!(text(error.number()).to_string_lossy().contains("; "), "{error:?} has cause and remedy");
            assert!(!error.to_string().is_empty());
        }
        assert!(text(-99).to_string_lossy().starts_with("no such error"));
    }
}
