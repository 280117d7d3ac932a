//! Calls with C's variable arguments. They are written in C, in `c/packf.c`; what stands here has their
//! names in the library and goes there, arguments and all.

use crate::state::quietly;
use std::ffi::{c_char, c_int};

macro_rules! written_in_c {
    ($($(#[$doc:meta])* $name:ident: $there:ident;)*) => {
        unsafe extern "C" {
            $(fn $there();)*
        }
        $(
            $(#[$doc])*
            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            pub extern "C" fn $name() {
                #[cfg(target_arch = "x86_64")]
                core::arch::naked_asm!("jmp {there}", there = sym $there);
                #[cfg(target_arch = "aarch64")]
                core::arch::naked_asm!("b {there}", there = sym $there);
            }
        )*
    };
}

written_in_c! {
    /// Packs as a format says.
    pvm_packf: parvum_pvm_packf;
    /// Unpacks as a format says.
    pvm_unpackf: parvum_pvm_unpackf;
    /// Packs as a format says, with a `va_list`.
    pvm_vpackf: parvum_pvm_vpackf;
    /// Unpacks as a format says, with a `va_list`.
    pvm_vunpackf: parvum_pvm_vunpackf;
    /// Prints on standard error, as `printf` does, with the task's name before it.
    pvmlogprintf: parvum_pvm_log;
}

/// Prints a line on standard error, with the task's name before it: for `c/packf.c`.
///
/// # Safety
/// `line` must be null or a C string.
#[unsafe(no_mangle)]
unsafe extern "C" fn parvum_pvm_say(line: *const c_char) -> c_int {
    // SAFETY: the caller's promise.
    let line = unsafe { crate::calls::shown(line) };
    quietly(|state| eprint!("libpvm [{}]: {line}", state.name()));
    0
}

/// Prints a text on standard error, with the task's name before it.
///
/// # Safety
/// `line` must be null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvmlogerror(line: *const c_char) {
    // SAFETY: the caller's promise.
    unsafe { parvum_pvm_say(line) };
}

/// Prints a text and the system's last error on standard error, with the task's name before them.
///
/// # Safety
/// `line` must be null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvmlogperror(line: *const c_char) {
    let why = std::io::Error::last_os_error();
    // SAFETY: the caller's promise.
    let line = unsafe { crate::calls::shown(line) };
    quietly(|state| eprintln!("libpvm [{}]: {line}: {why}", state.name()));
}
