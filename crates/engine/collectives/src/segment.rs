//! Collectives in a shared segment: members on one host show each other data, round by round, and send no messages.
//!
//! Data is written once and read by all members that need it. An operation has one round for each piece of a slot's
//! size, or two rounds if members publish combined data. In each round all members wait for all. The death of a member
//! therefore ends the operation for all members, in the same round.
//!
//! Contributions are combined in the order of members, `((m0 ∘ m1) ∘ m2) ∘ ...`, as in the plans by messages. A result has the same
//! bits by either algorithm.

mod reductions;
mod ring;

use crate::driver::Failure;
use crate::plans::{Group, Span};
use parvum_api::SegmentPart;
pub use reductions::{allreduce, reduce_scatter, reduce_scatter_block};
pub use ring::{contribute, gather, give, hear, reduce, scan, spread, take};
use smallvec::SmallVec;

/// A segment in which members show each other data.
pub trait SharedSegment {
    /// The number of this member, and how many members there are.
    fn group(&self) -> Group;

    /// How many bytes a member can show in one round.
    fn room(&self) -> usize;

    /// Shows the two pieces one behind the other, and waits until all members have shown theirs under the same word. If a round fails, it
    /// fails for all members.
    fn round(&mut self, word: u32, data: [&[u8]; 2]) -> Result<(), Failure>;

    /// Takes a round, and copies parts of the members' data.
    fn exchange(
        &mut self,
        word: u32,
        data: [&[u8]; 2],
        parts: &mut [SegmentPart<'_>],
    ) -> Result<(), Failure> {
        self.round(word, data)?;
        parts.iter_mut().try_for_each(|part| {
            let (member, from) = part.what();
            self.read(member, from, part.into())
        })
    }

    /// Copies what a member has shown in the last round, from byte `from` on.
    fn read(&mut self, member: usize, from: usize, into: &mut [u8]) -> Result<(), Failure>;
}

/// The members that write the entries of an operation by the ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writers {
    /// This member, one entry.
    Root(usize),
    /// All but this member, one entry each in their order.
    AllBut(usize),
}

impl Writers {
    /// The number of entries among `size` members.
    pub fn entries(self, size: usize) -> usize {
        match self {
            Writers::Root(_) => 1,
            Writers::AllBut(_) => size - 1,
        }
    }

    /// The entry of a member that writes one.
    pub fn entry(self, member: usize) -> usize {
        match self {
            Writers::Root(_) => 0,
            Writers::AllBut(root) if member < root => member,
            Writers::AllBut(_) => member - 1,
        }
    }

    /// The member that writes an entry.
    pub fn member(self, entry: usize) -> usize {
        match self {
            Writers::Root(root) => root,
            Writers::AllBut(root) if entry < root => entry,
            Writers::AllBut(_) => entry + 1,
        }
    }
}

/// A segment with a broadcast ring: members publish data to all others without waiting.
pub trait Announcing: SharedSegment {
    /// Takes part in an operation that has the next entries of the ring. Writes the own entry under the word, if `own` is
    /// its data. Then waits for the entries named by `parts`, which have the same word, and copies these parts. Fails if
    /// the writer of a missing entry is gone.
    fn announce(
        &mut self,
        word: u32,
        writers: Writers,
        own: Option<&[u8]>,
        parts: &mut [SegmentPart<'_>],
    ) -> Result<(), Failure>;
}

/// What members do. The word of a round mixes this with lengths and places, so members notice that others do something else.
#[derive(Clone, Copy)]
pub(crate) enum Doing {
    Barrier = 1,
    Broadcast,
    Reduce,
    AllReduce,
    Gather,
    Scatter,
    AllGather,
    AllToAll,
    ExposeReduce,
    ExposeAllReduce,
    ExposeAllToAll,
    ReduceScatter,
    ExposeReduceScatter,
    Scan,
}

/// The word of an operation. Other numbers give another word, mostly.
pub(crate) fn word(doing: Doing, numbers: impl IntoIterator<Item = usize>) -> u32 {
    let mixed = numbers.into_iter().fold(doing as u64, |sum, number| {
        // The multiplier of Knuth's generator MMIX: odd, and its upper bits depend on all below.
        (sum.rotate_left(5) ^ number as u64).wrapping_mul(6_364_136_223_846_793_005)
    });
    // Not what members say to each other before the first operation.
    (doing as u32) << 28 | (mixed >> 40) as u32 | 1 << 24
}

/// All wait for all.
pub fn barrier<B: SharedSegment>(segment: &mut B) -> Result<(), Failure> {
    segment.round(word(Doing::Barrier, []), [&[], &[]])
}

/// The root's data for all.
pub fn broadcast<B: SharedSegment>(segment: &mut B, root: usize, data: &mut [u8]) -> Result<(), Failure> {
    let (word, is_root) = (word(Doing::Broadcast, [root, data.len()]), segment.group().own == root);
    for piece in pieces(data.len(), segment.room(), 1) {
        let piece = &mut data[piece.at..piece.end()];
        segment.round(word, [if is_root { piece } else { &[] }, &[]])?;
        if !is_root {
            segment.read(root, 0, piece)?;
        }
    }
    Ok(())
}

/// Collects every member's data for all: `parts` has the place of each part in `all`, in ascending order. Without `mine`
/// the own lies there already.
pub fn allgather<B: SharedSegment>(
    segment: &mut B,
    mine: Option<&[u8]>,
    parts: &[Span],
    all: &mut [u8],
) -> Result<(), Failure> {
    let word = word(Doing::AllGather, parts.iter().map(|part| part.length));
    let (Group { own, .. }, room) = (segment.group(), segment.room());
    if let Some(mine) = mine {
        all[parts[own].at..parts[own].end()].copy_from_slice(mine);
    }
    let longest = parts.iter().map(|part| part.length).max().unwrap_or(0);
    for piece in pieces(longest, room, 1) {
        let of = |part: Span| piece.at.min(part.length)..piece.end().min(part.length);
        let mut shown = mine.map_or(&[][..], |mine| &mine[of(parts[own])]);
        let mut wanted = readings();
        let (mut rest, mut at) = (&mut *all, 0);
        for (member, &part) in parts.iter().enumerate() {
            let (place, behind) = rest.split_at_mut(part.end() - at);
            let place = &mut place[part.at - at..][of(part)];
            (rest, at) = (behind, part.end());
            match member == own {
                false => wanted.push(SegmentPart::new(member, 0, place)),
                true if mine.is_none() => shown = place,
                true => {}
            }
        }
        segment.exchange(word, [shown, &[]], &mut wanted)?;
    }
    Ok(())
}

/// As [`allgather`], for parts of one length that lie in `all` one behind the other and fit into one round.
pub fn allgather_short<B: SharedSegment>(
    segment: &mut B,
    mine: &[u8],
    all: &mut [u8],
) -> Result<(), Failure> {
    let Group { own, size } = segment.group();
    let word = word(Doing::AllGather, std::iter::repeat_n(mine.len(), size));
    let mut wanted = readings();
    for (member, place) in all.chunks_exact_mut(mine.len().max(1)).take(size).enumerate() {
        match member == own {
            true => place.copy_from_slice(mine),
            false => wanted.push(SegmentPart::new(member, 0, place)),
        }
    }
    segment.exchange(word, [mine, &[]], &mut wanted)
}

/// Sends each member its part of every member's data, with parts of one length.
pub fn alltoall<B: SharedSegment>(segment: &mut B, give: &[u8], get: &mut [u8]) -> Result<(), Failure> {
    let Group { own, size } = segment.group();
    let each = give.len() / size;
    let word = word(Doing::AllToAll, [each]);
    if give.len() <= segment.room() {
        let mut wanted = readings();
        for (member, place) in get.chunks_exact_mut(each.max(1)).take(size).enumerate() {
            match member == own {
                true => place.copy_from_slice(&give[own * each..][..each]),
                false => wanted.push(SegmentPart::new(member, own * each, place)),
            }
        }
        return segment.exchange(word, [give, &[]], &mut wanted);
    }
    let mut shown = Vec::new();
    for piece in pieces(each, segment.room() / size, 1) {
        shown.clear();
        (0..size).for_each(|to| shown.extend_from_slice(&give[to * each..][piece.at..piece.end()]));
        segment.round(word, [&shown, &[]])?;
        for from in 0..size {
            let into = &mut get[from * each..][piece.at..piece.end()];
            segment.read(from, own * piece.length, into)?;
        }
    }
    Ok(())
}

/// Cuts `length` bytes into pieces of at most `room`, of whole elements of `unit` bytes but for what is left over at the end. No
/// bytes are one piece.
fn pieces(length: usize, room: usize, unit: usize) -> impl Iterator<Item = Span> {
    let most = (room / unit * unit).max(1);
    let count = length.div_ceil(most).max(1);
    (0..count).map(move |piece| {
        let at = piece * most;
        Span { at, length: most.min(length - at) }
    })
}

/// A list of parts to copy.
fn readings<'m>() -> SmallVec<[SegmentPart<'m>; 8]> {
    SmallVec::new()
}
