//! Host, addresses, timers, and errors: cmmd_enable(3), cmmd_self_address(3), cmmd_node_timer(3), cmmd_error(3).

use super::message::ERRVAL;
use crate::company::become_host;
use crate::entry::{call, together};
use crate::errors::{Fault, TEXTS, last, remember};
use crate::host::am_node;
use crate::state::timers::Reading;
use std::ffi::{c_char, c_double, c_int};

/// On the host, as its first call: starts the nodes.
#[unsafe(no_mangle)]
pub extern "C" fn CMMD_enable() -> c_int {
    become_host();
    together(ERRVAL, |state| {
        if state.partition.is_some() {
            // Another call of CMMD's made this task a node.
            return Err(Fault::NoHost);
        }
        state.start_nodes()
    })
}

/// On a node, as its first call: there is a host.
#[unsafe(no_mangle)]
pub extern "C" fn CMMD_enable_host() -> c_int {
    call(ERRVAL, |state| {
        if state.partition.is_none() || state.company.host.is_none() || !am_node() {
            return Err(Fault::NoHost);
        }
        state.with_host = true;
        Ok(0)
    })
}

/// Whether `CMMD_enable` of a host has started this process.
#[unsafe(no_mangle)]
pub extern "C" fn CMMD_am_node() -> c_int {
    am_node().into()
}

/// The number of the host.
#[unsafe(no_mangle)]
pub extern "C" fn CMMD_host_node() -> c_int {
    call(ERRVAL, |state| match state.company.host {
        Some(_) => Ok(state.company.size() as c_int),
        None => Err(Fault::NoHost),
    })
}

/// The number of this node.
#[unsafe(no_mangle)]
pub extern "C" fn CMMD_self_address() -> c_int {
    call(ERRVAL, |state| Ok(state.company.own as c_int))
}

/// How many nodes there are.
#[unsafe(no_mangle)]
pub extern "C" fn CMMD_partition_size() -> c_int {
    call(ERRVAL, |state| Ok(state.company.size() as c_int))
}

/// Goes on with the first `size` nodes; the others exit. All nodes call it.
#[unsafe(no_mangle)]
pub extern "C" fn CMMD_reset_partition_size(size: c_int) -> c_int {
    let ends = together(None, |state| state.reset_size(size).map(Some));
    match ends {
        Some(true) => {
            // SAFETY: C's own way out; the program's exit handlers run.
            unsafe { libc::exit(0) }
        }
        Some(false) => 0,
        None => ERRVAL,
    }
}

/// Sets a stopwatch to zero and stops it.
#[unsafe(no_mangle)]
pub extern "C" fn CMMD_node_timer_clear(timer: c_int) -> c_int {
    call(ERRVAL, |state| state.timers.clear(timer))
}

/// Starts it.
#[unsafe(no_mangle)]
pub extern "C" fn CMMD_node_timer_start(timer: c_int) -> c_int {
    call(ERRVAL, |state| state.timers.start(timer))
}

/// Stops it.
#[unsafe(no_mangle)]
pub extern "C" fn CMMD_node_timer_stop(timer: c_int) -> c_int {
    call(ERRVAL, |state| state.timers.stop(timer))
}

/// Seconds that it has run.
#[unsafe(no_mangle)]
pub extern "C" fn CMMD_node_timer_elapsed(timer: c_int) -> c_double {
    call(-1.0, |state| state.timers.read(timer, Reading::Elapsed))
}

/// The part of these seconds in which this node did not wait.
#[unsafe(no_mangle)]
pub extern "C" fn CMMD_node_timer_busy(timer: c_int) -> c_double {
    call(-1.0, |state| state.timers.read(timer, Reading::Busy))
}

/// The part of these seconds in which this node waited in CMMD.
#[unsafe(no_mangle)]
pub extern "C" fn CMMD_node_timer_idle(timer: c_int) -> c_double {
    call(-1.0, |state| state.timers.read(timer, Reading::Idle))
}

/// The last error.
#[unsafe(no_mangle)]
pub extern "C" fn CMMD_get_errno() -> c_int {
    last()
}

/// The meaning of an error, as text.
#[unsafe(no_mangle)]
pub extern "C" fn CMMD_error_string(number: c_int) -> *const c_char {
    let text = usize::try_from(number).ok().and_then(|number| TEXTS.get(number));
    text.copied().unwrap_or(c"no error of CMMD's has that number; see cmmd.h").as_ptr()
}

/// Checks tags.
#[unsafe(no_mangle)]
pub extern "C" fn CMMD_enable_safety() {
    call((), |state| {
        state.safety = true;
        Ok(())
    })
}

/// Believes the program.
#[unsafe(no_mangle)]
pub extern "C" fn CMMD_disable_safety() {
    call((), |state| {
        state.safety = false;
        Ok(())
    })
}

/// Whose CMMD it is.
#[unsafe(no_mangle)]
pub extern "C" fn CMMD_version() -> *const c_char {
    concat!("CMMD 3 on Parvum ", env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// Nothing but its name is known.
#[unsafe(no_mangle)]
pub extern "C" fn CMMD_suspend() -> c_int {
    remember(Fault::Unsupported);
    ERRVAL
}

/// Nothing but its name is known.
#[unsafe(no_mangle)]
pub extern "C" fn CMMD_resume() -> c_int {
    remember(Fault::Unsupported);
    ERRVAL
}

/// Ends the run: for `c/error.c`.
#[unsafe(no_mangle)]
extern "C" fn parvum_cmmd_end() -> ! {
    call((), |state| {
        state.end_all();
        Ok(())
    });
    // SAFETY: C's own way out.
    unsafe { libc::exit(1) }
}

unsafe extern "C" {
    pub(super) fn parvum_cmmd_error(format: *const c_char, ...) -> !;
}

/// Prints, as `printf` does, and ends the run. Written in C: what stands here has its name in the library and goes there,
/// arguments and all.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub extern "C" fn CMMD_error() {
    #[cfg(target_arch = "x86_64")]
    core::arch::naked_asm!("jmp {there}", there = sym parvum_cmmd_error);
    #[cfg(target_arch = "aarch64")]
    core::arch::naked_asm!("b {there}", there = sym parvum_cmmd_error);
}
