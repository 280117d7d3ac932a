//! Persistent requests, whole and in parts.

use crate::calls::arguments::{array, array_mut, get, length_of, put, put_at};
use crate::comms::handles::{comm, comm_of};
use crate::errors::{Error, Mpi, class};
use crate::messages::buffers::{Data, checked_count, too_long};
use crate::messages::partitioned::{Transfer, With};
use crate::messages::send::{self, Mode};
use crate::objects::datatypes::datatype;
use crate::objects::numbers::{ANY_SOURCE, ANY_TAG, REQUEST_NULL};
use crate::process::machine::machine_notes;
use crate::process::this::process;
use crate::requests::handles::{Named, Persistent, keep_persistent, named, room_for_one};
use crate::requests::operations::{Operation, State};
use parvum_api::pointers::Out;
use std::ffi::c_int;
use std::sync::Arc;

unsafe fn prepare_send(
    (buffer, count, of): (*const u8, i64, i32),
    (dest, tag, handle): (i32, i32, i32),
    mode: Mode,
    request: *mut c_int,
) -> Mpi {
    let comm = comm(handle)?.clone();
    let data = Data::new(buffer, count, of)?;
    send::check_send(&comm, dest, tag)?;
    let start = move || send::isend(&comm, &data, dest, tag, mode);
    // SAFETY: the caller's promise.
    unsafe { put_at(request, keep_persistent(Persistent::new(handle, start))?) }
}

macro_rules! prepared {
    ($($name:ident $mode:ident)*) => {$(
        pub unsafe fn $name(
            buffer: *const u8, count: i64, of: i32, dest: i32, tag: i32, comm: i32, request: *mut c_int,
        ) -> Mpi {
            // SAFETY: the caller's promise.
            unsafe { prepare_send((buffer, count, of), (dest, tag, comm), Mode::$mode, request) }
        }
    )*};
}

prepared! {
    send_init Standard
    rsend_init Standard
    ssend_init Synchronous
    bsend_init Buffered
}

pub unsafe fn recv_init(
    buffer: *mut u8,
    count: i64,
    of: i32,
    source: i32,
    tag: i32,
    handle: i32,
    request: Out<'_, c_int>,
) -> Mpi {
    let comm = comm(handle)?.clone();
    let data = Data::new(buffer, count, of)?;
    send::pattern(&comm, source, tag)?;
    let start = move || send::irecv(&comm, &data, source, tag);
    put(request, keep_persistent(Persistent::new(handle, start))?)
}

fn begin(handle: i32) -> Mpi {
    if handle == REQUEST_NULL {
        return Err(Error::new(class::REQUEST, "the request is MPI_REQUEST_NULL"));
    }
    match named(handle)? {
        Named::Again(persistent) => persistent.start(),
        Named::Once(_) | Named::Done => {
            Err(Error::new(class::REQUEST, "only persistent requests can be started"))
        }
    }
}

pub unsafe fn start(place: *mut c_int) -> Mpi {
    process()?;
    // SAFETY: the caller's promise.
    begin(unsafe { get(place)? })
}

pub unsafe fn startall(count: i32, requests: *mut c_int) -> Mpi {
    process()?;
    // SAFETY: the caller's promise.
    unsafe { array_mut(requests, length_of(count)?)? }.iter().try_for_each(|&handle| begin(handle))
}

/// So many partitions a request may have.
const MOST: usize = (1 << 16) - 1;

unsafe fn prepare_parts(
    (buffer, partitions, count, of): (*const u8, i32, i64, i32),
    (rank, tag, handle): (i32, i32, i32),
    sends: bool,
    request: *mut c_int,
) -> Mpi {
    let process = process()?;
    let comm = comm_of(process, handle)?;
    let (partitions, items) = (length_of(partitions)?, checked_count(count)?);
    let layout = datatype(of)?.layout.clone();
    if partitions > MOST {
        return Err(Error::new(class::ARG, format!("{partitions} partitions; there may be {MOST}")));
    }
    if rank == ANY_SOURCE || tag == ANY_TAG {
        return Err(Error::new(class::ARG, "partitioned messages have no wildcards"));
    }
    let pattern = send::pattern(&comm, rank, tag)?;
    let each = (layout.size() as usize).checked_mul(items).ok_or_else(too_long)?;
    let all = partitions.checked_mul(items).and_then(|all| i64::try_from(all).ok());
    let all = all.ok_or_else(too_long)?;
    let data = Data::of_type(buffer, all, &layout)?;
    room_for_one()?;
    // From here on nothing fails: the requests of both sides count.
    let with = pattern.map(|pattern| {
        let (comm, task) = (comm.clone(), pattern.from);
        let part = match sends {
            true => comm.pairs().send(process, comm.collective_context(), task, tag),
            false => comm.pairs().receive(task, tag),
        };
        With { comm, task, rank, tag, part }
    });
    let transfer = Arc::new(Transfer::new(data, partitions, each, with, sends));
    let (begun, on) = (transfer.clone(), comm.handle());
    let mut persistent = Persistent::new(on, move || {
        begun.start();
        Ok(Arc::new(Operation::new(State::Stepping(Box::new(begun.clone())), on, machine_notes())))
    });
    persistent.transfer = Some(transfer);
    // SAFETY: the caller's promise.
    unsafe { put_at(request, keep_persistent(persistent)?) }
}

pub unsafe fn psend_init(
    buffer: *const u8,
    partitions: i32,
    count: i64,
    of: i32,
    dest: i32,
    tag: i32,
    comm: i32,
    _info: i32,
    request: *mut c_int,
) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe { prepare_parts((buffer, partitions, count, of), (dest, tag, comm), true, request) }
}

pub unsafe fn precv_init(
    buffer: *mut u8,
    partitions: i32,
    count: i64,
    of: i32,
    source: i32,
    tag: i32,
    comm: i32,
    _info: i32,
    request: *mut c_int,
) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe { prepare_parts((buffer, partitions, count, of), (source, tag, comm), false, request) }
}

fn transfer(handle: i32) -> Mpi<Arc<Transfer>> {
    let transfer = match named(handle)? {
        Named::Again(persistent) => persistent.transfer.clone(),
        _ => None,
    };
    match transfer {
        Some(transfer) => Ok(transfer),
        None => Err(Error::new(class::REQUEST, "the handle names no partitioned request")),
    }
}

pub fn pready(partition: i32, request: i32) -> Mpi {
    transfer(request)?.ready(process()?, partition)
}

pub fn pready_range(low: i32, high: i32, request: i32) -> Mpi {
    let (transfer, process) = (transfer(request)?, process()?);
    (low..=high).try_for_each(|partition| transfer.ready(process, partition))
}

pub unsafe fn pready_list(length: i32, partitions: *const c_int, request: i32) -> Mpi {
    let (transfer, process) = (transfer(request)?, process()?);
    // SAFETY: the caller's promise.
    let partitions = unsafe { array(partitions, length_of(length)?)? };
    partitions.iter().try_for_each(|&partition| transfer.ready(process, partition))
}

pub fn parrived(request: i32, partition: i32, flag: Out<'_, c_int>) -> Mpi {
    let has_come = transfer(request)?.has_come(process()?, partition)?;
    put(flag, c_int::from(has_come))
}
