//! The table's receiving: posting, waiting, finding, taking, in C's types.

use crate::abi::remember;
use crate::inside::{self, Inside, try_with, with};
use crate::runtime::Runtime;
use parvum_engine::{
    Block, Completed, Destination, Envelope, Look, MessageId, Outcome, Pattern, PullRefused, Received,
    RequestId, Room, TagMatch, UserBuffer,
};
use parvum_task::SessionError;
use parvum_waist as waist;
use parvum_waist::{ANY_CONTEXT, ANY_TASK, Message, Notes, Status, TagKind};
use parvum_wire::Tid;
use std::ffi::c_void;

/// `None`: its kind of tags is no kind.
#[inline]
fn pattern_of(pattern: &waist::Pattern) -> Option<Pattern> {
    let tag = match pattern.tags {
        TagKind::Any => TagMatch::Any,
        TagKind::Exactly => TagMatch::Exactly(pattern.tag),
        TagKind::Masked => TagMatch::Masked { mask: pattern.other, value: pattern.tag },
        TagKind::Within => TagMatch::Within { first: pattern.tag, last: pattern.other },
        TagKind::Among => TagMatch::Among { few: pattern.tag as u32, last: pattern.other },
        _ => return None,
    };
    Some(Pattern {
        from: (pattern.from != ANY_TASK).then_some(Tid(pattern.from)),
        tag,
        context: (pattern.context != ANY_CONTEXT).then_some(pattern.context as u32),
    })
}

/// # Safety
/// `room`, when not null, must be the program's for `length` bytes until the receive is over.
#[inline]
unsafe fn place(room: *mut u8, length: usize) -> Destination {
    if room.is_null() {
        Destination::Block
    } else {
        // SAFETY: the caller's promise.
        Destination::User(unsafe { UserBuffer::new(room, length) })
    }
}

pub(crate) unsafe extern "C" fn receive(
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

pub(crate) unsafe extern "C" fn receive_lazily(
    pattern: *const waist::Pattern,
    notes: *const Notes,
    out: *mut Message,
) -> i32 {
    // SAFETY: valid for the call, by the table's contract.
    let (pattern, notes, out) = unsafe { (&*pattern, &*notes, &mut *out) };
    receive_as(pattern, Destination::Lazily, 0, notes, out)
}

pub(crate) unsafe extern "C" fn receive_by_reference(
    pattern: *const waist::Pattern,
    notes: *const Notes,
    out: *mut Message,
) -> i32 {
    // SAFETY: valid for the call, by the table's contract.
    let (pattern, notes, out) = unsafe { (&*pattern, &*notes, &mut *out) };
    receive_as(pattern, Destination::ByReference, 0, notes, out)
}

pub(crate) unsafe extern "C" fn receive_fitting(
    pattern: *const waist::Pattern,
    room: *mut u8,
    length: usize,
    notes: *const Notes,
    out: *mut Message,
) -> i32 {
    // SAFETY: valid for the call, by the table's contract.
    let (pattern, notes, out) = unsafe { (&*pattern, &*notes, &mut *out) };
    // SAFETY: writable for the call, by the table's contract.
    let memory =
        unsafe { if length == 0 { &mut [][..] } else { std::slice::from_raw_parts_mut(room, length) } };
    with(Status::Unknown as i32, |runtime| {
        let Some(pattern) = pattern_of(pattern) else { return Status::BadArgument as i32 };
        let (mut block, mut envelope) = (None, Envelope::NONE);
        let mut place = Room::Fitting { memory, inside: &mut out.inline, block: &mut block };
        match take_directly(runtime, &pattern, &mut place, &mut envelope, notes) {
            Ok(()) => {}
            Err(Some(status)) => return status as i32,
            Err(None) => {
                return receive_posted(runtime, pattern, Destination::ByReference, 0, notes, out) as i32;
            }
        }
        note_envelope(&envelope, out);
        match block {
            Some(block) => lend(runtime, block, out),
            None if envelope.length <= length as u64 => out.data = room,
            None => {}
        }
        Status::Done as i32
    })
}

/// The short way: looks once, and then as long as the task would spin. An error with a status is the receive's outcome; one
/// without leaves it to the usual way.
#[inline(always)]
fn take_directly(
    runtime: &mut Inside,
    pattern: &Pattern,
    room: &mut Room<'_>,
    envelope: &mut Envelope,
    notes: &Notes,
) -> Result<(), Option<Status>> {
    let look = runtime.look_once(pattern, room, envelope);
    if look == Look::Taken {
        return Ok(());
    }
    if notes.limit != 0 && !runtime.may_hear(pattern) {
        return Err(Some(Status::Gone));
    }
    let spins = look == Look::Nothing && notes.limit < 0;
    if spins && runtime.spin_directly(pattern, room, envelope, notes) { Ok(()) } else { Err(None) }
}

/// Receives, waiting as the notes say. Nothing is posted any more when this returns.
#[inline]
fn receive_as(
    pattern: &waist::Pattern,
    mut into: Destination,
    length: usize,
    notes: &Notes,
    out: &mut Message,
) -> i32 {
    let Some(pattern) = pattern_of(pattern) else { return Status::BadArgument as i32 };
    let mut envelope = Envelope::NONE;
    // What lies there already is taken by the shortest way.
    let taken = inside::briefly(|runtime| {
        let mut block = None;
        let look = match &mut into {
            Destination::User(buffer) => {
                runtime.look_once(&pattern, &mut Room::Memory(buffer.bytes_mut()), &mut envelope)
            }
            Destination::Block | Destination::Lazily | Destination::ByReference | Destination::Pieces(_) => {
                let mut room = Room::Inside { inside: &mut out.inline, block: &mut block };
                runtime.look_once(&pattern, &mut room, &mut envelope)
            }
        };
        if look == Look::Taken {
            note_envelope(&envelope, out);
            if let Some(block) = block {
                lend(runtime, block, out);
            }
        }
        look == Look::Taken
    });
    if taken != Some(true) {
        return receive_patiently(pattern, into, length, notes, out);
    }
    status_of(&into, &envelope, length)
}

/// What a receive came to that has taken its message.
#[inline]
fn status_of(into: &Destination, envelope: &Envelope, length: usize) -> i32 {
    let cut = matches!(into, Destination::User(_)) && envelope.length > length as u64;
    if cut { Status::Cut as i32 } else { Status::Done as i32 }
}

/// Receives what was not there at the first look.
#[inline(never)]
fn receive_patiently(
    pattern: Pattern,
    mut into: Destination,
    length: usize,
    notes: &Notes,
    out: &mut Message,
) -> i32 {
    with(Status::Unknown as i32, |runtime| {
        let (mut block, mut envelope) = (None, Envelope::NONE);
        let mut room = match &mut into {
            Destination::User(buffer) => Room::Memory(buffer.bytes_mut()),
            Destination::Block | Destination::Lazily | Destination::ByReference | Destination::Pieces(_) => {
                Room::Inside { inside: &mut out.inline, block: &mut block }
            }
        };
        match take_directly(runtime, &pattern, &mut room, &mut envelope, notes) {
            Ok(()) => {}
            Err(Some(status)) => return status as i32,
            Err(None) => return receive_posted(runtime, pattern, into, length, notes, out) as i32,
        }
        note_envelope(&envelope, out);
        if let Some(block) = block {
            lend(runtime, block, out);
        }
        status_of(&into, &envelope, length)
    })
}

/// Receives by the usual way.
#[inline(never)]
fn receive_posted(
    runtime: &mut Inside,
    pattern: Pattern,
    into: Destination,
    length: usize,
    notes: &Notes,
    out: &mut Message,
) -> Status {
    let in_block = !matches!(into, Destination::User(_));
    if notes.limit != 0 && !runtime.may_hear(&pattern) {
        // It went while we looked.
        runtime.end_noted_wait(notes);
        return Status::Gone;
    }
    let id = runtime.engine.post(pattern, into, false, false);
    runtime.owns = Some(id);
    loop {
        if runtime.wait_for(id, notes) {
            return finish(runtime, id, in_block, length, out);
        }
        if runtime.engine.cancel(id) {
            runtime.engine.test(id);
            runtime.found_nothing(&pattern);
            return late(runtime);
        }
        // Matched already: its data is on the way, and the memory is not ours to give back.
        if runtime.has_left {
            return late(runtime);
        }
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
    if runtime.is_over() {
        remember(&SessionError::Lost);
        return Status::NoMachine;
    }
    Status::Pending
}

/// Takes the outcome of a request that is over.
#[inline]
fn finish(runtime: &mut Inside, id: RequestId, in_block: bool, room: usize, out: &mut Message) -> Status {
    match runtime.engine.test(id) {
        Received::Pending => Status::Unknown,
        Received::Over(Outcome::Sent) => Status::Done,
        Received::Over(Outcome::Cancelled) => Status::Cancelled,
        Received::Over(Outcome::Gone(_)) => Status::Gone,
        Received::Over(Outcome::NoMemory(envelope)) => {
            let length = envelope.length;
            if envelope.from == runtime.engine.me() {
                remember(&format_args!(
                    "E-NOMEMORY: {length} bytes more are not kept for a task that does not receive, and waits to send itself; \
                     receive in between, or set PARVUM_MEMORY to more bytes"
                ));
            } else {
                remember(&format_args!(
                    "E-NOMEMORY: a message of {length} bytes has come, and there is no memory for it"
                ));
            }
            note_envelope(&envelope, out);
            Status::NoMemory
        }
        Received::Over(Outcome::Received(completed)) => {
            let cut = !in_block && completed.is_cut(room);
            fill(runtime, completed, out);
            if cut { Status::Cut } else { Status::Done }
        }
    }
}

#[inline]
fn fill(runtime: &mut Inside, completed: Completed, out: &mut Message) {
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

pub(crate) unsafe extern "C" fn read_remote(handle: u64, from: u64, out: *mut u8, length: usize) -> i32 {
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

pub(crate) unsafe extern "C" fn fetch_remote(handle: u64, notes: *const Notes, out: *mut Message) -> i32 {
    // SAFETY: valid for the call, by the table's contract.
    let (notes, out) = unsafe { (&Notes { limit: -1, ..*notes }, &mut *out) };
    with(Status::Unknown as i32, |runtime| {
        let Some(remote) = runtime.take_remote(handle) else { return Status::Unknown as i32 };
        let id = runtime.engine.fetch_remote(remote);
        // It ends: with its data, or with its sender.
        if !runtime.wait_to_end(id, notes) {
            return late(runtime) as i32;
        }
        finish(runtime, id, true, 0, out) as i32
    })
}

pub(crate) unsafe extern "C" fn post(
    pattern: *const waist::Pattern,
    room: *mut u8,
    length: usize,
    flags: u32,
) -> u64 {
    // SAFETY: valid for the call; the memory stays until the request is over, by the contract.
    let (pattern, into) = unsafe { (&*pattern, place(room, length)) };
    let Some(pattern) = pattern_of(pattern) else { return 0 };
    let (urgent, announced, claims) = (flags & 1 != 0, flags & 2 != 0, flags & 4 != 0);
    with(0, |runtime| {
        let id = match claims {
            true => runtime.engine.claim(pattern, into, announced),
            false => runtime.engine.post(pattern, into, urgent, announced),
        };
        id.number()
    })
}

pub(crate) unsafe extern "C" fn wait(request: u64, notes: *const Notes, out: *mut Message) -> i32 {
    // SAFETY: valid for the call, by the table's contract.
    let (notes, out) = unsafe { (&*notes, &mut *out) };
    let id = RequestId::from_number(request);
    with(Status::Unknown as i32, |runtime| {
        if !runtime.engine.is_known(id) {
            return Status::Unknown as i32;
        }
        runtime.engine.fetch_claim(id);
        if !runtime.wait_for(id, notes) {
            return late(runtime) as i32;
        }
        finish(runtime, id, false, usize::MAX, out) as i32
    })
}

pub(crate) extern "C" fn fetch_claims(request: u64) -> usize {
    with(0, |runtime| {
        let before = runtime.engine.claims();
        match request {
            0 => runtime.engine.fetch_claims(),
            request => runtime.engine.fetch_claim(RequestId::from_number(request)),
        }
        before - runtime.engine.claims()
    })
}

pub(crate) extern "C" fn is_free() -> i32 {
    i32::from(try_with(|_| ()).is_some())
}

pub(crate) unsafe extern "C" fn wait_any(
    requests: *const u64,
    count: usize,
    seen: u64,
    notes: *const Notes,
) -> i64 {
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

pub(crate) extern "C" fn cancel(request: u64) -> i32 {
    let done = |runtime: &mut Inside| runtime.engine.cancel(RequestId::from_number(request));
    if with(false, done) { Status::Done as i32 } else { Status::Unknown as i32 }
}

fn describe(id: MessageId, envelope: &Envelope) -> Message {
    let Envelope { from, tag, context, meta, length, .. } = *envelope;
    Message { from: from.0, tag, context, meta, length, handle: id.number(), ..Message::NONE }
}

pub(crate) unsafe extern "C" fn probe(
    pattern: *const waist::Pattern,
    notes: *const Notes,
    out: *mut Message,
) -> i32 {
    // SAFETY: valid for the call, by the table's contract.
    let (pattern, notes, out) = unsafe { (&*pattern, &*notes, &mut *out) };
    let Some(pattern) = pattern_of(pattern) else { return Status::BadArgument as i32 };
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
                runtime.found_nothing(&pattern);
                late(runtime) as i32
            }
        }
    })
}

pub(crate) unsafe extern "C" fn find(
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

pub(crate) unsafe extern "C" fn take(
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
        if !runtime.wait_to_end(id, notes) {
            return late(runtime) as i32;
        }
        finish(runtime, id, room.is_null(), length, out) as i32
    })
}

pub(crate) extern "C" fn give_back(handle: u64) {
    with((), |runtime| runtime.give_back(handle));
}
