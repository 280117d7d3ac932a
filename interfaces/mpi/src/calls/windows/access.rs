//! What is done to the memory of others: by the short way, or else by the long one.

use crate::calls::arguments::put;
use crate::errors::{Error, Mpi, class};
use crate::messages::buffers::Data;
use crate::objects::ops::NO_OP;
use crate::requests::operations::DONE;
use crate::windows::access::There;
use crate::windows::{near, win};
use parvum_api::pointers::Out;
use std::ffi::c_int;

#[inline]
pub unsafe fn mpi_put(
    origin: *const u8,
    count: i64,
    of: i32,
    rank: i32,
    displacement: i64,
    target_count: i64,
    datatype: i32,
    handle: i32,
) -> Mpi {
    let there = There { rank, displacement, count: target_count, datatype };
    // SAFETY: the caller's promise.
    match unsafe { near::put(origin, count, of, &there, handle) } {
        true => Ok(()),
        false => put_far(origin, count, of, &there, handle),
    }
}

#[inline(never)]
fn put_far(origin: *const u8, count: i64, of: i32, there: &There, handle: i32) -> Mpi {
    win(handle)?.put(&Data::new(origin, count, of)?, there)
}

#[inline]
pub unsafe fn mpi_get(
    origin: *mut u8,
    count: i64,
    of: i32,
    rank: i32,
    displacement: i64,
    target_count: i64,
    datatype: i32,
    handle: i32,
) -> Mpi {
    let there = There { rank, displacement, count: target_count, datatype };
    // SAFETY: the caller's promise.
    match unsafe { near::get(origin, count, of, &there, handle) } {
        true => Ok(()),
        false => get_far(origin, count, of, &there, handle),
    }
}

#[inline(never)]
fn get_far(origin: *mut u8, count: i64, of: i32, there: &There, handle: i32) -> Mpi {
    win(handle)?.get(&mut Data::new(origin, count, of)?, there)
}

#[inline]
pub unsafe fn accumulate(
    origin: *const u8,
    count: i64,
    of: i32,
    rank: i32,
    displacement: i64,
    target_count: i64,
    datatype: i32,
    op: i32,
    handle: i32,
) -> Mpi {
    let there = There { rank, displacement, count: target_count, datatype };
    let is_same = count == target_count && of == datatype && !origin.is_null();
    // SAFETY: the caller's promise.
    if is_same && unsafe { near::accumulate(origin, std::ptr::null_mut(), &there, op, handle) } {
        return Ok(());
    }
    win(handle)?.accumulate(&Data::new(origin, count, of)?, &there, op, None)
}

/// The data of a call whose operation may not look at it.
fn operands(address: *const u8, count: i64, of: i32, op: i32) -> Mpi<Data> {
    if op == NO_OP { Ok(Data::NONE) } else { Data::new(address, count, of) }
}

#[inline]
pub unsafe fn get_accumulate(
    origin: *const u8,
    count: i64,
    of: i32,
    result: *mut u8,
    result_count: i64,
    result_type: i32,
    rank: i32,
    displacement: i64,
    target_count: i64,
    datatype: i32,
    op: i32,
    handle: i32,
) -> Mpi {
    let there = There { rank, displacement, count: target_count, datatype };
    let is_same = count == target_count && of == datatype || op == NO_OP;
    let is_same = is_same && result_count == target_count && result_type == datatype;
    // SAFETY: the caller's promise.
    if is_same && unsafe { fetch(origin, result, &there, op, handle) } {
        return Ok(());
    }
    let win = win(handle)?;
    let data = operands(origin, count, of, op)?;
    let result = Data::new(result, result_count, result_type)?;
    win.accumulate(&data, &there, op, Some(&result))
}

#[inline]
pub unsafe fn fetch_and_op(
    origin: *const u8,
    result: *mut u8,
    datatype: i32,
    rank: i32,
    displacement: i64,
    op: i32,
    handle: i32,
) -> Mpi {
    let there = There { rank, displacement, count: 1, datatype };
    // SAFETY: the caller's promise.
    match unsafe { fetch(origin, result, &there, op, handle) } {
        true => Ok(()),
        false => fetch_far(origin, result, op, &there, handle),
    }
}

/// Whether the short way has done it.
#[inline(always)]
unsafe fn fetch(origin: *const u8, result: *mut u8, there: &There, op: i32, handle: i32) -> bool {
    // SAFETY: the caller's promise.
    !result.is_null() && unsafe { near::accumulate(origin, result, there, op, handle) }
}

#[inline(never)]
fn fetch_far(origin: *const u8, result: *mut u8, op: i32, there: &There, handle: i32) -> Mpi {
    let win = win(handle)?;
    if !crate::objects::datatypes::is_predefined(there.datatype) {
        return Err(Error::new(class::TYPE, "MPI_Fetch_and_op takes predefined datatypes only"));
    }
    let data = operands(origin, 1, there.datatype, op)?;
    let result = Data::new(result, 1, there.datatype)?;
    win.accumulate(&data, there, op, Some(&result))
}

#[inline]
pub unsafe fn compare_and_swap(
    origin: *const u8,
    compare: *const u8,
    result: *mut u8,
    datatype: i32,
    rank: i32,
    displacement: i64,
    handle: i32,
) -> Mpi {
    let there = There { rank, displacement, count: 1, datatype };
    // SAFETY: the caller's promise.
    if unsafe { near::swap(origin, compare, result, &there, handle) } {
        return Ok(());
    }
    let win = win(handle)?;
    let [data, expected] = [Data::new(origin, 1, datatype)?, Data::new(compare, 1, datatype)?];
    let result = Data::new(result, 1, datatype)?;
    win.swap(&data, &expected, &there, &result)
}

pub unsafe fn rput(
    origin: *const u8,
    count: i64,
    of: i32,
    rank: i32,
    displacement: i64,
    target_count: i64,
    datatype: i32,
    handle: i32,
    request: Out<'_, c_int>,
) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe {
        mpi_put(origin, count, of, rank, displacement, target_count, datatype, handle)?;
        put(request, DONE)
    }
}

pub unsafe fn rget(
    origin: *mut u8,
    count: i64,
    of: i32,
    rank: i32,
    displacement: i64,
    target_count: i64,
    datatype: i32,
    handle: i32,
    request: Out<'_, c_int>,
) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe {
        mpi_get(origin, count, of, rank, displacement, target_count, datatype, handle)?;
        put(request, DONE)
    }
}

pub unsafe fn raccumulate(
    origin: *const u8,
    count: i64,
    of: i32,
    rank: i32,
    displacement: i64,
    target_count: i64,
    datatype: i32,
    op: i32,
    handle: i32,
    request: Out<'_, c_int>,
) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe {
        accumulate(origin, count, of, rank, displacement, target_count, datatype, op, handle)?;
        put(request, DONE)
    }
}

pub unsafe fn rget_accumulate(
    origin: *const u8,
    count: i64,
    of: i32,
    result: *mut u8,
    result_count: i64,
    result_type: i32,
    rank: i32,
    displacement: i64,
    target_count: i64,
    datatype: i32,
    op: i32,
    handle: i32,
    request: Out<'_, c_int>,
) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe {
        get_accumulate(
            origin,
            count,
            of,
            result,
            result_count,
            result_type,
            rank,
            displacement,
            target_count,
            datatype,
            op,
            handle,
        )?;
        put(request, DONE)
    }
}
