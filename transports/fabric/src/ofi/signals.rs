//! The signal handlers of the program. Libraries of providers replace them when they are loaded: psm2 prints a trace at a crash, and keeps
//! the process alive at SIGTERM.

use std::mem::MaybeUninit;
use std::ops::RangeInclusive;

/// The signals of signal(7), up to the first of real time. SIGKILL and SIGSTOP have no handlers: the calls refuse them.
const SIGNALS: RangeInclusive<libc::c_int> = 1..=31;

/// Does `work`, and sets the handlers that were there before.
pub fn keeping_handlers<T>(work: impl FnOnce() -> T) -> T {
    let before = SIGNALS.map(|signal| {
        let mut action = MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: the call writes the action; zeros are valid if it fails.
        let result = unsafe { libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr()) };
        // SAFETY: as above.
        (result == 0).then(|| unsafe { action.assume_init() })
    });
    let before: Vec<Option<libc::sigaction>> = before.collect();
    let done = work();
    for (signal, action) in SIGNALS.zip(before) {
        if let Some(action) = action {
            // SAFETY: the action was in force a moment ago.
            unsafe { libc::sigaction(signal, &action, std::ptr::null_mut()) };
        }
    }
    done
}
