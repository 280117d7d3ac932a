//! The contents of the virtual machine: pvm_config(3), pvm_tasks(3), and options and errors.

use crate::errors::{self, Pvm, PvmError};
use crate::machine::manager::{ManagedHost, ManagedTask};
use crate::options;
use crate::state::{Locked, call, quietly};
use crate::trace::{Did, numbers};
use parvum_api::pointers::{Out, Text};
use parvum_wire::Tid;
use parvum_wire::control::{HostRow, Reply, Request, TaskRow, TaskState};
use std::ffi::{CString, c_char, c_int};

/// `struct pvmhostinfo`.
#[repr(C)]
pub struct HostInfo {
    tid: c_int,
    name: *const c_char,
    arch: *const c_char,
    speed: c_int,
    dsig: c_int,
}

/// `struct pvmtaskinfo`.
#[repr(C)]
pub struct TaskInfo {
    tid: c_int,
    parent: c_int,
    host: c_int,
    flag: c_int,
    program: *const c_char,
    pid: c_int,
}

// SAFETY: the pointers go into strings that the state owns beside the tables,
// and only the program reads through them.
unsafe impl std::marker::Send for HostInfo {}
// SAFETY: as above.
unsafe impl std::marker::Send for TaskInfo {}

/// A text for C: invalid bytes are replaced.
pub(in crate::calls) fn c_text(text: impl AsRef<[u8]>) -> CString {
    let bytes = text.as_ref().iter().map(|byte| if *byte == 0 { b'?' } else { *byte });
    CString::new(bytes.collect::<Vec<_>>()).unwrap_or_default()
}

impl Locked {
    /// The hosts, and how many architectures.
    fn host_rows(&mut self) -> Pvm<(Vec<ManagedHost>, c_int)> {
        if let Some(manager) = self.manager()?
            && let Some(rows) = self.hosts_by_manager(manager)?
        {
            return Ok(rows);
        }
        let Reply::Hosts(rows) = self.ask(&Request::Hosts)? else { return Err(PvmError::DSysErr) };
        let kinds = rows.iter().map(|row| &row.arch).collect::<std::collections::HashSet<_>>().len();
        let row = |row: HostRow| ManagedHost {
            tid: row.tid.0,
            name: row.name.into_bytes(),
            arch: row.arch.into_bytes(),
            speed: row.speed,
            dsig: crate::buffers::buffer::DATA_SIGNATURE,
        };
        Ok((rows.into_iter().map(row).collect(), kinds as c_int))
    }

    /// The tasks: all tasks (0), the tasks of a host, or one task.
    fn task_rows(&mut self, of: c_int) -> Pvm<Vec<ManagedTask>> {
        if let Some(manager) = self.manager()?
            && let Some(rows) = self.tasks_by_manager(manager, of)?
        {
            return Ok(rows);
        }
        let of = (of > 0).then_some(Tid(of));
        let rows = match self.ask(&Request::Tasks { of, deep: false }) {
            Ok(Reply::Tasks(rows)) => rows,
            // A task that has ended does not count.
            Err(PvmError::NoTask) => Vec::new(),
            Err(why) => return Err(why),
            Ok(_) => return Err(PvmError::DSysErr),
        };
        let row = |row: TaskRow| ManagedTask {
            tid: row.tid.0,
            parent: row.parent.map_or(0, |parent| parent.0),
            host: row.host.0,
            // PVM's 4: connected to its daemon.
            flag: if row.state == TaskState::Enrolled { 4 | row.flag } else { row.flag },
            program: row.name.into_bytes(),
            pid: row.pid as c_int,
        };
        Ok(rows.into_iter().map(row).collect())
    }
}

/// The hosts of the machine. The table belongs to PVM and lasts until the next call.
#[unsafe(no_mangle)]
pub extern "C" fn pvm_config(
    hosts: Out<'_, c_int>,
    archs: Out<'_, c_int>,
    table: Out<'_, *mut HostInfo>,
) -> c_int {
    call("pvm_config", |state| {
        let (rows, kinds) = state.host_rows()?;
        let names: Vec<CString> =
            rows.iter().flat_map(|row| [c_text(&row.name), c_text(&row.arch)]).collect();
        state.hosts = rows
            .iter()
            .zip(names.chunks_exact(2))
            .map(|(row, names)| HostInfo {
                tid: row.tid,
                name: names[0].as_ptr(),
                arch: names[1].as_ptr(),
                speed: row.speed,
                dsig: row.dsig,
            })
            .collect();
        state.names[0] = names;
        hosts.put(rows.len() as c_int);
        archs.put(kinds);
        table.put(state.hosts.as_mut_ptr());
        Ok(0)
    })
}

/// The tasks of the machine (0), of a host, or one. The table lasts until the next call.
///
/// # Safety
/// The pointers must be null or valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvm_tasks(of: c_int, count: Out<'_, c_int>, table: Out<'_, *mut TaskInfo>) -> c_int {
    call("pvm_tasks", |state| {
        if of < 0 {
            return Err(PvmError::NoHost);
        }
        let rows = state.task_rows(of)?;
        let names: Vec<CString> = rows.iter().map(|row| c_text(&row.program)).collect();
        state.tasks = rows
            .iter()
            .zip(&names)
            .map(|(row, name)| TaskInfo {
                tid: row.tid,
                parent: row.parent,
                host: row.host,
                flag: row.flag,
                program: name.as_ptr(),
                pid: row.pid,
            })
            .collect();
        state.names[1] = names;
        count.put(rows.len() as c_int);
        table.put(state.tasks.as_mut_ptr());
        Ok(0)
    })
}

/// Prints what the last call's failure means, after the program's own words.
#[unsafe(no_mangle)]
pub extern "C" fn pvm_perror(message: Text<'_>) -> c_int {
    let message = crate::calls::shown(message);
    quietly(|state| {
        let code = ERRNO.load(std::sync::atomic::Ordering::Relaxed);
        eprintln!("libpvm [{}]: {message}: {}", state.name(), errors::text(code));
    });
    0
}

/// PVM's `pvm_errno`: what the last failing call returned. A program may set it.
#[unsafe(export_name = "pvm_errno")]
pub static ERRNO: std::sync::atomic::AtomicI32 = std::sync::atomic::AtomicI32::new(0);

/// Sets an option; gives its old value.
#[unsafe(no_mangle)]
pub extern "C" fn pvm_setopt(what: c_int, value: c_int) -> c_int {
    call("pvm_setopt", |state: &mut Locked| {
        state.about(|| numbers([(Did::Option, what), (Did::OptionValue, value)]));
        state.learn_options(what)?;
        // Output and traces may go to this task, or to the task that already gets them.
        if what == options::OUTPUT_TID || what == options::TRACE_TID {
            let now = crate::calls::trace::option(what).map_or_else(|| state.options().get(what), Ok)?;
            if ![0, state.me()?.tid, now].contains(&value) {
                return Err(PvmError::BadParam);
            }
        }
        let old = crate::calls::trace::option(what);
        let old = state.options().set(what, value).map(|set| old.unwrap_or(set))?;
        state.follow(what, value)?;
        Ok(old)
    })
}

impl Locked {
    /// Asks the machine for what it knows of an option and this task does not.
    fn learn_options(&mut self, what: c_int) -> Pvm<()> {
        const ABOUT_OUTPUT: [c_int; 6] = [
            options::OUTPUT_TID,
            options::OUTPUT_TAG,
            options::OUTPUT_CONTEXT,
            options::SELF_OUTPUT_TID,
            options::SELF_OUTPUT_TAG,
            options::SELF_OUTPUT_CONTEXT,
        ];
        if self.options().output_known || !ABOUT_OUTPUT.contains(&what) {
            return Ok(());
        }
        let Reply::Output(output) = self.ask(&Request::GetOutput)? else { return Err(PvmError::DSysErr) };
        let (to, context, tag) = output.map_or((0, 0, 0), |o| (o.to.0, o.context as c_int, o.tag));
        self.options().learn_output(to, context, tag);
        Ok(())
    }

    /// Does what a new value of an option means.
    fn follow(&mut self, what: c_int, value: c_int) -> Pvm<()> {
        crate::calls::variables::publish_option(what, value);
        crate::calls::trace::follow_option(what, value);
        match what {
            options::ROUTE => self.follow_route(value),
            options::SELF_OUTPUT_TID | options::SELF_OUTPUT_TAG | options::SELF_OUTPUT_CONTEXT => {
                let output = self.options().own_output();
                self.ask(&Request::SetOutput { output })?;
            }
            options::NO_RESET => self.be_spared(value != 0)?,
            _ => {}
        }
        Ok(())
    }
}

/// The value of an option.
#[unsafe(no_mangle)]
pub extern "C" fn pvm_getopt(what: c_int) -> c_int {
    call("pvm_getopt", |state| {
        state.about(|| numbers([(Did::Option, what)]));
        state.learn_options(what)?;
        let set = state.options().get(what)?;
        Ok(crate::calls::trace::option(what).unwrap_or(set))
    })
}

/// The release of PVM that this library stands for.
#[unsafe(no_mangle)]
pub extern "C" fn pvm_version() -> *const c_char {
    c"3.4.6".as_ptr()
}

/// The context that messages are sent and received in.
#[unsafe(no_mangle)]
pub extern "C" fn pvm_getcontext() -> c_int {
    call("pvm_getcontext", |state| Ok(state.context as c_int))
}

/// Sends and receives in another context from now on; gives the one before.
#[unsafe(no_mangle)]
pub extern "C" fn pvm_setcontext(context: c_int) -> c_int {
    call("pvm_setcontext", |state| {
        state.about(|| numbers([(Did::SetContext, context)]));
        Ok(state.set_context(context as u32) as c_int)
    })
}

/// Makes a context that no other task was given.
#[unsafe(no_mangle)]
pub extern "C" fn pvm_newcontext() -> c_int {
    call("pvm_newcontext", |state| match state.ask(&Request::NewContext { shared: false })? {
        Reply::Number(context) => Ok(context as c_int),
        _ => Err(PvmError::DSysErr),
    })
}

/// Gives a context back.
#[unsafe(no_mangle)]
pub extern "C" fn pvm_freecontext(context: c_int) -> c_int {
    call("pvm_freecontext", |state| {
        state.ask(&Request::FreeContext { context: context as u32, job: None }).map(|_| 0)
    })
}
