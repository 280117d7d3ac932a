//! The calls of the segments at which the members of a group on one host show each other what they have.

use crate::api::{CoreApi, Request, status};
use crate::table::{Notes, Piece, Status, segment};

/// How a round at a segment went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SegmentRound {
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
fn round(came: i64) -> SegmentRound {
    match came {
        segment::COME => SegmentRound::Come,
        segment::LATE => SegmentRound::Late,
        segment::CLOSED => SegmentRound::Closed,
        0.. => SegmentRound::Over(came as usize),
        _ => SegmentRound::Disagreed,
    }
}

impl CoreApi {
    /// Opens the segment of a group; see [`Table::board_open`].
    pub fn open_segment(
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

    /// Takes a round at a segment; see [`Table::board_turn`].
    #[inline]
    pub fn take_round(
        &self,
        segment: u64,
        word: u32,
        data: [&[u8]; 2],
        requests: &[Request],
        notes: &Notes,
    ) -> SegmentRound {
        let pieces = data.map(|data| Piece { start: data.as_ptr(), length: data.len() });
        // SAFETY: `Request` is a number in a transparent type; everything is borrowed for the call.
        let came = unsafe {
            let requests_start = requests.as_ptr().cast();
            let (start, count) = (pieces.as_ptr(), pieces.len());
            (self.0.board_turn)(segment, word, start, count, requests_start, requests.len(), notes)
        };
        round(came)
    }

    /// Announces something to all other members of a segment; see [`Table::board_announce`].
    #[inline]
    pub fn announce(&self, segment: u64, word: u32, data: &[u8]) -> SegmentRound {
        // SAFETY: the data is borrowed for the call.
        round(unsafe { (self.0.board_announce)(segment, word, data.as_ptr(), data.len()) })
    }

    /// Waits for the next announcement at a segment; see [`Table::board_hear`].
    #[inline]
    pub fn hear(
        &self,
        segment: u64,
        word: u32,
        into: &mut [u8],
        requests: &[Request],
        notes: &Notes,
    ) -> SegmentRound {
        let (out, length) = (into.as_mut_ptr(), into.len());
        // SAFETY: `Request` is a number in a transparent type; everything is borrowed for the call.
        round(unsafe {
            (self.0.board_hear)(segment, word, out, length, requests.as_ptr().cast(), requests.len(), notes)
        })
    }

    /// Copies what a member has shown at a segment in the last round; see [`Table::board_read`].
    #[inline]
    pub fn read_segment(
        &self,
        segment: u64,
        member: usize,
        from: usize,
        into: &mut [u8],
    ) -> Result<(), Status> {
        // SAFETY: the room is borrowed for the call.
        status(unsafe { (self.0.board_read)(segment, member as u32, from, into.as_mut_ptr(), into.len()) })
    }

    /// Whether the members of a segment can read each other's memory; see [`Table::board_reaches`].
    pub fn board_reaches(&self, segment: u64) -> bool {
        (self.0.board_reaches)(segment) == 1
    }

    /// Copies out of a member's memory; see [`Table::board_fetch`].
    pub fn fetch_in_segment(
        &self,
        segment: u64,
        member: usize,
        address: u64,
        into: &mut [u8],
    ) -> Result<(), Status> {
        let (member, out, length) = (member as u32, into.as_mut_ptr(), into.len());
        // SAFETY: the room is borrowed for the call.
        status(unsafe { (self.0.board_fetch)(segment, member, address, out, length) })
    }

    /// Forgets a segment.
    pub fn close_segment(&self, segment: u64) {
        (self.0.board_close)(segment)
    }
}
