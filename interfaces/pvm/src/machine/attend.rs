//! Message handlers, caught output, and a program's own match function: the additional work of a receive.
//!
//! Functions of the program are called without the lock, so that they may call PVM themselves.

use crate::buffers::buffer::{Arrived, Buffer};
use crate::errors::{Pvm, PvmError};
use crate::machine::output::Catcher;
use crate::state::{Locked, call, quietly};
use parvum_api::{Message, Notes, Receiving, Status, call as waits};
use std::cell::Cell;
use std::ffi::c_int;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

/// A message handler of the program: it is given the message's buffer.
pub(crate) type Handle = unsafe extern "C" fn(c_int) -> c_int;
/// A match function of the program: message buffer, wanted sender, wanted tag.
pub(crate) type Match = unsafe extern "C" fn(c_int, c_int, c_int) -> c_int;

/// The additional work of every call at its end; bits of [`DUTIES`].
pub(crate) const HANDLE: u8 = 1;
pub(crate) const WATCH: u8 = 2;
pub(crate) const TRACE: u8 = 4;
/// Relaxed everywhere: set by calls, under their lock, and read by calls.
pub(crate) static DUTIES: AtomicU8 = AtomicU8::new(0);

/// The first number of the program's handlers. As in PVM, nine internal handlers come before it.
const FIRST: i32 = 9;

#[derive(Clone, Copy)]
pub(crate) enum Run {
    Program(Handle),
    CatchOutput,
}

/// Takes messages that match before any receive does; -1 matches everything.
pub(crate) struct Handler {
    id: i32,
    from: i32,
    tag: i32,
    context: i32,
    run: Run,
}

impl Handler {
    fn takes(&self, message: &Message) -> bool {
        let fits = |wanted: i32, have: i32| wanted == -1 || wanted == have;
        fits(self.from, message.from)
            && fits(self.tag, message.tag)
            && fits(self.context, message.context as i32)
    }

    /// Whether some message could be taken by both.
    fn overlaps(&self, from: i32, tag: i32, context: i32) -> bool {
        let meet = |a: i32, b: i32| a == -1 || b == -1 || a == b;
        meet(self.from, from) && meet(self.tag, tag) && meet(self.context, context)
    }
}

/// How long a receive waits.
#[derive(Clone, Copy)]
pub(crate) struct HowLong {
    /// -1: for ever.
    nanoseconds: i64,
    /// The wait also ends, as if the time were over, when a handler of signals has run: for callers whose own handlers run after it.
    until_signal: bool,
}

impl HowLong {
    pub(crate) const ENDLESS: HowLong = HowLong::of(-1);
    pub(crate) const NONE: HowLong = HowLong::of(0);

    pub(crate) const fn of(nanoseconds: i64) -> HowLong {
        HowLong { nanoseconds, until_signal: false }
    }

    pub(crate) const fn until_signal(nanoseconds: i64) -> HowLong {
        HowLong { nanoseconds, until_signal: true }
    }

    fn deadline(self) -> Option<Instant> {
        (self.nanoseconds >= 0).then(|| Instant::now() + Duration::from_nanos(self.nanoseconds as u64))
    }

    pub(crate) fn limit(self) -> i64 {
        self.nanoseconds
    }

    /// What waits, for [`Notes`].
    pub(crate) fn call(self) -> u32 {
        waits::RECEIVE | if self.until_signal { waits::UNTIL_SIGNAL } else { 0 }
    }
}

/// The functions that the program wants to be called.
pub(crate) struct Attention {
    handlers: Vec<Handler>,
    pub(crate) matcher: Option<Match>,
    pub(crate) catcher: Option<Catcher>,
}

impl Attention {
    pub(crate) const NONE: Attention = Attention { handlers: Vec::new(), matcher: None, catcher: None };

    /// Adds a handler; gives its number.
    pub(crate) fn add(&mut self, from: i32, tag: i32, context: i32, run: Run) -> Pvm<i32> {
        if self.handlers.iter().any(|handler| handler.overlaps(from, tag, context)) {
            return Err(PvmError::Exists);
        }
        let taken = |id: &i32| self.handlers.iter().any(|handler| handler.id == *id);
        let id = (FIRST..).find(|id| !taken(id)).ok_or(PvmError::OutOfRes)?;
        self.handlers.push(Handler { id, from, tag, context, run });
        self.update();
        Ok(id)
    }

    pub(crate) fn remove(&mut self, id: i32) -> Pvm<i32> {
        if id < 0 {
            return Err(PvmError::BadParam);
        }
        let at = self.handlers.iter().position(|handler| handler.id == id).ok_or(PvmError::NotFound)?;
        self.handlers.remove(at);
        self.update();
        Ok(0)
    }

    /// Number, sender, context and tag of each handler.
    pub(crate) fn handlers(&self) -> impl Iterator<Item = (i32, i32, i32, i32)> {
        self.handlers.iter().map(|handler| (handler.id, handler.from, handler.context, handler.tag))
    }

    pub(crate) fn update(&self) {
        if self.handlers.is_empty() && self.matcher.is_none() {
            DUTIES.fetch_and(!HANDLE, Ordering::Relaxed);
        } else {
            DUTIES.fetch_or(HANDLE, Ordering::Relaxed);
        }
    }
}

thread_local! {
    /// Whether this thread runs a handler: handlers are not run inside one another.
    static HANDLING: Cell<bool> = const { Cell::new(false) };
}

/// The state that must be restored after a handler's call.
struct Before {
    receiving: i32,
    sending: i32,
    context: u32,
}

impl Locked {
    /// The next message that a handler takes, made the active receive buffer in its own context.
    fn next_handled(&mut self) -> Option<(Run, i32, Before)> {
        if self.attention.handlers.is_empty() {
            return None;
        }
        let api = self.here()?;
        let handlers = &self.attention.handlers;
        let found = api.find(|message| handlers.iter().any(|handler| handler.takes(message)))?;
        let run = handlers.iter().find(|handler| handler.takes(&found))?.run;
        let notes = Notes { limit: -1, call: waits::RECEIVE, peer: -1, tag: -1, context: -1 };
        let message = api.take(&found, Receiving::Block, &notes).ok()?;
        let id = self.keep(Buffer::Arrived(Box::new(Arrived::new(message))));
        let before = Before { receiving: self.receiving, sending: self.sending, context: self.context };
        (self.receiving, self.sending) = (id, 0);
        self.set_context(message.context);
        Some((run, id, before))
    }

    fn handled(&mut self, id: i32, before: &Before) {
        let mine = [before.receiving, before.sending].contains(&id);
        if !mine && matches!(self.buffer(id), Ok(Buffer::Arrived(_))) {
            self.free(id);
        }
        let still = |state: &mut Locked, id: i32| if state.buffer(id).is_ok() { id } else { 0 };
        self.receiving = still(self, before.receiving);
        self.sending = still(self, before.sending);
        self.set_context(before.context);
    }

    /// The messages that a match function may choose from, each with a buffer.
    fn candidates(&mut self) -> Pvm<Vec<i32>> {
        let api = self.machine()?;
        let context = self.context;
        let messages = api.unexpected(|message| message.context == context);
        Ok(messages.into_iter().map(|message| self.found(message)).collect())
    }

    /// Waits for a message that `seen` does not count. Whether one has come.
    fn await_arrival(&mut self, seen: u64, from: i32, tag: i32, how_long: HowLong) -> Pvm<bool> {
        let api = self.machine()?;
        self.bring_all();
        let (limit, call) = (how_long.limit(), how_long.call());
        let notes = Notes { limit, call, peer: from, tag, context: self.context as i32 };
        let has_come = self.outside(|| api.await_arrival(seen, &notes)) != seen;
        if has_come || limit >= 0 {
            return Ok(has_come);
        }
        // No message came although there was no time limit: no message will come.
        match api.progress().lost {
            true => Err(PvmError::SysErr),
            false => Err(PvmError::NoTask),
        }
    }
}

/// Calls the program's handlers for what has come.
pub(crate) fn handle_messages() {
    if HANDLING.replace(true) {
        return;
    }
    while let Some((run, id, before)) = quietly(Locked::next_handled) {
        match run {
            Run::CatchOutput => quietly(|state| state.show_output(id)),
            Run::Program(handle) => crate::calls::run_handler(handle, id),
        }
        quietly(|state| state.handled(id, &before));
    }
    HANDLING.set(false);
}

/// The end of a task is often heard before the end of what it wrote.
const LATE: Duration = Duration::from_millis(100);

/// The interval in which a task that waits for output checks that the hosts of the output still exist.
const LOOK: Duration = Duration::from_secs(1);

/// Prints what tasks still write, until all of them have ended.
pub(crate) fn await_output() {
    let (begun, mut said) = (Instant::now(), false);
    loop {
        let Ok(seen) = quietly(|state| state.here().map(|api| api.arrivals()).ok_or(())) else { return };
        handle_messages();
        if !quietly(|state| state.awaits_output()) {
            return;
        }
        let patience = LATE.saturating_sub(begun.elapsed());
        if patience.is_zero() && !std::mem::replace(&mut said, true) {
            let name = quietly(|state| state.name());
            eprintln!("libpvm [{name}]: child task(s) still running.  waiting...");
        }
        // The daemon of a host that is lost cannot say that output has ended.
        if said {
            quietly(|state| state.end_output_of_lost_hosts());
        }
        let limit = if said { LOOK } else { patience };
        let limit = limit.as_nanos() as i64;
        if quietly(|state| state.await_arrival(seen, -1, -1, HowLong::of(limit))).is_err() {
            return;
        }
    }
}

/// Whether receives are more than the engine's own.
#[inline]
pub(crate) fn is_needed() -> bool {
    DUTIES.load(Ordering::Relaxed) & HANDLE != 0
}

/// Receives for `pvm_recv` and related calls; 0 if no message came.
#[inline]
pub(crate) fn receive(name: &str, from: i32, tag: i32, how_long: HowLong) -> c_int {
    if is_needed() {
        return attentively(name, from, tag, how_long, Take::Receive);
    }
    call(name, |state| state.receive(from, tag, how_long))
}

/// The action for a matching message.
#[derive(Clone, Copy)]
pub(crate) enum Take {
    Receive,
    Probe,
}

/// Receives or probes, while handlers and the program's match function have their say.
pub(crate) fn attentively(name: &str, from: i32, tag: i32, how_long: HowLong, take: Take) -> c_int {
    let deadline = how_long.deadline();
    let mut woken = false;
    loop {
        let seen = match quietly(|state| state.machine().map(|api| api.arrivals())) {
            Ok(seen) => seen,
            Err(why) => return call(name, |_| Err(why)),
        };
        handle_messages();
        match attempt(from, tag, take, seen) {
            // The caller checks its signals, because a signal may have come together with another message, and calls
            // again.
            Ok(0) if how_long.until_signal && woken => {
                quietly(|state| state.watch());
                return 0;
            }
            Ok(0) => {}
            Ok(id) => {
                quietly(|state| state.watch());
                return id;
            }
            Err(code) => return call(name, |_| Err(PvmError::from_code(code))),
        }
        let left = deadline.map(|end| end.saturating_duration_since(Instant::now()));
        if left == Some(Duration::ZERO) {
            // A message that arrived in between may be for a handler, and would not wake the task again.
            if quietly(|state| state.here().is_some_and(|api| api.arrivals() != seen)) {
                continue;
            }
            quietly(|state| state.watch());
            return 0;
        }
        let left = HowLong { nanoseconds: left.map_or(-1, |left| left.as_nanos() as i64), ..how_long };
        let has_come = match quietly(|state| state.await_arrival(seen, from, tag, left)) {
            Ok(has_come) => has_come,
            Err(why) => return call(name, |_| Err(why)),
        };
        if !has_come && matches!(take, Take::Receive) && !has_matcher() {
            // The time may be over, or all senders may be gone: a receive that may wait finds this out.
            let last = |state: &mut Locked| state.receive(from, tag, HowLong::of(1));
            match quietly(last) {
                Ok(0) => {}
                Ok(id) => {
                    quietly(|state| state.watch());
                    return id;
                }
                Err(why) => return call(name, |_| Err(why)),
            }
        }
        woken = true;
    }
}

/// Whether the program chooses among messages itself.
fn has_matcher() -> bool {
    quietly(|state| state.attention.matcher.is_some())
}

/// Checks once, after this number of arrivals; 0 if no message matches.
fn attempt(from: i32, tag: i32, take: Take, seen: u64) -> Result<i32, c_int> {
    let code = |why: PvmError| why as c_int;
    let Some(matcher) = quietly(|state| state.attention.matcher) else {
        return quietly(|state| match take {
            Take::Receive => state.receive(from, tag, HowLong::NONE),
            Take::Probe => state.probe(from, tag),
        })
        .map_err(code);
    };
    quietly(|state| state.check_wanted(from, tag)).map_err(code)?;
    let mut best = (0, 0);
    for id in quietly(Locked::candidates).map_err(code)? {
        match crate::calls::run_matcher(matcher, id, from, tag) {
            refusal if refusal < 0 => return Err(refusal),
            rank if rank > best.0 => best = (rank, id),
            _ => {}
        }
        // PVM's convention: 1 is "this one", more is a rank among all.
        if best.0 == 1 {
            break;
        }
    }
    match (best, take) {
        ((0, _), _) => {
            quietly(|state| state.here().map(|api| api.looked(seen)));
            Ok(0)
        }
        ((_, id), Take::Probe) => Ok(id),
        ((_, id), Take::Receive) => quietly(|state| state.receive_id(id)).map_err(code),
    }
}

impl Locked {
    /// Receives the message that a buffer's id was given to before.
    fn receive_id(&mut self, id: i32) -> Pvm<i32> {
        let api = self.machine()?;
        let Buffer::Found(found) = self.buffer(id)? else { return Err(PvmError::NoSuchBuf) };
        let found = **found;
        let notes = Notes { limit: -1, call: waits::RECEIVE, peer: found.from, tag: found.tag, context: -1 };
        let message = api.take(&found, Receiving::Block, &notes).map_err(|why| match why {
            Status::Unknown => PvmError::NoSuchBuf,
            why => why.into(),
        })?;
        self.replace_found(id, Arrived::new(message));
        self.make_receiving(id);
        Ok(id)
    }
}
