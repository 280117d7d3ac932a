//! Data of many ranks: one block for each.

use crate::errors::Mpi;
use crate::messages::buffers::{Data, checked_count, overlap, too_long};
use crate::objects::datatypes::{any_datatype, datatype, plain_size};
use crate::objects::numbers::DATATYPE_NULL;
use crate::requests::schedule::{Areas, Bytes, Part, Then};
use parvum_collectives::plans::{Span, in_a_row};

/// One block for each rank, in their order.
#[derive(Clone)]
pub(crate) enum Blocks {
    /// One behind the other without gaps.
    Row {
        /// All of them.
        whole: Data,
        /// How many.
        ranks: usize,
        /// Bytes of each.
        each: usize,
    },
    /// Wherever they lie.
    Each(Vec<Data>),
}

/// Where blocks lie.
pub(crate) enum Layout<'l> {
    /// One behind the other, all of so many elements of a type.
    Regular { count: i64, datatype: i32 },
    /// So many elements of a type each, at displacements in its extents.
    Counted { counts: &'l dyn Fn(usize) -> i64, displacements: &'l dyn Fn(usize) -> i64, datatype: i32 },
    /// The same with types of their own, at displacements in bytes.
    Typed { counts: &'l dyn Fn(usize) -> i64, displacements: &'l dyn Fn(usize) -> i64, datatypes: &'l [i32] },
}

impl Blocks {
    /// No blocks: of a rank that has no part in it.
    pub(crate) fn none() -> Blocks {
        Blocks::Each(Vec::new())
    }

    /// The one block of a rank that gives the same to all.
    pub(crate) fn one(data: Data) -> Blocks {
        Blocks::Each(vec![data])
    }

    /// Blocks of `each` bytes for this number of ranks, in one run.
    pub(crate) fn row(whole: Data, ranks: usize, each: usize) -> Blocks {
        Blocks::Row { whole, ranks, each }
    }

    /// The blocks of so many ranks.
    pub(crate) fn new(address: *const u8, ranks: usize, layout: Layout<'_>) -> Mpi<Blocks> {
        if let Layout::Regular { count, datatype: handle } = layout {
            return Blocks::regular(address, ranks, count, handle);
        }
        let block = |rank: usize| match &layout {
            Layout::Regular { .. } => unreachable!("made above"),
            Layout::Counted { counts, displacements, datatype: handle } => {
                // Of nothing the type need not be one.
                let extent = match counts(rank) {
                    0 if *handle == DATATYPE_NULL => 0,
                    _ => any_datatype(*handle)?.layout.extent(),
                };
                let far = displacements(rank).checked_mul(extent).ok_or_else(too_long)?;
                Data::new(at(address, far), counts(rank), *handle)
            }
            Layout::Typed { counts, displacements, datatypes } => {
                Data::new(at(address, displacements(rank)), counts(rank), datatypes[rank])
            }
        };
        (0..ranks).map(block).collect::<Mpi<_>>().map(Blocks::Each)
    }

    /// The type is looked up once.
    fn regular(address: *const u8, ranks: usize, count: i64, handle: i32) -> Mpi<Blocks> {
        let items = checked_count(count)?;
        if items == 0 && handle == DATATYPE_NULL {
            return Ok(Blocks::Each(vec![Data::NONE; ranks]));
        }
        let extent = match plain_size(handle) {
            Some(size) => size as i64,
            None => any_datatype(handle)?.layout.extent(),
        };
        let step = (items as i64).checked_mul(extent).ok_or_else(too_long)?;
        (ranks as i64).checked_mul(step).ok_or_else(too_long)?;
        if ranks == 0 {
            datatype(handle)?;
        }
        let first = Data::new(address, count, handle)?;
        match first.run() {
            Some((start, length)) if length as i64 == step && ranks > 0 => {
                let whole = length.checked_mul(ranks).ok_or_else(too_long)?;
                Ok(Blocks::Row { whole: Data::memory(start, whole), ranks, each: length })
            }
            _ => {
                let block = |rank: usize| Data::new(at(address, rank as i64 * step), count, handle);
                (0..ranks).map(block).collect::<Mpi<_>>().map(Blocks::Each)
            }
        }
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        match self {
            Blocks::Row { ranks, .. } => *ranks,
            Blocks::Each(blocks) => blocks.len(),
        }
    }

    /// The blocks of some slots, in their order.
    pub(crate) fn only(self, has: impl Fn(usize) -> bool) -> Blocks {
        match (0..self.count()).all(&has) {
            true => self,
            false => {
                Blocks::Each((0..self.count()).filter(|&slot| has(slot)).map(|slot| self.of(slot)).collect())
            }
        }
    }

    /// That of a rank.
    pub(crate) fn of(&self, rank: usize) -> Data {
        match self {
            Blocks::Row { whole, ranks, each } => {
                assert!(rank < *ranks, "one of them");
                let (start, _) = whole.run().expect("without gaps");
                Data::memory(start.wrapping_add(rank * each), *each)
            }
            Blocks::Each(blocks) => blocks[rank].clone(),
        }
    }

    /// Whether none has a byte in common with the data, as can be told at once.
    pub(crate) fn are_apart_from(&self, data: &Data) -> bool {
        matches!(self, Blocks::Row { whole, .. } if !overlap(whole, data))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Data> + '_ {
        (0..self.count()).map(|rank| self.of(rank))
    }

    /// Bytes of all.
    pub(crate) fn length(&self) -> usize {
        match self {
            Blocks::Row { whole, .. } => whole.length(),
            Blocks::Each(blocks) => blocks.iter().map(Data::length).sum(),
        }
    }

    /// Where each lies when all are one behind the other.
    pub(crate) fn spans(&self) -> Vec<Span> {
        match self {
            Blocks::Row { ranks, each, .. } => in_a_row(std::iter::repeat_n(*each, *ranks)),
            Blocks::Each(blocks) => in_a_row(blocks.iter().map(Data::length)),
        }
    }

    /// The program's memory, when the blocks lie there without gaps.
    fn run(&self) -> Option<Bytes> {
        let blocks = match self {
            Blocks::Row { whole, .. } => {
                return whole.run().map(|(start, length)| Bytes::Program(start, length));
            }
            Blocks::Each(blocks) => blocks,
        };
        let mut whole: Option<(*mut u8, usize)> = None;
        for block in blocks {
            let (start, length) = block.run()?;
            whole = match whole {
                None => Some((start, length)),
                Some(whole) if length == 0 => Some(whole),
                Some((_, 0)) => Some((start, length)),
                Some((first, so_far)) if first.wrapping_add(so_far) == start => {
                    Some((first, so_far + length))
                }
                Some(_) => return None,
            };
        }
        whole.map(|(start, length)| Bytes::Program(start, length))
    }

    /// The data, to be given.
    pub(crate) fn give(&self) -> Bytes {
        self.run().unwrap_or_else(|| self.copy())
    }

    /// A copy of the data.
    pub(crate) fn copy(&self) -> Bytes {
        Bytes::Own(self.iter().flat_map(|block| block.packed()).collect())
    }

    /// Memory for the data, and what puts it where it shall lie.
    pub(crate) fn get(self) -> (Bytes, Option<Part>) {
        if let Some(run) = self.run() {
            return (run, None);
        }
        let length = self.length();
        let then: Then = Box::new(move |areas: &mut Areas| {
            let bytes = areas.data.slice();
            for (block, span) in self.iter().zip(self.spans()) {
                block.unpack(&bytes[span.at..span.end()]);
            }
        });
        (Bytes::Own(vec![0; length]), Some(Part::Then(then)))
    }
}

fn at(address: *const u8, far: i64) -> *const u8 {
    address.wrapping_offset(far as isize)
}

/// One rank's data, to be given.
pub(super) fn give(data: &Data) -> Bytes {
    match data.run() {
        Some((start, length)) => Bytes::Program(start, length),
        None => Bytes::Own(data.packed()),
    }
}

/// Memory for one rank's data, and what puts it where it shall lie.
pub(super) fn get(data: Data) -> (Bytes, Option<Part>) {
    Blocks::one(data).get()
}

/// A contribution that is only read, and memory for a result of another length. If the two overlap, as in place, the result goes to its
/// destination at the end: until then the others read the contribution.
pub(super) fn give_and_get(contribution: &Data, result: Data) -> (Bytes, Bytes, Option<Part>) {
    if !overlap(contribution, &result) {
        let (data, then) = get(result);
        return (give(contribution), data, then);
    }
    let room = vec![0; result.length()];
    let then: Then = Box::new(move |areas: &mut Areas| result.unpack(areas.data.slice()));
    (give(contribution), Bytes::Own(room), Some(Part::Then(then)))
}

/// The data of a broadcast: given by the root, gotten by all others.
pub(super) fn of_root(data: Data, is_root: bool) -> (Bytes, Option<Part>) {
    if is_root { (give(&data), None) } else { get(data) }
}

/// The same, with a contribution in it: that which lies there already when none is given.
pub(super) fn get_with(contribution: Option<&Data>, data: Data) -> (Bytes, Option<Part>) {
    let contribution = contribution.cloned().unwrap_or_else(|| data.clone());
    match data.run() {
        Some((start, length)) => {
            let is_there = contribution.run().is_some_and(|(there, _)| there == start);
            let mut bytes = Bytes::Program(start, length);
            match contribution.bytes() {
                _ if is_there => {}
                Some(contribution) => bytes.slice_mut().copy_from_slice(contribution),
                None => bytes.slice_mut().copy_from_slice(&contribution.packed()),
            }
            (bytes, None)
        }
        None => {
            let packed = contribution.packed();
            let (_, then) = get(data);
            (Bytes::Own(packed), then)
        }
    }
}
