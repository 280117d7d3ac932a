//! Files of the C library: cmmd_fset_io_mode(3).

use super::message::ERRVAL;
use crate::entry::together;
use crate::errors::{Fault, remember};
use crate::files::at_exit;
use crate::state::shared::Together;
use libc::FILE;
use std::ffi::c_int;
use std::sync::Once;

/// Sets how the nodes write a file: each for itself, or together.
///
/// # Safety
/// `file` is null, or an open file of the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn CMMD_fset_io_mode(file: *mut FILE, mode: c_int) -> c_int {
    let mode = match mode {
        _ if file.is_null() => Err(Fault::BadBuffer),
        0 | 1 => Ok(None),
        2 => Ok(Some(Together::Once)),
        3 => Ok(Some(Together::InOrder)),
        4 => Err(Fault::Unsupported),
        _ => Err(Fault::BadArgument),
    };
    let mode = match mode {
        Ok(mode) => mode,
        Err(why) => {
            remember(why);
            return ERRVAL;
        }
    };
    // SAFETY: an open file, as the program says.
    let descriptor = unsafe { libc::fileno(file) };
    // Earlier output belongs to the earlier mode.
    flush();
    if mode.is_some() {
        static WATCHED: Once = Once::new();
        // SAFETY: the function stays valid, for this library is never unloaded while it is used.
        WATCHED.call_once(|| unsafe {
            libc::atexit(end);
        });
    }
    together(ERRVAL, |state| state.write_together(descriptor, mode))
}

extern "C" fn end() {
    flush();
    at_exit();
}

/// Has the C library write what it keeps of all files.
pub(super) fn flush() {
    // SAFETY: null names all files.
    unsafe { libc::fflush(std::ptr::null_mut()) };
}
