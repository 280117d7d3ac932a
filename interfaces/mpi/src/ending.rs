//! The end of a program that has not called `MPI_Finalize`: its job fails, whatever it returns, for others may wait for it.

use crate::callbacks::abort;
use crate::process::{is_finalized, process};
use std::ffi::{c_int, c_void};
use std::io::Write;
use std::sync::atomic::{AtomicU32, Ordering};

/// The process that has begun with MPI; a child that it forks may end as it likes.
static BEGAN: AtomicU32 = AtomicU32::new(0);

unsafe extern "C" {
    fn on_exit(function: extern "C" fn(c_int, *mut c_void), argument: *mut c_void) -> c_int;
}

/// From now on the end of the process is looked at.
pub(crate) fn watch() {
    BEGAN.store(std::process::id(), Ordering::Relaxed);
    // SAFETY: the function lives as long as the process. When there is no memory to note it, nobody looks.
    unsafe { on_exit(look, std::ptr::null_mut()) };
}

/// What ends with an error of its own says that itself, and its job ends anyway.
extern "C" fn look(code: c_int, _: *mut c_void) {
    if code != 0 || is_finalized() || BEGAN.load(Ordering::Relaxed) != std::process::id() {
        return;
    }
    let Ok(process) = process() else { return };
    let (rank, size) = (process.world.rank(), process.world.size());
    // Nobody can be told when even that fails.
    let _ = writeln!(
        std::io::stderr(),
        "rank {rank} of {size}: the program has ended without MPI_Finalize, so the job fails with exit code 1\n    \
         call MPI_Finalize on every rank before the program returns or exits"
    );
    // SAFETY: null stands for all streams: what the program has written is not lost with its end.
    unsafe { libc::fflush(std::ptr::null_mut()) };
    abort(1)
}
