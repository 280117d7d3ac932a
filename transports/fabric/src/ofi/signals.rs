//! The program's signal handlers, which libraries of providers replace when they are loaded: psm2 prints a trace at a crash.

use std::mem::MaybeUninit;

/// Signals of crashes.
const SIGNALS: [libc::c_int; 5] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE, libc::SIGABRT];

/// Does `work`, and sets the handlers that were there before.
pub fn keeping_handlers<T>(work: impl FnOnce() -> T) -> T {
    let before = SIGNALS.map(|signal| {
        let mut action = MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: the call writes the action; zeros are valid if it fails.
        let result = unsafe { libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr()) };
        // SAFETY: as above.
        (result == 0).then(|| unsafe { action.assume_init() })
    });
    let done = work();
    for (signal, action) in SIGNALS.into_iter().zip(before) {
        if let Some(action) = action {
            // SAFETY: the action was in force a moment ago.
            unsafe { libc::sigaction(signal, &action, std::ptr::null_mut()) };
        }
    }
    done
}
