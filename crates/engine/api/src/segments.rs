//! The calls of the segments at which the members of a group on one host show each other what they have.

use crate::api::{CoreApi, Request, status};
use crate::table::{Notes, Piece, Reading, Status, segment};
use std::marker::PhantomData;

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
    /// This announcement is not there, and a member has ended or left. Its writer may still make it.
    Missing(usize),
}

/// A part of a member's data in a round, and the memory for the part.
#[derive(Debug)]
#[repr(transparent)]
pub struct SegmentPart<'m>(Reading, PhantomData<&'m mut [u8]>);

impl<'m> SegmentPart<'m> {
    /// The member's data from this byte on goes to `into`.
    #[inline]
    pub fn new(member: usize, from: usize, into: &'m mut [u8]) -> SegmentPart<'m> {
        let reading = Reading { member: member as u32, from, out: into.as_mut_ptr(), length: into.len() };
        SegmentPart(reading, PhantomData)
    }

    /// The number of the member, and the first byte.
    pub fn what(&self) -> (usize, usize) {
        (self.0.member as usize, self.0.from)
    }

    /// The memory for it.
    pub fn into(&mut self) -> &mut [u8] {
        // SAFETY: it was made of a slice that this borrows.
        unsafe { std::slice::from_raw_parts_mut(self.0.out, self.0.length) }
    }
}

/// What the table answered.
#[inline]
fn round(came: i64) -> SegmentRound {
    match came {
        segment::COME => SegmentRound::Come,
        segment::LATE => SegmentRound::Late,
        segment::CLOSED => SegmentRound::Closed,
        0.. => SegmentRound::Over(came as usize),
        ..=segment::MISSING => SegmentRound::Missing((segment::MISSING - came) as usize),
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

    /// Takes a round at a segment, and copies parts of the members' data; see [`Table::board_exchange`].
    ///
    /// [`Table::board_exchange`]: crate::Table::board_exchange
    #[inline]
    pub fn exchange(
        &self,
        segment: u64,
        word: u32,
        data: [&[u8]; 2],
        parts: &mut [SegmentPart<'_>],
        requests: &[Request],
        notes: &Notes,
    ) -> SegmentRound {
        let pieces = data.map(|data| Piece { start: data.as_ptr(), length: data.len() });
        // SAFETY: `Request` is a number and `SegmentPart` a reading in transparent types; everything is borrowed for the call.
        round(unsafe {
            (self.0.board_exchange)(
                segment,
                word,
                pieces.as_ptr(),
                pieces.len(),
                parts.as_ptr().cast(),
                parts.len(),
                requests.as_ptr().cast(),
                requests.len(),
                notes,
            )
        })
    }

    /// Takes part in an operation by announcements; see [`Table::board_post`]. There must be a writer for each announcement,
    /// and one more if `except` is among them.
    ///
    /// # Panics
    /// When there are fewer writers.
    ///
    /// [`Table::board_post`]: crate::Table::board_post
    #[inline]
    pub fn announce(
        &self,
        (segment, word): (u64, u32),
        entries: usize,
        (own, always): (Option<(usize, &[u8])>, bool),
        (parts, writers, except): (&mut [SegmentPart<'_>], &[i32], usize),
        requests: &[Request],
        notes: &Notes,
    ) -> SegmentRound {
        assert!(writers.len() >= entries + usize::from(except < entries), "a writer for each");
        let (own, data) = own.map_or((-1, &[][..]), |(own, data)| (own as i64, data));
        // SAFETY: `Request` is a number and `SegmentPart` a reading in transparent types; everything is borrowed for the
        // call.
        round(unsafe {
            (self.0.board_post)(
                segment,
                word,
                entries,
                own,
                always.into(),
                data.as_ptr(),
                data.len(),
                parts.as_ptr().cast(),
                parts.len(),
                writers.as_ptr(),
                except,
                requests.as_ptr().cast(),
                requests.len(),
                notes,
            )
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
