//! Where the errors of calls go. Nothing is locked while the program's error handlers run.

use crate::comms::comm::Comm;
use crate::errors::{Error, Mpi};
pub use crate::objects::errhandlers::ErrhandlerProxy;
use crate::objects::errhandlers::Handler;
use crate::objects::numbers::{COMM_NULL, COMM_SELF, COMM_WORLD};
pub use crate::objects::user_ops::OpProxy;
use crate::process::this::running;
use std::ffi::c_int;

/// Where a call's errors go.
#[derive(Clone, Copy, Debug)]
pub enum On {
    /// A communicator.
    Comm(i32),
    /// A window.
    Win(i32),
    /// A file.
    File(i32),
    /// A session.
    Session(i32),
    /// The object that the call should make, and the error handler that it was given for that object.
    Given(i32),
    /// No object: the handler of `MPI_COMM_SELF`, or of `MPI_COMM_WORLD` if the program has set only that.
    Nothing,
}

/// What a call answers: 0, or its error's code, when whoever handles it returns.
#[inline]
pub fn answer(call: &'static str, on: On, outcome: Mpi) -> c_int {
    match outcome {
        Ok(()) => 0,
        Err(error) => report(call, on, error),
    }
}

#[cold]
fn report(call: &'static str, on: On, error: Error) -> c_int {
    let on = error.on.map_or(on, On::Comm);
    let (handler, handle) = match on {
        On::Comm(handle) => match crate::comms::handles::comm(handle) {
            Ok(comm) => comm.chosen_errhandler().map_or_else(of_world, |handler| (handler, handle)),
            Err(_) => of_nothing(),
        },
        On::File(handle) => (crate::files::file::handler_of(handle), handle),
        On::Win(handle) => match crate::windows::WINS.get(handle) {
            Some(win) => win.chosen_errhandler().map_or_else(of_world, |handler| (handler, handle)),
            None => of_nothing(),
        },
        On::Session(handle) => match crate::process::sessions::handler_of(handle) {
            Some(handler) => (handler, handle),
            None => of_nothing(),
        },
        On::Given(errhandler) => match Handler::given(errhandler) {
            Some(handler) => (handler, COMM_NULL),
            None => of_nothing(),
        },
        On::Nothing => of_nothing(),
    };
    // A code of the program's own stays as it is.
    let text = if error.text.is_empty() { String::new() } else { format!("{call}: {}", error.text) };
    let error = error.with_text(text);
    handler.handle(handle, error)
}

/// Who handles errors of no object. MPI 4 says `MPI_COMM_SELF`, earlier versions `MPI_COMM_WORLD`, and most programs set only that.
fn of_nothing() -> (Handler, i32) {
    let Ok(process) = running() else { return (Handler::FATAL, COMM_SELF) };
    let chosen = |comm: &Comm| comm.chosen_errhandler().map(|handler| (handler, comm.handle()));
    chosen(&process.own)
        .or_else(|| chosen(&process.world))
        .unwrap_or_else(|| (process.own.errhandler(), COMM_SELF))
}

/// Who handles errors of a communicator or window that was given no handler: as in MPICH, whoever handles those of `MPI_COMM_WORLD` now.
fn of_world() -> (Handler, i32) {
    let chosen = running().ok().and_then(|process| process.world.chosen_errhandler());
    (chosen.unwrap_or(Handler::FATAL), COMM_WORLD)
}
