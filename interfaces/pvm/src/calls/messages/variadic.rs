//! Calls with C's variable arguments. They are written in C, in `c/packf.c`; what stands here has their
//! names in the library and goes there, arguments and all.

use crate::state::quietly;
use parvum_api::pointers::Text;
use std::ffi::c_int;

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
#[unsafe(no_mangle)]
extern "C" fn parvum_pvm_say(line: Text<'_>) -> c_int {
    let line = crate::calls::shown(line);
    quietly(|state| eprint!("libpvm [{}]: {line}", state.name()));
    0
}

/// Prints a text on standard error, with the task's name before it.
#[unsafe(no_mangle)]
pub extern "C" fn pvmlogerror(line: Text<'_>) {
    parvum_pvm_say(line);
}

/// Prints a text and the system's last error on standard error, with the task's name before them.
#[unsafe(no_mangle)]
pub extern "C" fn pvmlogperror(line: Text<'_>) {
    let why = std::io::Error::last_os_error();
    let line = crate::calls::shown(line);
    quietly(|state| eprintln!("libpvm [{}]: {line}: {why}", state.name()));
}
