//! Collectives in a shared segment: members on one host show each other data, round by round, and send no messages.
//!
//! Data is written once and read by all members that need it. An operation has one round for each piece of a slot's
//! size, or two rounds if members publish combined data. In each round all members wait for all. The death of a member
//! therefore ends the operation for all members, in the same round.
//!
//! Contributions are combined in the order of members, `((m0 ∘ m1) ∘ m2) ∘ ...`, as in the plans by messages. A result has the same
//! bits by either algorithm.

use crate::Combine;
use crate::driver::Failure;
use crate::plans::{Group, Span, shares};
use smallvec::{SmallVec, smallvec};

/// A segment in which members show each other data.
pub trait SharedSegment {
    /// The number of this member, and how many members there are.
    fn group(&self) -> Group;

    /// How many bytes a member can show in one round.
    fn room(&self) -> usize;

    /// Shows the two pieces one behind the other, and waits until all members have shown theirs under the same word. If a round fails, it
    /// fails for all members.
    fn round(&mut self, word: u32, data: [&[u8]; 2]) -> Result<(), Failure>;

    /// Copies what a member has shown in the last round, from byte `from` on.
    fn read(&mut self, member: usize, from: usize, into: &mut [u8]) -> Result<(), Failure>;
}

/// A segment with a broadcast ring: a member publishes data to all others without waiting.
pub trait Announcing: SharedSegment {
    /// Writes the next entry, under a word.
    fn announce(&mut self, word: u32, data: &[u8]) -> Result<(), Failure>;

    /// Waits for the next entry, which must have this length and this word.
    fn hear(&mut self, word: u32, into: &mut [u8]) -> Result<(), Failure>;
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

/// Up to this total number of bytes, each member combines all contributions itself: one round instead of two.
const ALONE: usize = 16 << 10;

/// Bytes that are combined at a time: they stay in the caches.
const TILE: usize = 4 << 10;

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

/// Gives the root's data to all members, and does not wait for them. The root may run ahead of the others by the number
/// of announcements for which the segment has room. All members must take part in a round in time.
pub fn announce<B: Announcing>(segment: &mut B, root: usize, data: &mut [u8]) -> Result<(), Failure> {
    let word = word(Doing::Broadcast, [root, data.len()]);
    match segment.group().own == root {
        true => segment.announce(word, data),
        false => segment.hear(word, data),
    }
}

/// Gives each member its part of the root's data, by the broadcast ring. `all` has room for all parts, at each member; the root has filled
/// it. The root does not wait, as in [`announce`].
pub fn announce_parts<B: Announcing>(segment: &mut B, root: usize, all: &mut [u8]) -> Result<(), Failure> {
    let word = word(Doing::Scatter, [root, all.len()]);
    match segment.group().own == root {
        true => segment.announce(word, all),
        false => segment.hear(word, all),
    }
}

/// Collects every member's data for all: `parts` has the place of each part in `all`. Without `mine` the own lies there
/// already.
pub fn allgather<B: SharedSegment>(
    segment: &mut B,
    mine: Option<&[u8]>,
    parts: &[Span],
    all: &mut [u8],
) -> Result<(), Failure> {
    let word = word(Doing::AllGather, parts.iter().map(|part| part.length));
    collect(segment, word, mine, parts, Some(all))
}

/// Every member's data for the root. The others need no room.
pub fn gather<B: SharedSegment>(
    segment: &mut B,
    root: usize,
    mine: &[u8],
    parts: &[Span],
    all: &mut [u8],
) -> Result<(), Failure> {
    let word = word(Doing::Gather, parts.iter().map(|part| part.length).chain([root]));
    let is_root = segment.group().own == root;
    collect(segment, word, Some(mine), parts, is_root.then_some(all))
}

fn collect<B: SharedSegment>(
    segment: &mut B,
    word: u32,
    mine: Option<&[u8]>,
    parts: &[Span],
    mut all: Option<&mut [u8]>,
) -> Result<(), Failure> {
    let (Group { own, .. }, room) = (segment.group(), segment.room());
    if let (Some(all), Some(mine)) = (&mut all, mine) {
        all[parts[own].at..parts[own].end()].copy_from_slice(mine);
    }
    let longest = parts.iter().map(|part| part.length).max().unwrap_or(0);
    for piece in pieces(longest, room, 1) {
        let of = |part: Span| piece.at.min(part.length)..piece.end().min(part.length);
        let shown = match (mine, &all) {
            (Some(mine), _) => &mine[of(parts[own])],
            (None, Some(all)) => &all[parts[own].at..parts[own].end()][of(parts[own])],
            (None, None) => &[],
        };
        segment.round(word, [shown, &[]])?;
        let Some(all) = &mut all else { continue };
        for (member, &part) in parts.iter().enumerate().filter(|(member, _)| *member != own) {
            segment.read(member, 0, &mut all[part.at..part.end()][of(part)])?;
        }
    }
    Ok(())
}

/// To each its part of the root's data, as long as its room.
pub fn scatter<B: SharedSegment>(
    segment: &mut B,
    root: usize,
    all: &[u8],
    part: &mut [u8],
) -> Result<(), Failure> {
    let (Group { own, size }, each) = (segment.group(), part.len());
    let word = word(Doing::Scatter, [root, each]);
    let mut shown = Vec::new();
    for piece in pieces(each, segment.room() / size, 1) {
        shown.clear();
        if own == root {
            (0..size).for_each(|to| shown.extend_from_slice(&all[to * each..][piece.at..piece.end()]));
        }
        segment.round(word, [&shown, &[]])?;
        segment.read(root, own * piece.length, &mut part[piece.at..piece.end()])?;
    }
    Ok(())
}

/// Sends each member its part of every member's data, with parts of one length.
pub fn alltoall<B: SharedSegment>(segment: &mut B, give: &[u8], get: &mut [u8]) -> Result<(), Failure> {
    let Group { own, size } = segment.group();
    let each = give.len() / size;
    let word = word(Doing::AllToAll, [each]);
    if give.len() <= segment.room() {
        segment.round(word, [give, &[]])?;
        for from in 0..size {
            segment.read(from, own * each, &mut get[from * each..][..each])?;
        }
        return Ok(());
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

/// The contributions of all combined, for all, in the place of the own one. Elements have `unit` bytes; what is longer than the
/// segment's room cannot be combined as one element.
pub fn allreduce<B: SharedSegment>(
    segment: &mut B,
    data: &mut [u8],
    unit: usize,
    combine: Combine<'_>,
) -> Result<(), Failure> {
    reduce_for(segment, None, data, unit, combine)
}

/// The same for the root alone; everywhere else the data is scratch afterwards.
pub fn reduce<B: SharedSegment>(
    segment: &mut B,
    root: usize,
    data: &mut [u8],
    unit: usize,
    combine: Combine<'_>,
) -> Result<(), Failure> {
    reduce_for(segment, Some(root), data, unit, combine)
}

/// The contributions of all combined, of which each member gets its part. `parts` has the place of each part in `mine`, and `data` is as
/// long as the own part.
pub fn reduce_scatter<B: SharedSegment>(
    segment: &mut B,
    mine: &[u8],
    parts: &[Span],
    data: &mut [u8],
    unit: usize,
    combine: Combine<'_>,
) -> Result<(), Failure> {
    let (Group { own, .. }, unit) = (segment.group(), unit.max(1));
    let part = parts[own];
    if mine.len() > segment.room() {
        let mut all = mine.to_vec();
        allreduce(segment, &mut all, unit, combine)?;
        data.copy_from_slice(&all[part.at..part.end()]);
        return Ok(());
    }
    let word = word(Doing::ReduceScatter, parts.iter().map(|part| part.length).chain([unit]));
    segment.round(word, [mine, &[]])?;
    data.copy_from_slice(&mine[part.at..part.end()]);
    Tiles::new(part.length, unit).combine(segment, data, |_| part.at, combine)
}

fn reduce_for<B: SharedSegment>(
    segment: &mut B,
    root: Option<usize>,
    data: &mut [u8],
    unit: usize,
    combine: Combine<'_>,
) -> Result<(), Failure> {
    let (Group { own, size }, unit) = (segment.group(), unit.max(1));
    let word = match root {
        Some(root) => word(Doing::Reduce, [root, data.len(), unit]),
        None => word(Doing::AllReduce, [data.len(), unit]),
    };
    let gets = root.is_none_or(|root| root == own);
    let mut tiles = Tiles::new(data.len().min(segment.room()), unit);
    for piece in pieces(data.len(), segment.room(), unit) {
        let data = &mut data[piece.at..piece.end()];
        if data.len() * size <= ALONE || data.len() / unit < size {
            segment.round(word, [data, &[]])?;
            if gets {
                tiles.combine(segment, data, |_| 0, combine)?;
            }
            continue;
        }
        // Each combines a share, and shows the others what it does not need itself.
        let shares = shares(data.len(), unit, size);
        let share = shares[own];
        segment.round(word, [&data[..share.at], &data[share.end()..]])?;
        let from = |member: usize| if member < own { share.at - shares[member].length } else { share.at };
        tiles.combine(segment, &mut data[share.at..share.end()], from, combine)?;
        segment.round(word, [&data[share.at..share.end()], &[]])?;
        for (member, share) in shares.iter().enumerate().filter(|(member, _)| gets && *member != own) {
            segment.read(member, 0, &mut data[share.at..share.end()])?;
        }
    }
    Ok(())
}

/// Memory for the elements that are just being combined, of one length: whole elements.
struct Tiles {
    sum: SmallVec<[u8; FEW]>,
    come: SmallVec<[u8; FEW]>,
}

/// Up to this number of bytes, no memory from the heap is needed.
const FEW: usize = 128;

impl Tiles {
    fn new(longest: usize, unit: usize) -> Tiles {
        let length = (TILE / unit * unit).max(unit).min(longest);
        Tiles { sum: smallvec![0; length], come: smallvec![0; length] }
    }

    /// Combines what all have shown, from byte `from(member)` on, into what is this member's own.
    fn combine<B: SharedSegment>(
        &mut self,
        segment: &mut B,
        own: &mut [u8],
        from: impl Fn(usize) -> usize,
        combine: Combine<'_>,
    ) -> Result<(), Failure> {
        let (Group { own: me, size }, mut at) = (segment.group(), 0);
        for own in own.chunks_mut(self.sum.len().max(1)) {
            let (sum, come) = (&mut self.sum[..own.len()], &mut self.come[..own.len()]);
            // The first member's own data is at the destination of the result.
            if me != 0 {
                segment.read(0, from(0) + at, sum)?;
            }
            for member in 1..size {
                if member == me {
                    combine(sum, own);
                    continue;
                }
                segment.read(member, from(member) + at, come)?;
                combine(if me == 0 { &mut *own } else { &mut *sum }, come);
            }
            if me != 0 {
                own.copy_from_slice(sum);
            }
            at += own.len();
        }
        Ok(())
    }
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
