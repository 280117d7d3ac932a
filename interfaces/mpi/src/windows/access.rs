//! Who accesses the memory of a member: the shortest way there is.

use crate::errors::{Error, Mpi, class};
use crate::messages::buffers::{Data, checked_count};
use crate::objects::datatypes::{datatype, handle_of, plain_size};
use crate::objects::ops::{NO_OP, REPLACE, is_built_in, operation};
use crate::windows::elements::{ElementOp, Work};
use crate::windows::questions::Question;
use crate::windows::runs::{Runs, in_parts};
use crate::windows::{Flavor, Target, Win, memory};
use parvum_datatypes::{Basic, Class};
use parvum_service::Trouble;

/// With so many pieces or more the target is asked to do it, instead of a copy by the kernel for each.
const MANY: usize = 16;

/// Data at the target, as a call names it.
pub(crate) struct There {
    pub(crate) rank: i32,
    pub(crate) displacement: i64,
    pub(crate) count: i64,
    pub(crate) datatype: i32,
}

/// The same, found.
struct Found<'w> {
    rank: usize,
    target: &'w Target,
    /// In the target's memory.
    runs: Runs,
    length: usize,
}

impl Win {
    /// Finds data at the target; `None` for `MPI_PROC_NULL`.
    fn find(&self, there: &There) -> Mpi<Option<Found<'_>>> {
        let count = checked_count(there.count)?;
        let plain = plain_size(there.datatype);
        let layout = if plain.is_none() { Some(datatype(there.datatype)?) } else { None };
        let Some((rank, target)) = self.target(there.rank)? else { return Ok(None) };
        self.epochs().permits(rank)?;
        let at = there.displacement.checked_mul(target.unit);
        let at = at.filter(|&at| at >= 0 || self.flavor == Flavor::Dynamic).ok_or_else(|| {
            Error::new(class::DISP, format!("the displacement is {}; it begins at 0", there.displacement))
        })?;
        let start = target.base.wrapping_add(at as u64);
        let runs = match layout {
            None => Runs::One([(start, (count * plain.unwrap_or(0)) as u64)]),
            Some(datatype) => {
                let start = std::ptr::without_provenance(start as usize);
                let pieces = datatype.layout.pieces(there.count, start, usize::MAX).unwrap_or_default();
                let run = |(start, length): (*const u8, usize)| (start.addr() as u64, length as u64);
                Runs::Many(pieces.into_iter().map(run).collect())
            }
        };
        let length = runs.iter().map(|(_, length)| *length as usize).sum();
        if self.flavor != Flavor::Dynamic && length > 0 {
            self.refuse_beyond(rank, target, &runs)?;
        }
        Ok(Some(Found { rank, target, runs, length }))
    }

    fn refuse_beyond(&self, rank: usize, target: &Target, runs: &[(u64, u64)]) -> Mpi {
        let end = target.base + target.size;
        let is_in = |&(start, length): &(u64, u64)| {
            start >= target.base && start.checked_add(length).is_some_and(|last| last <= end)
        };
        if runs.iter().all(is_in) {
            return Ok(());
        }
        let text = format!("the data would lie beyond the {} bytes of rank {rank}'s window", target.size);
        Err(Error::new(class::RMA_RANGE, text))
    }

    pub(crate) fn put(&self, data: &Data, there: &There) -> Mpi {
        let Some(found) = self.find(there)? else { return Ok(()) };
        refuse_other_length(data.length(), found.length)?;
        let packed;
        let bytes = match data.bytes() {
            Some(bytes) => bytes,
            None => {
                packed = data.packed();
                &packed
            }
        };
        if let Some(runs) = found.runs_here() {
            return PUT.run(&runs, bytes, None).map(drop);
        }
        let Some(window) = found.by_copies() else { return self.ask_for(&found, PUT, bytes).map(drop) };
        let mut rest = bytes;
        for &(start, length) in found.runs.iter() {
            let (now, later) = rest.split_at(length as usize);
            let offset = start - found.target.base;
            let done = self.service.put(found.target.service, window, offset, now, None);
            done.map_err(|why| failed(why, found.rank))?;
            rest = later;
        }
        Ok(())
    }

    pub(crate) fn get(&self, data: &mut Data, there: &There) -> Mpi {
        let Some(found) = self.find(there)? else { return Ok(()) };
        refuse_other_length(data.length(), found.length)?;
        if let (None, Some(window)) = (found.runs_here(), found.by_copies())
            && let Some(mut rest) = data.bytes_mut()
        {
            for &(start, length) in found.runs.iter() {
                let (now, later) = rest.split_at_mut(length as usize);
                let offset = start - found.target.base;
                let done = self.service.get(found.target.service, window, offset, now, None);
                done.map_err(|why| failed(why, found.rank))?;
                rest = later;
            }
            return Ok(());
        }
        if let (Some(runs), Some(mut rest)) = (found.runs_here(), data.bytes_mut()) {
            for &(start, length) in runs.iter() {
                let (now, later) = rest.split_at_mut(length as usize);
                memory::read(start, now);
                rest = later;
            }
            return Ok(());
        }
        data.unpack(&match found.runs_here() {
            Some(runs) => GET.run(&runs, &[], None)?,
            None => self.ask_for(&found, GET, &[])?,
        });
        Ok(())
    }

    /// Combines data with the target's; what that was, when it is wanted. Both have one kind of elements.
    pub(crate) fn accumulate(&self, data: &Data, there: &There, op: i32, result: Option<&Data>) -> Mpi {
        if !is_built_in(op) {
            return Err(Error::new(class::OP, "windows take MPI's own operations only"));
        }
        let basic = kind(there.datatype)?;
        // Of no elements it makes no difference.
        if let Some(basic) = basic
            && !matches!(op, REPLACE | NO_OP)
            && there.count > 0
        {
            operation(op, handle_of(basic))?;
        }
        let Some(found) = self.find(there)? else { return Ok(()) };
        if op != NO_OP {
            refuse_other_length(data.length(), found.length)?;
        }
        if let Some(result) = result {
            refuse_other_length(result.length(), found.length)?;
        }
        let Some(basic) = basic.filter(|_| found.length > 0) else { return Ok(()) };
        let work = Work { what: ElementOp::Combine(op), basic, fetches: result.is_some() };
        let bytes = if op == NO_OP { Vec::new() } else { data.packed() };
        let old = self.work(&found, work, &bytes)?;
        if let Some(result) = result {
            result.unpack(&old);
        }
        Ok(())
    }

    /// Replaces an element of the target's if it is as expected; what it was.
    pub(crate) fn swap(&self, data: &Data, expected: &Data, there: &There, result: &Data) -> Mpi {
        let is_whole = |basic: &Basic| {
            matches!(
                basic.class(),
                Class::Integer | Class::Unsigned | Class::Logical | Class::Byte | Class::Text
            )
        };
        let basic = kind(there.datatype)?.filter(is_whole).filter(|_| plain_size(there.datatype).is_some());
        let text = "MPI_Compare_and_swap takes predefined types of whole numbers, truth values and bytes";
        let basic = basic.ok_or_else(|| Error::new(class::TYPE, text))?;
        let Some(found) = self.find(there)? else { return Ok(()) };
        let work = Work { what: ElementOp::Swap, basic, fetches: true };
        let old = self.work(&found, work, &[expected.packed(), data.packed()].concat())?;
        result.unpack(&old);
        Ok(())
    }

    /// Changes elements of the target's: here, if this process has the memory, or else the target does it.
    fn work(&self, found: &Found<'_>, work: Work, bytes: &[u8]) -> Mpi<Vec<u8>> {
        let Some(runs) = found.runs_here() else { return self.ask_for(found, work, bytes) };
        if self.flavor == Flavor::Dynamic {
            return self.exposed.work(&work, &runs, bytes);
        }
        let lock = found.target.lock.as_ref();
        in_parts(&runs, &work, bytes, |runs, data| work.run(runs, data, lock))
    }

    /// Asks the target to do it.
    fn ask_for(&self, found: &Found<'_>, work: Work, bytes: &[u8]) -> Mpi<Vec<u8>> {
        in_parts(&found.runs, &work, bytes, |runs, data| {
            self.ask(found.target, found.rank, &Question::Work { work, runs, data })
        })
    }

    /// Asks a member's service.
    pub(crate) fn ask(&self, target: &Target, rank: usize, question: &Question<'_>) -> Mpi<Vec<u8>> {
        let said = self.service.request(target.service, &question.encode(target.id), None);
        let mut said = said.map_err(|why| failed(why, rank))?;
        let class = said.first_chunk().map_or(class::INTERN, |class| i32::from_le_bytes(*class));
        if class != 0 {
            return Err(Error::new(class, format!("rank {rank} refused the access to its window")));
        }
        said.drain(..4);
        Ok(said)
    }
}

const PUT: Work = Work { what: ElementOp::Put, basic: Basic::Byte, fetches: false };
const GET: Work = Work { what: ElementOp::Get, basic: Basic::Byte, fetches: true };

/// The one kind of elements of a type; nothing if it has no elements.
fn kind(handle: i32) -> Mpi<Option<Basic>> {
    let layout = &datatype(handle)?.layout;
    match layout.basic_kind() {
        None if layout.size() > 0 => {
            Err(Error::new(class::TYPE, "the elements of the datatype are of several kinds"))
        }
        kind => Ok(kind),
    }
}

impl Found<'_> {
    /// The runs where this process has the same memory.
    fn runs_here(&self) -> Option<Runs> {
        let here = self.target.here?;
        Some(self.runs.moved(|start| here.wrapping_add(start.wrapping_sub(self.target.base))))
    }

    /// By which name the target's service knows the memory, if the kernel shall copy each piece.
    fn by_copies(&self) -> Option<parvum_service::Window> {
        self.target.window.filter(|_| self.runs.len() < MANY)
    }
}

fn refuse_other_length(here: usize, there: usize) -> Mpi {
    match here == there {
        true => Ok(()),
        false => {
            let text =
                format!("the origin has {here} bytes of data and the target {there}; they must be as many");
            Err(Error::new(class::TRUNCATE, text))
        }
    }
}

#[cold]
fn failed(why: Trouble, rank: usize) -> Error {
    let class = match why {
        Trouble::Gone => class::PROC_FAILED,
        Trouble::NoWindow => class::WIN,
        Trouble::OutOfRange | Trouble::Protected => class::RMA_RANGE,
        _ => class::OTHER,
    };
    Error::new(class, format!("the window of rank {rank}: {why}"))
}
