//! Threads of ours: one takes messages in while the program computes, one enters its handlers then.
//!
//! A handler is an interrupt of the program. The thread that enters a handler therefore first stops the program. A
//! signal makes the program's thread wait inside the library's signal handler until the NX handler has returned. There
//! it neither allocates nor takes locks. A program inside a call of the library is not stopped: the call runs the
//! handlers.
//!
//! The stopped program may hold a lock, for example of malloc or of an output file, and the handler may need the same
//! lock. This is not known before. The stopped thread therefore checks regularly whether the handler sleeps on a
//! foreign lock. If it does, the thread continues beside the handler.

use crate::handlers;
use crate::task::Task;
use libc::c_int;
use parvum_api::CoreApi;
use parvum_sync::futex::{self, Among};
use parvum_sync::without_signals;
use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering, compiler_fence};
use std::thread::Thread;
use std::time::Duration;

mod stuck;

/// The system's number of the thread in which the program runs.
///
/// Relaxed everywhere: the start of the thread of handlers orders the one store before that thread's loads.
static PROGRAM: AtomicI32 = AtomicI32::new(0);
/// Whether that thread is inside a call of ours.
///
/// Relaxed everywhere: the program's own thread writes it, and the signal handler that decides by it runs in that thread. The thread
/// of handlers reads it only to save itself a request.
static INSIDE: AtomicBool = AtomicBool::new(false);
/// The state that the two threads share; a futex.
///
/// Two pairs order the program's memory. The release with which `stand_still` answers `STANDS` meets the acquires of `interrupt`: a
/// handler finds what the program has written. The release with which `interrupt` stores `RUNS` meets the acquire of `stand_still`:
/// the program finds what the handler has written. All other changes hand nothing over, and are relaxed.
static STATE: AtomicU32 = AtomicU32::new(RUNS);
const RUNS: u32 = 0;
/// Our thread asks the program's to stand still.
const ASKED: u32 = 1;
/// It stands still.
const STANDS: u32 = 2;
/// It does not: it is inside a call, or holds handlers back.
const REFUSED: u32 = 3;
/// It stood, and has gone on before the handler was over.
const WENT_ON: u32 = 4;

/// The time that a program may take to answer, and the time between two requests.
const PATIENCE: Duration = Duration::from_millis(100);
const PAUSE: Duration = Duration::from_micros(500);
/// How often the thread that stands looks whether the handler waits for what it holds.
const LOOK: Duration = Duration::from_millis(10);
/// Handlers call anything.
const STACK: usize = 8 << 20;

/// Which signal brings the program to a stand.
fn signal() -> c_int {
    libc::SIGRTMAX() - 2
}

/// A node takes messages in while it computes as soon as it has named memory longer than this. A program of short messages
/// stays one of a single thread, whose locks cost nothing; its messages lie in the transport until it calls.
const LONG: usize = 4096;

/// Whether this node takes messages in while it computes.
static SERVES: AtomicBool = AtomicBool::new(false);

/// From now on receives messages while the program computes, if it has long messages.
#[inline]
pub(crate) fn serve_if_long(task: &'static Task, length: usize) {
    // Relaxed: one caller finds it false and starts the thread, and no caller waits for the thread.
    if length > LONG && !SERVES.load(Ordering::Relaxed) && !SERVES.swap(true, Ordering::Relaxed) {
        serve(task);
    }
}

#[cold]
fn serve(task: &'static Task) {
    // Senders learn this at once: they need not keep data for this node any more.
    task.api.serve(0, false);
    let thread = move || {
        loop {
            task.api.serve(-1, false);
        }
    };
    without_signals(|| {
        // Without the thread senders wait until this node calls.
        let _ = std::thread::Builder::new().name("nx serve".into()).stack_size(128 << 10).spawn(thread);
    });
}

/// Enters handlers, from now on, while the program computes. Called by the program's thread.
pub(crate) fn handle(task: &'static Task) {
    static HANDLING: OnceLock<Option<Thread>> = OnceLock::new();
    let thread = HANDLING.get_or_init(|| {
        // SAFETY: the call only tells the thread's number.
        PROGRAM.store(unsafe { libc::gettid() }, Ordering::Relaxed);
        IS_PROGRAM.set(true);
        INSIDE.store(true, Ordering::Relaxed);
        install();
        task.api.serve(0, false);
        let run = move || attend(task);
        let started = || std::thread::Builder::new().name("nx handlers".into()).stack_size(STACK).spawn(run);
        without_signals(started).ok().map(|handle| handle.thread().clone())
    });
    if let Some(thread) = thread {
        thread.unpark();
    }
}

/// A unique number for each living thread, which is never 0.
pub(crate) fn this_thread() -> usize {
    // SAFETY: it only reads a register.
    unsafe { libc::pthread_self() as usize }
}

thread_local! {
    /// Whether this is the program's thread.
    static IS_PROGRAM: Cell<bool> = const { Cell::new(false) };
}

/// Whether handlers were ever posted, and calls must say when they begin and end.
#[inline]
pub(crate) fn is_needed() -> bool {
    // Relaxed: only the thread that posts them reads it.
    PROGRAM.load(Ordering::Relaxed) != 0
}

/// The thread begins a call of ours. Whether it was inside one already: a handler that the call runs may call as well.
pub(crate) fn enters() -> bool {
    if !IS_PROGRAM.get() {
        return stuck::enters();
    }
    let was_inside = INSIDE.load(Ordering::Relaxed);
    INSIDE.store(true, Ordering::Relaxed);
    // The call's own work must not move before the store: the signal handler could run in between.
    compiler_fence(Ordering::SeqCst);
    was_inside
}

/// The end of a call; `was_inside` is the result of `enters`. After the outermost, what comes or has come rings for our
/// thread.
pub(crate) fn leaves(api: CoreApi, was_inside: bool) {
    if was_inside {
        return;
    }
    if !IS_PROGRAM.get() {
        return stuck::leaves();
    }
    // The call's work must not move behind the store either.
    compiler_fence(Ordering::SeqCst);
    INSIDE.store(false, Ordering::Relaxed);
    if handlers::are_posted() {
        api.watch();
    }
}

fn attend(task: &'static Task) {
    stuck::this_thread_runs_handlers();
    loop {
        if !handlers::are_posted() {
            std::thread::park();
            continue;
        }
        if INSIDE.load(Ordering::Relaxed) {
            // The program runs them itself; when it leaves, what is left rings.
            std::thread::sleep(PAUSE);
            continue;
        }
        if handlers::is_any_ready(task) {
            if !interrupt(task) {
                // The program did not stop in time, and may stop at any time: ask again.
                std::thread::sleep(PAUSE);
            }
            continue;
        }
        task.api.serve(10_000_000, true);
    }
}

/// Stops the program and enters the handlers. `false` when it did not stop.
fn interrupt(task: &'static Task) -> bool {
    // Relaxed: the kernel orders the store before the signal.
    STATE.store(ASKED, Ordering::Relaxed);
    let program = PROGRAM.load(Ordering::Relaxed);
    // SAFETY: a signal to a thread of this process, for which a handler is installed.
    unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), program, signal()) };
    let began = std::time::Instant::now();
    // Relaxed: the load below decides.
    while STATE.load(Ordering::Relaxed) == ASKED && began.elapsed() < PATIENCE {
        wait(ASKED, Some(PATIENCE));
    }
    // Acquire: partner of the release in `stand_still`.
    if STATE.load(Ordering::Acquire) != STANDS {
        // A late request finds that the other thread does not ask any more. Relaxed: without a handler there is nothing
        // to hand over.
        let late = STATE.swap(RUNS, Ordering::Relaxed) == STANDS;
        if !late {
            return false;
        }
    }
    // The program may have stopped inside the engine, in a call of another interface. Then no thread can call the
    // engine.
    if task.api.is_free() {
        // Acquire: as above.
        handlers::run_ready_while(task, || STATE.load(Ordering::Acquire) == STANDS);
    }
    // Release: partner of the acquire in `stand_still`.
    STATE.store(RUNS, Ordering::Release);
    wake();
    true
}

/// The signal handler: stands still as long as a handler runs.
extern "C" fn stand_still(_: c_int) {
    // SAFETY: errno is this thread's.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: as above.
    let before = unsafe { *errno };
    let answer = if INSIDE.load(Ordering::Relaxed) || !handlers::may_run() { REFUSED } else { STANDS };
    // Release: partner of the acquires in `interrupt`. Relaxed on failure: the request is gone.
    if STATE.compare_exchange(ASKED, answer, Ordering::Release, Ordering::Relaxed).is_ok() {
        wake();
        // Acquire: partner of the release in `interrupt`.
        while STATE.load(Ordering::Acquire) == STANDS {
            wait(STANDS, Some(LOOK));
            if stuck::is_handler_stuck() {
                // On failure the handler is over this very moment. Relaxed: the handler goes on beside the program, and the lock that
                // it waits for orders the two.
                let _ = STATE.compare_exchange(STANDS, WENT_ON, Ordering::Relaxed, Ordering::Relaxed);
            }
        }
    }
    // SAFETY: as above.
    unsafe { *errno = before };
}

fn install() {
    // SAFETY: the structure is plain memory, zero is valid, and the handler may be called at any time.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = stand_still as extern "C" fn(c_int) as usize;
        action.sa_flags = libc::SA_RESTART;
        libc::sigfillset(&mut action.sa_mask);
        libc::sigaction(signal(), &action, std::ptr::null_mut());
    }
}

fn wait(while_it_is: u32, limit: Option<Duration>) {
    let _ = futex::sleep(&STATE, while_it_is, limit, Among::Threads);
}

fn wake() {
    futex::wake(&STATE, futex::ALL, Among::Threads);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn call_in_handler_sees_that_program_was_inside() {
        IS_PROGRAM.set(true);
        assert!(!enters(), "the program's own call");
        assert!(enters(), "that of a handler that runs in the program's call");
        // Only the outermost call lets the program be stopped when it ends.
        assert!(INSIDE.load(Ordering::Relaxed));
    }
}
