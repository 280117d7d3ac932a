//! The calls of the boards at which the members of a group on one host show each other what they have.

use crate::api::{CoreApi, Request, status};
use crate::table::{Notes, Piece, Status, board};

/// How a turn at a board went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoardTurn {
    /// All have shown what they show.
    Come,
    /// The time is over, or the machine is lost.
    Late,
    /// This one of the awaited requests is over, or names nothing.
    Over(usize),
    /// It never comes: the group has changed, or a member ended.
    Closed,
    /// Members do not show the same word; or the data was too long.
    Disagreed,
}

/// What the table answered.
#[inline]
fn turn(came: i64) -> BoardTurn {
    match came {
        board::COME => BoardTurn::Come,
        board::LATE => BoardTurn::Late,
        board::CLOSED => BoardTurn::Closed,
        0.. => BoardTurn::Over(came as usize),
        _ => BoardTurn::Disagreed,
    }
}

impl CoreApi {
    /// Opens the board of a group; see [`Table::board_open`].
    pub fn open_board(
        &self,
        group: &str,
        member: usize,
        members: usize,
        notes: &Notes,
    ) -> Result<u64, Status> {
        let (member, members) = (member as u32, members as u32);
        let mut number = 0;
        // SAFETY: pointer and length are of one string; the rest are plain references for the duration of the call.
        status(unsafe {
            (self.0.board_open)(group.as_ptr(), group.len(), member, members, notes, &mut number)
        })
        .map(|()| number)
    }

    /// Takes a turn at a board; see [`Table::board_turn`].
    #[inline]
    pub fn take_turn(
        &self,
        board: u64,
        word: u32,
        data: [&[u8]; 2],
        requests: &[Request],
        notes: &Notes,
    ) -> BoardTurn {
        let pieces = data.map(|data| Piece { start: data.as_ptr(), length: data.len() });
        // SAFETY: `Request` is a number in a transparent type; everything is borrowed for the call.
        let came = unsafe {
            let requests_start = requests.as_ptr().cast();
            let (start, count) = (pieces.as_ptr(), pieces.len());
            (self.0.board_turn)(board, word, start, count, requests_start, requests.len(), notes)
        };
        turn(came)
    }

    /// Announces something to all other members of a board; see [`Table::board_announce`].
    #[inline]
    pub fn announce(&self, board: u64, word: u32, data: &[u8]) -> BoardTurn {
        // SAFETY: the data is borrowed for the call.
        turn(unsafe { (self.0.board_announce)(board, word, data.as_ptr(), data.len()) })
    }

    /// Waits for the next announcement at a board; see [`Table::board_hear`].
    #[inline]
    pub fn hear(
        &self,
        board: u64,
        word: u32,
        into: &mut [u8],
        requests: &[Request],
        notes: &Notes,
    ) -> BoardTurn {
        let (out, length) = (into.as_mut_ptr(), into.len());
        // SAFETY: `Request` is a number in a transparent type; everything is borrowed for the call.
        turn(unsafe {
            (self.0.board_hear)(board, word, out, length, requests.as_ptr().cast(), requests.len(), notes)
        })
    }

    /// Copies what a member has shown at a board in the last turn; see [`Table::board_read`].
    #[inline]
    pub fn read_board(&self, board: u64, member: usize, from: usize, into: &mut [u8]) -> Result<(), Status> {
        // SAFETY: the room is borrowed for the call.
        status(unsafe { (self.0.board_read)(board, member as u32, from, into.as_mut_ptr(), into.len()) })
    }

    /// Whether the members of a board can read each other's memory; see [`Table::board_reaches`].
    pub fn board_reaches(&self, board: u64) -> bool {
        (self.0.board_reaches)(board) == 1
    }

    /// Copies out of a member's memory; see [`Table::board_fetch`].
    pub fn fetch_at_board(
        &self,
        board: u64,
        member: usize,
        address: u64,
        into: &mut [u8],
    ) -> Result<(), Status> {
        let (member, out, length) = (member as u32, into.as_mut_ptr(), into.len());
        // SAFETY: the room is borrowed for the call.
        status(unsafe { (self.0.board_fetch)(board, member, address, out, length) })
    }

    /// Forgets a board.
    pub fn close_board(&self, board: u64) {
        (self.0.board_close)(board)
    }
}
