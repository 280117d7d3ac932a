//! Two fences that belong together: one that costs nothing, for who comes often, and one that costs a call of the kernel, for who
//! seldom comes and then pays for both.
//!
//! membarrier(2) is a fence on every processor that runs a thread of this process. Under loom each side has one of its own.

use std::sync::atomic::AtomicU8;

#[cfg(loom)]
use loom::sync::atomic::{Ordering, fence};
#[cfg(not(loom))]
use std::sync::atomic::{Ordering, compiler_fence};

/// Stops the compiler; the processor is stopped by the other side's [`heavy_fence`].
#[inline(always)]
pub(crate) fn light_fence() {
    #[cfg(loom)]
    fence(Ordering::SeqCst);
    #[cfg(not(loom))]
    compiler_fence(Ordering::SeqCst);
}

// membarrier(2), which has no constants in the libc crate.
const REGISTER_PRIVATE_EXPEDITED: u32 = 1 << 4;
const PRIVATE_EXPEDITED: u32 = 1 << 3;

/// For a thread that makes one call.
const STACK: usize = 64 << 10;

fn membarrier(command: u32) -> bool {
    // SAFETY: the call has no pointers.
    unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
}

/// What is known of the kernel's fence. Relaxed everywhere: who does not know yet that it is there goes without.
static KNOWN: AtomicU8 = AtomicU8::new(UNKNOWN);
const UNKNOWN: u8 = 0;
/// A thread asks for it.
const ASKED: u8 = 1;
const THERE: u8 = 2;
const NOT_THERE: u8 = 3;

/// Asks the kernel for it. A process of one thread has it at once; where there are more the kernel waits until each processor has changed
/// threads, which takes 10 to 20 milliseconds: to be called before there are.
pub fn ask_for_fences() {
    let known = if cfg!(loom) || membarrier(REGISTER_PRIVATE_EXPEDITED) { THERE } else { NOT_THERE };
    KNOWN.store(known, std::sync::atomic::Ordering::Relaxed);
}

/// Whether the kernel has it for this process; `None` while it is asked, by a thread of its own: the caller has the lock.
pub(crate) fn heavy_fence_is_there() -> Option<bool> {
    let known = &KNOWN;
    let relaxed = std::sync::atomic::Ordering::Relaxed;
    if cfg!(loom) {
        ask_for_fences();
    } else if known.load(relaxed) == UNKNOWN && membarrier(PRIVATE_EXPEDITED) {
        // Another library of this process has asked.
        known.store(THERE, relaxed);
    } else if known.compare_exchange(UNKNOWN, ASKED, relaxed, relaxed).is_ok() {
        let builder = std::thread::Builder::new().name("parvum fences".into()).stack_size(STACK);
        if crate::without_signals(|| builder.spawn(ask_for_fences)).is_err() {
            known.store(NOT_THERE, relaxed);
        }
    }
    match known.load(relaxed) {
        THERE => Some(true),
        NOT_THERE => Some(false),
        _ => None,
    }
}

/// A fence on every processor that runs a thread of this process.
pub(crate) fn heavy_fence() {
    #[cfg(loom)]
    fence(Ordering::SeqCst);
    // A process that a fork has made need not be known to the kernel. Where it forbids the call since it allowed it, what the
    // other side has stored is long visible after a pause.
    #[cfg(not(loom))]
    let is_done = membarrier(PRIVATE_EXPEDITED)
        || membarrier(REGISTER_PRIVATE_EXPEDITED) && membarrier(PRIVATE_EXPEDITED);
    #[cfg(not(loom))]
    if !is_done {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}
