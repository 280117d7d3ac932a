//! The table of `parvum-waist`: C types in, the runtime called, C types out.
//!
//! One lock guards the runtime; a call holds it while it waits, so the threads
//! of a program take turns. A panic here would be a bug of ours: it ends the
//! process rather than unwind into C.

use crate::connect::ConnectError;
use crate::ledger;
use crate::multicast;
use crate::process;
use crate::pusher;
use crate::runtime::{AskError, Runtime};
use crate::serving;
use crate::watching;
use parvum_engine::{
    Block, Buffering, Completed, Completion, Envelope, Into, Keep, Look, MessageId, Outcome, Outgoing,
    Pattern, PullRefused, Received, RequestId, Room, SendError, Sent, TagMatch, UserBuffer,
};
use parvum_task::SessionError;
use parvum_transport::Route;
use parvum_waist as waist;
use parvum_waist::{
    ANY_CONTEXT, ANY_TASK, Enrolled, Message, Notes, Piece, Progress, Status, Table, TagKind, Turn, TurnGuard,
};
use parvum_wire::Tid;
use parvum_wire::control::{ErrorKind, Failure, Reply, Request};
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

static RUNTIME: Turn<Option<Runtime>> = Turn::new(None);
static LAST_ERROR: Mutex<String> = Mutex::new(String::new());
/// Set in a forked child: the runtime it sees is its parent's.
static FORKED: AtomicBool = AtomicBool::new(false);

static TABLE: Table = Table {
    version: waist::TABLE_VERSION,
    size: size_of::<Table>() as u32,
    enrol,
    depart,
    send,
    receive,
    post,
    wait,
    cancel,
    probe,
    find,
    take,
    give_back,
    progress,
    next_completed,
    inject,
    ask,
    prefer,
    counters,
    last_error,
    descriptors: watching::descriptors,
    receive_lazily,
    read_remote,
    fetch_remote,
    await_arrival: watching::await_arrival,
    watch: watching::watch,
    start_machine: watching::start_machine,
    manager: watching::manager,
    tracer: watching::tracer,
    multicast: multicast::multicast,
    looked: watching::looked,
    settle,
    wait_any,
    summon: serving::summon,
    serve: serving::serve,
    cells: ledger::cells,
    is_free,
};

/// The table; see `parvum-waist`.
#[unsafe(no_mangle)]
pub extern "C" fn parvum_table() -> *const Table {
    &TABLE
}

/// Remembers a failure's text for `last_error`.
pub(crate) fn remember(why: &(impl std::fmt::Display + ?Sized)) {
    *LAST_ERROR.lock().unwrap_or_else(PoisonError::into_inner) = why.to_string();
}

/// The process ends: hands over what was sent and leaves the machine.
pub(crate) fn leave() {
    if FORKED.load(Ordering::Relaxed) {
        return;
    }
    // A thread that still waits inside holds the lock, and with it the task: it ends with the process.
    if let Some(mut runtime) = lock_soon()
        && let Some(runtime) = runtime.take()
    {
        runtime.depart();
    }
}

/// Takes the lock unless somebody waits inside; the pushing thread holds it for moments only.
fn lock_soon() -> Option<TurnGuard<'static, Option<Runtime>>> {
    for _ in 0..50 {
        match RUNTIME.try_take() {
            Some(runtime) => return Some(runtime),
            // Who waits inside may hold it for ever.
            None => std::thread::sleep(std::time::Duration::from_millis(1)),
        }
    }
    None
}

/// This is a forked child: the parent's identity is not ours.
pub(crate) fn forget() {
    // Relaxed: the child has one thread.
    FORKED.store(true, Ordering::Relaxed);
    ledger::close();
    pusher::stopped();
}

/// One look of the thread that pushes while the program computes.
pub(crate) fn push_on() -> pusher::Look {
    // Whoever has the lock is inside the library, and pushes; this thread sleeps meanwhile, however long.
    let mut runtime = lock();
    if let Some(runtime) = &mut *runtime {
        let moved = runtime.progress();
        if runtime.engine.is_behind_at_all() && !runtime.session.is_lost() {
            return if moved { pusher::Look::Moved } else { pusher::Look::Waiting };
        }
    }
    pusher::stopped();
    pusher::Look::Done
}

fn lock() -> TurnGuard<'static, Option<Runtime>> {
    RUNTIME.take()
}

/// Calls `work` with the runtime if nobody is inside.
pub(crate) fn try_with<R>(work: impl FnOnce(&mut Runtime) -> R) -> Option<R> {
    if FORKED.load(Ordering::Relaxed) {
        return None;
    }
    RUNTIME.try_take()?.as_mut().map(work)
}

/// Calls `work` with the runtime, or gives `Unknown` when this task has not enrolled.
#[inline]
pub(crate) fn with<R>(otherwise: R, work: impl FnOnce(&mut Runtime) -> R) -> R {
    if FORKED.load(Ordering::Relaxed) {
        return otherwise;
    }
    match &mut *lock() {
        Some(runtime) => {
            let begun = runtime.time.begins_call();
            let result = work(runtime);
            if let Some(begun) = begun {
                runtime.ends_call(begun);
            }
            result
        }
        None => otherwise,
    }
}

unsafe extern "C" fn enrol(interface: *const u8, length: usize, out: *mut Enrolled) -> i32 {
    // SAFETY: the caller gives a string of that length.
    let interface = unsafe { std::slice::from_raw_parts(interface, length) };
    let mut runtime = if FORKED.load(Ordering::Relaxed) {
        // The parent may have forked while its pushing thread held the lock: nobody gives that back.
        match lock_soon() {
            Some(runtime) => runtime,
            None => return Status::NoMachine as i32,
        }
    } else {
        lock()
    };
    if FORKED.swap(false, Ordering::Relaxed) {
        // The parent's runtime must not be dropped here: that would close and unmap nothing
        // of the parent's, but speak to the daemon in its name.
        std::mem::forget(runtime.take());
    }
    if runtime.is_none() {
        match Runtime::start(&String::from_utf8_lossy(interface), process::own_directory()) {
            Ok(started) => *runtime = Some(started),
            Err(why) => {
                remember(&why);
                return Status::NoMachine as i32;
            }
        }
        static WATCHED: std::sync::Once = std::sync::Once::new();
        WATCHED.call_once(process::watch);
    }
    let Some(runtime) = &mut *runtime else { return Status::NoMachine as i32 };
    if runtime.session.is_lost() {
        remember(&SessionError::Lost);
        return Status::NoMachine as i32;
    }
    let parent = runtime.parent.map_or(0, |parent| parent.0);
    // SAFETY: `out` is writable, by the table's contract.
    unsafe { *out = Enrolled { tid: runtime.engine.me().0, parent } };
    Status::Done as i32
}

extern "C" fn depart() -> i32 {
    if FORKED.load(Ordering::Relaxed) {
        return Status::Unknown as i32;
    }
    match lock().take() {
        Some(runtime) => {
            runtime.depart();
            ledger::close();
            Status::Done as i32
        }
        None => Status::Unknown as i32,
    }
}

/// Memory that the interface owns, released when the engine is done with it.
struct Owner {
    owner: *mut c_void,
    release: unsafe extern "C" fn(*mut c_void),
}

impl Keep for Owner {}
// SAFETY: the table demands that `release` may be called from any thread.
unsafe impl Send for Owner {}
// SAFETY: an owner is only ever dropped, never used through a shared reference.
unsafe impl Sync for Owner {}

impl Drop for Owner {
    fn drop(&mut self) {
        // SAFETY: the table demands that this is valid once; drop happens once.
        unsafe { (self.release)(self.owner) };
    }
}

/// What keeps a message's memory, if anything does.
///
/// # Safety
/// To be called once for a message.
pub(crate) unsafe fn keeper(message: &waist::Outgoing) -> Option<Arc<dyn Keep>> {
    match (message.owner.is_null(), message.release) {
        (false, Some(release)) => Some(Arc::new(Owner { owner: message.owner, release })),
        _ => None,
    }
}

/// Who may buffer a message.
pub(crate) fn buffering(message: &waist::Outgoing) -> Option<Buffering> {
    Some(match message.buffering {
        0 => Buffering::BySize,
        1 => Buffering::Never,
        2 => Buffering::AtSender,
        3 => Buffering::AtReceiver,
        4 => Buffering::OrDiscard,
        5 => Buffering::SenderIfUnposted,
        _ => return None,
    })
}

unsafe extern "C" fn send(message: *const waist::Outgoing, request: *mut u64) -> i32 {
    // SAFETY: both are valid for the call, by the table's contract.
    let (message, request) = unsafe { (&*message, &mut *request) };
    *request = 0;
    if message.count == 1 && message.owner.is_null() && message.completion == 0 {
        // SAFETY: the caller gives `count` pieces, and memory that is readable for the call.
        let data = unsafe {
            let Piece { start, length } = *message.pieces;
            if length == 0 { &[][..] } else { std::slice::from_raw_parts(start, length) }
        };
        if data.len() <= SHORT && sends_short(message, data) {
            return Status::Done as i32;
        }
    }
    // SAFETY: as the table says.
    unsafe { send_any(message, request) }
}

/// What goes without further questions when nothing is in its way.
const SHORT: usize = 4 << 10;

/// Sends a short message that nothing is in the way of. False: it was not sent.
#[inline(always)]
fn sends_short(message: &waist::Outgoing, data: &[u8]) -> bool {
    let Some(buffering) = buffering(message) else { return false };
    with(false, |runtime| {
        let (to, me) = (Tid(message.to), runtime.engine.me());
        let wanted = runtime.routes.wanted(me, to);
        let &waist::Outgoing { tag, context, meta, .. } = message;
        runtime.leaving.is_empty()
            && runtime.engine.send_short(to, wanted, [tag as u32, context, meta], data, buffering)
    })
}

/// Sends any message.
///
/// # Safety
/// As for the table's `send`.
#[inline(never)]
unsafe fn send_any(message: &waist::Outgoing, request: &mut u64) -> i32 {
    // SAFETY: as the table says, this is the one use of the owner.
    let keep = unsafe { keeper(message) };
    let Some(buffering) = buffering(message) else { return Status::BadArgument as i32 };
    let completion = if message.completion == 0 { Completion::Reusable } else { Completion::Matched };
    with(Status::Unknown as i32, |runtime| {
        let to = Tid(message.to);
        // SAFETY: `message` names `count` pieces, and they stay as long as the table says.
        unsafe {
            with_pieces(message, |pieces| {
                let &waist::Outgoing { tag, context, meta, .. } = message;
                let one = Outgoing { to, tag, context, meta, pieces, keep, buffering, completion };
                send_one(runtime, one, request)
            })
        }
    })
}

/// Sends a message over the route that its receiver is reached by.
///
/// # Safety
/// As for [`parvum_engine::Engine::send`].
#[inline(always)]
pub(crate) unsafe fn send_one(runtime: &mut Runtime, mut message: Outgoing<'_>, request: &mut u64) -> i32 {
    let to = message.to;
    if let Err(why) = runtime.reach(to) {
        return refused(&why) as i32;
    }
    // A receiver that computes, and that nobody serves meanwhile, takes in nothing.
    if message.buffering == Buffering::AtReceiver && !runtime.engine.is_attended(to) {
        message.buffering = Buffering::AtSender;
    }
    if matches!(message.buffering, Buffering::BySize | Buffering::AtSender) {
        runtime.give_way(to, message.pieces.iter().map(|piece| piece.len()).sum());
    }
    let (asks, tag) = (message.buffering == Buffering::SenderIfUnposted, message.tag);
    // SAFETY: the caller's promise.
    let sent = unsafe { runtime.engine.send(message) };
    if let (true, Ok(Sent::Later(id))) = (asks, sent) {
        return runtime.await_answer(to, tag, id, request) as i32;
    }
    status_of(runtime, to, sent, request)
}

/// What a send came to, in the table's words.
#[inline(always)]
pub(crate) fn status_of(
    runtime: &mut Runtime,
    to: Tid,
    sent: Result<Sent, SendError>,
    request: &mut u64,
) -> i32 {
    match sent {
        Ok(Sent::Now) => {
            if runtime.engine.is_behind(to) {
                pusher::start();
            }
            Status::Done as i32
        }
        Ok(Sent::Later(id)) => {
            *request = id.number();
            Status::Pending as i32
        }
        Err(SendError::Gone(_)) => Status::Gone as i32,
        Err(why @ SendError::Full(_)) => {
            remember(&why);
            Status::NoMemory as i32
        }
        Err(why @ SendError::NotAttached(_)) => {
            remember(&why);
            Status::Unknown as i32
        }
    }
}

/// Shows a message's pieces as slices; one piece without an allocation.
///
/// # Safety
/// The pieces must be readable for the length of the call.
#[inline(always)]
pub(crate) unsafe fn with_pieces<R>(message: &waist::Outgoing, use_them: impl FnOnce(&[&[u8]]) -> R) -> R {
    let slice = |piece: &Piece| match piece.length {
        0 => &[][..],
        // SAFETY: the caller says that the piece is readable.
        length => unsafe { std::slice::from_raw_parts(piece.start, length) },
    };
    let pieces = match message.count == 0 || message.pieces.is_null() {
        true => &[][..],
        // SAFETY: the caller gives `count` pieces.
        false => unsafe { std::slice::from_raw_parts(message.pieces, message.count) },
    };
    let (mut one, mut many) = ([&[][..]], Vec::new());
    // One call for all of them: that is what lets it be inlined.
    use_them(match pieces {
        [] => &[],
        [only] => {
            one[0] = slice(only);
            &one
        }
        more => {
            many.extend(more.iter().map(slice));
            &many
        }
    })
}

pub(crate) fn refused(why: &ConnectError) -> Status {
    remember(why);
    match why {
        ConnectError::Refused(failure) if failure.kind == ErrorKind::NoSuchTask => Status::Gone,
        ConnectError::Refused(_) => Status::Refused,
        ConnectError::Segment(_) => Status::NoMemory,
        ConnectError::Lost(_) | ConnectError::Late => Status::NoMachine,
        ConnectError::Protocol(_)
        | ConnectError::Page(_)
        | ConnectError::Tcp(..)
        | ConnectError::ByDaemons => Status::Refused,
    }
}

#[inline]
fn pattern_of(pattern: &waist::Pattern) -> Pattern {
    let tag = match pattern.tags {
        TagKind::Any => TagMatch::Any,
        TagKind::Exactly => TagMatch::Exactly(pattern.tag),
        TagKind::Masked => TagMatch::Masked { mask: pattern.other, value: pattern.tag },
        TagKind::Within => TagMatch::Within { first: pattern.tag, last: pattern.other },
        TagKind::Among => TagMatch::Among { few: pattern.tag as u32, last: pattern.other },
    };
    Pattern {
        from: (pattern.from != ANY_TASK).then_some(Tid(pattern.from)),
        tag,
        context: (pattern.context != ANY_CONTEXT).then_some(pattern.context as u32),
    }
}

/// # Safety
/// `room`, when not null, must be the program's for `length` bytes until the receive is over.
#[inline]
unsafe fn place(room: *mut u8, length: usize) -> Into {
    if room.is_null() {
        Into::Block
    } else {
        // SAFETY: the caller's promise.
        Into::User(unsafe { UserBuffer::new(room, length) })
    }
}

unsafe extern "C" fn receive(
    pattern: *const waist::Pattern,
    room: *mut u8,
    length: usize,
    notes: *const Notes,
    out: *mut Message,
) -> i32 {
    // SAFETY: valid for the call, by the table's contract.
    let (pattern, notes, out) = unsafe { (&*pattern, &*notes, &mut *out) };
    // SAFETY: the receive is over or cancelled when `receive_as` returns, and until
    // then the caller has lent the memory.
    let into = unsafe { place(room, length) };
    receive_as(pattern, into, length, notes, out)
}

unsafe extern "C" fn receive_lazily(
    pattern: *const waist::Pattern,
    notes: *const Notes,
    out: *mut Message,
) -> i32 {
    // SAFETY: valid for the call, by the table's contract.
    let (pattern, notes, out) = unsafe { (&*pattern, &*notes, &mut *out) };
    receive_as(pattern, Into::Lazily, 0, notes, out)
}

/// Receives, waiting as the notes say. Nothing is posted any more when this returns.
#[inline]
fn receive_as(
    pattern: &waist::Pattern,
    mut into: Into,
    length: usize,
    notes: &Notes,
    out: &mut Message,
) -> i32 {
    with(Status::Unknown as i32, |runtime| {
        let pattern = pattern_of(pattern);
        let (mut block, mut envelope) = (None, Envelope::NONE);
        let (mut room, in_block) = match &mut into {
            Into::User(buffer) => (Room::Memory(buffer.bytes_mut()), false),
            Into::Block | Into::Lazily => (Room::Inside { inside: &mut out.inline, block: &mut block }, true),
        };
        let look = runtime.look_once(&pattern, &mut room, &mut envelope);
        if look != Look::Taken {
            if notes.limit != 0 && !runtime.may_hear(&pattern) {
                return Status::Gone as i32;
            }
            let spins = look == Look::Nothing && notes.limit < 0;
            if !spins || !runtime.spin_directly(&pattern, &mut room, &mut envelope, notes) {
                return receive_posted(runtime, pattern, into, length, notes, out) as i32;
            }
        }
        note_envelope(&envelope, out);
        if let Some(block) = block {
            lend(runtime, block, out);
        }
        let cut = !in_block && envelope.length > length as u64;
        if cut { Status::Cut as i32 } else { Status::Done as i32 }
    })
}

/// Receives by the usual way.
#[inline(never)]
fn receive_posted(
    runtime: &mut Runtime,
    pattern: Pattern,
    into: Into,
    length: usize,
    notes: &Notes,
    out: &mut Message,
) -> Status {
    let in_block = !matches!(into, Into::User(_));
    if notes.limit != 0 && !runtime.may_hear(&pattern) {
        // It went while we looked.
        runtime.end_noted_wait(notes);
        return Status::Gone;
    }
    let id = runtime.engine.post(pattern, into, false, false);
    loop {
        if runtime.wait_for(id, notes) {
            return finish(runtime, id, in_block, length, out);
        }
        if runtime.engine.cancel(id) {
            runtime.engine.test(id);
            runtime.noticed.nothing(&pattern, runtime.engine.arrivals());
            return late(runtime);
        }
        // Matched already: its data is on the way, and the memory is not ours to give back.
        if runtime.session.is_lost() {
            runtime.attend();
        }
        let on = Notes { limit: 1_000_000, ..*notes };
        if runtime.wait_for(id, &on) {
            return finish(runtime, id, in_block, length, out);
        }
    }
}

/// Why a wait ended without result.
fn late(runtime: &Runtime) -> Status {
    if runtime.session.is_lost() {
        remember(&SessionError::Lost);
        return Status::NoMachine;
    }
    Status::Pending
}

/// Takes the outcome of a request that is over.
#[inline]
fn finish(runtime: &mut Runtime, id: RequestId, in_block: bool, room: usize, out: &mut Message) -> Status {
    match runtime.engine.test(id) {
        Received::Pending => Status::Unknown,
        Received::Over(Outcome::Sent) => Status::Done,
        Received::Over(Outcome::Cancelled) => Status::Cancelled,
        Received::Over(Outcome::Gone(_)) => Status::Gone,
        Received::Over(Outcome::Received(completed)) => {
            let cut = !in_block && completed.is_cut(room);
            fill(runtime, completed, out);
            if cut { Status::Cut } else { Status::Done }
        }
    }
}

#[inline]
fn fill(runtime: &mut Runtime, completed: Completed, out: &mut Message) {
    note_envelope(&completed.envelope, out);
    if let Some(remote) = completed.remote {
        out.handle = runtime.lend_remote(remote);
        return;
    }
    let Some(block) = completed.block else { return };
    let bytes = block.bytes();
    if bytes.len() <= parvum_engine::Block::INLINE {
        out.inline[..bytes.len()].copy_from_slice(bytes);
    } else {
        lend(runtime, block, out);
    }
}

/// What is known of a message besides its data.
#[inline]
fn note_envelope(envelope: &Envelope, out: &mut Message) {
    let Envelope { from, tag, context, meta, length, .. } = *envelope;
    (out.from, out.tag, out.context, out.meta, out.length) = (from.0, tag, context, meta, length);
    (out.handle, out.data) = (0, std::ptr::null());
}

/// Lends the data of a message to its interface.
fn lend(runtime: &mut Runtime, block: Block, out: &mut Message) {
    out.handle = runtime.lend(block);
    out.data = runtime.lent(out.handle).map_or(std::ptr::null(), |block| block.bytes().as_ptr());
}

unsafe extern "C" fn read_remote(handle: u64, from: u64, out: *mut u8, length: usize) -> i32 {
    with(Status::Unknown as i32, |runtime| {
        // SAFETY: writable and lent to us for the call, by the table's contract.
        let out = if length == 0 { &mut [] } else { unsafe { std::slice::from_raw_parts_mut(out, length) } };
        match runtime.read_remote(handle, from, out) {
            Ok(()) => Status::Done as i32,
            Err(PullRefused::Gone) => Status::Gone as i32,
            Err(PullRefused::NotPermitted) => Status::BadArgument as i32,
        }
    })
}

unsafe extern "C" fn fetch_remote(handle: u64, notes: *const Notes, out: *mut Message) -> i32 {
    // SAFETY: valid for the call, by the table's contract.
    let (notes, out) = unsafe { (&Notes { limit: -1, ..*notes }, &mut *out) };
    with(Status::Unknown as i32, |runtime| {
        let Some(remote) = runtime.take_remote(handle) else { return Status::Unknown as i32 };
        let id = runtime.engine.fetch_remote(remote);
        // It ends: with its data, or with its sender.
        while !runtime.wait_for(id, notes) {
            runtime.attend();
        }
        finish(runtime, id, true, 0, out) as i32
    })
}

unsafe extern "C" fn post(pattern: *const waist::Pattern, room: *mut u8, length: usize, flags: u32) -> u64 {
    // SAFETY: valid for the call; the memory stays until the request is over, by the contract.
    let (pattern, into) = unsafe { (&*pattern, place(room, length)) };
    let pattern = pattern_of(pattern);
    let (urgent, announced, claims) = (flags & 1 != 0, flags & 2 != 0, flags & 4 != 0);
    with(0, |runtime| {
        let id = match claims {
            true => runtime.engine.claim(pattern, into, announced),
            false => runtime.engine.post(pattern, into, urgent, announced),
        };
        id.number()
    })
}

unsafe extern "C" fn wait(request: u64, notes: *const Notes, out: *mut Message) -> i32 {
    // SAFETY: valid for the call, by the table's contract.
    let (notes, out) = unsafe { (&*notes, &mut *out) };
    let id = RequestId::from_number(request);
    with(Status::Unknown as i32, |runtime| {
        if !runtime.engine.is_known(id) {
            return Status::Unknown as i32;
        }
        runtime.engine.settle_claim(id);
        if !runtime.wait_for(id, notes) {
            return late(runtime) as i32;
        }
        finish(runtime, id, false, usize::MAX, out) as i32
    })
}

extern "C" fn settle(request: u64) -> usize {
    with(0, |runtime| {
        let before = runtime.engine.claims();
        match request {
            0 => runtime.engine.settle_claims(),
            request => runtime.engine.settle_claim(RequestId::from_number(request)),
        }
        before - runtime.engine.claims()
    })
}

extern "C" fn is_free() -> i32 {
    i32::from(try_with(|_| ()).is_some())
}

unsafe extern "C" fn wait_any(requests: *const u64, count: usize, seen: u64, notes: *const Notes) -> i64 {
    const LATE: i64 = -1;
    const ARRIVED: i64 = -2;
    let (requests, notes) = match count {
        // SAFETY: valid for the call, by the table's contract.
        0 => (&[][..], unsafe { &*notes }),
        // SAFETY: as above.
        count => unsafe { (std::slice::from_raw_parts(requests, count), &*notes) },
    };
    with(LATE, |runtime| {
        let over = |runtime: &mut Runtime| {
            let is_over = |request: &u64| {
                let id = RequestId::from_number(*request);
                runtime.engine.is_over(id) || !runtime.engine.is_known(id)
            };
            match requests.iter().position(is_over) {
                Some(at) => Some(at as i64),
                None => (seen != u64::MAX && runtime.engine.arrivals() != seen).then_some(ARRIVED),
            }
        };
        runtime.wait_until(notes, over).unwrap_or(LATE)
    })
}

extern "C" fn cancel(request: u64) -> i32 {
    let done = |runtime: &mut Runtime| runtime.engine.cancel(RequestId::from_number(request));
    if with(false, done) { Status::Done as i32 } else { Status::Unknown as i32 }
}

fn describe(id: MessageId, envelope: &Envelope) -> Message {
    let Envelope { from, tag, context, meta, length, .. } = *envelope;
    Message { from: from.0, tag, context, meta, length, handle: id.number(), ..Message::NONE }
}

unsafe extern "C" fn probe(pattern: *const waist::Pattern, notes: *const Notes, out: *mut Message) -> i32 {
    // SAFETY: valid for the call, by the table's contract.
    let (pattern, notes, out) = unsafe { (&*pattern, &*notes, &mut *out) };
    let pattern = pattern_of(pattern);
    with(Status::Unknown as i32, |runtime| {
        if notes.limit != 0 && !runtime.may_hear(&pattern) {
            return Status::Gone as i32;
        }
        let found = runtime.wait_until(notes, |runtime| match runtime.engine.probe(&pattern) {
            None if pattern.from.is_some_and(|from| runtime.engine.is_gone(from)) => Some(None),
            found => found.map(Some),
        });
        match found {
            Some(Some((id, envelope))) => {
                *out = describe(id, &envelope);
                Status::Done as i32
            }
            Some(None) if notes.limit != 0 => Status::Gone as i32,
            _ => {
                runtime.noticed.nothing(&pattern, runtime.engine.arrivals());
                late(runtime) as i32
            }
        }
    })
}

unsafe extern "C" fn find(
    visit: unsafe extern "C" fn(context: *mut c_void, message: *const Message) -> bool,
    context: *mut c_void,
    out: *mut Message,
) -> i32 {
    with(Status::Unknown as i32, |runtime| {
        runtime.progress();
        let found = runtime.engine.find(|id, envelope| {
            let message = describe(id, envelope);
            // SAFETY: the caller gives a function for this context; the message lives during the call.
            unsafe { visit(context, &message) }
        });
        match found {
            Some((id, envelope)) => {
                // SAFETY: `out` is writable, by the table's contract.
                unsafe { *out = describe(id, &envelope) };
                Status::Done as i32
            }
            None => Status::Pending as i32,
        }
    })
}

unsafe extern "C" fn take(
    name: u64,
    room: *mut u8,
    length: usize,
    notes: *const Notes,
    out: *mut Message,
) -> i32 {
    // SAFETY: valid for the call, by the table's contract.
    let (notes, out) = unsafe { (&Notes { limit: -1, ..*notes }, &mut *out) };
    with(Status::Unknown as i32, |runtime| {
        // SAFETY: this returns only when the receive is over.
        let into = unsafe { place(room, length) };
        let Some(id) = runtime.engine.receive_message(MessageId::from_number(name), into) else {
            return Status::Unknown as i32;
        };
        // A matched receive ends: with its data, or with its sender.
        while !runtime.wait_for(id, notes) {
            runtime.attend();
        }
        finish(runtime, id, room.is_null(), length, out) as i32
    })
}

extern "C" fn give_back(handle: u64) {
    with((), |runtime| runtime.give_back(handle));
}

extern "C" fn progress() -> Progress {
    with(Progress { moved: false, lost: true }, |runtime| {
        // Nothing rings when a daemon dies: look.
        runtime.attend();
        Progress { moved: runtime.progress(), lost: runtime.session.is_lost() }
    })
}

extern "C" fn next_completed() -> u64 {
    with(0, |runtime| runtime.engine.next_completed().map_or(0, RequestId::number))
}

unsafe extern "C" fn inject(message: *const Message, data: *const u8, length: usize) -> i32 {
    // SAFETY: valid for the call, by the table's contract.
    let (message, data) = unsafe { (&*message, std::slice::from_raw_parts(data, length)) };
    let &Message { from, tag, context, meta, .. } = message;
    let envelope = Envelope { from: Tid(from), tag, context, meta, length: data.len() as u64, order: None };
    with(Status::Unknown as i32, |runtime| {
        runtime.engine.inject(envelope, data);
        Status::Done as i32
    })
}

unsafe extern "C" fn ask(
    request: *const u8,
    length: usize,
    notes: *const Notes,
    answer: unsafe extern "C" fn(context: *mut c_void, bytes: *const u8, length: usize),
    context: *mut c_void,
) -> i32 {
    // SAFETY: valid for the call, by the table's contract.
    let (bytes, notes) = unsafe { (std::slice::from_raw_parts(request, length), &*notes) };
    let Ok(request) = postcard::from_bytes::<Request>(bytes) else { return Status::BadArgument as i32 };
    with(Status::Unknown as i32, |runtime| {
        let asked = match request {
            Request::Barrier { group, count } => {
                runtime.barrier(&group, count, notes).map(|met| met.map(|()| Reply::Done))
            }
            request => {
                if let Request::Freeze { group, count } = &request {
                    runtime.show_barrier(group, *count);
                }
                runtime.ask(request, &[], notes).map(|answer| answer.reply)
            }
        };
        let reply: Result<Reply, Failure> = match asked {
            Ok(reply) => reply,
            Err(AskError::Late) => return Status::Pending as i32,
            Err(AskError::Lost(SessionError::Refused(failure))) => Err(failure),
            Err(AskError::Lost(why)) => {
                remember(&why);
                return Status::NoMachine as i32;
            }
        };
        let status = if reply.is_ok() { Status::Done } else { Status::Refused };
        if let Err(why) = &reply {
            remember(why);
        }
        let Ok(bytes) = postcard::to_stdvec(&reply) else { return Status::NoMemory as i32 };
        // SAFETY: the caller gives a function for this context; the bytes live during the call.
        unsafe { answer(context, bytes.as_ptr(), bytes.len()) };
        status as i32
    })
}

extern "C" fn prefer(route: u32) -> i32 {
    let asked = match route {
        0 => None,
        1 => Some(Route::Shm),
        2 => Some(Route::Routed),
        _ => return Status::BadArgument as i32,
    };
    with(Status::Unknown as i32, |runtime| {
        runtime.routes.asked = asked;
        Status::Done as i32
    })
}

unsafe extern "C" fn counters(out: *mut u64, room: usize) -> usize {
    with(0, |runtime| {
        let ledger = runtime.engine.ledger();
        for at in 0..parvum_engine::Ledger::CELLS.min(room) {
            // SAFETY: room for `room` numbers, by the table's contract.
            unsafe { *out.add(at) = ledger.read_at(at) };
        }
        parvum_engine::Ledger::CELLS
    })
}

unsafe extern "C" fn last_error(out: *mut u8, room: usize) -> usize {
    let text = LAST_ERROR.lock().unwrap_or_else(PoisonError::into_inner);
    let length = text.len().min(room);
    // SAFETY: room for `room` bytes, by the table's contract; the text is ours.
    unsafe { std::ptr::copy_nonoverlapping(text.as_ptr(), out, length) };
    length
}
