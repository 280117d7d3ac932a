//! Processes: pvm_mytid(3), pvm_spawn(3), pvm_kill(3), pvm_notify(3) ...

use super::{array, text};
use crate::errors::{Pvm, PvmError, is_absence};
use crate::machine::attend::is_needed;
use crate::state::{Locked, call, call_but};
use crate::trace::{Did, Value};
use parvum_api::pointers::{Out, Text};
use parvum_wire::Tid;
use parvum_wire::control::{
    Blob, ErrorKind, Failure, Notice, Reply, Request, SpawnRequest, SpawnWhere, Spawned, program_folders,
};
use std::ffi::{CStr, OsStr, c_char, c_int};
use std::os::unix::ffi::OsStrExt;

/// This task's id; joins the machine when the process is no task yet.
#[unsafe(no_mangle)]
pub extern "C" fn pvm_mytid() -> c_int {
    call("pvm_mytid", |state| Ok(state.me()?.tid))
}

/// Who spawned this task.
#[unsafe(no_mangle)]
pub extern "C" fn pvm_parent() -> c_int {
    call_but("pvm_parent", is_absence, |state| match state.me()?.parent {
        // Started by the machine, but for no task: from the console, by `parvum run`, or on request.
        0 if std::env::var_os("PARVUM_TID").is_some() => Err(PvmError::ParentNotSet),
        0 => Err(PvmError::NoParent),
        parent => Ok(parent),
    })
}

/// The daemon of a task's host: the part of the number that names the host, whatever the rest is.
#[unsafe(no_mangle)]
pub extern "C" fn pvm_tidtohost(tid: c_int) -> c_int {
    call("pvm_tidtohost", |_| Ok(tid & (Tid::MAX_HOST << Tid::LOCAL_BITS) as c_int))
}

/// Leaves the machine. All sent messages are delivered first, and all output that the process catches from tasks is
/// printed. The process continues.
#[unsafe(no_mangle)]
pub extern "C" fn pvm_exit() -> c_int {
    if is_needed() {
        crate::machine::attend::await_output();
    }
    call("pvm_exit", Locked::leave)
}

/// The tasks that were spawned together with this one, and this task itself. Returns their number. The list lasts until
/// the next call.
#[unsafe(no_mangle)]
pub extern "C" fn pvm_siblings(tids: Out<'_, *mut c_int>) -> c_int {
    call("pvm_siblings", |state| {
        let Reply::Siblings(siblings) = state.ask(&Request::Siblings)? else {
            return Err(PvmError::DSysErr);
        };
        state.siblings = siblings.into_iter().map(|tid| tid.0).collect();
        tids.put(state.siblings.as_mut_ptr());
        Ok(state.siblings.len() as c_int)
    })
}

const HOST: c_int = 1;
const ARCH: c_int = 2;
const COMPLEMENT: c_int = 32;
const NO_PARENT: c_int = 64;
const ALL_FLAGS: c_int = 127;
/// More at once the machine does not start.
const MOST: u32 = 4096;

/// Starts `count` copies of a program; gives how many began. `tids` has their
/// ids, then an error code for each that did not.
///
/// # Safety
/// `args` must be null or ended by a null, `tids` null or writable for `count` ids.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvm_spawn(
    program: Text<'_>,
    args: *const *const c_char,
    flags: c_int,
    place: Text<'_>,
    count: c_int,
    tids: *mut c_int,
) -> c_int {
    call("pvm_spawn", |state| {
        if count < 1 || !(0..=ALL_FLAGS).contains(&flags) {
            return Err(PvmError::BadParam);
        }
        let program = text(program)?;
        if program.is_empty() {
            return Err(PvmError::BadParam);
        }
        // SAFETY: the caller's promise.
        let args = unsafe { arguments(args) };
        let request = SpawnRequest {
            program: blob(program.to_bytes()),
            args,
            count: count as u32,
            search: search_path(),
            cwd: std::env::var_os("PVMSPAWNWD").map(|dir| blob(dir.as_bytes())),
            env_add: exported(state),
            place: place_of(flags, place)?,
            flag: flags,
            output: state.options().output(),
            trace: super::trace::children_tracer(),
            orphan: flags & NO_PARENT != 0,
            ..SpawnRequest::default()
        };
        state.about(|| {
            let place = match &request.place {
                SpawnWhere::Anywhere => &[][..],
                SpawnWhere::Host(name)
                | SpawnWhere::Arch(name)
                | SpawnWhere::NotHost(name)
                | SpawnWhere::NotArch(name) => name.as_bytes(),
            };
            vec![
                (Did::SpawnFile, Value::Text(request.program.0.clone())),
                (Did::SpawnFlags, Value::Number(flags)),
                (Did::SpawnWhere, Value::Text(place.to_vec())),
                (Did::SpawnCount, Value::Number(count)),
            ]
        });
        let (begun, failed): (Vec<_>, Vec<_>) = state.start(request)?.into_iter().partition(|tid| *tid > 0);
        if !tids.is_null() {
            for (at, value) in begun.iter().chain(&failed).take(count as usize).enumerate() {
                // SAFETY: the program gave room for `count` ids.
                unsafe { tids.add(at).write(*value) };
            }
        }
        Ok(begun.len() as c_int)
    })
}

impl Locked {
    /// Starts tasks: a tid or an error code for each.
    fn start(&mut self, request: SpawnRequest) -> Pvm<Vec<c_int>> {
        if let Some(manager) = self.manager()?
            && let Some(results) = self.spawn_by_manager(manager, &request)?
        {
            return Ok(results);
        }
        let count = request.count.min(MOST) as usize;
        let beside = unsearched(&request.program);
        let results = match self.ask(&Request::Spawn(request)) {
            Ok(Reply::Spawned(results)) => results,
            Ok(_) => return Err(PvmError::DSysErr),
            // A place that does not exist is not an error of the call: no task started, and each entry has the reason.
            Err(PvmError::NoHost) => return Ok(vec![PvmError::NoHost as c_int; count]),
            Err(why) => return Err(why),
        };
        // The code alone does not say where was looked: of each cause once.
        let mut causes: Vec<&Failure> = results.iter().filter_map(|result| result.as_ref().err()).collect();
        causes.dedup();
        for why in causes.into_iter().filter(|why| why.kind != ErrorKind::NoSuchHost) {
            let beside = beside.filter(|_| why.kind == ErrorKind::ProgramNotFound).unwrap_or_default();
            self.say_failure("pvm_spawn", &format!("{why}{beside}"));
        }
        let code = |result: Result<Spawned, Failure>| match result {
            Ok(spawned) => spawned.tid.0,
            Err(why) => PvmError::from(why.kind) as c_int,
        };
        Ok(results.into_iter().map(code).collect())
    }
}

/// A word about a program that lies in the folder of this process, where a mere name is not looked for.
fn unsearched(program: &Blob) -> Option<&'static str> {
    let is_here = || std::path::Path::new(OsStr::from_bytes(&program.0)).is_file();
    let is_name = !program.0.contains(&b'/');
    (is_name && is_here()).then_some("; note: a file of that name is in this folder, which is not searched")
}

fn blob(bytes: &[u8]) -> Blob {
    Blob(bytes.to_vec())
}

/// # Safety
/// `args` must be null, or C strings ended by a null.
unsafe fn arguments(args: *const *const c_char) -> Vec<Blob> {
    let mut list = Vec::new();
    if args.is_null() {
        return list;
    }
    // SAFETY: read up to the null that ends the list, as the caller says.
    unsafe {
        let mut next = args;
        while !(*next).is_null() {
            list.push(blob(CStr::from_ptr(*next).to_bytes()));
            next = next.add(1);
        }
    }
    list
}

fn place_of(flags: c_int, place: Text<'_>) -> Pvm<SpawnWhere> {
    if flags & (HOST | ARCH) == 0 {
        return Ok(SpawnWhere::Anywhere);
    }
    let place = parvum_wire::byte_names::text_of(text(place)?.to_bytes());
    if place.is_empty() {
        return Err(PvmError::BadParam);
    }
    Ok(match (flags & HOST != 0, flags & COMPLEMENT != 0) {
        (true, false) => SpawnWhere::Host(place),
        (true, true) => SpawnWhere::NotHost(place),
        (false, false) => SpawnWhere::Arch(place),
        (false, true) => SpawnWhere::NotArch(place),
    })
}

/// The folders that are searched for programs, before the daemon's PATH. They include PVM_PATH and PATH of this
/// program, which the user may have set after the start of the virtual machine.
pub(crate) fn search_path() -> Vec<Blob> {
    program_folders(|name| std::env::var_os(name))
}

/// Variables that a spawned task gets: those PVM_EXPORT names, the context, and
/// what it needs to find the same libraries.
fn exported(state: &Locked) -> Vec<Blob> {
    let listed = super::environment::exported();
    let pair = |name: &[u8]| {
        let value = std::env::var_os(OsStr::from_bytes(name))?;
        Some(Blob([name, b"=", value.as_bytes()].concat()))
    };
    let mut variables: Vec<Blob> = listed.iter().filter_map(|name| pair(name)).collect();
    for name in [
        "PVM_EXPORT",
        "LD_LIBRARY_PATH",
        "PVM_ROOT",
        "PARVUM_ROUTE",
        "PARVUM_FABRIC",
        "PARVUM_CREDIT",
        "PARVUM_MEMORY",
        "PARVUM_SINGLE_COPY",
    ] {
        variables.extend(pair(name.as_bytes()));
    }
    variables.extend(super::trace::children_variables());
    if state.context != 0 {
        variables.push(Blob(format!("PVMCTX=0x{:x}", state.context).into_bytes()));
    }
    variables
}

/// Ends a task.
#[unsafe(no_mangle)]
pub extern "C" fn pvm_kill(tid: c_int) -> c_int {
    call("pvm_kill", |state| signal(state, tid, libc::SIGTERM))
}

/// Sends a signal to a task.
#[unsafe(no_mangle)]
pub extern "C" fn pvm_sendsig(tid: c_int, number: c_int) -> c_int {
    call("pvm_sendsig", |state| signal(state, tid, number))
}

/// Whether a number has the form of a task's id. The host need not exist.
pub(super) fn is_somebody(tid: c_int) -> bool {
    tid > 0 && tid >> 30 == 0 && Tid(tid).local() != 0 && (Tid(tid).host() == 0 || Tid(tid).is_task())
}

fn signal(state: &mut Locked, tid: c_int, signal: c_int) -> Pvm<c_int> {
    let whom = Tid(tid);
    if !is_somebody(tid) || (whom.is_task() && !(0..=64).contains(&signal)) {
        return Err(PvmError::BadParam);
    }
    // The call does not report whether the task still exists: it may end at any moment, and PVM does not wait for an
    // answer.
    if !whom.is_task() {
        return Ok(0);
    }
    match state.ask(&Request::Signal { tid: whom, signal }) {
        Ok(_) | Err(PvmError::NoTask) => Ok(0),
        Err(why) => Err(why),
    }
}

const TASK_EXIT: c_int = 1;
const HOST_DELETE: c_int = 2;
const HOST_ADD: c_int = 3;
const CANCEL: c_int = 256;

/// Asks for a message with `tag` when tasks end, or when hosts leave or join.
///
/// # Safety
/// `tids` must be readable as `count` ids, where the kind takes ids.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvm_notify(what: c_int, tag: c_int, count: c_int, tids: *const c_int) -> c_int {
    call("pvm_notify", |state| {
        let about = match what & !CANCEL {
            TASK_EXIT => Notice::TaskExit,
            HOST_DELETE => Notice::HostDelete,
            HOST_ADD => Notice::HostAdd,
            4 | 5 => return Err(PvmError::NotImpl),
            _ => return Err(PvmError::BadParam),
        };
        if tag < 0 {
            return Err(PvmError::BadParam);
        }
        let mut targets = Vec::new();
        if about != Notice::HostAdd {
            if count < 1 {
                return Err(PvmError::BadParam);
            }
            // SAFETY: the caller's promise.
            targets.extend(unsafe { array(tids, count)? }.iter().map(|tid| Tid(*tid)));
            let possible = |tid: &Tid| if about == Notice::TaskExit { tid.is_task() } else { tid.0 > 0 };
            if !targets.iter().all(possible) {
                return Err(PvmError::BadParam);
            }
            if about == Notice::HostDelete {
                // A task stands for its host.
                targets.iter_mut().for_each(|tid| *tid = tid.daemon());
            }
        }
        if let Some(manager) = state.manager()? {
            let count = if about == Notice::HostAdd { count } else { targets.len() as c_int };
            return state.notify_by_manager(manager, what, tag, count, &targets);
        }
        let cookie = u64::from(state.context) << 32 | u64::from(tag as u32);
        let request = if what & CANCEL != 0 {
            Request::CancelNotify { about, targets, cookie }
        } else {
            Request::Notify { about, targets, count, cookie }
        };
        state.ask(&request).map(|_| 0)
    })
}
