//! A fence on the processors of other processes: membarrier(2).
//!
//! Who rings needs a fence between its message and its look at the door, and that fence waits until the message's line has come over
//! from the receiver: most of what a short message costs when many are sent. So a task that has long stayed awake
//! [says](crate::TaskPage::fence_for_ringers) that it will make that fence itself, on every processor that runs a ringer, before it
//! sleeps. A ringer leaves its own out only if the kernel knows its process, so that each looks after itself.

use std::sync::atomic::{AtomicBool, Ordering, compiler_fence, fence};

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
pub fn join_fences() {
    // Relaxed: a thread that does not know it yet makes its own fence.
    IS_KNOWN.store(membarrier(REGISTER_GLOBAL_EXPEDITED) && membarrier(GLOBAL_EXPEDITED), Ordering::Relaxed);
}

/// The kernel does not know this process: it is the child of one that it does.
pub fn leave_fences() {
    IS_KNOWN.store(false, Ordering::Relaxed);
}

/// Whether this process takes part.
#[inline]
pub(crate) fn is_known() -> bool {
    IS_KNOWN.load(Ordering::Relaxed)
}

/// A fence on every processor that runs a process which takes part, this one's included. False: the kernel has refused it.
pub(crate) fn everywhere() -> bool {
    fence(Ordering::SeqCst);
    membarrier(GLOBAL_EXPEDITED)
}

/// The ringer's fence, if it needs its own: `covered` says that the sleeper makes it.
#[inline]
pub(crate) fn before_the_look(covered: impl FnOnce() -> bool) {
    // The compiler's order is the program's; the processor's is made by `everywhere`.
    compiler_fence(Ordering::SeqCst);
    if !(is_known() && covered()) {
        fence(Ordering::SeqCst);
    }
    compiler_fence(Ordering::SeqCst);
}
