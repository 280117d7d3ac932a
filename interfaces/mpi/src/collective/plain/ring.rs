//! The plain calls by the broadcast ring: with a root, and scans.

use super::{choice, contribution, op_of, slice, slice_mut};
use crate::collective::at_once::Doing;
use crate::collective::blocks::Blocks;
use crate::collective::call::Call;
use crate::collective::is_in_place;
use crate::comms::comm::Comm;
use crate::errors::Mpi;
use crate::messages::buffers::{Data, are_apart, plain};
use crate::objects::ops::plain_operation;
use crate::process::introspect;
use parvum_collectives::Failure;
use parvum_collectives::segment::{self, Writers};
use parvum_collectives::table::{Algorithm, Case, Operation};
use parvum_partition::AtSegment;
use std::ptr::NonNull;
use std::sync::Arc;

/// Whether the members use the ring for such an operation.
#[inline]
fn announces(comm: &Comm, operation: Operation, case: &Case) -> bool {
    choice(comm, operation, case) == Some(Algorithm::BroadcastRing)
}

/// A call by the ring. If the segment has gone, `otherwise` gives the same call.
#[inline(always)]
fn at_ring(
    comm: &Arc<Comm>,
    (operation, root, writers): (Operation, i32, Writers),
    bytes: u64,
    exchange: impl FnOnce(&mut AtSegment<'_>) -> Result<(), Failure>,
    otherwise: impl FnOnce() -> Call,
) -> Mpi {
    let doing = Doing::begin(comm, operation as u32, root, bytes)?;
    match doing.segment() {
        Ok(Some(mut segment)) => doing.by_ring(&mut segment, writers, exchange),
        segment => doing.run_with(segment, otherwise(), bytes),
    }
}

/// `MPI_Bcast`.
#[inline]
pub(crate) fn broadcast(
    comm: &Arc<Comm>,
    (address, count, of): (*mut u8, i64, i32),
    root: i32,
) -> Option<Mpi> {
    let (start, length) = plain(address, count, of)?;
    let place = comm.root(root).ok()?;
    if is_in_place(address) || !announces(comm, Operation::Broadcast, &Case::in_segment(comm.size(), length))
    {
        return None;
    }
    let otherwise = || Call::Bcast { data: Data::memory(start.as_ptr(), length), root };
    let exchange = |segment: &mut AtSegment<'_>| match place == comm.rank() {
        // SAFETY: the program promises the memory of its call. The root's memory may be constant.
        true => segment::spread(segment, unsafe { slice(start, length) }),
        // SAFETY: likewise; the program writes nothing there during the call.
        false => segment::hear(segment, place, unsafe { slice_mut(start, length) }),
    };
    Some(at_ring(
        comm,
        (Operation::Broadcast, root, Writers::Root(place)),
        length as u64,
        exchange,
        otherwise,
    ))
}

/// `MPI_Scatter`.
#[inline]
pub(crate) fn scatter(
    comm: &Arc<Comm>,
    (give, given, give_type): (*const u8, i64, i32),
    (get, count, of): (*mut u8, i64, i32),
    root: i32,
) -> Option<Mpi> {
    let place = comm.root(root).ok()?;
    let (is_root, size) = (place == comm.rank(), comm.size());
    let (part, each) = plain(get, count, of)?;
    let whole = match is_root {
        true => Some(plain(give, given, give_type).filter(|&(_, part)| part == each)?.0),
        false => None,
    };
    let room = each.checked_mul(size)?;
    let is_wrong = is_in_place(give) && is_root
        || is_in_place(get)
        || whole.is_some_and(|whole| !are_apart(whole, room, part, each));
    let case = Case { is_regular: true, ..Case::in_segment(size, each) };
    if is_wrong || !announces(comm, Operation::Scatter, &case) {
        return None;
    }
    // SAFETY: the program promises the memory of its call.
    let data = unsafe { slice_mut(part, each) };
    let otherwise = || {
        let row = |start: NonNull<u8>| Blocks::row(Data::memory(start.as_ptr(), room), size, each);
        let get = Some(Data::memory(part.as_ptr(), each));
        Call::Scatter { give: whole.map_or_else(Blocks::none, row), get, root, regular: true }
    };
    let exchange = |segment: &mut AtSegment<'_>| match whole {
        // SAFETY: likewise.
        Some(whole) => segment::give(segment, unsafe { slice(whole, room) }).map(|()| {
            // SAFETY: likewise; the two are apart.
            data.copy_from_slice(unsafe { &slice(whole, room)[place * each..][..each] });
        }),
        None => segment::take(segment, place, data),
    };
    Some(at_ring(
        comm,
        (Operation::Scatter, root, Writers::Root(place)),
        introspect::NO_BYTES,
        exchange,
        otherwise,
    ))
}

/// `MPI_Gather`.
#[inline]
pub(crate) fn gather(
    comm: &Arc<Comm>,
    (give, given, give_type): (*const u8, i64, i32),
    (get, count, of): (*mut u8, i64, i32),
    root: i32,
) -> Option<Mpi> {
    let place = comm.root(root).ok()?;
    let (is_root, size) = (place == comm.rank(), comm.size());
    let (own, each) = plain(give, given, give_type)?;
    let room = each.checked_mul(size)?;
    let whole = match is_root {
        true => Some(plain(get, count, of).filter(|&(_, part)| part == each)?.0),
        false => None,
    };
    let is_wrong = is_in_place(give) || whole.is_some_and(|whole| !are_apart(whole, room, own, each));
    let case = Case { is_regular: true, ..Case::in_segment(size, each) };
    if is_wrong || !announces(comm, Operation::Gather, &case) {
        return None;
    }
    // SAFETY: the program promises the memory of its call.
    let mine = unsafe { slice(own, each) };
    let otherwise = || {
        let row = |start: NonNull<u8>| Blocks::row(Data::memory(start.as_ptr(), room), size, each);
        let give = Some(Data::memory(own.as_ptr(), each));
        Call::Gather { give, get: whole.map_or_else(Blocks::none, row), root, regular: true }
    };
    let exchange = |segment: &mut AtSegment<'_>| match whole {
        Some(whole) => {
            // SAFETY: likewise; the two are apart.
            let all = unsafe { slice_mut(whole, room) };
            all[place * each..][..each].copy_from_slice(mine);
            segment::gather(segment, all)
        }
        None => segment::contribute(segment, place, mine, None),
    };
    Some(at_ring(
        comm,
        (Operation::Gather, root, Writers::AllBut(place)),
        introspect::NO_BYTES,
        exchange,
        otherwise,
    ))
}

/// `MPI_Reduce`.
#[inline]
pub(crate) fn reduce(
    comm: &Arc<Comm>,
    (give, get): (*const u8, *mut u8),
    (count, of): (i64, i32),
    (op, root): (i32, i32),
) -> Option<Mpi> {
    let place = comm.root(root).ok()?;
    let (is_root, size) = (place == comm.rank(), comm.size());
    let how = plain_operation(op, of)?;
    let (address, length) = plain(if is_root { get } else { give.cast_mut() }, count, of)?;
    let own = if is_root { contribution(give, address, length)? } else { Some(address) };
    let case = Case::in_segment(size, length).elements(how.unit.into()).ordered(how.order);
    if !is_root && is_in_place(give) || !announces(comm, Operation::Reduce, &case) {
        return None;
    }
    let otherwise = || {
        let data = |start: NonNull<u8>| Data::memory(start.as_ptr(), length);
        let get = if is_root { data(address) } else { Data::NONE };
        Call::Reduce { give: own.map(data), get, op: op_of(how), root }
    };
    let exchange = |segment: &mut AtSegment<'_>| {
        if !is_root {
            // SAFETY: the program promises the memory of its call.
            return segment::contribute(
                segment,
                place,
                unsafe { slice(address, length) },
                Some(how.unit.into()),
            );
        }
        // SAFETY: likewise.
        let data = unsafe { slice_mut(address, length) };
        if let Some(own) = own {
            // SAFETY: likewise; the two are apart.
            data.copy_from_slice(unsafe { slice(own, length) });
        }
        segment::reduce(segment, data, how.unit.into(), &mut |first, second| (how.combine)(first, second))
    };
    Some(at_ring(comm, (Operation::Reduce, root, Writers::AllBut(place)), length as u64, exchange, otherwise))
}

/// `MPI_Scan`.
#[inline]
pub(crate) fn scan(
    comm: &Arc<Comm>,
    (give, get): (*const u8, *mut u8),
    (count, of): (i64, i32),
    op: i32,
) -> Option<Mpi> {
    let (result, length) = plain(get, count, of)?;
    let how = plain_operation(op, of)?;
    let own = contribution(give, result, length)?;
    if !announces(comm, Operation::Scan, &Case::in_segment(comm.size(), length)) {
        return None;
    }
    // SAFETY: the program promises the memory of its call.
    let data = unsafe { slice_mut(result, length) };
    if let Some(own) = own {
        // SAFETY: likewise; the two are apart.
        data.copy_from_slice(unsafe { slice(own, length) });
    }
    let otherwise = || {
        let data = |start: NonNull<u8>| Data::memory(start.as_ptr(), length);
        Call::Scan { give: own.map(data), get: data(result), op: op_of(how), exclusive: false }
    };
    let exchange = |segment: &mut AtSegment<'_>| {
        let combine = &mut |first: &mut [u8], second: &[u8]| (how.combine)(first, second);
        segment::scan(segment, data, false, how.unit.into(), combine)
    };
    Some(at_ring(
        comm,
        (Operation::Scan, -1, Writers::AllBut(comm.size() - 1)),
        length as u64,
        exchange,
        otherwise,
    ))
}
