//! The table's receiving, in C's types: the short way of a message that is there or comes soon, and the usual one.

use crate::abi::rooms::{destination, length_of, pattern_of, with_room};
use crate::endpoint::Endpoint;
use crate::errors::remember;
use crate::inside::{self, Inside, with};
use crate::runtime::Runtime;
use crate::waiting::wait::is_long;
use parvum_api as api;
use parvum_api::{Came, Message, Notes, RoomKind, Status, Wanted};
use parvum_engine::{
    Block, Completed, Envelope, Look, Outcome, Pattern, PullRefused, Received, RequestId, Room,
};
use parvum_task::SessionError;

/// Receives, waiting as the notes say. Nothing is posted any more when this returns.
pub(crate) unsafe extern "C" fn receive<E: Endpoint>(
    pattern: *const api::Pattern,
    room: *const api::Room,
    notes: *const Notes,
    out: *mut Message,
) -> i32 {
    // SAFETY: valid for the call, by the table's contract.
    let (pattern, room, notes, out) = unsafe { (&*pattern, &*room, &*notes, &mut *out) };
    let Some(pattern) = pattern_of(pattern) else { return Status::BadArgument as i32 };
    let mut envelope = Envelope::NONE;
    // A message that has already arrived takes the shortest path.
    let taken = inside::briefly::<E, _>(|runtime| {
        let mut block = None;
        // SAFETY: the memory is the call's, by the table's contract.
        let look = unsafe {
            with_room(room, &mut out.inline, &mut block, |place| {
                runtime.look_once(&pattern, place, &mut envelope)
            })
        };
        let taken = look == Some(Look::Taken);
        if taken {
            describe_taken(runtime, room, &envelope, block, out);
        }
        taken
    });
    if taken == Some(true) {
        status_of(room, &envelope)
    } else if notes.limit == 0 && notes.call & api::call::UNTIL_SIGNAL != 0 {
        Status::Pending as i32
    } else {
        receive_patiently::<E>(pattern, room, notes, out)
    }
}

/// The status of a receive that has its message.
#[inline]
fn status_of(room: &api::Room, envelope: &Envelope) -> i32 {
    match room.kind {
        RoomKind::Memory => status_of_length(envelope.length, room.length) as i32,
        _ => Status::Done as i32,
    }
}

/// The status of a receive of `length` bytes into `room` bytes of memory.
#[inline]
pub(crate) fn status_of_length(length: u64, room: usize) -> Status {
    if length > room as u64 { Status::Cut } else { Status::Done }
}

/// Describes the data of a message that took the short path.
#[inline]
fn describe_taken(
    runtime: &mut Runtime,
    room: &api::Room,
    envelope: &Envelope,
    block: Option<Block>,
    out: &mut Message,
) {
    note_envelope(envelope, out);
    match block {
        Some(block) => lend(runtime, block, out),
        None if room.kind == RoomKind::Fitting && envelope.length <= room.length as u64 => {
            out.data = room.start.cast();
        }
        None => {}
    }
}

/// Receives what was not there at the first look.
#[inline(never)]
fn receive_patiently<E: Endpoint>(
    pattern: Pattern,
    room: &api::Room,
    notes: &Notes,
    out: &mut Message,
) -> i32 {
    with::<E, _>(Status::Unknown as i32, |runtime| {
        let (mut block, mut envelope) = (None, Envelope::NONE);
        // SAFETY: the memory is the call's, by the table's contract.
        let taken = unsafe {
            with_room(room, &mut out.inline, &mut block, |place| {
                take_directly(runtime, &pattern, place, &mut envelope, notes)
            })
        };
        match taken {
            Some(Ok(())) => {}
            Some(Err(Some(status))) => return status as i32,
            Some(Err(None)) | None => return receive_posted(runtime, pattern, room, notes, out) as i32,
        }
        describe_taken(runtime, room, &envelope, block, out);
        status_of(room, &envelope)
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
    let spins = look == Look::Nothing && is_long(notes);
    if spins && runtime.spin_directly(pattern, room, envelope, notes) { Ok(()) } else { Err(None) }
}

/// Receives several by the short way, one after the other; how many.
pub(crate) unsafe extern "C" fn receive_each<E: Endpoint>(
    wanted: *const Wanted,
    count: usize,
    notes: *const Notes,
    came: *mut Came,
) -> usize {
    if count == 0 {
        return 0;
    }
    // SAFETY: as many of each, by the table's contract.
    let (wanted, came) =
        unsafe { (std::slice::from_raw_parts(wanted, count), std::slice::from_raw_parts_mut(came, count)) };
    // SAFETY: valid for the call, by the table's contract.
    let notes = unsafe { &*notes };
    with::<E, _>(0, |runtime| {
        for (at, (wanted, came)) in wanted.iter().zip(came).enumerate() {
            let Some(pattern) = pattern_of(&wanted.pattern) else { return at };
            let memory = match wanted.length {
                0 => &mut [][..],
                // SAFETY: the caller has lent the memory for the call.
                length => unsafe { std::slice::from_raw_parts_mut(wanted.start, length) },
            };
            let (mut room, mut envelope) = (Room::Memory(memory), Envelope::NONE);
            let taken = match runtime.look_once(&pattern, &mut room, &mut envelope) {
                Look::Taken => true,
                Look::Nothing => runtime.spin_directly(&pattern, &mut room, &mut envelope, notes),
                Look::Other => false,
            };
            if !taken {
                // The next call of the program is another wait.
                runtime.end_noted_wait(notes);
                return at;
            }
            let Envelope { length, tag, meta, .. } = envelope;
            *came = Came { length, tag, meta };
        }
        count
    })
}

/// Receives by the usual way.
#[inline(never)]
fn receive_posted(
    runtime: &mut Inside,
    pattern: Pattern,
    room: &api::Room,
    notes: &Notes,
    out: &mut Message,
) -> Status {
    // SAFETY: the receive is over or cancelled when this returns, and until then the caller has lent the memory.
    let Some(into) = (unsafe { destination(room) }) else { return Status::BadArgument };
    let length = length_of(&into);
    if notes.limit != 0 && !runtime.may_hear(&pattern) {
        // It went while we looked.
        runtime.end_noted_wait(notes);
        return Status::Gone;
    }
    let id = runtime.engine.post(pattern, into, false, false);
    runtime.owns = Some(id);
    loop {
        if runtime.wait_for(id, notes) {
            return finish(runtime, id, length, out);
        }
        if runtime.engine.cancel(id) {
            runtime.engine.test(id);
            runtime.engine.end_waiting_for(&pattern);
            runtime.found_nothing(&pattern);
            return late(runtime);
        }
        // Matched already: its data is on the way, and the memory is not ours to give back.
        if runtime.has_left {
            return late(runtime);
        }
        if runtime.identity.session.is_lost() {
            runtime.attend();
        }
        let on = Notes { limit: 1_000_000, ..*notes };
        if runtime.wait_for(id, &on) {
            return finish(runtime, id, length, out);
        }
    }
}

/// Why a wait ended without result.
pub(crate) fn late(runtime: &Runtime) -> Status {
    if runtime.is_over() {
        remember(&SessionError::Lost);
        return Status::NoMachine;
    }
    Status::Pending
}

/// Takes the outcome of a complete request. If the receive had memory of the program, `room` is its length.
#[inline]
pub(crate) fn finish(runtime: &mut Inside, id: RequestId, room: Option<usize>, out: &mut Message) -> Status {
    let taken = runtime.engine.test(id);
    conclude(runtime, taken, room, out)
}

/// Describes an outcome that was taken.
#[inline]
pub(crate) fn conclude(
    runtime: &mut Inside,
    taken: Received,
    room: Option<usize>,
    out: &mut Message,
) -> Status {
    match taken {
        Received::Pending => Status::Unknown,
        Received::Over(Outcome::Sent) => Status::Done,
        Received::Over(Outcome::Cancelled) => Status::Cancelled,
        Received::Over(Outcome::Gone(_)) => Status::Gone,
        Received::Over(Outcome::NoMemory(envelope)) => {
            let length = envelope.length;
            if envelope.from == runtime.engine.me() {
                remember(&format_args!(
                    "E-NOMEMORY: {length} bytes more are not kept for a task that does not receive, and waits to send itself; help: \
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
            let cut = room.is_some_and(|room| completed.is_cut(room));
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

/// The properties of a message, besides its data.
#[inline]
pub(crate) fn note_envelope(envelope: &Envelope, out: &mut Message) {
    let Envelope { from, tag, context, meta, length, .. } = *envelope;
    (out.from, out.tag, out.context, out.meta, out.length) = (from.0, tag, context, meta, length);
    (out.handle, out.data) = (0, std::ptr::null());
}

/// Lends the data of a message to its interface.
fn lend(runtime: &mut Runtime, block: Block, out: &mut Message) {
    out.handle = runtime.lend(block);
    out.data = runtime.lent(out.handle).map_or(std::ptr::null(), |block| block.bytes().as_ptr());
}

pub(crate) unsafe extern "C" fn read_remote<E: Endpoint>(
    handle: u64,
    from: u64,
    out: *mut u8,
    length: usize,
) -> i32 {
    with::<E, _>(Status::Unknown as i32, |runtime| {
        // SAFETY: writable and lent to us for the call, by the table's contract.
        let out = if length == 0 { &mut [] } else { unsafe { std::slice::from_raw_parts_mut(out, length) } };
        match runtime.read_remote(handle, from, out) {
            Ok(()) => Status::Done as i32,
            Err(PullRefused::Gone) => Status::Gone as i32,
            Err(PullRefused::NotPermitted) => Status::BadArgument as i32,
        }
    })
}

pub(crate) unsafe extern "C" fn fetch_remote<E: Endpoint>(
    handle: u64,
    notes: *const Notes,
    out: *mut Message,
) -> i32 {
    // SAFETY: valid for the call, by the table's contract.
    let (notes, out) = unsafe { (&Notes { limit: -1, ..*notes }, &mut *out) };
    with::<E, _>(Status::Unknown as i32, |runtime| {
        let Some(remote) = runtime.take_remote(handle) else { return Status::Unknown as i32 };
        let id = runtime.engine.fetch_remote(remote);
        // It ends: with its data, or with its sender.
        if !runtime.wait_to_end(id, notes) {
            return late(runtime) as i32;
        }
        finish(runtime, id, None, out) as i32
    })
}

pub(crate) extern "C" fn give_back<E: Endpoint>(handle: u64) {
    // Freed here, without the lock.
    drop(with::<E, _>(None, |runtime| runtime.give_back(handle)));
}
