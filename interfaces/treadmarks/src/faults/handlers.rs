//! The program's handlers of SIGSEGV and SIGBUS, also when they are set after `Tmk_startup`.
//!
//! `sigaction` and `signal` of this library stand before the C library's in the program's search for names. After the
//! library has started to handle faults, these functions store the program's settings for the two signals, and return
//! the previous settings. The library's own handler stays, and passes on faults outside of the heap. For all other
//! signals they do the same as the C library.

use libc::{c_int, c_void, sighandler_t, siginfo_t};
use std::ffi::CStr;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

type Sigaction = unsafe extern "C" fn(c_int, *const libc::sigaction, *mut libc::sigaction) -> c_int;
type Signal = unsafe extern "C" fn(c_int, sighandler_t) -> sighandler_t;

/// The program's settings for SIGSEGV and SIGBUS; null: the library does not handle the signal. Earlier settings stay
/// in memory, because a handler may be reading them.
static PROGRAMS: [AtomicPtr<libc::sigaction>; 2] = [const { AtomicPtr::new(ptr::null_mut()) }; 2];

/// The address of the library's handler. It is set before a signal is attended to.
static OURS: AtomicUsize = AtomicUsize::new(0);

fn kept(signal: c_int) -> Option<&'static AtomicPtr<libc::sigaction>> {
    match signal {
        libc::SIGSEGV => Some(&PROGRAMS[0]),
        libc::SIGBUS => Some(&PROGRAMS[1]),
        _ => None,
    }
}

/// The program's settings, if the library handles the signal.
pub(crate) fn programs(signal: c_int) -> Option<&'static libc::sigaction> {
    // Acquire: partner of the release in `keep`. SAFETY: the pointer is null, or a leaked box.
    unsafe { kept(signal)?.load(Ordering::Acquire).as_ref() }
}

fn keep(signal: c_int, action: libc::sigaction) {
    if let Some(kept) = kept(signal) {
        // Release: partner of the acquire in `programs`.
        kept.store(Box::leak(Box::new(action)), Ordering::Release);
    }
}

/// A function of the C library, or of another library that is loaded before it.
fn next(name: &CStr, known: &AtomicUsize) -> usize {
    // Relaxed: every thread finds the same address.
    let mut address = known.load(Ordering::Relaxed);
    if address == 0 {
        // SAFETY: the name is a string that ends.
        address = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) }.expose_provenance();
        known.store(address, Ordering::Relaxed);
    }
    address
}

fn next_sigaction() -> Sigaction {
    static KNOWN: AtomicUsize = AtomicUsize::new(0);
    // SAFETY: every C library has it, of this type.
    unsafe { std::mem::transmute(next(c"sigaction", &KNOWN)) }
}

/// Sets the library's handler from now on, which gets the stack that the program's has been given.
pub(crate) fn attend(signal: c_int, handler: usize) {
    // Relaxed: the release in `keep` publishes it.
    OURS.store(handler, Ordering::Relaxed);
    // SAFETY: both structures are plain memory that the calls read or fill.
    unsafe {
        let mut before: libc::sigaction = std::mem::zeroed();
        next_sigaction()(signal, ptr::null(), &mut before);
        set_ours(signal, handler, before.sa_flags);
        keep(signal, before);
    }
}

/// # Safety
/// The handler is a function of the kind that gets three arguments.
unsafe fn set_ours(signal: c_int, handler: usize, flags: c_int) {
    // SAFETY: the structure is plain memory that the calls read; the handler is the caller's promise.
    unsafe {
        let mut ours: libc::sigaction = std::mem::zeroed();
        ours.sa_sigaction = handler;
        // The program's own signals may come while it waits for a page. If the program has given its handler a separate
        // stack, its faults are overflows of the normal stack.
        ours.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART | flags & libc::SA_ONSTACK | libc::SA_NODEFER;
        libc::sigemptyset(&mut ours.sa_mask);
        next_sigaction()(signal, &ours, ptr::null_mut());
    }
}

/// The program's other handlers may touch shared memory, whatever they keep back: a fault that is kept back ends the process.
pub(crate) fn let_faults_through() {
    for signal in 1..=libc::SIGRTMAX() {
        // SAFETY: plain memory, which the calls fill and read; of numbers that are no signal the first fails.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            let asked = next_sigaction()(signal, ptr::null(), &mut action);
            if asked == 0 && programs(signal).is_none() && action.sa_sigaction > libc::SIG_IGN {
                next_sigaction()(signal, &with_faults(action), ptr::null_mut());
            }
        }
    }
}

/// The same, but that it keeps back no fault that is attended to.
fn with_faults(mut action: libc::sigaction) -> libc::sigaction {
    for signal in [libc::SIGSEGV, libc::SIGBUS] {
        if programs(signal).is_some() {
            // SAFETY: the set is plain memory.
            unsafe { libc::sigdelset(&mut action.sa_mask, signal) };
        }
    }
    action
}

/// Removes the library's handler, so that the next fault has none.
fn give_up(signal: c_int) {
    // SAFETY: the structure is plain memory that the call reads.
    unsafe {
        let mut default: libc::sigaction = std::mem::zeroed();
        default.sa_sigaction = libc::SIG_DFL;
        next_sigaction()(signal, &default, ptr::null_mut());
    }
}

/// Does what would have been done without this library.
///
/// # Safety
/// The arguments are the kernel's, and `before` says what the program had set for this signal.
pub(crate) unsafe fn pass_on(
    before: Option<&libc::sigaction>,
    signal: c_int,
    info: *mut siginfo_t,
    context: *mut c_void,
) {
    let Some(before) = before else { return };
    match before.sa_sigaction {
        libc::SIG_DFL | libc::SIG_IGN => {
            // It comes again when this returns, unless a process has sent it; then it is sent again.
            give_up(signal);
            // SAFETY: the kernel's own structure; ending by a signal is what shall happen.
            unsafe {
                if (*info).si_code <= 0 {
                    libc::raise(signal);
                }
            }
        }
        handler if before.sa_flags & libc::SA_SIGINFO != 0 => {
            // SAFETY: the program has given a function of this type.
            let handler: extern "C" fn(c_int, *mut siginfo_t, *mut c_void) =
                unsafe { std::mem::transmute(handler) };
            handler(signal, info, context);
        }
        handler => {
            // SAFETY: as above.
            let handler: extern "C" fn(c_int) = unsafe { std::mem::transmute(handler) };
            handler(signal);
        }
    }
}

/// The C library's call, but that faults in the shared heap stay the library's.
///
/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sigaction(
    signal: c_int,
    action: *const libc::sigaction,
    before: *mut libc::sigaction,
) -> c_int {
    let Some(kept) = programs(signal).copied() else {
        // SAFETY: the caller's promise: null, or one to be read.
        let action = unsafe { action.as_ref() }.map(|&action| with_faults(action));
        let action = action.as_ref().map_or(ptr::null(), ptr::from_ref);
        // SAFETY: the caller's promise.
        return unsafe { next_sigaction()(signal, action, before) };
    };
    // SAFETY: the caller's promise: null, or one to be read.
    if let Some(action) = unsafe { action.as_ref() } {
        keep(signal, *action);
        // Relaxed: `programs` has seen what `keep` wrote after it. SAFETY: the library's handler is of the kind.
        unsafe { set_ours(signal, OURS.load(Ordering::Relaxed), action.sa_flags) };
    }
    if !before.is_null() {
        // SAFETY: the caller's promise: one to be written.
        unsafe { before.write(kept) };
    }
    0
}

/// The same of `signal`.
///
/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn signal(number: c_int, handler: sighandler_t) -> sighandler_t {
    static KNOWN: AtomicUsize = AtomicUsize::new(0);
    if programs(number).is_none() || handler == libc::SIG_ERR {
        // SAFETY: every C library has it, of this type; the caller's promise.
        return unsafe {
            let next: Signal = std::mem::transmute(next(c"signal", &KNOWN));
            next(number, handler)
        };
    }
    // SAFETY: plain memory, which the call reads and fills.
    unsafe {
        let (mut action, mut before): (libc::sigaction, libc::sigaction) = std::mem::zeroed();
        action.sa_sigaction = handler;
        action.sa_flags = libc::SA_RESTART;
        libc::sigemptyset(&mut action.sa_mask);
        sigaction(number, &action, &mut before);
        before.sa_sigaction
    }
}
