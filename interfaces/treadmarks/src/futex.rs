//! Sleeping on a word of memory that other processes have too, futex(2).

use std::sync::atomic::AtomicU32;

/// Sleeps as long as the word is this, at most so long, or for no reason at all.
pub(crate) fn sleep(word: &AtomicU32, is: u32, limit: Option<libc::timespec>) {
    let limit = limit.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: the word is mapped, and other processes have the same memory, so it is no private futex; the limit is null or one that
    // lives until the call is over.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAIT, is, limit) };
}

/// Wakes at most so many who sleep on it.
pub(crate) fn wake(word: &AtomicU32, most: i32) {
    // SAFETY: as above.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, most) };
}
