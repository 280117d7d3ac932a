//! `pass_to_self` of the core API: a message from a task to itself whose receive begins now.

use crate::abi::rooms::pattern_of;
use crate::endpoint::Endpoint;
use crate::inside::briefly;
use crate::receiving::receive::{note_envelope, status_of_length};
use parvum_api as api;
use parvum_api::{Buffering, Message, Piece, RoomKind, Status};
use parvum_engine::{Envelope, Short};

pub(crate) unsafe extern "C" fn pass_to_self<E: Endpoint>(
    message: *const api::Outgoing,
    pattern: *const api::Pattern,
    room: *const api::Room,
    out: *mut Message,
) -> i32 {
    // SAFETY: valid for the call, by the table's contract.
    let (message, pattern, room, out) = unsafe { (&*message, &*pattern, &*room, &mut *out) };
    let Some(pattern) = pattern_of(pattern) else { return Status::BadArgument as i32 };
    if message.count != 1 || !message.owner.is_null() || room.kind != RoomKind::Memory {
        return Status::Pending as i32;
    }
    // SAFETY: the caller gives one readable piece and writable memory apart from it. An empty range needs no address.
    let (data, memory) = unsafe {
        let Piece { start, length } = *message.pieces;
        let data = if length == 0 { &[][..] } else { std::slice::from_raw_parts(start, length) };
        let memory = match room.length {
            0 => &mut [][..],
            length => std::slice::from_raw_parts_mut(room.start.cast::<u8>(), length),
        };
        (data, memory)
    };
    let &api::Outgoing { to, tag, context, meta, .. } = message;
    let short = Short { tag, context, meta, data, buffering: Buffering::BySize };
    let mut envelope = Envelope::NONE;
    let passed = briefly::<E, _>(|runtime| {
        to == runtime.engine.me().0 && runtime.engine.pass_to_self(short, &pattern, memory, &mut envelope)
    });
    if passed != Some(true) {
        return Status::Pending as i32;
    }
    note_envelope(&envelope, out);
    status_of_length(envelope.length, room.length) as i32
}
