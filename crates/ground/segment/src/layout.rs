//! The layout of a segment: where the slots of each member and the broadcast ring lie.
//!
//! Members use the slots in *rounds*. In a round each member writes data into its own slot, comes to the barrier, and reads the slots of
//! the others when the barrier has opened. A member has two slots and uses them in round. A member that comes to the barrier has read
//! all that it wants of the round before. So an open barrier means that nobody reads the slots of two rounds ago, and they may be
//! written. Only the barrier keeps this order: there are no locks and no counts of readers. The loom model stands in `barrier.rs`. Two
//! members need no barrier: see `pair.rs`.
//!
//! ```text
//!    0  barrier
//! 4096  lines     for each member two of 64 bytes: a head, and data of up to 48 bytes
//!       slots     for each member two: longer data
//!       ring      a line for each entry of the broadcast ring, and one more; then memory for longer entries
//! ```
//!
//! Short data of all members lies close together. Pages that nobody has written take no memory.

use crate::pair::Head;
use parvum_control::PAGE_BYTES;

/// Groups of more members have a barrier, and no slots: each member reads the slots of all others.
pub const MOST_MEMBERS: u32 = 64;

/// A slot has so many bytes: a member shows no more in one round.
pub const SLOT_BYTES: usize = 64 << 10;

/// Entries of the broadcast ring between two rounds.
pub const ANNOUNCEMENTS: usize = 127;

/// The most bytes of an entry of the broadcast ring.
pub const ANNOUNCED_ROOM: usize = 1 << 10;

/// A line, and how much data fits into it behind its head.
pub(crate) const LINE: usize = 64;
pub(crate) const SHORT: usize = LINE - size_of::<Head>();

/// The layout of a segment of so many members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) members: u32,
}

impl Shape {
    /// Whether members have slots at all.
    #[inline]
    pub(crate) fn has_places(self) -> bool {
        (1..=MOST_MEMBERS).contains(&self.members)
    }

    /// Bytes of the file.
    pub(crate) fn bytes(self) -> usize {
        match self.has_places() {
            true => self.announcements() + (ANNOUNCEMENTS + 1) * (LINE + ANNOUNCED_ROOM),
            false => PAGE_BYTES,
        }
    }

    /// Where the places begin.
    #[inline]
    fn places(self) -> usize {
        PAGE_BYTES + (2 * self.members as usize * LINE).next_multiple_of(PAGE_BYTES)
    }

    /// Where the lines of announcements begin.
    #[inline]
    fn announcements(self) -> usize {
        self.places() + 2 * self.members as usize * SLOT_BYTES
    }

    /// Where the line of an announcement begins; the one behind the last is that of those who wait for one.
    #[inline]
    pub(crate) fn announcement(self, place: usize) -> usize {
        self.announcements() + place * LINE
    }

    /// Where its longer data begins.
    #[inline]
    pub(crate) fn announced(self, place: usize) -> usize {
        self.announcement(ANNOUNCEMENTS + 1) + place * ANNOUNCED_ROOM
    }

    /// Where a member's line of that round begins.
    #[inline]
    pub(crate) fn line(self, member: u32, round: u64) -> usize {
        PAGE_BYTES + number(member, round) * LINE
    }

    /// Where its longer data of that round begins.
    #[inline]
    pub(crate) fn place(self, member: u32, round: u64) -> usize {
        self.places() + number(member, round) * SLOT_BYTES
    }
}

#[inline]
fn number(member: u32, round: u64) -> usize {
    2 * member as usize + (round % 2) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segment_parts_never_overlap() {
        for members in [1, 2, 3, 31, 32, 33, 64] {
            let shape = Shape { members };
            let mut pieces = vec![(0, PAGE_BYTES)];
            for member in 0..members {
                for round in [4, 5] {
                    pieces.push((shape.line(member, round), LINE));
                    pieces.push((shape.place(member, round), SLOT_BYTES));
                }
            }
            for place in 0..=ANNOUNCEMENTS {
                pieces.push((shape.announcement(place), LINE));
                pieces.push((shape.announced(place), ANNOUNCED_ROOM));
            }
            pieces.sort_unstable();
            assert!(pieces.windows(2).all(|pair| pair[0].0 + pair[0].1 <= pair[1].0), "{members}");
            let (last, length) = pieces[pieces.len() - 1];
            assert_eq!(last + length, shape.bytes(), "{members}");
            assert!(
                shape.bytes() <= PAGE_BYTES * 4 + members as usize * (256 << 10),
                "as much as is promised"
            );
        }
    }

    #[test]
    fn oversized_group_has_barrier_but_no_slots() {
        for members in [0, MOST_MEMBERS + 1, u32::MAX] {
            assert!(!Shape { members }.has_places());
            assert_eq!(Shape { members }.bytes(), PAGE_BYTES);
        }
    }
}
