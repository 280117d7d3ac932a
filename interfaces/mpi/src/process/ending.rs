//! The end of a program that has not called `MPI_Finalize`: its job fails, whatever it returns, for others may wait for it.
//!
//! What a program does at its own end comes first: some call `MPI_Finalize` in the destructor of an object that was there before
//! `MPI_Init`. The C library calls the first function that was noted last, so this one is noted when the library is loaded. An end of
//! which the C library knows nothing (`_exit`) is for the daemon to see, by the process's page. The engine does not depart before: the
//! others would hear of a death, and end the job, before the reason is told.

use crate::process::this::{Process, is_finalized, process};
use std::ffi::{c_int, c_void};
use std::io::Write;
use std::sync::atomic::{AtomicU32, Ordering};

/// The process that has begun with MPI; a child that it forks may end as it likes.
static BEGAN: AtomicU32 = AtomicU32::new(0);

unsafe extern "C" {
    fn on_exit(function: extern "C" fn(c_int, *mut c_void), argument: *mut c_void) -> c_int;
}

/// Has the end of the process looked at. Called when the library is loaded, which is never unloaded.
pub(crate) fn watch() {
    // SAFETY: the function lives as long as the process. When there is no memory to note it, the daemon sees the end all the same.
    unsafe { on_exit(look, std::ptr::null_mut()) };
}

/// From now on this process must call `MPI_Finalize`.
pub(crate) fn begin() {
    // Relaxed: `exit` comes after `MPI_Init` in the program's own order. The daemon sees an end that this does not.
    BEGAN.store(std::process::id(), Ordering::Relaxed);
}

/// What ends with an error of its own says that itself, and its job ends anyway.
extern "C" fn look(code: c_int, _: *mut c_void) {
    if is_finalized() || BEGAN.load(Ordering::Relaxed) != std::process::id() {
        return;
    }
    let Ok(process) = process() else { return };
    if code == 0 {
        complain(process);
    }
    // SAFETY: null stands for all streams: what the program has written is not lost with its end. All that the program has to do
    // at its end was done before this. And it is done before others hear of the end, for then the job is ended, this process too.
    unsafe { libc::fflush(std::ptr::null_mut()) };
    // Now it departs.
    process.api.oblige(false);
    if code == 0 {
        // SAFETY: the process ends here, and nothing of it is needed any more.
        unsafe { libc::_exit(1) }
    }
}

fn complain(process: &Process) {
    let (rank, size) = (process.world.rank(), process.world.size());
    // Nobody can be told when even that fails.
    let _ = writeln!(
        std::io::stderr(),
        "rank {rank} of {size}: the program has ended without MPI_Finalize, so the job fails with exit code 1\n    \
         call MPI_Finalize on every rank before the program returns or exits"
    );
}
