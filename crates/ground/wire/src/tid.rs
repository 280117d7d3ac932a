//! Task identifiers, laid out as PVM lays them out.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Identifies a task, or the daemon of a host, in the whole virtual machine.
///
/// ```text
///  31 30 29           18 17                0
/// +--+--+---------------+-------------------+
/// | 0| 0|  host (12)    |  local part (18)  |
/// +--+--+---------------+-------------------+
/// ```
///
/// A local part of zero names the daemon itself. The layout is PVM 3.4's, so
/// that programs which take ids apart keep working.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Tid(pub i32);

impl Tid {
    /// Bits of the local part.
    pub const LOCAL_BITS: u32 = 18;
    /// The largest host number.
    pub const MAX_HOST: u32 = 0xfff;
    /// The largest local part.
    pub const MAX_LOCAL: u32 = (1 << Self::LOCAL_BITS) - 1;

    /// The daemon of whoever asks, whichever host that is: who sends what the daemon says.
    pub const LOCAL_DAEMON: Tid = Tid(i32::MIN);

    /// The id of task `local` of host `host`; `None` when a part is out of range.
    pub const fn new(host: u32, local: u32) -> Option<Tid> {
        if host == 0 || host > Self::MAX_HOST || local > Self::MAX_LOCAL {
            return None;
        }
        Some(Tid(((host << Self::LOCAL_BITS) | local) as i32))
    }

    /// The host part.
    pub const fn host(self) -> u32 {
        (self.0 as u32 >> Self::LOCAL_BITS) & Self::MAX_HOST
    }

    /// The local part: which task of its host; zero is the daemon.
    pub const fn local(self) -> u32 {
        self.0 as u32 & Self::MAX_LOCAL
    }

    /// Whether this names a task (and neither a daemon nor nonsense).
    pub const fn is_task(self) -> bool {
        self.0 > 0 && (self.0 as u32 >> 30) == 0 && self.host() != 0 && self.local() != 0
    }

    /// The daemon of this task's host.
    pub const fn daemon(self) -> Tid {
        Tid(self.0 & !(Self::MAX_LOCAL as i32))
    }
}

impl fmt::Display for Tid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "t{:x}", self.0)
    }
}

impl fmt::Debug for Tid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tid_parts_survive_round_trip() {
        let tid = Tid::new(1, 2).expect("in range");
        assert_eq!(tid.0, 0x40002);
        assert_eq!((tid.host(), tid.local()), (1, 2));
        assert!(tid.is_task());
        assert_eq!(tid.daemon(), Tid(0x40000));
        assert!(!tid.daemon().is_task());
    }

    #[test]
    fn tid_parts_out_of_range_are_refused() {
        assert_eq!(Tid::new(0, 1), None);
        assert_eq!(Tid::new(0x1000, 1), None);
        assert_eq!(Tid::new(1, 1 << 18), None);
        assert!(!Tid(-1).is_task());
        assert!(!Tid(0).is_task());
    }
}
