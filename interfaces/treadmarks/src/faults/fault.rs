//! Accesses to pages that are closed: the handler of SIGSEGV, and of SIGBUS.
//!
//! A fault outside of the shared heap is the program's own fault. The library calls the program's handler
//! ([`handlers`]) as the system would. Without a handler the signal has its usual effect.

use crate::errors::{Trouble, end};
use crate::faults::handlers;
use crate::races::stepping;
use crate::run::{Sharing, run};
use libc::{c_int, c_void, siginfo_t};
use parvum_sync::fork;

/// Starts to handle faults in the heap. Faults of userfaultfd(2) come as another signal.
pub(crate) fn attend(userfault: bool) {
    handlers::attend(libc::SIGSEGV, handler_address());
    if userfault {
        handlers::attend(libc::SIGBUS, handler_address());
    }
    handlers::let_faults_through();
}

fn handler_address() -> usize {
    handler as extern "C" fn(c_int, *mut siginfo_t, *mut c_void) as usize
}

extern "C" fn handler(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel's own structure. A signal from a process has no positive code, and no address.
    let address = unsafe { ((*info).si_code > 0).then(|| (*info).si_addr().addr()) };
    if let Some(run) = run()
        && !matches!(run.way, Sharing::Near(_))
        && let Some(place) = address.and_then(|address| run.heap.place(address))
    {
        // A child has no service thread: it would wait for ever, or open pages in its parent's name.
        if fork::is_child() {
            end(&Trouble::InChild);
        }
        // SAFETY: this thread's own error number, which the interrupted code may be about to look at.
        unsafe {
            let errno = libc::__errno_location();
            let kept = *errno;
            let page = (place / run.heap.page) as u32;
            let done = match (&run.way, &run.races) {
                (Sharing::Far(far), Some(_)) => {
                    stepping::step(run, far, (page, place), writes(context), context)
                }
                _ => run.fault(page, writes(context)),
            };
            if let Err(why) = done {
                end(&why);
            }
            *errno = kept;
        }
        return;
    }
    // SAFETY: as the kernel has called this.
    unsafe { handlers::pass_on(handlers::programs(signal), signal, info, context) }
}

/// Whether the access was a write, where the processor tells.
#[cfg(target_arch = "x86_64")]
fn writes(context: *mut c_void) -> Option<bool> {
    const WRITES: i64 = 2;
    // SAFETY: the kernel gives the interrupted thread's registers.
    let context = unsafe { &*context.cast::<libc::ucontext_t>() };
    Some(context.uc_mcontext.gregs[libc::REG_ERR as usize] & WRITES != 0)
}

#[cfg(not(target_arch = "x86_64"))]
fn writes(_: *mut c_void) -> Option<bool> {
    None
}
