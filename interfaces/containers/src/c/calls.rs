//! Calls and answers.

use super::containers::CSender;
use super::state::{State, borrowed};
use super::{Handle, bytes, count, done, length, room};
use crate::errors::Error;
use crate::{ContainerRepresentative, GroupRepresentative, MultiRpc, ReliableRpc};
use std::ffi::{c_int, c_long, c_void};

/// Gets the answers of a call to several, or why there is one less: its length is an error's number then. Returns 0 to end the call.
type OnAnswer =
    unsafe extern "C" fn(member: c_int, answer: *const c_void, length: c_long, own: *mut c_void) -> c_int;

/// Answers a call that was received.
///
/// # Safety
/// `to` must be what a receive wrote, or null; `data` readable for `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ch_reply(to: *const CSender, data: *const c_void, size: usize) -> c_int {
    let reply = || {
        // SAFETY: the caller's promise.
        let (to, data) = unsafe { (to.as_ref().ok_or(Error::BadArgument)?, bytes(data, size)?) };
        crate::reply(&to.sender(), data)
    };
    done(reply())
}

/// Calls a server, and waits for its answer; gives the answer's length.
///
/// # Safety
/// `request` must be readable for `size` bytes, `answer` writable for `space`; the handles of this library or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ch_rpc(
    server: *const Handle<ContainerRepresentative>,
    request: *const c_void,
    size: usize,
    answer: *mut c_void,
    space: usize,
    state: *mut Handle<State>,
) -> c_long {
    // SAFETY: the caller's promises.
    let call = || unsafe {
        let (server, request, answer) = (Handle::of(server)?, bytes(request, size)?, room(answer, space)?);
        borrowed(state, |state| ReliableRpc::call(server, request, answer, state))
    };
    length(call())
}

/// Calls several servers; gives how many answered.
///
/// # Safety
/// `request` must be readable for `size` bytes; the handles of this library or null; the handler a function that returns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ch_multirpc(
    servers: *const Handle<GroupRepresentative>,
    request: *const c_void,
    size: usize,
    on_answer: Option<OnAnswer>,
    own: *mut c_void,
    want: c_int,
    state: *mut Handle<State>,
) -> c_int {
    let mut hear = |member: usize, answer: Result<&[u8], Error>| {
        let Some(on_answer) = on_answer else { return true };
        let (start, length) = match &answer {
            Ok(bytes) => (bytes.as_ptr().cast(), bytes.len() as c_long),
            Err(why) => (std::ptr::null(), why.number().into()),
        };
        // SAFETY: the program's own function; the bytes live during the call.
        unsafe { on_answer(member as c_int, start, length, own) != 0 }
    };
    // SAFETY: the caller's promises.
    let mut call = || unsafe {
        let (servers, request) = (Handle::of(servers)?, bytes(request, size)?);
        let want = usize::try_from(want).map_err(|_| Error::BadArgument)?;
        borrowed(state, |state| MultiRpc::call(servers, request, want, state, &mut hear))
    };
    count(call())
}
