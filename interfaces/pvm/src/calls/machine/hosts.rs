//! Hosts and the machine as a whole: pvm_addhosts(3), pvm_mstat(3), pvm_hostsync(3), pvm_halt(3) ...

use crate::calls::{array, text};
use crate::errors::{Pvm, PvmError, is_absence};
use crate::state::{Locked, call, call_but};
use parvum_api::pointers::{Out, Text};
use parvum_wire::Tid;
use parvum_wire::control::{ErrorKind, Failure, Reply, Request, TaskState};
use std::ffi::{CStr, c_int};
use std::time::{SystemTime, UNIX_EPOCH};

/// # Safety
/// `hosts` must be null or `count` C strings.
unsafe fn names(hosts: *const Text<'_>, count: c_int) -> Pvm<Vec<String>> {
    if count < 1 {
        return Err(PvmError::BadParam);
    }
    // SAFETY: the caller's promise.
    let hosts = unsafe { array(hosts, count)? };
    // A host's name is text: no other bytes are one.
    let utf8 = |host: &CStr| host.to_str().map(str::to_owned).map_err(|_| PvmError::BadParam);
    hosts.iter().map(|host| text(*host).and_then(utf8)).collect()
}

/// Asks; puts a tid, 0 or an error code for each host into `infos`. Gives how many went well.
///
/// # Safety
/// `infos` must be null or writable for as many numbers as there are hosts.
unsafe fn for_each_host(state: &mut Locked, request: &Request, infos: *mut c_int, tids: bool) -> Pvm<c_int> {
    let mut done = 0;
    for (at, result) in state.change_hosts(request, tids)?.into_iter().enumerate() {
        done += c_int::from(result >= 0);
        let info = if tids { result } else { result.min(0) };
        if !infos.is_null() {
            // SAFETY: room for one number each, as the caller says.
            unsafe { infos.add(at).write(info) };
        }
    }
    Ok(done)
}

impl Locked {
    /// A tid, or at least 0, or an error code for each host.
    fn change_hosts(&mut self, request: &Request, add: bool) -> Pvm<Vec<c_int>> {
        if let Some(manager) = self.manager()?
            && let Request::AddHosts { hosts } | Request::RemoveHosts { hosts } = request
            && let Some(results) = self.hosts_change_by_manager(manager, hosts, add)?
        {
            return Ok(results);
        }
        let Reply::HostResults(results) = self.ask(request)? else { return Err(PvmError::DSysErr) };
        // The code alone does not say which option or which step it was.
        for why in results.iter().filter_map(|result| result.as_ref().err()) {
            if add && matches!(why.kind, ErrorKind::BadParameter | ErrorKind::CannotStart) {
                self.say_failure("pvm_addhosts", &why.to_string());
            }
        }
        let code = |result: Result<Tid, Failure>| match result {
            Ok(tid) => tid.0,
            Err(why) => PvmError::from(why.kind) as c_int,
        };
        Ok(results.into_iter().map(code).collect())
    }
}

/// Adds hosts to the machine; gives how many came. `infos` has the tid of each one's daemon, or why not.
///
/// # Safety
/// `hosts` must be `count` C strings, `infos` null or writable for `count` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvm_addhosts(hosts: *const Text<'_>, count: c_int, infos: *mut c_int) -> c_int {
    call("pvm_addhosts", |state| {
        // SAFETY: the caller's promise.
        unsafe { for_each_host(state, &Request::AddHosts { hosts: names(hosts, count)? }, infos, true) }
    })
}

/// Takes hosts out of the machine; gives how many went.
///
/// # Safety
/// As for [`pvm_addhosts`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvm_delhosts(hosts: *const Text<'_>, count: c_int, infos: *mut c_int) -> c_int {
    call("pvm_delhosts", |state| {
        // SAFETY: the caller's promise.
        unsafe { for_each_host(state, &Request::RemoveHosts { hosts: names(hosts, count)? }, infos, false) }
    })
}

/// Whether a host is in the machine and runs.
#[unsafe(no_mangle)]
pub extern "C" fn pvm_mstat(host: Text<'_>) -> c_int {
    call_but("pvm_mstat", is_absence, |state| {
        let host = text(host)?.to_str().map_err(|_| PvmError::NoHost)?;
        if host.is_empty() {
            return Err(PvmError::BadParam);
        }
        let Reply::Hosts(rows) = state.ask(&Request::Hosts)? else { return Err(PvmError::DSysErr) };
        if is_here(host) || rows.iter().any(|row| row.name == host) { Ok(0) } else { Err(PvmError::NoHost) }
    })
}

/// Whether the name is a name that every host has for itself.
fn is_here(name: &str) -> bool {
    name == "localhost" || name.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback())
}

/// Whether a task runs.
#[unsafe(no_mangle)]
pub extern "C" fn pvm_pstat(tid: c_int) -> c_int {
    call_but("pvm_pstat", is_absence, |state| {
        if !crate::calls::process::is_somebody(tid) {
            return Err(PvmError::BadParam);
        }
        let rows = match state.ask(&Request::Tasks { of: Some(Tid(tid)), deep: false }) {
            Ok(Reply::Tasks(rows)) => rows,
            // If the host does not exist, it has no tasks.
            Err(PvmError::NoHost) => Vec::new(),
            Err(why) => return Err(why),
            Ok(_) => return Err(PvmError::DSysErr),
        };
        // A task whose end was reported does not count, even if its process still runs for a moment.
        let is_there = rows.iter().any(|row| row.state != TaskState::Departed);
        if is_there { Ok(0) } else { Err(PvmError::NoTask) }
    })
}

/// Reads a host's clock, and how far this host's is ahead of it.
#[unsafe(no_mangle)]
pub extern "C" fn pvm_hostsync(
    host: c_int,
    clock: Out<'_, libc::timeval>,
    ahead: Out<'_, libc::timeval>,
) -> c_int {
    call("pvm_hostsync", |state| {
        if host < 0 {
            return Err(PvmError::NoHost);
        }
        let before = microseconds();
        let Reply::Clock { seconds, nanoseconds } = state.ask(&Request::Clock { host: Tid(host) })? else {
            return Err(PvmError::DSysErr);
        };
        // The answer was on its way half of the time.
        let here = before + (microseconds() - before) / 2;
        let there = seconds * 1_000_000 + i64::from(nanoseconds / 1000);
        clock.put(time_of(there));
        ahead.put(time_of(here - there));
        Ok(0)
    })
}

fn microseconds() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_micros() as i64)
}

/// Seconds round down: the microseconds are never negative.
fn time_of(microseconds: i64) -> libc::timeval {
    libc::timeval { tv_sec: microseconds.div_euclid(1_000_000), tv_usec: microseconds.rem_euclid(1_000_000) }
}

/// Stops the machine and all its tasks, this one among them.
#[unsafe(no_mangle)]
pub extern "C" fn pvm_halt() -> c_int {
    call("pvm_halt", |state| state.ask(&Request::Halt).map(|_| 0))
}

/// Starts a machine, as `pvmd` with these arguments; `PvmDupHost` when there is one already.
///
/// # Safety
/// `args` must be null or `count` C strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvm_start_pvmd(count: c_int, args: *const Text<'_>, _wait: c_int) -> c_int {
    call("pvm_start_pvmd", |state| {
        // SAFETY: the caller's promise.
        let args = unsafe { array(args, count)? };
        let mut words = Vec::new();
        for arg in args {
            words.extend_from_slice(text(*arg)?.to_bytes_with_nul());
        }
        state.start_machine(&words)
    })
}

const TICKLE_GET_MASK: c_int = 5;
const TICKLE_SET_MASK: c_int = 6;

/// Has the daemon write what it holds into its log (codes 0 to 4, 7 to 9), or reads its debug mask
/// (5), which is always 0 here.
///
/// # Safety
/// `args` must be readable as `count` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvm_tickle(
    count: c_int,
    args: *const c_int,
    answers: Out<'_, c_int>,
    answer: Out<'_, c_int>,
) -> c_int {
    call("pvm_tickle", |state| {
        // SAFETY: the caller's promise.
        let what = *unsafe { array(args, count)? }.first().ok_or(PvmError::BadParam)?;
        if what == TICKLE_SET_MASK {
            return Err(PvmError::NotImpl);
        }
        state.ask(&Request::Dump)?;
        let reads = what == TICKLE_GET_MASK;
        answers.put(c_int::from(reads));
        if reads {
            answer.put(0);
        }
        Ok(0)
    })
}

/// The code of an architecture's data format: hosts with the same code can exchange raw data.
#[unsafe(no_mangle)]
pub extern "C" fn pvm_archcode(arch: Text<'_>) -> c_int {
    call("pvm_archcode", |state| {
        let arch: &CStr = text(arch)?;
        let Reply::Hosts(rows) = state.ask(&Request::Hosts)? else { return Err(PvmError::DSysErr) };
        if rows.iter().any(|row| row.arch.as_bytes() == arch.to_bytes()) {
            Ok(crate::buffers::buffer::DATA_SIGNATURE)
        } else {
            Err(PvmError::NotFound)
        }
    })
}
