//! Whether this process is a forked child of a node: such a process is no node.

#![allow(unsafe_code)]

use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

static CHILD: AtomicBool = AtomicBool::new(false);

/// Asks to be called in a child when the process forks.
pub(crate) fn watch() {
    extern "C" fn in_child() {
        CHILD.store(true, Ordering::Relaxed);
    }
    static WATCHED: Once = Once::new();
    // SAFETY: the function stays valid, for this library is never unloaded while it is used.
    WATCHED.call_once(|| unsafe {
        libc::pthread_atfork(None, None, Some(in_child));
    });
}

/// Whether what this process remembers is its parent's.
#[inline]
pub(crate) fn is_child() -> bool {
    // Relaxed: written before the child runs anything else.
    CHILD.load(Ordering::Relaxed)
}
