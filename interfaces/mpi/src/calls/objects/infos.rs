//! Info objects.

use crate::calls::arguments::{get, give_text, put, put_at, text};
use crate::errors::{Error, Mpi, class};
use crate::objects::info::{INFOS, Info, info, keep};
use crate::objects::numbers::{INFO_NULL, MAX_INFO_KEY};
use parvum_api::pointers::{Out, Text};
use std::ffi::{c_char, c_int};

pub fn info_create(place: Out<'_, c_int>) -> Mpi {
    put(place, keep(Info::default())?)
}

pub unsafe fn info_create_env(_argc: i32, _argv: *const *const c_char, place: Out<'_, c_int>) -> Mpi {
    put(place, keep(info(crate::objects::numbers::INFO_ENV)?.copy())?)
}

pub fn info_dup(handle: i32, place: Out<'_, c_int>) -> Mpi {
    let copy = info(handle)?.copy();
    put(place, keep(copy)?)
}

pub unsafe fn info_free(place: *mut c_int) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe {
        INFOS
            .remove(get(place)?)
            .ok_or_else(|| Error::new(class::INFO, "the handle names no info object"))?;
        put_at(place, INFO_NULL)
    }
}

pub fn info_set(handle: i32, key: Text<'_>, value: Text<'_>) -> Mpi {
    let info = changeable(handle)?;
    info.set(&text_of_key(key)?, &text(value).map_err(|_| wrong_value())?)
}

fn changeable(handle: i32) -> Mpi<std::sync::Arc<Info>> {
    match handle {
        crate::objects::numbers::INFO_ENV => Err(Error::new(class::INFO, "MPI_INFO_ENV cannot be changed")),
        handle => info(handle),
    }
}

fn wrong_value() -> Error {
    Error::new(class::INFO_VALUE, "the value is a null pointer")
}

fn text_of_key(key: Text<'_>) -> Mpi<Vec<u8>> {
    text(key).map_err(|_| Error::new(class::INFO_KEY, "the key is a null pointer"))
}

pub fn info_delete(handle: i32, key: Text<'_>) -> Mpi {
    changeable(handle)?.delete(&text_of_key(key)?)
}

pub unsafe fn info_get(
    handle: i32,
    key: Text<'_>,
    length: i32,
    value: *mut c_char,
    flag: Out<'_, c_int>,
) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe {
        let found = info(handle)?.get(&text_of_key(key)?)?;
        let room =
            usize::try_from(length).map_err(|_| Error::new(class::ARG, format!("the length is {length}")))?;
        if let Some(found) = &found {
            give_text(value, room + 1, found)?;
        }
        put(flag, c_int::from(found.is_some()))
    }
}

pub unsafe fn info_get_string(
    handle: i32,
    key: Text<'_>,
    length: *mut c_int,
    value: *mut c_char,
    flag: Out<'_, c_int>,
) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe {
        let found = info(handle)?.get(&text_of_key(key)?)?;
        if let Some(found) = &found {
            let room = get(length)?;
            if room > 0 {
                give_text(value, room as usize, found)?;
            }
            put_at(length, found.len() as c_int + 1)?;
        }
        put(flag, c_int::from(found.is_some()))
    }
}

pub fn info_get_valuelen(handle: i32, key: Text<'_>, length: Out<'_, c_int>, flag: Out<'_, c_int>) -> Mpi {
    let found = info(handle)?.get(&text_of_key(key)?)?;
    if let Some(found) = &found {
        put(length, found.len() as c_int)?;
    }
    put(flag, c_int::from(found.is_some()))
}

pub fn info_get_nkeys(handle: i32, count: Out<'_, c_int>) -> Mpi {
    put(count, info(handle)?.count() as c_int)
}

pub unsafe fn info_get_nthkey(handle: i32, nth: i32, key: *mut c_char) -> Mpi {
    let name = info(handle)?.nth_key(nth)?;
    // SAFETY: the caller's promise.
    unsafe { give_text(key, MAX_INFO_KEY + 1, &name).map(|_| ()) }
}
