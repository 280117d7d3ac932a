//! Handlers: functions of the program that are entered when a message has come, or a send is over.
//!
//! Handlers run one at a time, and never inside each other. They run in the program's own calls, while the calls wait
//! and when they end. While the program computes, they run on a thread of the library, and the program stops during
//! this time (see `interrupt`).

use crate::account::{self, Call};
use crate::calls::fail_for_good;
use crate::errors::{Nx, NxError};
use crate::exchange::{Info, Sending, outcome};
use crate::interrupt::{self, this_thread};
use crate::task::Task;
use crate::words;
use libc::c_long;
use parvum_api::{Notes, Pattern, Request};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A function of the program.
#[derive(Clone, Copy)]
pub(crate) enum Handler {
    /// The handler of `hrecv` and `hsend`: type, count, node, ptype.
    Plain(extern "C" fn(c_long, c_long, c_long, c_long)),
    /// The handler of `hrecvx` and `hsendx`: the same, and a number of the program.
    Extended(extern "C" fn(c_long, c_long, c_long, c_long, c_long), c_long),
    /// Of Fortran's calls.
    Fortran(extern "C" fn(*const i32, *const i32, *const i32, *const i32)),
    /// Of Fortran's extended calls.
    FortranExtended(extern "C" fn(*const i32, *const i32, *const i32, *const i32, *const i32), i32),
}

impl Handler {
    fn enter(self, [kind, count, node, ptype]: [i64; 4]) {
        let short = |number: i64| number as i32;
        match self {
            Handler::Plain(function) => function(kind, count, node, ptype),
            Handler::Extended(function, parameter) => function(kind, count, node, ptype, parameter),
            Handler::Fortran(function) => function(&short(kind), &short(count), &short(node), &short(ptype)),
            Handler::FortranExtended(function, parameter) => {
                function(&short(kind), &short(count), &short(node), &short(ptype), &parameter)
            }
        }
    }
}

/// The operation that a handler waits for.
pub(crate) struct Posted {
    pub(crate) send: Option<Sending>,
    /// The receive, and the bytes of its memory.
    pub(crate) receive: Option<(Request, usize)>,
    /// For a receive: its pattern. A call that removes the handler names the same pattern.
    pub(crate) pattern: Option<Pattern>,
    /// For a send: the arguments of the handler.
    pub(crate) told: [i64; 4],
    pub(crate) handler: Handler,
}

static POSTED: Mutex<Vec<Posted>> = Mutex::new(Vec::new());
static COUNT: AtomicUsize = AtomicUsize::new(0);
/// Held back by `masktrap`. The release of `mask` and the acquire of `Entry::take` are partners: a handler finds what the program had
/// written before it let handlers in. Another thread may enter a handler while `mask` runs. No ordering could prevent that.
static MASKED: AtomicBool = AtomicBool::new(false);
/// The thread in which one runs, by its address; 0 for none. Only the thread that changes it from 0 may run handlers.
static RUNNER: AtomicUsize = AtomicUsize::new(0);

fn lock() -> MutexGuard<'static, Vec<Posted>> {
    POSTED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether any handler waits for something.
#[inline]
pub(crate) fn are_posted() -> bool {
    // Relaxed: only the thread that posts them reads it.
    COUNT.load(Ordering::Relaxed) > 0
}

/// Whether a handler may be entered now.
pub(crate) fn may_run() -> bool {
    // Relaxed: `Entry::take` decides.
    !MASKED.load(Ordering::Relaxed) && RUNNER.load(Ordering::Relaxed) == 0
}

/// The right to enter handlers: one thread's at a time.
struct Entry;

impl Entry {
    /// Takes it. Nothing while a handler runs, in whatever thread, or all are held back.
    fn take() -> Option<Entry> {
        // Acquire: partner of the release below, so that a handler finds what the one before it has written.
        let taken = RUNNER.compare_exchange(0, this_thread(), Ordering::AcqRel, Ordering::Relaxed);
        let entry = taken.ok().map(|_| Entry)?;
        // Acquire: partner of the release in `mask`.
        (!MASKED.load(Ordering::Acquire)).then_some(entry)
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        // Release: partner of the exchange above.
        RUNNER.store(0, Ordering::Release);
    }
}

/// Nanoseconds after which a thread that waits looks again whether another is still in a handler.
pub(crate) const LOOK_AGAIN: i64 = 1_000_000;

/// Adds one.
pub(crate) fn post(task: &'static Task, posted: Posted) {
    lock().push(posted);
    // Relaxed, here and in what takes them away: a number to look at. The lock orders the handlers themselves.
    COUNT.fetch_add(1, Ordering::Relaxed);
    interrupt::handle(task);
}

/// Takes away the handlers of receives of that pattern whose message has not come.
pub(crate) fn withdraw(task: &Task, pattern: &Pattern) {
    let same = |other: &Pattern| {
        (other.from, other.tags, other.tag, other.other)
            == (pattern.from, pattern.tags, pattern.tag, pattern.other)
    };
    lock().retain(|posted| {
        let Some((request, _)) = posted.receive else { return true };
        if !posted.pattern.as_ref().is_some_and(same) || !task.api.cancel(request) {
            return true;
        }
        let _ = task.api.wait(request, &look());
        COUNT.fetch_sub(1, Ordering::Relaxed);
        false
    });
}

fn look() -> Notes {
    Notes { limit: 0, call: words::msgwait(), peer: -1, tag: -1, context: -1 }
}

/// Holds handlers back, or lets them in; gives what was before.
pub(crate) fn mask(held: bool) -> bool {
    // Release: partner of the acquire in `Entry::take`. Acquire: another thread may have set what was before.
    MASKED.swap(held, Ordering::AcqRel)
}

impl Posted {
    fn requests(&self) -> impl Iterator<Item = Request> {
        let send = self.send.map(|sending| sending.request);
        send.into_iter().chain(self.receive.map(|(request, _)| request))
    }

    /// Whether everything that the handler waits for is over.
    fn is_over(&self, task: &Task) -> bool {
        self.requests().all(|request| task.api.wait_any(&[request], u64::MAX, &look()) == 0)
    }

    /// The arguments of the handler; takes the outcomes.
    fn finish(&self, task: &Task) -> Nx<[i64; 4]> {
        if let Some(sending) = self.send {
            // A receiver that is gone is not the handler's business.
            let _ = task.api.wait(sending.request, &look());
        }
        let Some((request, room)) = self.receive else { return Ok(self.told) };
        let message = outcome(task, request, room)?;
        account::copied_in(task, Call::Other);
        account::received(message.length);
        Ok(Info::from(&message).numbers(task))
    }
}

/// Adds what handlers wait for to what is waited for, as far as they may run. Returns how long the list is valid. While
/// another thread runs a handler, no thread may run the next handler, so this thread must look again soon.
pub(crate) fn awaited(requests: &mut Vec<Request>, limit: i64) -> i64 {
    // Relaxed, here and below: `Entry::take` decides. A thread that sees an old value waits as if it had come a moment earlier.
    if !are_posted() || MASKED.load(Ordering::Relaxed) {
        return limit;
    }
    match RUNNER.load(Ordering::Relaxed) {
        0 => {
            // One of several is enough: when it is over, the others are looked at.
            requests.extend(lock().iter().filter_map(|posted| posted.requests().last()));
            limit
        }
        runner if runner == this_thread() => limit,
        _ if (0..LOOK_AGAIN).contains(&limit) => limit,
        _ => LOOK_AGAIN,
    }
}

/// Whether a handler is to be entered now.
pub(crate) fn is_any_ready(task: &Task) -> bool {
    are_posted() && may_run() && lock().iter().any(|posted| posted.is_over(task))
}

/// Enters the handlers whose messages have come, in the order they were posted.
#[inline]
pub(crate) fn run_ready(task: &Task) {
    if are_posted() {
        run_ready_while(task, || true);
    }
}

/// As [`run_ready`], one after the other, as long as `wanted` returns true before each.
#[cold]
pub(crate) fn run_ready_while(task: &Task, wanted: impl Fn() -> bool) {
    while wanted() {
        let Some(entry) = Entry::take() else { return };
        let next = {
            let mut posted = lock();
            let Some(at) = posted.iter().position(|posted| posted.is_over(task)) else { return };
            COUNT.fetch_sub(1, Ordering::Relaxed);
            posted.remove(at)
        };
        let told = match next.finish(task) {
            Ok(told) => told,
            Err(NxError::Machine) => return,
            Err(why) => fail_for_good("hrecv", why),
        };
        next.handler.enter(told);
        drop(entry);
    }
}
