//! When processes die: what a communicator knows of it.

use super::put;
use crate::comm::comm;
use crate::errors::Mpi;
use crate::failure;
use crate::process::process;
use std::ffi::c_int;

pub unsafe fn comm_is_revoked(handle: i32, flag: *mut c_int) -> Mpi {
    let comm = comm(handle)?;
    // SAFETY: the caller's promise.
    unsafe { put(flag, c_int::from(comm.is_revoked())) }
}

pub unsafe fn comm_failure_ack(handle: i32) -> Mpi {
    let comm = comm(handle)?;
    comm.acknowledge(failure::dead(process()?, comm.peers().tasks())?);
    Ok(())
}

unsafe fn put_group(handle: i32, ranks: Vec<usize>, place: *mut c_int) -> Mpi {
    let comm = comm(handle)?;
    let tasks = ranks.iter().map(|&rank| comm.peers().tasks()[rank]).collect();
    let group = crate::group::Group::new(tasks, process()?.me);
    // SAFETY: the caller's promise.
    unsafe { put(place, crate::group::keep(group)?) }
}

pub unsafe fn comm_failure_get_acked(handle: i32, place: *mut c_int) -> Mpi {
    let ranks = comm(handle)?.acknowledged();
    // SAFETY: the caller's promise.
    unsafe { put_group(handle, ranks, place) }
}

pub unsafe fn comm_get_failed(handle: i32, place: *mut c_int) -> Mpi {
    let ranks = failure::dead(process()?, comm(handle)?.peers().tasks())?;
    // SAFETY: the caller's promise.
    unsafe { put_group(handle, ranks, place) }
}

pub unsafe fn comm_ack_failed(handle: i32, count: i32, acknowledged: *mut c_int) -> Mpi {
    let comm = comm(handle)?;
    let mut ranks = failure::dead(process()?, comm.peers().tasks())?;
    ranks.truncate(count.max(0) as usize);
    let length = ranks.len();
    comm.acknowledge(ranks);
    // SAFETY: the caller's promise.
    unsafe { put(acknowledged, length as c_int) }
}
