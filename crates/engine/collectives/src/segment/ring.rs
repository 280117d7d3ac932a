//! Operations by the broadcast ring: members publish data in entries, and wait only for the entries that they need.
//!
//! A member that only gives runs ahead of the others, by the number of entries for which the segment has room. All
//! members must therefore take part in a round in time. The data of an operation has at most the length of an entry.

use super::reductions::combine_others;
use super::{Announcing, Doing, Writers, readings, word};
use crate::course::Combine;
use crate::driver::Failure;
use crate::plans::Group;
use parvum_api::SegmentPart;

/// Up to this number of bytes, no memory from the heap is needed.
const FEW: usize = 128;

/// The most bytes of an entry.
const ENTRY: usize = parvum_api::segment::ANNOUNCED;

/// Gives the root's data to all members: this member is the root.
pub fn spread<B: Announcing>(segment: &mut B, data: &[u8]) -> Result<(), Failure> {
    let own = segment.group().own;
    segment.announce(word(Doing::Broadcast, [own, data.len()]), Writers::Root(own), Some(data), &mut [])
}

/// Gets the root's data.
pub fn hear<B: Announcing>(segment: &mut B, root: usize, data: &mut [u8]) -> Result<(), Failure> {
    let word = word(Doing::Broadcast, [root, data.len()]);
    segment.announce(word, Writers::Root(root), None, &mut [SegmentPart::new(0, 0, data)])
}

/// Gives each member its part of the root's data, all parts in one entry: this member is the root.
pub fn give<B: Announcing>(segment: &mut B, parts: &[u8]) -> Result<(), Failure> {
    let Group { own, size } = segment.group();
    let word = word(Doing::Scatter, [own, parts.len() / size]);
    segment.announce(word, Writers::Root(own), Some(parts), &mut [])
}

/// Gets the own part of the root's data.
pub fn take<B: Announcing>(segment: &mut B, root: usize, part: &mut [u8]) -> Result<(), Failure> {
    let from = segment.group().own * part.len();
    let word = word(Doing::Scatter, [root, part.len()]);
    segment.announce(word, Writers::Root(root), None, &mut [SegmentPart::new(0, from, part)])
}

/// Gives the root the own part, for [`gather`], or the own contribution in elements of `unit` bytes, for [`reduce`].
pub fn contribute<B: Announcing>(
    segment: &mut B,
    root: usize,
    mine: &[u8],
    unit: Option<usize>,
) -> Result<(), Failure> {
    segment.announce(word_of_root(root, mine.len(), unit), Writers::AllBut(root), Some(mine), &mut [])
}

/// Gets a part of the same length from each member, in their order: this member is the root, and its part is there.
pub fn gather<B: Announcing>(segment: &mut B, all: &mut [u8]) -> Result<(), Failure> {
    let Group { own, size } = segment.group();
    let (each, writers) = (all.len() / size, Writers::AllBut(own));
    let word = word_of_root(own, each, None);
    let mut wanted = readings();
    for (member, place) in all.chunks_exact_mut(each.max(1)).enumerate() {
        if member != own {
            wanted.push(SegmentPart::new(writers.entry(member), 0, place));
        }
    }
    segment.announce(word, writers, None, &mut wanted)
}

/// Gets the contributions of all combined, in the place of the own one: this member is the root.
pub fn reduce<B: Announcing>(
    segment: &mut B,
    data: &mut [u8],
    unit: usize,
    combine: Combine<'_>,
) -> Result<(), Failure> {
    let own = segment.group().own;
    let word = word_of_root(own, data.len(), Some(unit));
    combine_heard(segment, word, own, data, combine)
}

/// Gets the contributions up to the own one combined, in the place of the own one; `exclusive`: those before it, and the
/// first member's data stays.
pub fn scan<B: Announcing>(
    segment: &mut B,
    data: &mut [u8],
    exclusive: bool,
    unit: usize,
    combine: Combine<'_>,
) -> Result<(), Failure> {
    let (Group { own, size }, length) = (segment.group(), data.len());
    let word = word(Doing::Scan, [length, exclusive.into(), unit]);
    with_room((own + 1) * length, |all| {
        let (before, mine) = all.split_at_mut(own * length);
        mine.copy_from_slice(data);
        let mut wanted = readings();
        for (entry, place) in before.chunks_exact_mut(length.max(1)).enumerate() {
            wanted.push(SegmentPart::new(entry, 0, place));
        }
        let given = (own + 1 < size).then_some(&*mine);
        // The last member's contribution is for itself.
        segment.announce(word, Writers::AllBut(size - 1), given, &mut wanted)?;
        drop(wanted);
        match (own, exclusive) {
            (0, _) => {}
            (_, true) => data.copy_from_slice(prefix(&mut all[..own * length], length, combine)),
            (_, false) => data.copy_from_slice(prefix(all, length, combine)),
        }
        Ok(())
    })
}

/// Calls `work` with cleared memory of this number of bytes.
fn with_room<R>(bytes: usize, work: impl FnOnce(&mut [u8]) -> R) -> R {
    match bytes {
        ..=FEW => work(&mut [0; FEW][..bytes]),
        _ => work(&mut vec![0; bytes]),
    }
}

/// Combines all contributions, which lie one behind the other. Neighbours are combined first, then pairs at a distance
/// of two, four and so on. The plan of [doubling](crate::plans::scan::doubling) does the same, so both results have the
/// same bits.
fn prefix<'a>(all: &'a mut [u8], length: usize, combine: Combine<'_>) -> &'a [u8] {
    if length == 0 {
        return &[];
    }
    let last = all.len() / length - 1;
    let mut far = 1;
    while far <= last {
        // The next distance combines the last contribution, and each contribution twice as far before.
        let mut at = last;
        while at >= far {
            let (before, behind) = all.split_at_mut(at * length);
            let (first, second) = (&mut before[(at - far) * length..][..length], &mut behind[..length]);
            combine(first, second);
            second.copy_from_slice(first);
            let Some(next) = at.checked_sub(2 * far) else { break };
            at = next;
        }
        far *= 2;
    }
    &all[last * length..]
}

fn word_of_root(root: usize, length: usize, unit: Option<usize>) -> u32 {
    match unit {
        Some(unit) => word(Doing::Reduce, [root, length, unit]),
        None => word(Doing::Gather, [root, length]),
    }
}

/// Hears the entries of all other members, and combines them with the own contribution in the order of members.
fn combine_heard<B: Announcing>(
    segment: &mut B,
    word: u32,
    own: usize,
    data: &mut [u8],
    combine: Combine<'_>,
) -> Result<(), Failure> {
    let (length, writers) = (data.len(), Writers::AllBut(own));
    debug_assert!(length <= ENTRY, "as the table of algorithms says");
    with_room(writers.entries(segment.group().size) * length, |others| {
        let mut wanted = readings();
        for (entry, place) in others.chunks_exact_mut(length.max(1)).enumerate() {
            wanted.push(SegmentPart::new(entry, 0, place));
        }
        segment.announce(word, writers, None, &mut wanted)?;
        drop(wanted);
        combine_others(own, data, others, combine);
        Ok(())
    })
}
