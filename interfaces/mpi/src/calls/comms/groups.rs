//! Groups.

use crate::calls::arguments::{array, array_mut, get, length_of, put, put_at};
use crate::comms::group::{GROUPS, group, keep, ranks_of};
use crate::errors::{Error, Mpi, class};
use crate::objects::numbers::{GROUP_EMPTY, GROUP_NULL, PROC_NULL, UNDEFINED};
use parvum_api::pointers::Out;
use std::ffi::c_int;

pub fn group_size(handle: i32, size: Out<'_, c_int>) -> Mpi {
    put(size, group(handle)?.size() as c_int)
}

pub unsafe fn group_rank(handle: i32, rank: *mut c_int) -> Mpi {
    let own = group(handle)?.own().map_or(UNDEFINED, |rank| rank as c_int);
    // SAFETY: the caller's promise.
    unsafe { put_at(rank, own) }
}

pub unsafe fn group_translate_ranks(
    handle: i32,
    count: i32,
    ranks: *const c_int,
    other: i32,
    translated: *mut c_int,
) -> Mpi {
    let (from, to) = (group(handle)?, group(other)?);
    // SAFETY: the caller's promise.
    let (ranks, out) =
        unsafe { (array(ranks, length_of(count)?)?, array_mut(translated, length_of(count)?)?) };
    for (&rank, out) in ranks.iter().zip(out) {
        *out = if rank == PROC_NULL { PROC_NULL } else { from.translate(rank, &to)? };
    }
    Ok(())
}

pub fn group_compare(one: i32, other: i32, result: Out<'_, c_int>) -> Mpi {
    let compared = group(one)?.compare(&*group(other)?);
    put(result, compared)
}

pub fn group_union(one: i32, other: i32, place: Out<'_, c_int>) -> Mpi {
    let made = group(one)?.union(&*group(other)?);
    put(place, keep(made)?)
}

pub fn group_intersection(one: i32, other: i32, place: Out<'_, c_int>) -> Mpi {
    let made = group(one)?.intersection(&*group(other)?);
    put(place, keep(made)?)
}

pub fn group_difference(one: i32, other: i32, place: Out<'_, c_int>) -> Mpi {
    let made = group(one)?.difference(&*group(other)?);
    put(place, keep(made)?)
}

pub unsafe fn group_incl(handle: i32, count: i32, ranks: *const c_int, place: Out<'_, c_int>) -> Mpi {
    // SAFETY: the caller's promise.
    let ranks = unsafe { array(ranks, length_of(count)?)? };
    let made = group(handle)?.include(ranks)?;
    put(place, keep(made)?)
}

pub unsafe fn group_excl(handle: i32, count: i32, ranks: *const c_int, place: Out<'_, c_int>) -> Mpi {
    // SAFETY: the caller's promise.
    let ranks = unsafe { array(ranks, length_of(count)?)? };
    let made = group(handle)?.exclude(ranks)?;
    put(place, keep(made)?)
}

pub unsafe fn group_range_incl(
    handle: i32,
    count: i32,
    ranges: *mut [c_int; 3],
    place: Out<'_, c_int>,
) -> Mpi {
    // SAFETY: the caller's promise.
    let ranks = ranks_of(unsafe { array(ranges, length_of(count)?)? })?;
    let made = group(handle)?.include(&ranks)?;
    put(place, keep(made)?)
}

pub unsafe fn group_range_excl(
    handle: i32,
    count: i32,
    ranges: *mut [c_int; 3],
    place: Out<'_, c_int>,
) -> Mpi {
    // SAFETY: the caller's promise.
    let ranks = ranks_of(unsafe { array(ranges, length_of(count)?)? })?;
    let made = group(handle)?.exclude(&ranks)?;
    put(place, keep(made)?)
}

pub unsafe fn group_free(place: *mut c_int) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe {
        let handle = get(place)?;
        if handle != GROUP_EMPTY && GROUPS.remove(handle).is_none() {
            return Err(Error::new(class::GROUP, "the handle names no group"));
        }
        put_at(place, GROUP_NULL)
    }
}
