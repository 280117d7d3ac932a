//! C's patterns and rooms, as the engine has them.

use crate::sending::scattered::InMany;
use parvum_api as api;
use parvum_api::{ANY_CONTEXT, ANY_TASK, RoomKind, Space, TagKind};
use parvum_engine::{Block, Destination, Pattern, Room, TagMatch, UserBuffer, UserPieces};
use parvum_wire::Tid;

/// `None`: its kind of tags is no kind.
#[inline]
pub(crate) fn pattern_of(pattern: &api::Pattern) -> Option<Pattern> {
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

/// Whether there can be memory of that length there: at address 0 there is none.
#[inline(always)]
fn can_be<T>(start: *const T, length: usize) -> bool {
    length == 0 || !start.is_null()
}

/// The destination of a posted receive's data. `None`: its kind is no kind, or it names memory that cannot be.
///
/// # Safety
/// What memory the room names must be the program's until the receive is over, and a list of pieces readable now.
#[inline]
pub(crate) unsafe fn destination(room: &api::Room) -> Option<Destination> {
    let names_memory = matches!(room.kind, RoomKind::Memory | RoomKind::Pieces | RoomKind::Fitting);
    if names_memory && !can_be(room.start, room.length) {
        return None;
    }
    Some(match room.kind {
        RoomKind::Block => Destination::Block,
        // SAFETY: the caller's promise.
        RoomKind::Memory => Destination::User(unsafe { UserBuffer::new(room.start.cast(), room.length) }),
        RoomKind::Pieces => {
            let pieces = match room.length {
                0 => &[][..],
                // SAFETY: the caller gives so many pieces.
                count => unsafe { std::slice::from_raw_parts(room.start.cast::<Space>(), count) },
            };
            if !pieces.iter().all(|piece| can_be(piece.start, piece.length)) {
                return None;
            }
            let pieces = pieces.iter().map(|piece| (piece.start, piece.length));
            // SAFETY: the caller's promise, for each.
            Destination::Pieces(Box::new(unsafe { UserPieces::new(pieces) }))
        }
        RoomKind::Scattered if room.start.is_null() => return None,
        // SAFETY: the caller's promise; what is not null is one of these.
        RoomKind::Scattered => Destination::Scattered(unsafe { InMany::boxed(*room.start.cast()) }),
        RoomKind::Lazily => Destination::Lazily,
        RoomKind::ByReference | RoomKind::Fitting => Destination::ByReference,
        _ => return None,
    })
}

/// How many bytes the program's memory has, if it is that.
pub(crate) fn length_of(into: &Destination) -> Option<usize> {
    match into {
        Destination::User(buffer) => Some(buffer.length()),
        Destination::Pieces(pieces) => Some(pieces.length()),
        Destination::Scattered(memory) => Some(memory.length()),
        Destination::Block | Destination::Lazily | Destination::ByReference => None,
    }
}

/// Calls `work` with the room in the form of the short path, if this path can fill it. `inside` and `block` are for
/// data without memory of the program.
///
/// # Safety
/// What memory the room names must be writable, and nobody else's, during the call.
#[inline(always)]
pub(crate) unsafe fn with_room<R>(
    room: &api::Room,
    inside: &mut [u8; 64],
    block: &mut Option<Block>,
    work: impl FnOnce(&mut Room<'_>) -> R,
) -> Option<R> {
    let memory = || match room.length {
        0 => &mut [][..],
        // SAFETY: the caller's promise.
        length => unsafe { std::slice::from_raw_parts_mut(room.start.cast::<u8>(), length) },
    };
    Some(work(&mut match room.kind {
        RoomKind::Memory | RoomKind::Fitting if !can_be(room.start, room.length) => return None,
        RoomKind::Memory => Room::Memory(memory()),
        RoomKind::Fitting => Room::Fitting { memory: memory(), inside, block },
        RoomKind::Block | RoomKind::Lazily | RoomKind::ByReference => Room::Inside { inside, block },
        _ => return None,
    }))
}
