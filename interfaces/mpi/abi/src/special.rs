//! Functions of which more must be known than the kinds of their arguments. They are called as the core's are.

use crate::numbers::{
    combiner_out, darg_out, distribution_out, flavor_out, keyval_out, model_out, order_out, rank_out,
};
use crate::programs::{COPY, DELETE};
use parvum_mpi::calls::{self, Out};
use parvum_mpi::errors::Mpi;
use std::ffi::c_int;
use std::sync::atomic::{AtomicI32, Ordering};

type Create = unsafe fn(usize, usize, Out<'_, c_int>, *mut u8) -> Mpi;

unsafe fn create(how: Create, copy: usize, delete: usize, keyval: *mut c_int, extra: *mut u8) -> Mpi {
    // SAFETY: the caller's promise; the key stands there when the core has made it.
    unsafe {
        how(copy, delete, Out::new(keyval), extra)?;
        calls::keyval_set_proxies(*keyval, COPY, DELETE)
    }
}

pub unsafe fn comm_create_keyval(copy: usize, delete: usize, keyval: *mut c_int, extra: *mut u8) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe { create(calls::comm_create_keyval, copy, delete, keyval, extra) }
}

pub unsafe fn keyval_create(copy: usize, delete: usize, keyval: *mut c_int, extra: *mut u8) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe { create(calls::keyval_create, copy, delete, keyval, extra) }
}

pub unsafe fn type_create_keyval(copy: usize, delete: usize, keyval: *mut c_int, extra: *mut u8) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe { create(calls::type_create_keyval, copy, delete, keyval, extra) }
}

pub unsafe fn win_create_keyval(copy: usize, delete: usize, keyval: *mut c_int, extra: *mut u8) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe { create(calls::win_create_keyval, copy, delete, keyval, extra) }
}

/// Keys whose values are numbers that the core has otherwise.
const HOST: c_int = 503;
const IO: c_int = 502;
const FLAVOR: c_int = 604;
const MODEL: c_int = 605;

/// Values that never change, where a program may look at them as long as it likes.
static HOST_RANK: AtomicI32 = AtomicI32::new(0);
static IO_RANK: AtomicI32 = AtomicI32::new(0);
static FLAVORS: [c_int; 5] = [0, 311, 312, 313, 314];
static MODELS: [c_int; 3] = [0, 322, 321];

pub unsafe fn comm_get_attr(comm: i32, keyval: i32, place: *mut u8, flag: *mut c_int) -> Mpi {
    // SAFETY: the caller's promise; where there is a value, a pointer to it stands at the place.
    unsafe {
        calls::comm_get_attr(comm, keyval, place, Out::new(flag))?;
        let shown = match keyval_out(keyval) {
            HOST => &HOST_RANK,
            IO => &IO_RANK,
            _ => return Ok(()),
        };
        let place = place.cast::<*const c_int>();
        shown.store(rank_out(**place), Ordering::Relaxed);
        place.write(shown.as_ptr());
    }
    Ok(())
}

pub unsafe fn attr_get(comm: i32, keyval: i32, place: *mut u8, flag: *mut c_int) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe { comm_get_attr(comm, keyval, place, flag) }
}

pub unsafe fn win_get_attr(win: i32, keyval: i32, place: *mut u8, flag: *mut c_int) -> Mpi {
    // SAFETY: as in `comm_get_attr`.
    unsafe {
        calls::win_get_attr(win, keyval, place, Out::new(flag))?;
        let place = place.cast::<*const c_int>();
        let shown = match keyval_out(keyval) {
            FLAVOR => FLAVORS.iter().find(|&&flavor| flavor == flavor_out(**place)),
            MODEL => MODELS.iter().find(|&&model| model == model_out(**place)),
            _ => None,
        };
        if let Some(shown) = shown {
            place.write(shown);
        }
    }
    Ok(())
}

pub unsafe fn type_get_contents(
    datatype: i32,
    most_integers: i32,
    most_addresses: i32,
    most_types: i32,
    integers: *mut c_int,
    addresses: *mut i64,
    types: *mut c_int,
) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe {
        calls::type_get_contents(
            datatype,
            most_integers,
            most_addresses,
            most_types,
            integers,
            addresses,
            types,
        )?;
        name_words(datatype, integers)
    }
}

pub unsafe fn type_get_contents_c(
    datatype: i32,
    most_integers: i64,
    most_addresses: i64,
    most_large: i64,
    most_types: i64,
    integers: *mut c_int,
    addresses: *mut i64,
    large: *mut i64,
    types: *mut c_int,
) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe {
        calls::type_get_contents_c(
            datatype,
            most_integers,
            most_addresses,
            most_large,
            most_types,
            integers,
            addresses,
            large,
            types,
        )?;
        name_words(datatype, integers)
    }
}

const SUBARRAY: c_int = 111;
const DARRAY: c_int = 112;

/// Orders and distributions among the integers that a type was made from become the program's.
unsafe fn name_words(datatype: i32, integers: *mut c_int) -> Mpi {
    let (mut counts, mut combiner) = ([0; 4], 0);
    let [count, addresses, large, types] = &mut counts;
    // SAFETY: the core has just written as many integers as the envelope says.
    unsafe {
        calls::type_get_envelope_c(
            datatype,
            count.into(),
            addresses.into(),
            large.into(),
            types.into(),
            (&mut combiner).into(),
        )?;
        let combiner = combiner_out(combiner);
        if !matches!(combiner, SUBARRAY | DARRAY) {
            return Ok(());
        }
        let all = std::slice::from_raw_parts_mut(integers, counts[0] as usize);
        if combiner == DARRAY {
            // Size, rank, dimensions; the array's sizes, unless they are large counts; then what is named.
            let dimensions = all[2] as usize;
            let start = if counts[2] > 0 { 3 } else { 3 + dimensions };
            let (distributions, lengths) = all[start..].split_at_mut(dimensions);
            distributions.iter_mut().for_each(|word| *word = distribution_out(*word));
            lengths[..dimensions].iter_mut().for_each(|word| *word = darg_out(*word));
        }
        if let Some(order) = all.last_mut() {
            *order = order_out(*order);
        }
    }
    Ok(())
}
