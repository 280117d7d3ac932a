//! `board_exchange` of the core API: a round at a segment, and the copies of the members' data, in one call.
//!
//! Short collectives spend most of their time on the way to the segment, so the whole operation takes the process lock
//! once.

use crate::endpoint::Endpoint;
use crate::inside::{Inside, briefly, with};
use crate::runtime::Runtime;
use parvum_api::{Notes, Piece, Reading, segment as came};
use parvum_engine::Counter;

/// A member's data in a round, and the parts of the others' data that it copies.
struct Turn<'t> {
    segment: u64,
    word: u32,
    pieces: &'t [Piece],
    readings: &'t [Reading],
}

pub(crate) unsafe extern "C" fn board_exchange<E: Endpoint>(
    segment: u64,
    word: u32,
    pieces: *const Piece,
    count: usize,
    readings: *const Reading,
    parts: usize,
    requests: *const u64,
    awaited: usize,
    notes: *const Notes,
) -> i64 {
    // SAFETY: valid for the call, by the table's contract; an empty list may have no address.
    let (turn, requests, notes) = unsafe {
        let pieces = if count == 0 { &[][..] } else { std::slice::from_raw_parts(pieces, count) };
        let readings = if parts == 0 { &[][..] } else { std::slice::from_raw_parts(readings, parts) };
        let requests = if awaited == 0 { &[][..] } else { std::slice::from_raw_parts(requests, awaited) };
        (Turn { segment, word, pieces, readings }, requests, &*notes)
    };
    match briefly::<E, _>(|runtime| runtime.exchange_soon(&turn)).flatten() {
        Some(answer) => answer,
        None => with::<E, _>(came::LATE, |inside| inside.exchange(&turn, requests, notes)),
    }
}

impl Runtime {
    /// The whole exchange, if the other members come while this task looks. `None`: the task has to wait, or has other
    /// things to do first.
    #[inline]
    fn exchange_soon(&mut self, turn: &Turn<'_>) -> Option<i64> {
        if self.identity.has_news() || self.has_sockets() {
            return None;
        }
        match self.begin_round(turn.segment, turn.word, turn.pieces) {
            Ok(true) => {}
            Ok(false) => return None,
            Err(answer) => return Some(answer),
        }
        let move_messages = |runtime: &mut Runtime| {
            let moved = runtime.engine.progress();
            runtime.waits.waiters.stirred |= moved;
            moved
        };
        let answer = self.round_has_come(turn.segment, turn.word, move_messages);
        Some(if answer == came::COME { self.read_parts(turn) } else { answer })
    }

    /// Copies the parts of the members' data in the last round.
    #[inline]
    fn read_parts(&mut self, turn: &Turn<'_>) -> i64 {
        let Some(segment) = self.segment(turn.segment) else { return came::CLOSED };
        let Some(round) = segment.round.checked_sub(1) else { return came::DISAGREED };
        let mut copied = 0;
        for reading in turn.readings {
            // SAFETY: the table's contract.
            let out = unsafe { memory_of(reading) };
            // With the same word, all members show the same length.
            if !segment.shared.read(reading.member, round, reading.from, out) {
                return came::DISAGREED;
            }
            copied += out.len() as u64;
        }
        if copied > 0 {
            self.engine.ledger().add(Counter::CopiedOut, copied);
        }
        came::COME
    }
}

/// The memory for a part. The address of an empty part is not used.
///
/// # Safety
/// The memory must be writable, and no other code may use it.
#[inline]
pub(crate) unsafe fn memory_of<'m>(reading: &Reading) -> &'m mut [u8] {
    match reading.length {
        0 => &mut [],
        // SAFETY: the caller's promise.
        length => unsafe { std::slice::from_raw_parts_mut(reading.out, length) },
    }
}

impl Inside {
    #[inline(never)]
    fn exchange(&mut self, turn: &Turn<'_>, requests: &[u64], notes: &Notes) -> i64 {
        match self.take_segment_round(turn.segment, turn.word, turn.pieces, requests, notes) {
            came::COME => self.read_parts(turn),
            answer => answer,
        }
    }
}
