//! Two libraries of MPI in one process: both export the same names, so each call would reach either with the other's numbers.

use crate::errors::{Error, Mpi, class};
use std::ffi::CStr;
use std::sync::OnceLock;

static NAMES: OnceLock<(&'static str, &'static CStr)> = OnceLock::new();

pub(crate) fn set(own: &'static str, other: &'static CStr) {
    let _ = NAMES.set((own, other));
}

/// Refuses a process that has loaded the library of the other binary interface as well.
pub(crate) fn refuse_another() -> Mpi {
    let Some((own, other)) = NAMES.get() else { return Ok(()) };
    // SAFETY: it loads nothing, and only asks whether a library of that name is there.
    let loaded = unsafe { libc::dlopen(other.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
    if loaded.is_null() {
        return Ok(());
    }
    // SAFETY: the handle was just given, and counts once.
    unsafe { libc::dlclose(loaded) };
    let other = other.to_string_lossy();
    let text = format!(
        "this process has loaded both {own} and {other}, two binary interfaces of MPI with the same names; \
         build the program and all its libraries for one of them (mpicc, or mpicc -mpi-abi)"
    );
    Err(Error::new(class::OTHER, text))
}
