//! Collective operations with the neighbours that a topology names.

use crate::calls::arguments::Numbers;
use crate::calls::collective::global::{CallForm, counted, go, typed};
use crate::collective::{Blocks, Call, Layout, is_in_place};
use crate::comms::comm::Comm;
use crate::comms::handles::comm;
use crate::errors::{Error, Mpi, class};
use crate::messages::buffers::Data;
use std::ffi::c_int;

/// How many neighbours this rank gives to, and gets from.
fn degrees(comm: &Comm) -> Mpi<(usize, usize)> {
    let topology = comm.topology.as_ref().ok_or_else(|| crate::comms::topology::other("neighbourhood"))?;
    let (to, from) = topology.neighbours(comm.rank() as i32)?;
    Ok((to.len(), from.len()))
}

/// How many types an operation with a communicator's neighbours gets for what this rank gives, and for what it gets.
pub fn neighbour_types(handle: i32) -> (usize, usize) {
    comm(handle).and_then(|comm| degrees(&comm)).unwrap_or((0, 0))
}

fn refuse_in_place(give: *const u8) -> Mpi {
    match is_in_place(give) {
        true => Err(Error::new(class::BUFFER, "MPI_IN_PLACE is not for neighbourhood operations")),
        false => Ok(()),
    }
}

pub unsafe fn neighbor_allgather(
    give: *const u8,
    give_count: i64,
    give_type: i32,
    get: *mut u8,
    get_count: i64,
    get_type: i32,
    handle: i32,
    way: CallForm,
) -> Mpi {
    let comm = comm(handle)?;
    let (_, ins) = degrees(&comm)?;
    refuse_in_place(give)?;
    let own = Blocks::one(Data::new(give, give_count, give_type)?);
    let blocks = Blocks::new(get, ins, Layout::Regular { count: get_count, datatype: get_type })?;
    // SAFETY: the caller's promise.
    unsafe { go(&comm, Call::Neighbours { give: own, same: true, get: blocks }, way) }
}

pub unsafe fn neighbor_allgatherv(
    give: *const u8,
    give_count: i64,
    give_type: i32,
    get: *mut u8,
    counts: Numbers,
    displacements: Numbers,
    get_type: i32,
    handle: i32,
    way: CallForm,
) -> Mpi {
    let comm = comm(handle)?;
    let (_, ins) = degrees(&comm)?;
    refuse_in_place(give)?;
    let own = Blocks::one(Data::new(give, give_count, give_type)?);
    // SAFETY: the caller's promise.
    unsafe {
        let blocks = counted(get, ins, counts, displacements, get_type)?;
        go(&comm, Call::Neighbours { give: own, same: true, get: blocks }, way)
    }
}

pub unsafe fn neighbor_alltoall(
    give: *const u8,
    give_count: i64,
    give_type: i32,
    get: *mut u8,
    get_count: i64,
    get_type: i32,
    handle: i32,
    way: CallForm,
) -> Mpi {
    let comm = comm(handle)?;
    let (outs, ins) = degrees(&comm)?;
    refuse_in_place(give)?;
    let own = Blocks::new(give, outs, Layout::Regular { count: give_count, datatype: give_type })?;
    let blocks = Blocks::new(get, ins, Layout::Regular { count: get_count, datatype: get_type })?;
    // SAFETY: the caller's promise.
    unsafe { go(&comm, Call::Neighbours { give: own, same: false, get: blocks }, way) }
}

pub unsafe fn neighbor_alltoallv(
    give: *const u8,
    give_counts: Numbers,
    give_displacements: Numbers,
    give_type: i32,
    get: *mut u8,
    counts: Numbers,
    displacements: Numbers,
    get_type: i32,
    handle: i32,
    way: CallForm,
) -> Mpi {
    let comm = comm(handle)?;
    let (outs, ins) = degrees(&comm)?;
    refuse_in_place(give)?;
    // SAFETY: the caller's promise.
    unsafe {
        let own = counted(give, outs, give_counts, give_displacements, give_type)?;
        let blocks = counted(get, ins, counts, displacements, get_type)?;
        go(&comm, Call::Neighbours { give: own, same: false, get: blocks }, way)
    }
}

pub unsafe fn neighbor_alltoallw(
    give: *const u8,
    give_counts: Numbers,
    give_displacements: Numbers,
    give_types: *const c_int,
    get: *mut u8,
    counts: Numbers,
    displacements: Numbers,
    get_types: *const c_int,
    handle: i32,
    way: CallForm,
) -> Mpi {
    let comm = comm(handle)?;
    let (outs, ins) = degrees(&comm)?;
    refuse_in_place(give)?;
    // SAFETY: the caller's promise.
    unsafe {
        let own = typed(give, outs, give_counts, give_displacements, give_types)?;
        let blocks = typed(get, ins, counts, displacements, get_types)?;
        go(&comm, Call::Neighbours { give: own, same: false, get: blocks }, way)
    }
}
