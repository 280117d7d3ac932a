//! Whether the thread that runs handlers sleeps on a foreign lock.
//!
//! The kernel shows the call in which a thread sleeps. All that is used here may be used inside a handler of signals.

use std::cell::Cell;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};

/// The system's number of the thread that runs handlers. Relaxed: a look that finds 0 is made again later.
static THREAD: AtomicI32 = AtomicI32::new(0);
/// Begins and ends of that thread's calls of ours, where it may sleep for a message: odd inside of one.
static CALLS: AtomicU32 = AtomicU32::new(0);

thread_local! {
    static IS_HANDLERS: Cell<bool> = const { Cell::new(false) };
}

/// Marks that handlers run in this thread.
pub(super) fn this_thread_runs_handlers() {
    IS_HANDLERS.set(true);
    THREAD.store(this_thread(), Ordering::Relaxed);
}

fn this_thread() -> i32 {
    // SAFETY: the call only tells the thread's number.
    unsafe { libc::gettid() }
}

/// The thread begins a call. Whether it is inside one already.
pub(super) fn enters() -> bool {
    if !IS_HANDLERS.get() {
        return false;
    }
    // Relaxed: this thread alone counts. The kernel orders the store before the thread's sleep, which `is_outside_while` looks for.
    let was_inside = CALLS.load(Ordering::Relaxed) % 2 == 1;
    if !was_inside {
        CALLS.fetch_add(1, Ordering::Relaxed);
    }
    was_inside
}

/// The thread ends its outermost call.
pub(super) fn leaves() {
    if IS_HANDLERS.get() {
        // Relaxed: as in `enters`.
        CALLS.fetch_add(1, Ordering::Relaxed);
    }
}

/// Whether that thread sleeps for a lock, and in no call of ours.
pub(super) fn is_handler_stuck() -> bool {
    // Relaxed: see `THREAD`.
    let thread = THREAD.load(Ordering::Relaxed);
    thread != 0 && is_outside_while(|| is_in_call(thread, libc::SYS_futex))
}

/// Whether something holds while the thread is outside of all calls of ours, from before the look until after it. A question before
/// the look alone would be too little: the thread may begin a call in between, and sleep there for a message.
fn is_outside_while(look: impl FnOnce() -> bool) -> bool {
    // Relaxed, both: the look asks the kernel, which orders the thread's stores before its sleep.
    let before = CALLS.load(Ordering::Relaxed);
    before.is_multiple_of(2) && look() && CALLS.load(Ordering::Relaxed) == before
}

/// Whether a thread of this process sleeps in that system call. False where the system does not say.
fn is_in_call(thread: i32, call: libc::c_long) -> bool {
    // "/proc/self/task/", ten digits, "/syscall" and the end; then "NUMBER ARGUMENT ...", or "running".
    let (mut path, mut text) = ([0u8; 40], [0u8; 24]);
    write_path(&mut path, thread);
    // SAFETY: the path ends in a 0; the buffer is as long as is said; all three calls may be made in a handler of signals.
    let length = unsafe {
        let file = libc::open(path.as_ptr().cast(), libc::O_RDONLY | libc::O_CLOEXEC);
        if file < 0 {
            return false;
        }
        let length = libc::read(file, text.as_mut_ptr().cast(), text.len());
        libc::close(file);
        length
    };
    let said = &text[..usize::try_from(length).unwrap_or(0)];
    let digits = said.iter().take_while(|byte| byte.is_ascii_digit());
    let number = digits.clone().fold(0, |number, digit| number * 10 + libc::c_long::from(digit - b'0'));
    digits.count() > 0 && number == call
}

/// Without what format! would ask of malloc.
fn write_path(path: &mut [u8; 40], mut thread: i32) {
    let mut digits = [0u8; 10];
    let mut first = digits.len();
    while thread > 0 && first > 0 {
        first -= 1;
        digits[first] = b'0' + (thread % 10) as u8;
        thread /= 10;
    }
    let mut at = 0;
    for part in [&b"/proc/self/task/"[..], &digits[first..], b"/syscall"] {
        path[at..at + part.len()].copy_from_slice(part);
        at += part.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;

    #[test]
    fn thread_that_sleeps_for_lock_is_detected() {
        let (lock, start) = (std::sync::Mutex::new(()), Barrier::new(2));
        let held = lock.lock().unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                this_thread_runs_handlers();
                start.wait();
                drop(lock.lock());
                enters();
                start.wait();
                leaves();
                // A call may begin during the look, or begin and end. Then the look may have seen the sleep of the call.
                assert!(is_outside_while(|| true));
                assert!(!is_outside_while(|| !enters()));
                leaves();
                assert!(!is_outside_while(|| {
                    enters();
                    leaves();
                    true
                }));
            });
            start.wait();
            while !is_handler_stuck() {
                std::thread::yield_now();
            }
            drop(held);
            // From here it is inside a call at last, and stays there until this thread comes too.
            while CALLS.load(Ordering::Relaxed).is_multiple_of(2) {
                std::thread::yield_now();
            }
            assert!(!is_handler_stuck());
            start.wait();
        });
        assert!(!is_in_call(this_thread(), libc::SYS_futex) && !is_in_call(i32::MAX, libc::SYS_futex));
    }
}
