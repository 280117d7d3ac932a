//! The table's sending: a program's message in C's types, to the engine.

use crate::endpoint::Endpoint;
use crate::errors::ConnectError;
use crate::errors::remember;
use crate::inside::{self, Inside, with};
use crate::runtime::Runtime;
use crate::sending::pusher;
use parvum_api as api;
use parvum_api::{Piece, Status};
use parvum_engine::{Buffering, Completion, Engine, Keep, Outgoing, SendError, Sent, Short};
use parvum_transport::Loan;
use parvum_wire::Tid;
use std::ffi::c_void;
use std::sync::Arc;

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

/// The owner of a message's memory, if there is one.
///
/// # Safety
/// To be called once for a message.
pub(crate) unsafe fn keeper(message: &api::Outgoing) -> Option<Arc<dyn Keep>> {
    match (message.owner.is_null(), message.release) {
        (false, Some(release)) => Some(Arc::new(Owner { owner: message.owner, release })),
        _ => None,
    }
}

/// The place where a message may be buffered.
pub(crate) fn buffering(message: &api::Outgoing) -> Option<Buffering> {
    Buffering::of(message.buffering)
}

pub(crate) unsafe extern "C" fn send<E: Endpoint>(message: *const api::Outgoing, request: *mut u64) -> i32 {
    // SAFETY: both are valid for the call, by the table's contract.
    let (message, request) = unsafe { (&*message, &mut *request) };
    *request = 0;
    let is_plain =
        message.completion == Completion::Copied as u32 || message.buffering == Buffering::Never as u32;
    if message.count == 1 && message.owner.is_null() && is_plain {
        // SAFETY: the caller gives `count` pieces, and memory that is readable for the call.
        let data = unsafe {
            let Piece { start, length } = *message.pieces;
            if length == 0 { &[][..] } else { std::slice::from_raw_parts(start, length) }
        };
        if data.len() <= SHORT && sends_short::<E>(message, data) {
            return Status::Done as i32;
        }
    }
    // SAFETY: as the table says.
    unsafe { send_any::<E>(message, request) }
}

/// Messages up to this length go without further checks if nothing blocks them.
const SHORT: usize = 4 << 10;

/// Sends a short message that nothing is in the way of. False: it was not sent.
#[inline(always)]
fn sends_short<E: Endpoint>(message: &api::Outgoing, data: &[u8]) -> bool {
    let Some(buffering) = buffering(message) else { return false };
    let send = |runtime: &mut Runtime| {
        let (to, me) = (Tid(message.to), runtime.engine.me());
        let wanted = runtime.connections.routes.wanted(me, to);
        let &api::Outgoing { tag, context, meta, .. } = message;
        !runtime.engine.has_leaving()
            && runtime.engine.send_short(to, wanted, Short { tag, context, meta, data, buffering })
    };
    inside::briefly::<E, _>(send).unwrap_or_else(|| with::<E, _>(false, |inside| send(inside)))
}

/// Sends any message.
///
/// # Safety
/// As for the table's `send`.
#[inline(never)]
unsafe fn send_any<E: Endpoint>(message: &api::Outgoing, request: &mut u64) -> i32 {
    // SAFETY: as the table says, this is the one use of the owner.
    let keep = unsafe { keeper(message) };
    let Some(buffering) = buffering(message) else { return Status::BadArgument as i32 };
    let completion = Completion::of(message.completion);
    with::<E, _>(Status::Unknown as i32, |runtime| {
        let to = Tid(message.to);
        // SAFETY: `message` names `count` pieces, and they stay as long as the table says.
        unsafe {
            with_pieces(message, |pieces| {
                let &api::Outgoing { tag, context, meta, .. } = message;
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
pub(crate) unsafe fn send_one(runtime: &mut Inside, message: Outgoing<'_>, request: &mut u64) -> i32 {
    let (pieces, length) = (message.pieces, message.pieces.iter().map(|piece| piece.len()).sum());
    if message.buffering == Buffering::AtSender
        && message.keep.is_none()
        && let Some(copy) = runtime.copy_to_keep(message.to, length, |copy| {
            let mut at = 0;
            for piece in pieces {
                copy[at..at + piece.len()].copy_from_slice(piece);
                at += piece.len();
            }
        })
    {
        let pieces = [&copy[..]];
        let message = Outgoing { pieces: &pieces, keep: Some(copy.clone()), ..message };
        // SAFETY: the keeper owns the only piece, and a copy behind an `Arc` is never changed.
        return send_by(
            runtime,
            message,
            length,
            request,
            |engine, message| unsafe { engine.send(message) },
            |_| {},
        );
    }
    let fill = |loan: &dyn Loan| pieces.iter().for_each(|piece| loan.fill(piece));
    // SAFETY: the caller's promise.
    send_by(runtime, message, length, request, |engine, message| unsafe { engine.send(message) }, fill)
}

/// The same for any data of this length that `send` gives to the engine. If the engine decides so, `fill` copies long
/// data to memory of the link.
#[inline(always)]
pub(crate) fn send_by<'m>(
    runtime: &mut Inside,
    mut message: Outgoing<'m>,
    length: usize,
    request: &mut u64,
    send: impl FnOnce(&mut Engine, Outgoing<'m>) -> Result<Sent, SendError>,
    fill: impl FnOnce(&dyn Loan),
) -> i32 {
    let to = message.to;
    if let Err(why) = runtime.reach(to) {
        return refused(&why) as i32;
    }
    // A receiver that computes without a serving thread receives no messages.
    if message.buffering == Buffering::AtReceiver && !runtime.engine.is_attended(to) {
        message.buffering = Buffering::AtSender;
    }
    if matches!(message.buffering, Buffering::BySize | Buffering::AtSender) {
        runtime.give_way(to, length);
    }
    let (asks, tag) = (message.buffering == Buffering::SenderIfUnposted, message.tag);
    let sent = send(&mut runtime.engine, message);
    runtime.fill_loan(fill);
    if let (true, Ok(Sent::Later(id))) = (asks, sent) {
        return runtime.await_answer(to, tag, id, length, request) as i32;
    }
    status_of(runtime, to, sent, request)
}

/// The status of a send in the table.
#[inline(always)]
pub(crate) fn status_of(
    runtime: &mut Inside,
    to: Tid,
    sent: Result<Sent, SendError>,
    request: &mut u64,
) -> i32 {
    match sent {
        Ok(Sent::Now) => {
            if runtime.engine.is_behind(to) {
                pusher::start(runtime.place, runtime.engine.ledger());
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
pub(crate) unsafe fn with_pieces<R>(message: &api::Outgoing, use_them: impl FnOnce(&[&[u8]]) -> R) -> R {
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
        _ if why.says_gone() => Status::Gone,
        ConnectError::Refused(_) => Status::Refused,
        ConnectError::Memory(_) | ConnectError::Descriptors(_) => Status::NoMemory,
        ConnectError::Lost(_) => Status::NoMachine,
        // The daemon lives, as far as this task knows: only this message does not go.
        ConnectError::Late(_) | ConnectError::NoCaller(_) | ConnectError::Busy(_) => Status::Refused,
        ConnectError::Protocol(_) | ConnectError::Page(_) | ConnectError::NoWay(..) => Status::Refused,
    }
}
