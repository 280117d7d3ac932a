//! A fence on the processors of other processes: membarrier(2).
//!
//! Who rings needs a fence between its message and its look at the door, and that fence waits until the message's line has come over
//! from the receiver: most of what a short message costs when many are sent. So a task that has long stayed awake
//! says that it will make that fence itself, on every processor that runs a ringer, before it
//! sleeps. A ringer leaves its own out only if the kernel knows its process, so that each looks after itself.

use std::sync::atomic::{AtomicBool, Ordering};
#[cfg(not(loom))]
use std::sync::atomic::{compiler_fence, fence};

/// The kernel makes this process's fences for others.
static IS_KNOWN: AtomicBool = AtomicBool::new(false);

// membarrier(2), which has no constants in the libc crate.
const GLOBAL_EXPEDITED: u32 = 1 << 1;
const REGISTER_GLOBAL_EXPEDITED: u32 = 1 << 2;

fn membarrier(command: u32) -> bool {
    // SAFETY: the call has no pointers.
    unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
}

/// Has the kernel make this process's fences when another asks. To be called while the process has one thread: with more the kernel
/// takes milliseconds for it. Without it nothing but time is lost.
pub fn join() {
    // Relaxed: a thread that does not know it yet makes its own fence.
    IS_KNOWN.store(membarrier(REGISTER_GLOBAL_EXPEDITED) && membarrier(GLOBAL_EXPEDITED), Ordering::Relaxed);
}

/// The kernel does not know this process: it is the child of one that it does.
pub fn leave() {
    IS_KNOWN.store(false, Ordering::Relaxed);
}

/// Whether this process takes part.
#[inline]
pub fn is_known() -> bool {
    IS_KNOWN.load(Ordering::Relaxed)
}

/// A fence on every processor that runs a process which takes part, this one's included: the rare side's.
#[cfg(not(loom))]
#[cold]
pub fn heavy() {
    fence(Ordering::SeqCst);
    if !membarrier(GLOBAL_EXPEDITED) {
        // The kernel forbids what it has allowed. What others have stored is long visible after a pause.
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

/// Loom has no membarrier(2): each side makes a fence of its own.
#[cfg(loom)]
pub fn heavy() {
    loom::sync::atomic::fence(Ordering::SeqCst);
}

/// The frequent side's fence, between its store and its look. If `covered` says that the rare side makes the fence for both, the frequent
/// side makes none.
#[cfg(not(loom))]
#[inline]
pub fn before_look(covered: impl FnOnce() -> bool) {
    // The compiler's order is the program's; the processor's is made by `heavy`.
    compiler_fence(Ordering::SeqCst);
    if !(is_known() && covered()) {
        fence(Ordering::SeqCst);
    }
    compiler_fence(Ordering::SeqCst);
}

/// Loom: each side makes a fence of its own.
#[cfg(loom)]
pub fn before_look(_: impl FnOnce() -> bool) {
    loom::sync::atomic::fence(Ordering::SeqCst);
}
