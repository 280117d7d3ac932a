//! The end of a process that works for another task: a pool's worker, an actor.
//!
//! A thread that never wants the interpreter's lock waits for the news that the other task is gone. So it does not matter what this
//! process computes at that time, nor whether its code hears of signals.

use crate::errors;
use crate::process::{self, notes};
use parvum_waist::{Notes, Pattern, Status, TagKind, Waist, call};
use parvum_wire::Tid;
use parvum_wire::control::{Notice, Request};
use pyo3::prelude::*;
use std::time::Duration;

/// The context of that news.
const CONTEXT: u32 = 0x7079_fffd;
const TAG: i32 = 1;

/// From here on this process ends when that task does: SIGINT, after the grace (seconds) SIGTERM, after another SIGKILL.
#[pyfunction]
pub(crate) fn end_with(py: Python<'_>, task: i32, grace: f64) -> PyResult<()> {
    if !grace.is_finite() || grace < 0.0 {
        return Err(errors::bad_argument(py, format!("a grace of {grace} s")));
    }
    let waist = process::waist(py)?;
    let cookie = u64::from(CONTEXT) << 32 | TAG as u64;
    let request = Request::Notify { about: Notice::TaskExit, targets: vec![Tid(task)], count: -1, cookie };
    process::ask(py, &request)?;
    let grace = Duration::from_secs_f64(grace.min(1e6));
    std::thread::Builder::new().name("parvum-guard".into()).spawn(move || {
        if await_news(waist) {
            for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGKILL] {
                // SAFETY: a signal for this very process: for its main thread, which a wait is to be ended in.
                unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), libc::getpid(), signal) };
                std::thread::sleep(grace);
            }
        }
    })?;
    Ok(())
}

/// Waits for the news. False: this process has left the machine, or will end with it in another way.
fn await_news(waist: Waist) -> bool {
    let pattern = Pattern { from: -1, tags: TagKind::Exactly, tag: TAG, other: 0, context: CONTEXT.into() };
    let waits = Notes { limit: -1, ..notes(call::SERVE, -1, TAG, CONTEXT) };
    loop {
        match waist.receive_by_reference(&pattern, &waits) {
            Ok(message) => {
                waist.give_back(&message);
                return true;
            }
            Err(Status::Pending) => {}
            Err(Status::NoMachine) => return waist.progress().lost,
            Err(_) => return false,
        }
    }
}
