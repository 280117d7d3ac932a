//! The segment: where the members of a group on one host show each other data, in the file behind their meeting.
//!
//! It is used in *turns*. In each a member puts what it shows into a place of its own, comes to the meeting, and when that has
//! opened reads what the others show. A member has two places, used by turns. Who comes to a meeting has read all that it wants of
//! the turn before; so when one has opened, nobody reads any more what was shown two turns ago, and its place may be written to.
//! Nothing but the meeting keeps order: there are no locks and no counts of readers, and a turn comes for all or for nobody.
//! The model of it stands with the meeting's (`meeting.rs`). Two members need no meeting: see `pair.rs`.
//!
//! ```text
//!    0  meeting
//! 4096  lines     for each member two of 64 bytes: a head, and data of up to 48 bytes
//!       places    for each member two: longer data
//!       lines     of announcements (see `announcements.rs`), and one more; then room for longer ones
//! ```
//!
//! Short data of all members lies close together. The file has no memory behind what was never written.

use crate::pair::Head;
use parvum_control::PAGE_BYTES;

/// Groups of more members have no segment: each reads what all others show.
pub const MOST_MEMBERS: u32 = 64;

/// So many bytes a member shows in one turn at most.
pub const SLOT_BYTES: usize = 64 << 10;

/// So many announcements have a place of their own between two turns.
pub const ANNOUNCEMENTS: usize = 127;

/// So many bytes an announcement has at most.
pub const ANNOUNCED_ROOM: usize = 1 << 10;

/// A line, and how much data fits into it behind its head.
pub(crate) const LINE: usize = 64;
pub(crate) const SHORT: usize = LINE - size_of::<Head>();

/// Where things lie on the segment of so many members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) members: u32,
}

impl Shape {
    /// Whether there is a segment at all.
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
    fn places(self) -> usize {
        PAGE_BYTES + (2 * self.members as usize * LINE).next_multiple_of(PAGE_BYTES)
    }

    /// Where the lines of announcements begin.
    fn announcements(self) -> usize {
        self.places() + 2 * self.members as usize * SLOT_BYTES
    }

    /// Where the line of an announcement begins; the one behind the last is that of those who wait for one.
    pub(crate) fn announcement(self, place: usize) -> usize {
        self.announcements() + place * LINE
    }

    /// Where its longer data begins.
    pub(crate) fn announced(self, place: usize) -> usize {
        self.announcement(ANNOUNCEMENTS + 1) + place * ANNOUNCED_ROOM
    }

    /// Where a member's line of that turn begins.
    pub(crate) fn line(self, member: u32, turn: u64) -> usize {
        PAGE_BYTES + number(member, turn) * LINE
    }

    /// Where its longer data of that turn begins.
    pub(crate) fn place(self, member: u32, turn: u64) -> usize {
        self.places() + number(member, turn) * SLOT_BYTES
    }
}

fn number(member: u32, turn: u64) -> usize {
    2 * member as usize + (turn % 2) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_lies_in_the_place_of_anything_else() {
        for members in [1, 2, 3, 31, 32, 33, 64] {
            let shape = Shape { members };
            let mut pieces = vec![(0, PAGE_BYTES)];
            for member in 0..members {
                for turn in [4, 5] {
                    pieces.push((shape.line(member, turn), LINE));
                    pieces.push((shape.place(member, turn), SLOT_BYTES));
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
    fn very_large_groups_have_a_barrier_and_no_slots() {
        for members in [0, MOST_MEMBERS + 1, u32::MAX] {
            assert!(!Shape { members }.has_places());
            assert_eq!(Shape { members }.bytes(), PAGE_BYTES);
        }
    }
}
