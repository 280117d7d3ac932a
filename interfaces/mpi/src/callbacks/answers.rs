//! Where errors go, and operations of the program's. Nothing is locked while its functions run.

use crate::callbacks::calling::calling;
use crate::comms::comm::Comm;
use crate::errors::{Error, Mpi, class, name_of, text_of};
pub use crate::objects::errhandlers::ErrhandlerProxy;
use crate::objects::errhandlers::Handler;
use crate::objects::handles::Objects;
use crate::objects::numbers::{COMM_NULL, COMM_SELF, COMM_WORLD, Kind};
use crate::process::this::{machine_notes, process, running};
use parvum_wire::control::Request;
use std::ffi::c_int;
use std::io::Write;
use std::sync::{Arc, OnceLock};

/// How another language's library calls its program's operation: both operands, the length, the datatype, the function.
pub type OpProxy = unsafe extern "C" fn(*mut u8, *mut u8, c_int, c_int, usize);

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
        On::Comm(handle) => match crate::comms::comm::comm(handle) {
            Ok(comm) => comm.chosen_errhandler().map_or_else(of_world, |handler| (handler, handle)),
            Err(_) => of_nothing(),
        },
        On::File(handle) => (crate::calls::handler_of_file(handle), handle),
        On::Win(handle) => match crate::windows::WINS.get(handle) {
            Some(win) => win.chosen_errhandler().map_or_else(of_world, |handler| (handler, handle)),
            None => of_nothing(),
        },
        On::Session(handle) => match crate::calls::handler_of_session(handle) {
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

/// Ends the job, saying why, as it is done by default.
pub(crate) fn fatal(error: &Error) -> ! {
    end_job(error, "MPI_ERRORS_ARE_FATAL is set, as it is by default")
}

/// The same, because that is set.
pub(crate) fn end_job(error: &Error, wherefore: &str) -> ! {
    let own = process().ok().map(|process| process.world.rank().to_string());
    // Before MPI_Init only the launcher knows.
    let rank = own.or_else(|| std::env::var("PARVUM_RANK").ok());
    let who = rank.map_or("an MPI program".to_owned(), |rank| format!("rank {rank}"));
    let said = match with_code(&error.text) {
        Some((call, what)) => {
            let program = std::env::args_os().next().unwrap_or_default();
            let call = call.map_or_else(String::new, |call| format!("in {call}, "));
            format!("{what}\n    {call}{who} of {}", program.display()).into_bytes()
        }
        None => {
            let text = match error.text.is_empty() {
                true => text_of(error.code).unwrap_or_default(),
                false => format!("{} ({})", error.text, name_of(error.class())).into_bytes(),
            };
            [who.as_bytes(), b": ", &text].concat()
        }
    };
    let said = [&said, &b"\n    the job ends: "[..], wherefore.as_bytes(), b"\n"].concat();
    // Nobody can be told when even that fails.
    let _ = std::io::stderr().write_all(&said);
    abort(1)
}

/// The call in which something failed, and what: a text with a code of Parvum's begins with that.
fn with_code(text: &str) -> Option<(Option<&str>, &str)> {
    let is_code = |at: &usize| {
        let code = text[*at..].strip_prefix("E-").and_then(|rest| rest.split_once(':')).map(|(code, _)| code);
        let begins = *at == 0 || text[..*at].ends_with(' ');
        begins && code.is_some_and(|code| code.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'-'))
    };
    let at = text.match_indices("E-").map(|(at, _)| at).find(is_code)?;
    let call = text[..at].split(": ").next().filter(|call| call.starts_with("MPI_"));
    Some((call, &text[at..]))
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
        let _ = process.api.ask(&Request::SignalJob { signal }, &machine_notes());
    }
    let low = code & 0xff;
    crate::process::launcher::abort(if low == 0 { 1 } else { low });
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

#[cfg(test)]
mod tests {
    use super::with_code;

    #[test]
    fn a_text_with_a_code_begins_with_it() {
        let text = "MPI_Init: NoMachine: E-OPTION: PARVUM_ROUTE=foo: not a transport; use auto";
        assert_eq!(
            with_code(text),
            Some((Some("MPI_Init"), "E-OPTION: PARVUM_ROUTE=foo: not a transport; use auto"))
        );
        assert_eq!(with_code("the machine is lost: E-LOST: gone"), Some((None, "E-LOST: gone")));
        for none in ["MPI_Send: the rank is not valid", "a file NAME-E-1: x", "E-mail: none", ""] {
            assert_eq!(with_code(none), None, "{none}");
        }
    }
}
