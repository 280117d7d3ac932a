//! Groups: pvm_joingroup(3), pvm_barrier(3), pvm_bcast(3) ...

use super::text;
use crate::errors::{Pvm, PvmError, is_absence};
use crate::state::{State, call_but};
use std::ffi::{c_char, c_int};

/// A group's name.
///
/// # Safety
/// As for `text`.
pub(super) unsafe fn group_name(group: *const c_char) -> Pvm<String> {
    // SAFETY: the caller's promise.
    let name = unsafe { text(group) }.map_err(|_| PvmError::NullGroup)?;
    match name.to_string_lossy() {
        name if name.is_empty() => Err(PvmError::NullGroup),
        name => Ok(name.into_owned()),
    }
}

/// A call about a group: what is wrong with it, PVM leaves to the program to say.
fn group_call(name: &str, work: impl FnOnce(&mut State) -> Pvm<c_int>) -> c_int {
    call_but(name, |why| why != PvmError::SysErr, work)
}

/// Joins a group; gives the instance number.
///
/// # Safety
/// `group` must be null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvm_joingroup(group: *const c_char) -> c_int {
    // SAFETY: the caller's promise.
    group_call("pvm_joingroup", |state| state.join(unsafe { group_name(group)? }))
}

/// Leaves a group.
///
/// # Safety
/// `group` must be null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvm_lvgroup(group: *const c_char) -> c_int {
    // SAFETY: the caller's promise.
    group_call("pvm_lvgroup", |state| state.leave_group(unsafe { group_name(group)? }))
}

/// The task with an instance number.
///
/// # Safety
/// `group` must be null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvm_gettid(group: *const c_char, instance: c_int) -> c_int {
    // SAFETY: the caller's promise.
    group_call("pvm_gettid", |state| state.group_tid(unsafe { group_name(group)? }, instance))
}

/// The instance number of a task.
///
/// # Safety
/// `group` must be null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvm_getinst(group: *const c_char, tid: c_int) -> c_int {
    // SAFETY: the caller's promise.
    group_call("pvm_getinst", |state| state.group_instance(unsafe { group_name(group)? }, tid))
}

/// The number of members.
///
/// # Safety
/// `group` must be null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvm_gsize(group: *const c_char) -> c_int {
    // SAFETY: the caller's promise.
    group_call("pvm_gsize", |state| state.group_size(unsafe { group_name(group)? }))
}

/// Waits until `count` members (-1: all) have called it.
///
/// # Safety
/// `group` must be null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvm_barrier(group: *const c_char, count: c_int) -> c_int {
    // SAFETY: the caller's promise.
    group_call("pvm_barrier", |state| state.barrier(unsafe { group_name(group)? }, count))
}

/// Sends the active send buffer to every member but the caller, who need not be one.
///
/// # Safety
/// `group` must be null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvm_bcast(group: *const c_char, tag: c_int) -> c_int {
    // SAFETY: the caller's promise.
    group_call("pvm_bcast", |state| state.broadcast(unsafe { group_name(group)? }, tag))
}

/// Fixes the members of a group when `count` of them (-1: all) have called it; gives how many there
/// are. Questions about the group are then answered without asking anybody.
///
/// # Safety
/// `group` must be null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvm_freezegroup(group: *const c_char, count: c_int) -> c_int {
    // SAFETY: the caller's promise.
    group_call("pvm_freezegroup", |state| state.freeze(unsafe { group_name(group)? }, count))
}

/// Who is to be asked about groups: the daemon, which answers as PVM's group server would; an error
/// when there are no groups.
#[unsafe(no_mangle)]
pub extern "C" fn gs_getgstid() -> c_int {
    call_but("gs_getgstid", is_absence, State::group_server)
}

/// How long PVM's programs wait for an answer about groups.
#[unsafe(export_name = "pvmgs_tmout")]
pub static PATIENCE: Patience = Patience(libc::timeval { tv_sec: 5, tv_usec: 0 });

/// A time that programs read.
#[repr(transparent)]
pub struct Patience(libc::timeval);

// SAFETY: a constant of plain numbers.
unsafe impl Sync for Patience {}
