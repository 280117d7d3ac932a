//! Reductions in rounds: members show their contributions, and each member combines its part.

use super::{Doing, SharedSegment, pieces, readings, word};
use crate::course::Combine;
use crate::driver::Failure;
use crate::plans::{Group, Span, in_a_row, shares};
use parvum_api::SegmentPart;
use smallvec::{SmallVec, smallvec};

/// Up to this total number of bytes, each member combines all contributions itself: one round instead of two.
const ALONE: usize = 16 << 10;

/// Bytes that are combined at a time: they stay in the caches.
const TILE: usize = 4 << 10;

/// The contributions of all combined, for all, in the place of the own one. Elements have `unit` bytes; what is longer than the
/// segment's room cannot be combined as one element.
pub fn allreduce<B: SharedSegment>(
    segment: &mut B,
    data: &mut [u8],
    unit: usize,
    combine: Combine<'_>,
) -> Result<(), Failure> {
    let (Group { own, size }, unit) = (segment.group(), unit.max(1));
    let word = word(Doing::AllReduce, [data.len(), unit]);
    if is_short(segment, data) {
        return combine_at_once(segment, word, None, data, combine);
    }
    let mut tiles = Tiles::new(data.len().min(segment.room()), unit);
    for piece in pieces(data.len(), segment.room(), unit) {
        let data = &mut data[piece.at..piece.end()];
        if data.len() * size <= ALONE || data.len() / unit < size {
            segment.round(word, [data, &[]])?;
            tiles.combine(segment, data, |_| 0, combine)?;
            continue;
        }
        // Each combines a share, and shows the others what it does not need itself.
        let shares = shares(data.len(), unit, size);
        let share = shares[own];
        segment.round(word, [&data[..share.at], &data[share.end()..]])?;
        let from = |member: usize| if member < own { share.at - shares[member].length } else { share.at };
        tiles.combine(segment, &mut data[share.at..share.end()], from, combine)?;
        segment.round(word, [&data[share.at..share.end()], &[]])?;
        for (member, share) in shares.iter().enumerate().filter(|(member, _)| *member != own) {
            segment.read(member, 0, &mut data[share.at..share.end()])?;
        }
    }
    Ok(())
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
    data.copy_from_slice(&mine[part.at..part.end()]);
    if is_short(segment, data) {
        return combine_at_once(segment, word, Some((mine, part.at)), data, combine);
    }
    segment.round(word, [mine, &[]])?;
    Tiles::new(part.length, unit).combine(segment, data, |_| part.at, combine)
}

/// As [`reduce_scatter`], for parts as long as `data` that fit into one round.
pub fn reduce_scatter_block<B: SharedSegment>(
    segment: &mut B,
    mine: &[u8],
    data: &mut [u8],
    unit: usize,
    combine: Combine<'_>,
) -> Result<(), Failure> {
    let (Group { own, size }, unit) = (segment.group(), unit.max(1));
    if !is_short(segment, data) {
        return reduce_scatter(
            segment,
            mine,
            &in_a_row(std::iter::repeat_n(data.len(), size)),
            data,
            unit,
            combine,
        );
    }
    let word = word(Doing::ReduceScatter, std::iter::repeat_n(data.len(), size).chain([unit]));
    let at = own * data.len();
    data.copy_from_slice(&mine[at..][..data.len()]);
    combine_at_once(segment, word, Some((mine, at)), data, combine)
}

/// Contributions of the others up to this number of bytes are copied at once, then combined.
const AT_ONCE: usize = 4 << 10;
const _: () = assert!(2 * AT_ONCE <= ALONE, "each member combines short data itself");

/// Whether the other members' data fits.
#[inline]
fn is_short<B: SharedSegment>(segment: &B, data: &[u8]) -> bool {
    data.len() <= segment.room() && data.len() * (segment.group().size - 1) <= AT_ONCE
}

/// Takes a round, and combines the contributions of all in `data`, which has the own one. Shows `data`, or other bytes of
/// which `data` is the part from a byte on.
fn combine_at_once<B: SharedSegment>(
    segment: &mut B,
    word: u32,
    shown: Option<(&[u8], usize)>,
    data: &mut [u8],
    combine: Combine<'_>,
) -> Result<(), Failure> {
    // Most contributions are a number, and to clear much memory takes time.
    match data.len() * (segment.group().size - 1) {
        ..=FEW => combine_in(&mut [0; FEW], segment, word, shown, data, combine),
        _ => combine_in(&mut [0; AT_ONCE], segment, word, shown, data, combine),
    }
}

fn combine_in<B: SharedSegment>(
    room: &mut [u8],
    segment: &mut B,
    word: u32,
    shown: Option<(&[u8], usize)>,
    data: &mut [u8],
    combine: Combine<'_>,
) -> Result<(), Failure> {
    let (Group { own, size }, length) = (segment.group(), data.len());
    let (shown, from) = shown.unwrap_or((data, 0));
    let mut wanted = readings();
    let others = (0..size).filter(|&member| member != own);
    let mut rest = &mut room[..length * (size - 1)];
    for member in others {
        let (place, behind) = rest.split_at_mut(length);
        wanted.push(SegmentPart::new(member, from, place));
        rest = behind;
    }
    segment.exchange(word, [shown, &[]], &mut wanted)?;
    drop(wanted);
    combine_others(own, data, &mut room[..length * (size - 1)], combine);
    Ok(())
}

/// Combines contributions in the order of members. `data` has the contribution of member `own`, and gets the result.
/// `others` has the contributions of all other members, one behind the other.
pub(super) fn combine_others(own: usize, data: &mut [u8], others: &mut [u8], combine: Combine<'_>) {
    let length = data.len();
    if length == 0 {
        return;
    }
    if own == 0 {
        others.chunks_exact(length).for_each(|other| combine(data, other));
        return;
    }
    let (sum, others) = others.split_at_mut(length);
    let (before, behind) = others.split_at((own - 1) * length);
    before.chunks_exact(length).for_each(|other| combine(sum, other));
    combine(sum, data);
    behind.chunks_exact(length).for_each(|other| combine(sum, other));
    data.copy_from_slice(sum);
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
