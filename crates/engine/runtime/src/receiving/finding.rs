//! The table's looking for messages that no receive has taken, in C's types.

use crate::abi::rooms::{destination, length_of, pattern_of};
use crate::endpoint::Endpoint;
use crate::inside::{Inside, with};
use crate::receiving::receive::{finish, late};
use crate::runtime::Runtime;
use parvum_api as api;
use parvum_api::{Message, Notes, Status};
use parvum_engine::{Envelope, MessageId, Pattern};
use std::ffi::c_void;

fn describe(id: MessageId, envelope: &Envelope) -> Message {
    let Envelope { from, tag, context, meta, length, .. } = *envelope;
    Message { from: from.0, tag, context, meta, length, handle: id.number(), ..Message::NONE }
}

pub(crate) unsafe extern "C" fn probe<E: Endpoint>(
    pattern: *const api::Pattern,
    notes: *const Notes,
    out: *mut Message,
) -> i32 {
    // SAFETY: valid for the call, by the table's contract.
    let (pattern, notes, out) = unsafe { (&*pattern, &*notes, &mut *out) };
    look_for::<E>(pattern, notes, out, |runtime, pattern| runtime.engine.probe(pattern))
}

pub(crate) unsafe extern "C" fn extract<E: Endpoint>(
    pattern: *const api::Pattern,
    notes: *const Notes,
    out: *mut Message,
) -> i32 {
    // SAFETY: valid for the call, by the table's contract.
    let (pattern, notes, out) = unsafe { (&*pattern, &*notes, &mut *out) };
    look_for::<E>(pattern, notes, out, |runtime, pattern| runtime.engine.extract(pattern))
}

/// Waits by the notes until `look` has found a message, or until no task can send one.
fn look_for<E: Endpoint>(
    pattern: &api::Pattern,
    notes: &Notes,
    out: &mut Message,
    look: impl Fn(&mut Runtime, &Pattern) -> Option<(MessageId, Envelope)>,
) -> i32 {
    let Some(pattern) = pattern_of(pattern) else { return Status::BadArgument as i32 };
    with::<E, _>(Status::Unknown as i32, |runtime| {
        if notes.limit != 0 && !runtime.may_hear(&pattern) {
            return Status::Gone as i32;
        }
        let found = runtime.wait_until(notes, |runtime| match look(runtime, &pattern) {
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

pub(crate) extern "C" fn put_back<E: Endpoint>(name: u64) -> i32 {
    let done = |runtime: &mut Inside| {
        // Threads that wait for it check again.
        runtime.waits.waiters.stirred = true;
        runtime.engine.put_back(MessageId::from_number(name))
    };
    if with::<E, _>(false, done) { Status::Done as i32 } else { Status::Unknown as i32 }
}

pub(crate) unsafe extern "C" fn find<E: Endpoint>(
    visit: unsafe extern "C" fn(context: *mut c_void, message: *const Message) -> bool,
    context: *mut c_void,
    out: *mut Message,
) -> i32 {
    with::<E, _>(Status::Unknown as i32, |runtime| {
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

pub(crate) unsafe extern "C" fn take<E: Endpoint>(
    name: u64,
    room: *const api::Room,
    notes: *const Notes,
    out: *mut Message,
) -> i32 {
    // SAFETY: valid for the call, by the table's contract.
    let (room, notes, out) = unsafe { (&*room, &Notes { limit: -1, ..*notes }, &mut *out) };
    with::<E, _>(Status::Unknown as i32, |runtime| {
        // SAFETY: this returns only when the receive is over.
        let Some(into) = (unsafe { destination(room) }) else { return Status::BadArgument as i32 };
        let length = length_of(&into);
        let Some(id) = runtime.engine.receive_message(MessageId::from_number(name), into) else {
            return Status::Unknown as i32;
        };
        // A matched receive ends: with its data, or with its sender.
        if !runtime.wait_to_end(id, notes) {
            return late(runtime) as i32;
        }
        finish(runtime, id, length, out) as i32
    })
}
