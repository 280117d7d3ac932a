//! Short blocking calls on plain data: predefined types in one run, and operations of MPI's own.
//!
//! Programs make these calls most often. They use the algorithms of all other calls, but without a [`Call`]. To write, move
//! and read a `Call` takes longer than the exchange of eight bytes. A function returns `None` if the call is of another
//! kind or wrong; then the function has done nothing.

mod ring;

use super::at_once::Doing;
use super::blocks::Blocks;
use super::call::{Call, Op};
use super::is_in_place;
use super::last::note;
use crate::comms::comm::Comm;
use crate::errors::Mpi;
use crate::messages::buffers::{Data, are_apart, plain};
use crate::objects::combine::Combine;
use crate::objects::ops::{PlainOperation, plain_operation};
use crate::process::introspect;
use parvum_collectives::table::{Algorithm, Case, Operation, choose};
use parvum_collectives::{Failure, segment};
use parvum_partition::AtSegment;
pub(crate) use ring::{broadcast, gather, reduce, scan, scatter};
use std::ptr::NonNull;
use std::sync::Arc;

/// A barrier.
pub(super) fn barrier(comm: &Arc<Comm>) -> Mpi {
    let doing = Doing::begin(comm, Operation::Barrier as u32, -1, introspect::NO_BYTES)?;
    match doing.segment() {
        Ok(Some(mut segment)) => {
            note(Algorithm::SharedSegment);
            comm.sharing().has_met();
            doing.end(segment::barrier(&mut segment))
        }
        Ok(None) => doing.by_messages(Call::Barrier),
        Err(failure) => doing.end(Err(failure)),
    }
}

/// The table's choice for a case at the members' segment. `None`: the members have no segment.
#[inline]
fn choice(comm: &Comm, operation: Operation, case: &Case) -> Option<Algorithm> {
    (comm.remote().is_none() && comm.sharing().is_open()).then(|| choose(operation, case))
}

#[inline]
fn meets(comm: &Comm, operation: Operation, case: &Case) -> bool {
    choice(comm, operation, case) == Some(Algorithm::SharedSegment)
}

/// A call in a round at the segment. If the segment has gone, `otherwise` gives the same call.
#[inline(always)]
fn at_segment(
    comm: &Arc<Comm>,
    operation: Operation,
    bytes: u64,
    exchange: impl FnOnce(&mut AtSegment<'_>) -> Result<(), Failure>,
    otherwise: impl FnOnce() -> Call,
) -> Mpi {
    let doing = Doing::begin(comm, operation as u32, -1, bytes)?;
    match doing.segment() {
        Ok(Some(mut segment)) => {
            note(Algorithm::SharedSegment);
            comm.sharing().has_met();
            doing.end(exchange(&mut segment))
        }
        segment => doing.run_with(segment, otherwise(), bytes),
    }
}

/// `MPI_Allreduce`.
#[inline]
pub(crate) fn allreduce(
    comm: &Arc<Comm>,
    (give, get): (*const u8, *mut u8),
    (count, of): (i64, i32),
    op: i32,
) -> Option<Mpi> {
    let (result, length) = plain(get, count, of)?;
    let how = plain_operation(op, of)?;
    let own = contribution(give, result, length)?;
    let case = Case::in_segment(comm.size(), length).elements(how.unit.into()).ordered(how.order);
    if !meets(comm, Operation::Allreduce, &case) {
        return None;
    }
    // SAFETY: the program promises the memory of its call.
    let data = unsafe { slice_mut(result, length) };
    if let Some(own) = own {
        // SAFETY: likewise; the two are apart.
        data.copy_from_slice(unsafe { slice(own, length) });
    }
    let exchange = |segment: &mut AtSegment<'_>| {
        segment::allreduce(segment, data, how.unit.into(), &mut |first, second| (how.combine)(first, second))
    };
    let again = || {
        let get = Data::memory(result.as_ptr(), length);
        Call::Allreduce { give: own.map(|own| Data::memory(own.as_ptr(), length)), get, op: op_of(how) }
    };
    Some(at_segment(comm, Operation::Allreduce, length as u64, exchange, again))
}

/// `MPI_Reduce_scatter_block`.
#[inline]
pub(crate) fn reduce_scatter_block(
    comm: &Arc<Comm>,
    (give, get): (*const u8, *mut u8),
    (count, of): (i64, i32),
    op: i32,
) -> Option<Mpi> {
    let (result, each) = plain(get, count, of)?;
    let how = plain_operation(op, of)?;
    let (own, length) = (NonNull::new(give.cast_mut())?, each.checked_mul(comm.size())?);
    if is_in_place(give) || !are_apart(own, length, result, each) {
        return None;
    }
    let case = Case::in_segment(comm.size(), length).elements(how.unit.into()).ordered(how.order);
    if !meets(comm, Operation::ReduceScatter, &case) {
        return None;
    }
    // SAFETY: the program promises the memory of its call.
    let (mine, data) = unsafe { (slice(own, length), slice_mut(result, each)) };
    let exchange = |segment: &mut AtSegment<'_>| {
        let combine = &mut |first: &mut [u8], second: &[u8]| (how.combine)(first, second);
        segment::reduce_scatter_block(segment, mine, data, how.unit.into(), combine)
    };
    let again = || {
        let (give, get) = (Data::memory(own.as_ptr(), length), Data::memory(result.as_ptr(), each));
        Call::ReduceScatter { give, get, lengths: vec![each; comm.size()], op: op_of(how) }
    };
    Some(at_segment(comm, Operation::ReduceScatter, length as u64, exchange, again))
}

/// `MPI_Allgather`.
#[inline]
pub(crate) fn allgather(
    comm: &Arc<Comm>,
    (give, given, give_type): (*const u8, i64, i32),
    (get, count, of): (*mut u8, i64, i32),
) -> Option<Mpi> {
    let (all, each) = plain(get, count, of)?;
    let (own, length) = plain(give, given, give_type)?;
    let room = each.checked_mul(comm.size())?;
    if is_in_place(give) || length != each || !are_apart(own, length, all, room) {
        return None;
    }
    let case = Case::in_segment(comm.size(), room);
    if each > parvum_api::segment::ROOM || !meets(comm, Operation::Allgather, &case) {
        return None;
    }
    // SAFETY: the program promises the memory of its call.
    let (mine, data) = unsafe { (slice(own, length), slice_mut(all, room)) };
    let again = || {
        let get = Blocks::row(Data::memory(all.as_ptr(), room), comm.size(), each);
        Call::Allgather { give: Some(Data::memory(own.as_ptr(), length)), get }
    };
    let exchange = |segment: &mut AtSegment<'_>| segment::allgather_short(segment, mine, data);
    Some(at_segment(comm, Operation::Allgather, introspect::NO_BYTES, exchange, again))
}

/// `MPI_Alltoall`.
#[inline]
pub(crate) fn alltoall(
    comm: &Arc<Comm>,
    (give, given, give_type): (*const u8, i64, i32),
    (get, count, of): (*mut u8, i64, i32),
) -> Option<Mpi> {
    let (all, each) = plain(get, count, of)?;
    let (own, length) = plain(give, given, give_type)?;
    let room = each.checked_mul(comm.size())?;
    if is_in_place(give) || length != each || !are_apart(own, room, all, room) {
        return None;
    }
    if !meets(comm, Operation::Alltoall, &Case { is_regular: true, ..Case::in_segment(comm.size(), room) }) {
        return None;
    }
    // SAFETY: the program promises the memory of its call.
    let (mine, data) = unsafe { (slice(own, room), slice_mut(all, room)) };
    let again = || {
        let row = |start: NonNull<u8>| Blocks::row(Data::memory(start.as_ptr(), room), comm.size(), each);
        Call::Alltoall { give: Some(row(own)), get: row(all), regular: true }
    };
    let exchange = |segment: &mut AtSegment<'_>| segment::alltoall(segment, mine, data);
    Some(at_segment(comm, Operation::Alltoall, introspect::NO_BYTES, exchange, again))
}

/// The own contribution to a result, if it does not lie there already. `None`: its address is wrong.
#[inline(always)]
fn contribution(give: *const u8, result: NonNull<u8>, length: usize) -> Option<Option<NonNull<u8>>> {
    if is_in_place(give) {
        return Some(None);
    }
    let own = NonNull::new(give.cast_mut())?;
    are_apart(own, length, result, length).then_some(Some(own))
}

#[cold]
fn op_of(how: PlainOperation) -> Op {
    Op { combine: Combine::Plain(how.combine), order: how.order, unit: how.unit.into() }
}

/// # Safety
/// The memory must be readable for `length` bytes.
#[inline(always)]
unsafe fn slice<'d>(start: NonNull<u8>, length: usize) -> &'d [u8] {
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(start.as_ptr(), length) }
}

/// # Safety
/// The memory must be writable for `length` bytes, and no other code may use it.
#[inline(always)]
unsafe fn slice_mut<'d>(start: NonNull<u8>, length: usize) -> &'d mut [u8] {
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts_mut(start.as_ptr(), length) }
}
