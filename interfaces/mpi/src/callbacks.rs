//! Functions of the program: error handlers and operations. Nothing is locked while they run.

use crate::calling::calling;
use crate::errors::{Error, Mpi, class, name_of, text_of};
use crate::handles::Objects;
use crate::numbers::{COMM_SELF, ERRORS_ABORT, ERRORS_ARE_FATAL, ERRORS_RETURN, ERRORS_THROW, Kind};
use crate::process::{machine_notes, process};
use parvum_wire::control::Request;
use std::ffi::{c_int, c_void};
use std::io::Write;
use std::sync::{Arc, OnceLock};

/// An error handler of the program's.
pub(crate) struct Errhandler {
    /// Which objects it is for.
    pub(crate) kind: Kind,
    /// Its address.
    pub(crate) function: usize,
    /// What calls it, where it is another language's.
    pub(crate) proxy: OnceLock<ErrhandlerProxy>,
}

/// How another language's library calls its program's error handler: whose it is (0 a communicator's, 1 a file's, 2 a window's), the
/// handle, the code, the function.
pub type ErrhandlerProxy = unsafe extern "C" fn(c_int, *mut c_void, *mut c_int, usize);
/// How another language's library calls its program's operation: both operands, the length, the datatype, the function.
pub type OpProxy = unsafe extern "C" fn(*mut u8, *mut u8, c_int, c_int, usize);

impl Errhandler {
    fn call(&self, object: i32, code: i32) {
        let Some(proxy) = self.proxy.get() else {
            // SAFETY: the program gave this function as an error handler for such objects.
            return unsafe { (calling().error)(self.function, object, code) };
        };
        let mut told = code;
        // A file's handle is as wide as a pointer; of the others the first half is looked at.
        let mut object = u64::from(object as u32).to_le();
        // SAFETY: the library of the other language gave this function for these arguments.
        unsafe { proxy(self.kind_of_proxy(), (&raw mut object).cast(), &mut told, self.function) };
    }

    fn kind_of_proxy(&self) -> c_int {
        match self.kind {
            Kind::File => 1,
            Kind::Win => 2,
            _ => 0,
        }
    }
}

pub(crate) static ERRHANDLERS: Objects<Errhandler> = Objects::new(Kind::Errhandler);

/// Refuses a handle that names no error handler for such objects.
pub(crate) fn checked(handle: i32, kind: Kind) -> Mpi {
    match handle {
        ERRORS_ARE_FATAL | ERRORS_RETURN | ERRORS_ABORT | ERRORS_THROW => Ok(()),
        _ => match ERRHANDLERS.get(handle) {
            Some(handler) if handler.kind == kind => Ok(()),
            Some(_) => Err(Error::new(class::ERRHANDLER, "the error handler is for other objects")),
            None => Err(Error::new(class::ERRHANDLER, "the handle names no error handler")),
        },
    }
}

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
    /// No object: `MPI_COMM_SELF`'s handler.
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
        On::Comm(handle) => match crate::comm::comm(handle) {
            Ok(comm) => (comm.errhandler(), handle),
            Err(_) => of_self(),
        },
        On::File(handle) => (crate::calls::handler_of(handle), handle),
        On::Win(handle) => match crate::windows::WINS.get(handle) {
            Some(win) => (win.errhandler(), handle),
            None => of_self(),
        },
        On::Session(_) | On::Nothing => of_self(),
    };
    // A code of the program's own stays as it is.
    let text = if error.text.is_empty() { String::new() } else { format!("{call}: {}", error.text) };
    let error = error.with_text(text);
    handle_with(handler, handle, error)
}

fn of_self() -> (i32, i32) {
    (process().map_or(ERRORS_ARE_FATAL, |process| process.own.errhandler()), COMM_SELF)
}

/// Has a handler handle an error.
pub(crate) fn handle_with(handler: i32, object: i32, error: Error) -> c_int {
    match handler {
        ERRORS_RETURN | ERRORS_THROW => error.into_code(),
        ERRORS_ARE_FATAL | ERRORS_ABORT => fatal(&error),
        handler => {
            let Some(handler) = ERRHANDLERS.get(handler) else { return error.into_code() };
            let code = error.into_code();
            handler.call(object, code);
            // C++'s binding calls the handler once more for a code that is given back to it.
            if handler.proxy.get().is_some() { 0 } else { code }
        }
    }
}

/// Ends the job, saying why.
pub(crate) fn fatal(error: &Error) -> ! {
    let rank = process().ok().map(|process| process.world.rank());
    let who = rank.map_or("an MPI program".to_owned(), |rank| format!("rank {rank}"));
    let text = match error.text.is_empty() {
        true => text_of(error.code).unwrap_or_default(),
        false => format!("{} ({})", error.text, name_of(error.class())),
    };
    // Nobody can be told when even that fails.
    let _ = writeln!(
        std::io::stderr(),
        "{who}: {text}\n    the job ends: MPI_ERRORS_ARE_FATAL is set, as it is by default"
    );
    abort(1)
}

/// Ends the job, and this process with that code.
pub(crate) fn abort(code: i32) -> ! {
    if let Ok(process) = process()
        && process.is_joined()
    {
        let signal = libc::SIGTERM;
        // Whoever has no job has nobody else to end.
        // SAFETY: ignoring a signal concerns this process alone, and it is about to end.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
        let _ = process.waist.ask(&Request::SignalJob { signal }, &machine_notes());
    }
    let low = code & 0xff;
    crate::launcher::abort(if low == 0 { 1 } else { low });
    // SAFETY: ends the process, without what was to be done at its end: others may be inside MPI.
    unsafe { libc::_exit(if low == 0 { 1 } else { low }) }
}

/// An operation of the program's.
pub(crate) struct UserOp {
    pub(crate) function: usize,
    pub(crate) commutes: bool,
    /// The function takes the length as an `MPI_Count`.
    pub(crate) is_large: bool,
    /// What calls it, where it is another language's.
    pub(crate) proxy: OnceLock<OpProxy>,
}

impl UserOp {
    /// `inout` becomes `input ∘ inout`, `count` elements of a type.
    ///
    /// # Safety
    /// Both must be memory for as many elements.
    pub(crate) unsafe fn call(&self, input: *mut u8, inout: *mut u8, count: i64, datatype: i32) {
        if let Some(proxy) = self.proxy.get() {
            // SAFETY: the library of the other language gave this function for these arguments; the caller's promise.
            return unsafe { proxy(input, inout, count as c_int, datatype, self.function) };
        }
        // SAFETY: the program gave this function for such arguments; the caller's promise.
        unsafe { (calling().reduce)(self.function, input, inout, count, datatype, self.is_large) };
    }
}

pub(crate) static OPS: Objects<UserOp> = Objects::new(Kind::Op);

/// Keeps an operation.
pub(crate) fn keep_op(op: UserOp) -> Mpi<i32> {
    OPS.insert(Arc::new(op)).ok_or_else(|| Error::new(class::OTHER, "there are too many operations"))
}
