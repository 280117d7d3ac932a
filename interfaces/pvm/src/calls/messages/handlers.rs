//! Functions of the program that PVM calls: pvm_addmhf(3), pvm_recvf(3), pvm_catchout(3).

use crate::errors::PvmError;
use crate::machine::attend::{Handle, Match, Run};
use crate::state::{call, quietly};
use parvum_api::pointers::Text;
use std::ffi::c_int;

/// Calls a message handler of the program, without the lock.
pub(crate) fn run_handler(handle: Handle, message: c_int) {
    // SAFETY: a function of the program, which said that it may be called with a buffer's id.
    unsafe { handle(message) };
}

/// Calls the program's match function, without the lock.
pub(crate) fn run_matcher(matcher: Match, message: c_int, from: c_int, tag: c_int) -> c_int {
    // SAFETY: a function of the program, which gave it to be called so.
    unsafe { matcher(message, from, tag) }
}

/// Has `handle` called for every message from `from` with `tag` in `context` (-1: any), instead of
/// queueing it. Gives the handler's number; `PvmExists` when another could take the same messages.
#[unsafe(no_mangle)]
pub extern "C" fn pvm_addmhf(from: c_int, tag: c_int, context: c_int, handle: Option<Handle>) -> c_int {
    call("pvm_addmhf", |state| {
        let handle = handle.ok_or(PvmError::BadParam)?;
        state.machine()?;
        state.attention.add(from, tag, context, Run::Program(handle))
    })
}

/// Takes a message handler out.
#[unsafe(no_mangle)]
pub extern "C" fn pvm_delmhf(id: c_int) -> c_int {
    call("pvm_delmhf", |state| state.attention.remove(id))
}

/// Prints the message handlers, after who asks and why.
#[unsafe(no_mangle)]
pub extern "C" fn pvmdisplaymhfinfo(who: Text<'_>, why: Text<'_>, tid: c_int) -> c_int {
    let [who, why] = [who, why].map(crate::calls::shown);
    // The program prints with C's stdio, and this is to stand where it would if that printed it.
    // SAFETY: null stands for all streams.
    unsafe { libc::fflush(std::ptr::null_mut()) };
    println!("{who} t{tid:x}: {why}");
    let rows: Vec<_> = quietly(|state| state.attention.handlers().collect());
    println!("message handlers: {}", rows.len());
    for (id, from, context, tag) in rows {
        println!("  {id}: from t{from:x}, context {context}, tag {tag}");
    }
    0
}

/// PVM's own way to match: sender and tag, -1 standing for any, in the task's context.
pub(crate) unsafe extern "C" fn match_as_pvm(message: c_int, from: c_int, tag: c_int) -> c_int {
    quietly(|state| {
        let Ok((its_tag, its_from, context)) = state.envelope(message) else { return 0 };
        let fits = |wanted: c_int, have: c_int| wanted == -1 || wanted == have;
        c_int::from(fits(from, its_from) && fits(tag, its_tag) && context == state.context)
    })
}

/// Has `matcher` decide what a receive takes: negative refuses the receive, 0 the message, 1 takes
/// it, more is a rank. Null: PVM's own way again. Gives the function before.
#[unsafe(no_mangle)]
pub extern "C" fn pvm_recvf(matcher: Option<Match>) -> Option<Match> {
    quietly(|state| {
        let ours = |matcher: &Match| std::ptr::fn_addr_eq(*matcher, match_as_pvm as Match);
        let new = matcher.filter(|matcher| !ours(matcher));
        let old = std::mem::replace(&mut state.attention.matcher, new);
        state.attention.update();
        Some(old.unwrap_or(match_as_pvm))
    })
}

/// A `FILE` of the program.
#[derive(Clone, Copy)]
pub(crate) struct CFile(*mut libc::FILE);

// SAFETY: C's files have locks of their own; any thread may write.
unsafe impl Send for CFile {}

impl CFile {
    /// Writes and flushes, as far as the file takes it.
    pub(crate) fn write(self, bytes: &[u8]) {
        // SAFETY: the program keeps the file open while it catches output, as PVM asks it to.
        unsafe {
            libc::fwrite(bytes.as_ptr().cast(), 1, bytes.len(), self.0);
            libc::fflush(self.0);
        }
    }
}

/// Prints what tasks spawned from now on write, to `file`; null: no more.
///
/// # Safety
/// `file` must be null or a file that stays open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvm_catchout(file: *mut libc::FILE) -> c_int {
    call("pvm_catchout", |state| state.catch_output((!file.is_null()).then_some(CFile(file))))
}
