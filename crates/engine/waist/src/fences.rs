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
#[cfg(not(loom))]
const PRIVATE_EXPEDITED: u32 = 1 << 3;

fn membarrier(command: u32) -> bool {
    // SAFETY: the call has no pointers.
    unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
}

/// Whether the kernel has it for this process.
pub(crate) fn heavy_fence_is_there() -> bool {
    const UNKNOWN: u8 = 0;
    const THERE: u8 = 1;
    const NOT_THERE: u8 = 2;
    static KNOWN: AtomicU8 = AtomicU8::new(UNKNOWN);
    if KNOWN.load(std::sync::atomic::Ordering::Relaxed) == UNKNOWN {
        let known = if cfg!(loom) || membarrier(REGISTER_PRIVATE_EXPEDITED) { THERE } else { NOT_THERE };
        KNOWN.store(known, std::sync::atomic::Ordering::Relaxed);
    }
    KNOWN.load(std::sync::atomic::Ordering::Relaxed) == THERE
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
