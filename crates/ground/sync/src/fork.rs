//! Whether what an interface remembers is this process's own: a forked child inherits its parent's memory, and is no task
//! until it enrols itself.
//!
//! Each interface library has this room for itself, so each says for itself when it has begun anew.

use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};

/// How many forks lie between the first process that watched and this one.
static GENERATION: AtomicU32 = AtomicU32::new(0);
/// The generation that what is remembered is of.
static REMEMBERED: AtomicU32 = AtomicU32::new(0);

/// Asks to be told in a child when the process forks. To be called before anything is remembered.
pub fn watch() {
    extern "C" fn in_child() {
        GENERATION.fetch_add(1, Ordering::Relaxed);
    }
    static WATCHED: Once = Once::new();
    // SAFETY: the function stays valid, for an interface library is never unloaded while it is used.
    WATCHED.call_once(|| unsafe {
        libc::pthread_atfork(None, None, Some(in_child));
    });
}

/// Which process of a family this is: it differs from that of every ancestor.
#[inline]
pub fn generation() -> u32 {
    // Relaxed: written before the child runs anything else.
    GENERATION.load(Ordering::Relaxed)
}

/// Whether what this process remembers is its parent's.
#[inline]
pub fn is_child() -> bool {
    generation() != REMEMBERED.load(Ordering::Relaxed)
}

/// From now on it remembers its own.
pub fn now_itself() {
    REMEMBERED.store(generation(), Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn child_is_detected_until_it_starts_again() {
        watch();
        assert!(!is_child());
        // SAFETY: the child calls nothing that another thread could have held locked, and ends by `_exit`.
        unsafe {
            let child = libc::fork();
            if child == 0 {
                let seen = is_child() && generation() == 1;
                now_itself();
                libc::_exit(i32::from(!(seen && !is_child() && generation() == 1)));
            }
            let mut status = -1;
            assert_eq!(libc::waitpid(child, &mut status, 0), child);
            assert_eq!(status, 0);
        }
        assert!(!is_child() && generation() == 0);
    }
}
