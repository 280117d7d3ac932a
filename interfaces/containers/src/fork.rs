//! Which process of a family this is: what was made before a fork belongs to the parent.

use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};

static GENERATION: AtomicU32 = AtomicU32::new(0);

/// Asks to be called in a child when the process forks.
pub(crate) fn watch() {
    extern "C" fn in_child() {
        GENERATION.fetch_add(1, Ordering::Relaxed);
    }
    static WATCHED: Once = Once::new();
    // SAFETY: the function stays valid, for this library is never unloaded while it is used.
    WATCHED.call_once(|| unsafe {
        libc::pthread_atfork(None, None, Some(in_child));
    });
}

/// How many forks lie between the first process that watched and this one.
#[inline]
pub(crate) fn generation() -> u32 {
    // Relaxed: written before the child runs anything else.
    GENERATION.load(Ordering::Relaxed)
}
