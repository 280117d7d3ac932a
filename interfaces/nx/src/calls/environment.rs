//! The node, and its surroundings: mynode(3), numnodes(3), myptype(3), dclock(3), gray(3), killcube(3), nx_initve(3).

use crate::task;
use libc::{c_char, c_int, c_long, c_ulong, c_void};

super::faces! {
    /// This process's node number.
    mynode _mynode mynode_ () value => work::mynode();
    /// How many nodes the partition has.
    numnodes _numnodes numnodes_ () value => work::numnodes();
    /// The dimension of the smallest cube with at least this number of nodes.
    nodedim _nodedim nodedim_ () value => work::nodedim();
    /// The number of the host, who started the partition.
    myhost _myhost myhost_ () value => work::myhost();
    /// This process's ptype; `INVALID_PTYPE` when it has none.
    myptype _myptype myptype_ () value => work::myptype();
    /// The same, as the iPSC calls it.
    mypid _mypid mypid_ () value => work::mypid();
    /// Sets this process's ptype: once, before it sends or receives.
    setptype _setptype setptype_ (n ptype) none => work::setptype(ptype);
    /// The same, as the iPSC calls it.
    setpid _setpid setpid_ (n ptype) none => work::setpid(ptype);
    /// The Gray code of a number.
    gray _gray gray_ (n number) value => work::gray(number);
    /// The number of a Gray code.
    ginv _ginv ginv_ (n code) value => work::ginv(code);
    /// Lets others have the processor for a moment.
    flick _flick flick_ () none => work::flick();
    /// Stops the process of a node; -1: of all nodes.
    killcube _killcube killcube_ (n node, n ptype) none => work::killcube(node, ptype);
    /// The same.
    killproc _killproc killproc_ (n node, n ptype) none => work::killproc(node, ptype);
}

mod work {
    use crate::calls::with;
    use crate::errors::{Nx, NxError};
    use crate::task::{self, check_ptypesel};
    use parvum_api::{Notes, call};
    use parvum_wire::Tid;
    use parvum_wire::control::{ErrorKind, Request};

    pub(super) fn mynode() -> Nx<i64> {
        with(|task| Ok(task.partition.own() as i64))
    }

    pub(super) fn numnodes() -> Nx<i64> {
        with(|task| Ok(task.partition.size() as i64))
    }

    pub(super) fn nodedim() -> Nx<i64> {
        with(|task| Ok(task.partition.size().next_power_of_two().trailing_zeros().into()))
    }

    pub(super) fn myhost() -> Nx<i64> {
        numnodes()
    }

    pub(super) fn myptype() -> Nx<i64> {
        Ok(task::ptype())
    }

    pub(super) fn mypid() -> Nx<i64> {
        Ok(task::ptype())
    }

    pub(super) fn setptype(ptype: i64) -> Nx<()> {
        task::set_ptype(ptype)
    }

    pub(super) fn setpid(ptype: i64) -> Nx<()> {
        task::set_ptype(ptype)
    }

    pub(super) fn gray(number: i64) -> Nx<i64> {
        if number < 0 { Err(NxError::Param) } else { Ok(number ^ (number >> 1)) }
    }

    pub(super) fn ginv(code: i64) -> Nx<i64> {
        if code < 0 {
            return Err(NxError::Param);
        }
        Ok([32, 16, 8, 4, 2, 1].into_iter().fold(code, |code, shift| code ^ (code >> shift)))
    }

    pub(super) fn flick() -> Nx<()> {
        with(|task| {
            task.api.progress();
            std::thread::yield_now();
            Ok(())
        })
    }

    pub(super) fn killcube(node: i64, ptype: i64) -> Nx<()> {
        with(|task| {
            check_ptypesel(ptype)?;
            let own = task.partition.own();
            let stop = |tid: i32| {
                let request = Request::Signal { tid: Tid(tid), signal: libc::SIGTERM };
                let notes = Notes { limit: -1, call: call::MACHINE, peer: tid, tag: -1, context: -1 };
                match task.api.ask(&request, &notes)? {
                    // A task that is gone need not be stopped.
                    Err(failure) if failure.kind != ErrorKind::NoSuchTask => Err(NxError::Node),
                    _ => Ok(()),
                }
            };
            if node != -1 {
                return stop(task.receiver(node)?);
            }
            for other in (0..task.partition.size()).filter(|other| *other != own) {
                stop(task.receiver(other as i64)?)?;
            }
            stop(task.receiver(own as i64)?)
        })
    }

    pub(super) fn killproc(node: i64, ptype: i64) -> Nx<()> {
        killcube(node, ptype)
    }
}

/// Seconds since some moment.
fn seconds() -> f64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes the time.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
    now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9
}

/// Seconds; only differences matter.
#[unsafe(no_mangle)]
pub extern "C" fn dclock() -> f64 {
    seconds()
}

/// For Fortran.
#[unsafe(no_mangle)]
pub extern "C" fn dclock_() -> f64 {
    seconds()
}

/// Milliseconds; only differences matter.
#[unsafe(no_mangle)]
pub extern "C" fn mclock() -> c_ulong {
    (seconds() * 1e3) as c_ulong
}

/// For Fortran.
#[unsafe(no_mangle)]
pub extern "C" fn mclock_() -> i32 {
    // A default integer turns over after 24 days.
    (seconds() * 1e3) as i64 as i32
}

/// Makes this process a service process of its partition; gives how many nodes there are, or -1 and `errno`.
///
/// # Safety
/// The pointers are not used.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nx_initve(
    _partition: *const c_char,
    size: c_long,
    _account: *const c_char,
    _argc: *mut c_void,
    _argv: *mut *mut c_char,
) -> c_int {
    let begun = super::with(|node| {
        let nodes = node.partition.size() as i64;
        if size > 0 && size != nodes {
            return Err(crate::errors::NxError::Param);
        }
        task::start_as_service();
        Ok(nodes)
    });
    super::or_errno(begun) as c_int
}
