//! Groups: pvm_joingroup(3), pvm_barrier(3), pvm_bcast(3) ...

use crate::calls::text;
use crate::errors::{Pvm, PvmError};
use crate::state::{Locked, call_but};
use parvum_api::pointers::Text;
use parvum_wire::Tid;
use std::ffi::c_int;
use std::sync::atomic::AtomicPtr;

/// A group's name.
pub(in crate::calls) fn group_name(group: Text<'_>) -> Pvm<String> {
    let name = text(group).map_err(|_| PvmError::NullGroup)?;
    match name.to_bytes() {
        b"" => Err(PvmError::NullGroup),
        name => Ok(parvum_wire::byte_names::text_of(name)),
    }
}

/// A call about a group: what is wrong with it, PVM leaves to the program to say.
fn group_call(name: &str, work: impl FnOnce(&mut Locked) -> Pvm<c_int>) -> c_int {
    call_but(name, |why| why != PvmError::SysErr, work)
}

/// Joins a group; gives the instance number.
#[unsafe(no_mangle)]
pub extern "C" fn pvm_joingroup(group: Text<'_>) -> c_int {
    group_call("pvm_joingroup", |state| state.join(group_name(group)?))
}

/// Leaves a group.
#[unsafe(no_mangle)]
pub extern "C" fn pvm_lvgroup(group: Text<'_>) -> c_int {
    group_call("pvm_lvgroup", |state| state.leave_group(group_name(group)?))
}

/// The task with an instance number.
#[unsafe(no_mangle)]
pub extern "C" fn pvm_gettid(group: Text<'_>, instance: c_int) -> c_int {
    group_call("pvm_gettid", |state| state.group_tid(group_name(group)?, instance))
}

/// The instance number of a task.
#[unsafe(no_mangle)]
pub extern "C" fn pvm_getinst(group: Text<'_>, tid: c_int) -> c_int {
    group_call("pvm_getinst", |state| state.group_instance(group_name(group)?, tid))
}

/// The number of members.
#[unsafe(no_mangle)]
pub extern "C" fn pvm_gsize(group: Text<'_>) -> c_int {
    group_call("pvm_gsize", |state| state.group_size(group_name(group)?))
}

/// Waits until `count` members (-1: all) have called it.
#[unsafe(no_mangle)]
pub extern "C" fn pvm_barrier(group: Text<'_>, count: c_int) -> c_int {
    group_call("pvm_barrier", |state| state.barrier(group_name(group)?, count))
}

/// Sends the active send buffer to every member but the caller, who need not be one.
#[unsafe(no_mangle)]
pub extern "C" fn pvm_bcast(group: Text<'_>, tag: c_int) -> c_int {
    group_call("pvm_bcast", |state| state.broadcast(group_name(group)?, tag))
}

/// Fixes the members of a group when `count` of them (-1: all) have called it; gives how many there are. Queries about
/// the group are then answered locally.
#[unsafe(no_mangle)]
pub extern "C" fn pvm_freezegroup(group: Text<'_>, count: c_int) -> c_int {
    group_call("pvm_freezegroup", |state| state.freeze(group_name(group)?, count))
}

/// The task that answers requests about groups: the daemon of this host, which answers like PVM's group server.
#[unsafe(no_mangle)]
pub extern "C" fn gs_getgstid() -> c_int {
    call_but("gs_getgstid", |_| true, |state| Ok(Tid(state.me()?.tid).daemon().0))
}

/// How long PVM's programs wait for an answer about groups: a time, or null for as long as it takes.
#[unsafe(export_name = "pvmgs_tmout")]
pub static PATIENCE: AtomicPtr<libc::timeval> = AtomicPtr::new(std::ptr::null_mut());
