//! Long operations at a segment in which each member needs a different part of the data. Members publish the addresses
//! of their data, and each member reads the part that it needs straight from the others' memory. (Data that all members
//! need goes through the segment, because it is in the caches when they read it.) Every byte is copied once. Members
//! wait for each other two or three times, for any number of members and any length.
//!
//! An operation begins with a round in which members publish addresses. It ends with a round in which each member
//! reports whether it could read. Until then the data does not change. The kernel may refuse a read (memory that is
//! protected at the moment). Then all members learn this, all contributions are unchanged, and the operation uses
//! messages ([`Exposed::Refused`]).
//!
//! Contributions are combined as at the [`segment`](crate::segment): in the order of members, to the same bits.

use crate::Combine;
use crate::driver::Failure;
use crate::plans::{Group, Span, shares};
use crate::segment::{Doing, SharedSegment, word};
use parvum_api::Status;
use smallvec::SmallVec;

/// A segment whose members may read each other's memory.
pub trait OpenMemory: SharedSegment {
    /// Whether every member can read every other's memory. All get the same answer.
    fn reaches(&self) -> bool;

    /// Copies from a member's memory, at an address that it has shown. False: it could not be read. The next round
    /// reports a member that has died.
    fn fetch(&mut self, member: usize, address: u64, into: &mut [u8]) -> bool;
}

/// How an operation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Exposed {
    /// It is done.
    Done,
    /// A member could not read another's memory. Contributions are as they were.
    Refused,
}

/// The bytes that are combined at a time: they stay in the second-level cache, and one system call for them costs
/// little.
const TILE: usize = 32 << 10;

/// Contributions up to this length are published as a copy. Measured with two that exchange 64, 128 and 256 KiB: 25, 34
/// and 72 us without, 19, 32 and 76 with it.
const COPIED: usize = 256 << 10;

/// Sends each member its part of every member's data, with parts of one length.
pub fn alltoall<M: OpenMemory>(memory: &mut M, give: &[u8], get: &mut [u8]) -> Result<Exposed, Failure> {
    let group @ Group { own, size } = memory.group();
    let each = give.len() / size;
    let word = word(Doing::ExposeAllToAll, [each]);
    // Others read the copy, not what it is made of: a program that soon writes that again has its cache lines to
    // itself. The copy is made if it costs less than it saves.
    let copy = if give.len() <= COPIED { give.to_vec() } else { Vec::new() };
    let given = if copy.is_empty() { give } else { &copy };
    memory.round(word, [&place_of(given), &[]])?;
    let (mut could, places) = (true, shown_by_all(memory)?);
    for from in group.others() {
        let place = places[from] + (own * each) as u64;
        could = could && memory.fetch(from, place, &mut get[from * each..][..each]);
    }
    get[own * each..][..each].copy_from_slice(&give[own * each..][..each]);
    settle(memory, word, could)
}

/// The contributions of all combined, for all. `mine` is the own one; without it `data` is, and the result in any case.
pub fn allreduce<M: OpenMemory>(
    memory: &mut M,
    mine: Option<&[u8]>,
    data: &mut [u8],
    unit: usize,
    combine: Combine<'_>,
) -> Result<Exposed, Failure> {
    reduce_for(memory, None, mine, data, unit, combine)
}

/// The same for the root alone. On all other members `data` is only read, if there is no `mine`; otherwise it is not
/// used.
pub fn reduce<M: OpenMemory>(
    memory: &mut M,
    root: usize,
    mine: Option<&[u8]>,
    data: &mut [u8],
    unit: usize,
    combine: Combine<'_>,
) -> Result<Exposed, Failure> {
    reduce_for(memory, Some(root), mine, data, unit, combine)
}

/// The contributions of all combined, of which each member gets its part: `parts` has the place of each part in `mine`. `data` has no byte
/// in common with `mine`, and is as long as the own part.
pub fn reduce_scatter<M: OpenMemory>(
    memory: &mut M,
    mine: &[u8],
    parts: &[Span],
    data: &mut [u8],
    unit: usize,
    combine: Combine<'_>,
) -> Result<Exposed, Failure> {
    let (part, unit) = (parts[memory.group().own], unit.max(1));
    let word = word(Doing::ExposeReduceScatter, parts.iter().map(|part| part.length).chain([unit]));
    memory.round(word, [&place_of(mine), &[]])?;
    let could = combine_share(memory, part.at, &mine[part.at..part.end()], data, unit, combine)?;
    settle(memory, word, could)
}

/// Each member combines a share from all members' memory. A member that gets the result fetches the shares of the
/// others.
fn reduce_for<M: OpenMemory>(
    memory: &mut M,
    root: Option<usize>,
    mine: Option<&[u8]>,
    data: &mut [u8],
    unit: usize,
    combine: Combine<'_>,
) -> Result<Exposed, Failure> {
    let (group, unit) = (memory.group(), unit.max(1));
    let length = mine.map_or(data.len(), <[u8]>::len);
    let word = match root {
        Some(root) => word(Doing::ExposeReduce, [root, length, unit]),
        None => word(Doing::ExposeAllReduce, [length, unit]),
    };
    let gets = root.is_none_or(|root| root == group.own);
    memory.round(word, [&place_of(mine.unwrap_or(data)), &[]])?;
    let shares = shares(length, unit, group.size);
    let share = shares[group.own];
    let own = share.at..share.end();
    // The result goes to its destination, unless the contribution there is still needed in case a member could not
    // read.
    let mut apart = if mine.is_some() && gets { Vec::new() } else { vec![0; share.length] };
    let could = match mine {
        Some(mine) if gets => {
            combine_share(memory, share.at, &mine[own.clone()], &mut data[own.clone()], unit, combine)
        }
        Some(mine) => combine_share(memory, share.at, &mine[own.clone()], &mut apart, unit, combine),
        None => combine_share(memory, share.at, &data[own.clone()], &mut apart, unit, combine),
    }?;
    let result = if mine.is_some() && gets { &data[own.clone()] } else { &apart };
    memory.round(word, [&if could { place_of(result) } else { REFUSED }, &[]])?;
    let places = shown_by_all(memory)?;
    if places.iter().any(|place| place.to_ne_bytes() == REFUSED) {
        return Ok(Exposed::Refused);
    }
    let mut could = true;
    if gets {
        if mine.is_none() {
            data[own].copy_from_slice(&apart);
        }
        for member in group.others() {
            let (part, place) = (shares[member], places[member]);
            could = could && memory.fetch(member, place, &mut data[part.at..part.end()]);
        }
    }
    memory.round(word, [&[], &[]])?;
    // All have read that memory once, or written it.
    if could { Ok(Exposed::Done) } else { Err(Failure::Engine(Status::Refused)) }
}

/// Combines the bytes of all members from `at` on, for the length of the result, in the order of members; `own` are
/// this one's. Whether all could be read.
fn combine_share<M: OpenMemory>(
    memory: &mut M,
    at: usize,
    own: &[u8],
    result: &mut [u8],
    unit: usize,
    combine: Combine<'_>,
) -> Result<bool, Failure> {
    let (Group { own: me, size }, places) = (memory.group(), shown_by_all(memory)?);
    let longest = (TILE / unit * unit).max(unit);
    let mut come = vec![0; longest.min(result.len())];
    let mut at = at as u64;
    for (sum, own) in result.chunks_mut(longest).zip(own.chunks(longest)) {
        let come = &mut come[..sum.len()];
        for member in 0..size {
            let into = if member == 0 { &mut *sum } else { &mut *come };
            if member == me {
                into.copy_from_slice(own);
            } else if !memory.fetch(member, places[member] + at, into) {
                return Ok(false);
            }
            if member > 0 {
                combine(sum, come);
            }
        }
        at += sum.len() as u64;
    }
    Ok(true)
}

/// A member that could not read publishes this address. Data never has this address.
const REFUSED: [u8; 8] = [0; 8];

fn place_of(data: &[u8]) -> [u8; 8] {
    // Empty data has an address too.
    (data.as_ptr() as u64).to_ne_bytes()
}

/// The address that a member shows.
fn shown<M: OpenMemory>(memory: &mut M, member: usize) -> Result<u64, Failure> {
    let mut place = [0; 8];
    memory.read(member, 0, &mut place)?;
    Ok(u64::from_ne_bytes(place))
}

fn shown_by_all<M: OpenMemory>(memory: &mut M) -> Result<Places, Failure> {
    (0..memory.group().size).map(|member| shown(memory, member)).collect()
}

/// For few members they need no memory from the heap.
type Places = SmallVec<[u64; 16]>;

/// Waits until all have read what they want, and hears whether they could.
fn settle<M: OpenMemory>(memory: &mut M, word: u32, could: bool) -> Result<Exposed, Failure> {
    memory.round(word, [&[could.into()], &[]])?;
    for member in memory.group().others() {
        let mut theirs = [0];
        memory.read(member, 0, &mut theirs)?;
        if theirs == [0] {
            return Ok(Exposed::Refused);
        }
    }
    Ok(if could { Exposed::Done } else { Exposed::Refused })
}
