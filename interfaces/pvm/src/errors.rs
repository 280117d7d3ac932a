//! PVM's error codes and their texts.

use parvum_api::Status;
use parvum_wire::control::ErrorKind;

macro_rules! codes {
    ($($name:ident = $value:literal, $text:literal;)*) => {
        /// The error codes of PVM calls.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(i32)]
        #[allow(dead_code)]
        pub(crate) enum PvmError { $($name = -$value,)* }

        impl PvmError {
            /// The code of that number; others are system errors.
            pub(crate) fn from_code(code: i32) -> PvmError {
                match code.wrapping_neg() {
                    $($value => PvmError::$name,)*
                    _ => PvmError::SysErr,
                }
            }
        }

        /// The text for a code's number without its sign, ended by a zero byte.
        pub(crate) const fn c_text(number: usize) -> &'static std::ffi::CStr {
            match number {
                $($value => const {
                    match std::ffi::CStr::from_bytes_with_nul(concat!($text, "\0").as_bytes()) {
                        Ok(text) => text,
                        Err(_) => panic!("a text has no zero byte"),
                    }
                },)*
                // Numbers that PVM has left out.
                0 => c"Error 0",
                1 => c"Error 1",
                9 => c"Error 9",
                11 => c"Error 11",
                13 => c"Error 13",
                _ => c"Unknown Error",
            }
        }
    };
}

/// The text for a code; there is one for every number.
pub(crate) fn text(code: i32) -> &'static str {
    let number = code.checked_neg().and_then(|number| usize::try_from(number).ok());
    c_text(number.unwrap_or(usize::MAX)).to_str().unwrap_or_default()
}

codes! {
    BadParam = 2, "Bad parameter";
    Mismatch = 3, "Parameter mismatch";
    Overflow = 4, "Value too large";
    NoData = 5, "End of buffer";
    NoHost = 6, "No such host";
    NoFile = 7, "No such file";
    Denied = 8, "Permission denied";
    NoMem = 10, "Malloc failed";
    BadMsg = 12, "Can't decode message";
    SysErr = 14, "Can't contact local daemon";
    NoBuf = 15, "No current buffer";
    NoSuchBuf = 16, "No such buffer";
    NullGroup = 17, "Null group name";
    DupGroup = 18, "Already in group";
    NoGroup = 19, "No such group";
    NotInGroup = 20, "Not in group";
    NoInst = 21, "No such instance";
    HostFail = 22, "Host failed";
    NoParent = 23, "No parent task";
    NotImpl = 24, "Not implemented";
    DSysErr = 25, "Pvmd system error";
    BadVersion = 26, "Version mismatch";
    OutOfRes = 27, "Out of resources";
    DupHost = 28, "Duplicate host";
    CantStart = 29, "Can't start pvmd";
    Already = 30, "Already in progress";
    NoTask = 31, "No such task";
    NotFound = 32, "Not Found";
    Exists = 33, "Already Exists";
    HostrNMstr = 34, "Hoster must run on master host";
    ParentNotSet = 35, "Spawning parent set PvmNoParent";
    IPLoopback = 36, "Master Host IP Address is Loopback!";
}

/// The result of PVM calls inside this crate.
pub(crate) type Pvm<T> = Result<T, PvmError>;

/// Something is not there: failures of calls with which a program asks whether it is. PVM does not report them.
pub(crate) fn is_absence(why: PvmError) -> bool {
    use PvmError::{NoHost, NoParent, NoTask, NotFound, ParentNotSet};
    matches!(why, NoHost | NoParent | NoTask | NotFound | ParentNotSet)
}

/// Whether the error means that something does not exist, or is not accessible.
pub(crate) fn is_refusal(why: PvmError) -> bool {
    is_absence(why) || why == PvmError::Denied
}

/// Any failure: for calls of which PVM reports none.
pub(crate) fn is_any(_: PvmError) -> bool {
    true
}

impl From<Status> for PvmError {
    fn from(status: Status) -> PvmError {
        match status {
            Status::Unknown | Status::NoMachine => PvmError::SysErr,
            Status::Gone => PvmError::NoTask,
            Status::Refused => PvmError::DSysErr,
            Status::NoMemory => PvmError::NoMem,
            Status::Cut => PvmError::Overflow,
            Status::BadArgument => PvmError::BadParam,
            Status::Done | Status::Pending | Status::Cancelled => PvmError::SysErr,
        }
    }
}

impl From<ErrorKind> for PvmError {
    fn from(kind: ErrorKind) -> PvmError {
        match kind {
            ErrorKind::BadParameter | ErrorKind::TooLarge => PvmError::BadParam,
            ErrorKind::NoSuchTask => PvmError::NoTask,
            ErrorKind::NoSuchHost => PvmError::NoHost,
            ErrorKind::ProgramNotFound => PvmError::NoFile,
            ErrorKind::NotExecutable | ErrorKind::Denied | ErrorKind::OtherUser => PvmError::Denied,
            ErrorKind::ExecFailed | ErrorKind::OutOfResources | ErrorKind::NotAll => PvmError::OutOfRes,
            ErrorKind::DuplicateGroup => PvmError::DupGroup,
            ErrorKind::NoSuchGroup => PvmError::NoGroup,
            ErrorKind::NotInGroup => PvmError::NotInGroup,
            ErrorKind::NoSuchInstance => PvmError::NoInst,
            ErrorKind::NoSuchEntry => PvmError::NotFound,
            ErrorKind::EntryExists => PvmError::Exists,
            ErrorKind::BarrierBroken => PvmError::Mismatch,
            ErrorKind::Version => PvmError::BadVersion,
            ErrorKind::PartTaken => PvmError::Already,
            ErrorKind::DuplicateHost => PvmError::DupHost,
            ErrorKind::CannotStart => PvmError::CantStart,
            ErrorKind::GoingDown | ErrorKind::NotEnrolled | ErrorKind::Protocol => PvmError::SysErr,
            _ => PvmError::DSysErr,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_text_exists_for_every_number() {
        assert_eq!(text(PvmError::NoTask as i32), "No such task");
        assert_eq!(text(0), "Error 0");
        assert_eq!(text(-9), "Error 9");
        assert_eq!(text(-36), "Master Host IP Address is Loopback!");
        for odd in [i32::MIN, -37, 1, i32::MAX] {
            assert_eq!(text(odd), "Unknown Error");
        }
        assert_eq!(PvmError::from_code(-36), PvmError::IPLoopback);
    }
}
