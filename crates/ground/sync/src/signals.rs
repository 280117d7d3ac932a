//! Threads of ours run none of the program's signal handlers.

/// Does `work` with all signals held back: a thread that it starts takes none.
pub fn without_signals<R>(work: impl FnOnce() -> R) -> R {
    // SAFETY: both sets are plain memory that the calls fill; the mask is this thread's own.
    unsafe {
        let (mut all, mut before) =
            (std::mem::zeroed::<libc::sigset_t>(), std::mem::zeroed::<libc::sigset_t>());
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut before);
        let result = work();
        libc::pthread_sigmask(libc::SIG_SETMASK, &before, std::ptr::null_mut());
        result
    }
}
