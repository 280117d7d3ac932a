//! CMMD's errors: the numbers of `cmmd.h`, and a line for a person.

use parvum_api::Status;
use parvum_collectives::Failure;
use std::sync::atomic::{AtomicI32, Ordering};

/// Why a call failed: `CMMD_ERR_...`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub(crate) enum Fault {
    NoRports = 1,
    BadNode = 2,
    BadTag = 3,
    BadLength = 4,
    BadBuffer = 5,
    BadMcb = 6,
    Unfinished = 7,
    Truncated = 8,
    Gone = 9,
    NoMachine = 10,
    NoHost = 11,
    BadArgument = 12,
    Unsupported = 13,
    Refused = 14,
    Busy = 15,
    Forked = 16,
}

/// Prints an error in the form of all of Parvum's.
pub(crate) fn print(text: &str) {
    eprintln!("{}", parvum_errors::shown("libcmmd", text));
}

/// The result of a call, or the error.
pub(crate) type Cmmd<T> = Result<T, Fault>;

static LAST: AtomicI32 = AtomicI32::new(0);

/// Remembers a failure for `CMMD_get_errno`.
pub(crate) fn remember(why: Fault) {
    // Relaxed: a number alone.
    LAST.store(why as i32, Ordering::Relaxed);
}

/// What `CMMD_get_errno` answers.
pub(crate) fn last() -> i32 {
    LAST.load(Ordering::Relaxed)
}

impl From<Status> for Fault {
    fn from(status: Status) -> Fault {
        match status {
            Status::Gone | Status::Unknown => Fault::Gone,
            Status::NoMachine => Fault::NoMachine,
            Status::Refused => Fault::Refused,
            // Credit is used up, or the system has no memory: it may be better later.
            Status::NoMemory => Fault::NoRports,
            Status::Cut => Fault::Truncated,
            Status::Done | Status::Pending | Status::Cancelled | Status::BadArgument => Fault::BadArgument,
        }
    }
}

impl From<Failure> for Fault {
    fn from(failure: Failure) -> Fault {
        Status::from(failure).into()
    }
}

/// The texts, ended by a zero byte, by number.
pub(crate) const TEXTS: [&std::ffi::CStr; 17] = [
    c"no error",
    c"no descriptor is free, or the receiver has too much unreceived; receive or wait, then try again",
    c"there is no such node; use 0 to CMMD_partition_size() - 1, or CMMD_host_node() when there is a host",
    c"that is no tag; use 0 or more, and CMMD_ANY_TAG only to receive",
    c"a length, stride or count is negative, or the pieces overlap; give what the memory has",
    c"a null pointer where there is something to read or write; give an address",
    c"that handle names no operation; use what the call returned, until CMMD_free_mcb",
    c"the operation, timer or channel is still at work; wait for it, or stop it, first",
    c"the message was longer than its place, and the rest is lost; give more room",
    c"the other task is gone; see what it said before",
    c"there is no machine; see `parvum up`, or why it ended",
    c"the call needs a host program, or is the other side's; see CMMD_enable(3)",
    c"a combiner, direction, mode or number is not valid; use the constants of cmmd.h",
    c"Parvum does not do that; see the page of the call",
    c"the machine refused; see its log",
    c"a matching function must not call CMMD; let it only look at its arguments",
    c"this process was forked from a node and is not a node; send and receive in its parent",
];
