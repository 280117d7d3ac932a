//! The errors, NX's numbers for them, and the end of the program in a plain call.

use parvum_api::Status;
use parvum_collectives::{Failure, Fault};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The result of a call, and its error.
pub(crate) type Nx<T> = Result<T, NxError>;

/// NX's errors. Parvum chose the numbers, apart from the system's numbers; `nx.h` has the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub(crate) enum NxError {
    /// The message was longer than the memory for it.
    MsgLong = 1001,
    /// A buffer is null.
    PBuf = 1002,
    /// A length is negative.
    Len = 1003,
    /// A length is larger than memory can be.
    BLen = 1004,
    /// No such node, or it has ended.
    Node = 1005,
    /// A ptype is negative.
    Pid = 1006,
    /// A type that no program may use, or that a receive cannot ask for.
    Type = 1007,
    /// No such message id.
    Mid = 1008,
    /// A handler is null.
    Hnd = 1009,
    /// All message ids are in use.
    NoMid = 1010,
    /// The system gave no memory.
    Mem = 1011,
    /// No ptype was set.
    NoSet = 1012,
    /// A ptype was set before.
    Set = 1013,
    /// Another process of this node has that ptype. A node has one process here, so it never happens.
    #[cfg_attr(not(test), expect(dead_code, reason = "NX has it, and nx.h"))]
    UsePid = 1014,
    /// Another argument.
    Param = 1015,
    /// There is no machine, or it was lost.
    Machine = 1016,
    /// A process that was forked from a node is none.
    Child = 1017,
}

impl NxError {
    /// One cause and one remedy.
    pub(crate) fn text(self) -> &'static str {
        match self {
            NxError::MsgLong => {
                "the message is longer than the buffer; make the buffer as long as the longest message"
            }
            NxError::PBuf => "the buffer is a null pointer; give one, or a length of 0",
            NxError::Len => "the length is negative; give a number of bytes",
            NxError::BLen => "the length is larger than memory can be; give the bytes of the buffer",
            NxError::Node => {
                "there is no such node, or it has ended; give a number below numnodes(), or myhost()"
            }
            NxError::Pid => "the ptype is negative; give 0, or the receiver's ptype",
            NxError::Type => {
                "the type is not one that a program may use; take 0 to 999999999, or a force type"
            }
            NxError::Mid => "there is no such message id; wait once for each, and not after a merge",
            NxError::Hnd => "the handler is a null pointer; give a function",
            NxError::NoMid => "all message ids are in use; wait for some of them",
            NxError::Mem => "there is no memory left; send less before it is received",
            NxError::NoSet => "this process has no ptype; call setptype first",
            NxError::Set => {
                "this process has a ptype already; call setptype once, before it sends or receives"
            }
            NxError::UsePid => "another process of this node has that ptype; take another",
            NxError::Param => "an argument is not valid; see the manual page",
            NxError::Machine => "there is no machine; start the program with parvum run",
            NxError::Child => {
                "this process was forked from a node and is not a node; send and receive in its parent"
            }
        }
    }

    #[cfg(test)]
    fn from_number(number: i32) -> Option<NxError> {
        use NxError::*;
        let all = [
            MsgLong, PBuf, Len, BLen, Node, Pid, Type, Mid, Hnd, NoMid, Mem, NoSet, Set, UsePid, Param,
            Machine, Child,
        ];
        all.into_iter().find(|error| *error as i32 == number)
    }
}

impl From<Status> for NxError {
    fn from(status: Status) -> NxError {
        match status {
            Status::Cut => NxError::MsgLong,
            Status::Gone => NxError::Node,
            Status::NoMemory => NxError::Mem,
            Status::BadArgument => NxError::Param,
            Status::Unknown | Status::NoMachine | Status::Refused => NxError::Machine,
            Status::Done | Status::Pending | Status::Cancelled => NxError::Mid,
        }
    }
}

/// The node whose end made the present call fail; usually [`NOBODY`].
static ENDED: AtomicUsize = AtomicUsize::new(NOBODY);
const NOBODY: usize = usize::MAX;

impl From<Failure> for NxError {
    fn from(failure: Failure) -> NxError {
        if let Failure::Fault(Fault::Gone(node)) = failure {
            // Relaxed: only the calling thread reads it.
            ENDED.store(node, Ordering::Relaxed);
        }
        Status::from(failure).into()
    }
}

/// The node whose end the call has met that just failed, if it was one of all nodes. Asked once at the end of each.
pub(crate) fn who_ended() -> Option<usize> {
    Some(ENDED.swap(NOBODY, Ordering::Relaxed)).filter(|node| *node != NOBODY)
}

/// Prints an error in the form of all of Parvum's.
pub(crate) fn print(text: &str) {
    eprintln!("{}", parvum_errors::shown("libnx", text));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nx_error_number_has_error_and_text() {
        for number in 1001..=1017 {
            let error = NxError::from_number(number).expect("a number of nx.h");
            assert_eq!(error as i32, number);
            assert!(error.text().contains("; "), "a cause and a remedy");
        }
        assert_eq!(NxError::from_number(1000), None);
        assert_eq!(NxError::from_number(1018), None);
    }
}
