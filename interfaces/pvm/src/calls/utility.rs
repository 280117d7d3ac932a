//! Functions of libpvm3 that are in no manual, but that programs use: PVM's own examples do.

use super::text;
use crate::errors::{self, PvmError};
use crate::state::{call, quietly};
use parvum_api::pointers::{Out, Text};
use std::ffi::{c_char, c_int};
use std::time::Duration;

/// Reports a failure the way PVM's calls do, if the task wants reports; gives the code back.
#[unsafe(no_mangle)]
pub extern "C" fn lpvmerr(function: Text<'_>, code: c_int) -> c_int {
    let function = super::shown(function);
    super::ERRNO.store(code, std::sync::atomic::Ordering::Relaxed);
    quietly(|state| state.say_failure(&function, errors::text(code)));
    code
}

/// The clock: seconds and microseconds since 1970.
#[unsafe(no_mangle)]
pub extern "C" fn pvmgetclock(time: Out<'_, libc::timeval>) {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let now = libc::timeval {
        tv_sec: now.as_secs() as libc::time_t,
        tv_usec: libc::suseconds_t::from(now.subsec_micros() as i32),
    };
    time.put(now);
}

/// Sleeps this number of seconds.
#[unsafe(no_mangle)]
pub extern "C" fn pvmsleep(seconds: c_int) {
    std::thread::sleep(Duration::from_secs(u64::try_from(seconds).unwrap_or(0)));
}

/// PVM's reserved tags begin here: five kinds, each numbered from 1.
const RESERVED: [(u32, &[&str]); 4] = [
    (
        0x8001_0001,
        &[
            "TM_CONNECT",
            "TM_CONN2",
            "TM_EXIT",
            "TM_ADDHOST",
            "TM_DELHOST",
            "TM_CONFIG",
            "TM_MSTAT",
            "TM_HALT",
            "TM_TICKLE",
            "TM_SPAWN",
            "TM_PSTAT",
            "TM_SENDSIG",
            "TM_TASK",
            "TM_MCA",
            "TM_NOTIFY",
            "TM_DB",
            "TM_SCHED",
            "TM_TASKER",
            "TM_HOSTER",
            "TM_TRACER",
            "TM_HOSTSYNC",
            "TM_SETOPT",
            "TM_GETOPT",
            "TM_CONTEXT",
            "TM_SHMCONN",
        ],
    ),
    (
        0x8002_0001,
        &[
            "DM_ADD",
            "DM_ADDACK",
            "DM_EXEC",
            "DM_EXECACK",
            "DM_SENDSIG",
            "DM_HTUPD",
            "DM_HTUPDACK",
            "DM_HTCOMMIT",
            "DM_SLCONF",
            "DM_STARTACK",
            "DM_TASK",
            "DM_TASKACK",
            "DM_DELHOST",
            "DM_DELHOSTACK",
            "DM_NULL",
            "DM_TASKOUT",
            "DM_PSTAT",
            "DM_PSTATACK",
            "DM_HALT",
            "DM_MCA",
            "DM_NOTIFY",
            "DM_NOTIFYACK",
            "DM_DB",
            "DM_DBACK",
            "DM_RESET",
            "DM_RESETACK",
            "DM_HTDEL",
            "DM_HOSTSYNC",
            "DM_HOSTSYNCACK",
        ],
    ),
    (
        0x8003_0001,
        &[
            "TC_CONREQ",
            "TC_CONACK",
            "TC_TASKEXIT",
            "TC_NOOP",
            "TC_OUTPUT",
            "TC_SETTRACE",
            "TC_SETTMASK",
            "TC_SETTRCBUF",
            "TC_SETTRCOPT",
            "TC_SHMAT",
            "TC_OUTPUTX",
            "TC_SIBLINGS",
        ],
    ),
    (
        0x8004_0001,
        &[
            "SM_SPAWN",
            "SM_EXEC",
            "SM_EXECACK",
            "SM_TASK",
            "SM_CONFIG",
            "SM_ADDHOST",
            "SM_DELHOST",
            "SM_ADD",
            "SM_ADDACK",
            "SM_NOTIFY",
            "SM_TASKX",
            "SM_HOSTX",
            "SM_HANDOFF",
            "SM_SCHED",
            "SM_STHOST",
            "SM_STHOSTACK",
            "SM_STTASK",
        ],
    ),
];

/// The name of a reserved tag, or the number in digits; `reserved` is told which. The text lasts
/// until the next call.
#[unsafe(no_mangle)]
pub extern "C" fn pvmnametag(tag: c_int, reserved: Out<'_, c_int>) -> *const c_char {
    let known = RESERVED
        .iter()
        .find_map(|(first, names)| names.get((tag as u32).checked_sub(*first)? as usize).copied());
    reserved.put(c_int::from(known.is_some()));
    quietly(|state| {
        let name = known.map_or_else(|| tag.to_string(), str::to_owned);
        state.tag_name.insert(super::machine::info::c_text(&name)).as_ptr()
    })
}

/// Leaves the machine quietly, as at the program's end.
#[unsafe(no_mangle)]
pub extern "C" fn pvmendtask() -> c_int {
    quietly(|state| state.leave_quietly());
    0
}

/// Becomes a task, if this process is none: what every call does that needs the machine.
#[unsafe(no_mangle)]
pub extern "C" fn pvmbeatask() -> c_int {
    call("pvm_mytid", |state| state.me().map(|_| 0))
}

/// Ends the program after a failure.
#[unsafe(no_mangle)]
pub extern "C" fn pvmbailout(code: c_int) {
    quietly(|state| eprintln!("libpvm [{}]: ending with code {code}", state.name()));
    std::process::exit(code);
}

/// The data format of this machine.
#[unsafe(no_mangle)]
pub extern "C" fn pvmgetdsig() -> c_int {
    crate::buffers::buffer::DATA_SIGNATURE
}

/// The descriptors to wait for, for programs that wait for others as well: one is readable when
/// something may have come. The list lasts until the next call.
#[unsafe(no_mangle)]
pub extern "C" fn pvm_getfds(list: Out<'_, *mut c_int>) -> c_int {
    call("pvm_getfds", |state| {
        if list.is_null() {
            return Err(PvmError::BadParam);
        }
        let count = state.watch_descriptors()?;
        list.put(state.descriptors.as_mut_ptr());
        Ok(count)
    })
}

/// Prints what memory the library holds for messages: how many buffers there are.
#[unsafe(no_mangle)]
pub extern "C" fn i_dump(_all: c_int) {
    let (count, bytes) = quietly(|state| state.buffers_held());
    println!("message buffers: {count}, {bytes} bytes");
}

/// Ends all tasks, on request, except this one and the tasks that asked to be spared. Then removes entries of the
/// mailbox whose owner is gone, of a class (null or empty: all) and index (-1: all).
#[unsafe(no_mangle)]
pub extern "C" fn pvmreset(_me: c_int, kill: c_int, class: Text<'_>, index: c_int) -> c_int {
    call("pvm_reset", |state| {
        let class = parvum_wire::byte_names::text_of(text(class).unwrap_or_default().to_bytes());
        if kill != 0 {
            state.end_all_others()?;
        }
        state.tidy_mail(&class, index)
    })
}
