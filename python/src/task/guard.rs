//! The end of a process that works for another task: a worker of a pool, an actor.
//!
//! A thread that never takes the interpreter's lock waits until the other task is gone. It works even if this process computes, or
//! its code ignores signals. If the other process is on this host, the kernel reports its end. A second thread that waits for
//! messages would cost each message a wake-up. For other hosts the daemon reports the end.

use crate::task::errors;
use crate::task::process::{self, notes};
use parvum_api::{CoreApi, Notes, Pattern, Status, TagKind, call};
use parvum_wire::Tid;
use parvum_wire::control::{Notice, Reply, Request};
use pyo3::prelude::*;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::time::Duration;

/// The context of the daemon's notices.
const CONTEXT: u32 = 0x7079_fffd;
const TAG: i32 = 1;

/// From now on this process ends when the task does: by SIGINT, after the grace (seconds) by SIGTERM, after another by SIGKILL.
#[pyfunction]
pub(crate) fn end_with(py: Python<'_>, task: i32, grace: f64) -> PyResult<()> {
    if !grace.is_finite() || grace < 0.0 {
        return Err(errors::bad_argument(py, format!("a grace of {grace} s")));
    }
    let api = process::api(py)?;
    let (own, _) = process::identity(py)?;
    let near = match Tid(own).host() == Tid(task).host() {
        true => process_of(py, task)?.and_then(open),
        false => None,
    };
    if near.is_none() {
        ask_for_news(py, task)?;
    }
    let grace = Duration::from_secs_f64(grace.min(1e6));
    std::thread::Builder::new().name("parvum-guard".into()).spawn(move || {
        let is_gone = match near {
            Some(process) => await_end(&process),
            None => await_news(api),
        };
        if is_gone {
            for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGKILL] {
                // SAFETY: a signal for this process, sent to its main thread to end a wait there.
                unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), libc::getpid(), signal) };
                std::thread::sleep(grace);
            }
        }
    })?;
    Ok(())
}

/// The process of a task; `None`: the task has ended.
fn process_of(py: Python<'_>, task: i32) -> PyResult<Option<u32>> {
    match process::ask(py, &Request::Tasks { of: Some(Tid(task)), deep: false }) {
        Ok(Reply::Tasks(rows)) => Ok(rows.iter().find(|row| row.tid.0 == task).map(|row| row.pid)),
        // In this case the daemon's notice, which is requested next, comes at once.
        _ => Ok(None),
    }
}

/// A descriptor of a process. `None`: there is no such process in this process's namespace.
fn open(process: u32) -> Option<OwnedFd> {
    // SAFETY: the call uses no memory.
    let opened = unsafe { libc::syscall(libc::SYS_pidfd_open, process, 0) };
    // SAFETY: a new descriptor with no other owner, which closes when a program is started.
    (opened >= 0).then(|| unsafe { OwnedFd::from_raw_fd(opened as i32) })
}

/// Waits until a process has ended.
fn await_end(process: &OwnedFd) -> bool {
    let mut polled = libc::pollfd { fd: process.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    loop {
        // SAFETY: the array has one entry.
        match unsafe { libc::poll(&mut polled, 1, -1) } {
            1.. => return true,
            _ if std::io::Error::last_os_error().raw_os_error() == Some(libc::EINTR) => {}
            _ => return false,
        }
    }
}

fn ask_for_news(py: Python<'_>, task: i32) -> PyResult<()> {
    let cookie = u64::from(CONTEXT) << 32 | TAG as u64;
    let request = Request::Notify { about: Notice::TaskExit, targets: vec![Tid(task)], count: -1, cookie };
    process::ask(py, &request).map(|_| ())
}

/// Waits for the notice. False: this process has left the virtual machine, or will end in another way.
fn await_news(api: CoreApi) -> bool {
    let pattern = Pattern { from: -1, tags: TagKind::Exactly, tag: TAG, other: 0, context: CONTEXT.into() };
    let waits = Notes { limit: -1, ..notes(call::SERVE, -1, TAG, CONTEXT) };
    loop {
        match api.receive_by_reference(&pattern, &waits) {
            Ok(message) => {
                api.give_back(&message);
                return true;
            }
            Err(Status::Pending) => {}
            Err(Status::NoMachine) => return api.progress().lost,
            Err(_) => return false,
        }
    }
}
