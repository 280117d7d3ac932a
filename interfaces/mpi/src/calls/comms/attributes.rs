//! Attributes of communicators and datatypes.

use crate::calls::arguments::{get, put, put_at};
use crate::comms::handles::comm;
use crate::errors::{self, Mpi};
use crate::objects::attributes::{self, Bearer, CopyProxy, DUPLICATE, DeleteProxy, Language};
use crate::objects::datatypes::any_datatype;
use crate::objects::numbers::{KEYVAL_INVALID, TAG_UB};
use parvum_api::pointers::Out;
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicI32, Ordering};

/// Keys of MPI's own, for C; those for Fortran are one more.
const OWN: i32 = 0x6440_0001;
const TAG_UB_KEY: i32 = OWN;
const HOST_KEY: i32 = OWN + 2;
const IO_KEY: i32 = OWN + 4;
const WTIME_KEY: i32 = OWN + 6;
const UNIVERSE_KEY: i32 = OWN + 8;
const LAST_CODE_KEY: i32 = OWN + 10;
const APPNUM_KEY: i32 = OWN + 12;

unsafe fn create(bearer: Bearer, copy: usize, delete: usize, keyval: Out<'_, c_int>, extra: *mut u8) -> Mpi {
    let copy = if copy == duplicate_function() { DUPLICATE } else { copy };
    put(keyval, attributes::create_key(bearer, copy, delete, extra.addr())?)
}

/// Where the function lies that the binary interface has for copying a pointer.
static DUPLICATE_FUNCTION: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);

fn duplicate_function() -> usize {
    DUPLICATE_FUNCTION.load(Ordering::Relaxed)
}

/// The binary interface says which function of its own copies a pointer.
pub fn set_duplicate_function(address: usize) {
    DUPLICATE_FUNCTION.store(address, Ordering::Relaxed);
}

pub unsafe fn comm_create_keyval(copy: usize, delete: usize, keyval: Out<'_, c_int>, extra: *mut u8) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe { create(Bearer::Comm, copy, delete, keyval, extra) }
}

pub unsafe fn keyval_create(copy: usize, delete: usize, keyval: Out<'_, c_int>, extra: *mut u8) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe { create(Bearer::Comm, copy, delete, keyval, extra) }
}

pub unsafe fn type_create_keyval(copy: usize, delete: usize, keyval: Out<'_, c_int>, extra: *mut u8) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe { create(Bearer::Datatype, copy, delete, keyval, extra) }
}

pub unsafe fn win_create_keyval(copy: usize, delete: usize, keyval: Out<'_, c_int>, extra: *mut u8) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe { create(Bearer::Win, copy, delete, keyval, extra) }
}

unsafe fn free(bearer: Bearer, keyval: *mut c_int) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe {
        attributes::free_key(get(keyval)?, bearer)?;
        put_at(keyval, KEYVAL_INVALID)
    }
}

pub unsafe fn comm_free_keyval(keyval: *mut c_int) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe { free(Bearer::Comm, keyval) }
}

pub unsafe fn keyval_free(keyval: *mut c_int) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe { free(Bearer::Comm, keyval) }
}

pub unsafe fn type_free_keyval(keyval: *mut c_int) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe { free(Bearer::Datatype, keyval) }
}

pub unsafe fn win_free_keyval(keyval: *mut c_int) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe { free(Bearer::Win, keyval) }
}

/// What a key of MPI's own tells; `Err`: it is none. `Ok(None)`: nothing is known.
fn own(keyval: i32) -> Option<Option<i32>> {
    // A key for Fortran tells the same.
    let value = match keyval - (keyval + 1) % 2 {
        TAG_UB_KEY => Some(TAG_UB),
        HOST_KEY => Some(crate::objects::numbers::PROC_NULL),
        IO_KEY => Some(crate::objects::numbers::ANY_SOURCE),
        WTIME_KEY => Some(0),
        UNIVERSE_KEY => universe_size(),
        LAST_CODE_KEY => Some(errors::last_used()),
        APPNUM_KEY => crate::process::spawned::appnum().or(Some(0)),
        _ => return None,
    };
    Some(value)
}

/// What the launcher was told with `-usize`: so many processes the program may have in all. Nothing else limits what may be spawned.
fn universe_size() -> Option<i32> {
    std::env::var(UNIVERSE).ok()?.parse().ok().filter(|&size| size > 0)
}

/// Set by `mpiexec -usize`.
const UNIVERSE: &str = "PARVUM_MPI_UNIVERSE";

/// Values of MPI's own, where C finds them by a pointer.
static SHOWN: [AtomicI32; 7] = [const { AtomicI32::new(0) }; 7];

/// A value as a program of a language gets it; whether there is one.
pub(in crate::calls) unsafe fn give(
    value: Option<i64>,
    language: Language,
    place: *mut c_void,
    flag: Out<'_, c_int>,
) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe {
        if let Some(value) = value {
            match language {
                Language::C | Language::Wide => put_at(place.cast::<i64>(), value)?,
                Language::Fortran => put_at(place.cast::<i32>(), value as i32)?,
            }
        }
        put(flag, c_int::from(value.is_some()))
    }
}

unsafe fn get_of_comm(
    handle: i32,
    keyval: i32,
    language: Language,
    place: *mut c_void,
    flag: Out<'_, c_int>,
) -> Mpi {
    let comm = comm(handle)?;
    let value = match own(keyval) {
        Some(Some(value)) if language == Language::C => {
            let shown = &SHOWN[((keyval - OWN) / 2) as usize];
            shown.store(value, Ordering::Relaxed);
            Some(shown.as_ptr() as i64)
        }
        Some(value) => value.map(i64::from),
        None => comm.attributes.get(keyval, Bearer::Comm, language)?,
    };
    // SAFETY: the caller's promise.
    unsafe { give(value, language, place, flag) }
}

pub unsafe fn comm_get_attr(handle: i32, keyval: i32, place: *mut u8, flag: Out<'_, c_int>) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe { get_of_comm(handle, keyval, Language::C, place.cast(), flag) }
}

pub unsafe fn attr_get(handle: i32, keyval: i32, place: *mut u8, flag: Out<'_, c_int>) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe { comm_get_attr(handle, keyval, place, flag) }
}

fn set_of_comm(handle: i32, keyval: i32, value: i64, language: Language) -> Mpi {
    let comm = comm(handle)?;
    refuse_own(keyval)?;
    comm.attributes.set(handle, keyval, Bearer::Comm, value, language)
}

fn refuse_own(keyval: i32) -> Mpi {
    match own(keyval) {
        None => Ok(()),
        Some(_) => {
            Err(crate::errors::Error::new(errors::class::KEYVAL, "attributes of MPI's own cannot be changed"))
        }
    }
}

pub unsafe fn comm_set_attr(handle: i32, keyval: i32, value: *mut u8) -> Mpi {
    set_of_comm(handle, keyval, value as i64, Language::C)
}

pub unsafe fn attr_put(handle: i32, keyval: i32, value: *mut u8) -> Mpi {
    set_of_comm(handle, keyval, value as i64, Language::C)
}

pub fn comm_delete_attr(handle: i32, keyval: i32) -> Mpi {
    let comm = comm(handle)?;
    refuse_own(keyval)?;
    comm.attributes.delete(handle, keyval, Bearer::Comm)
}

pub fn attr_delete(handle: i32, keyval: i32) -> Mpi {
    comm_delete_attr(handle, keyval)
}

pub unsafe fn type_get_attr(handle: i32, keyval: i32, place: *mut u8, flag: Out<'_, c_int>) -> Mpi {
    let value = any_datatype(handle)?.attributes.get(keyval, Bearer::Datatype, Language::C)?;
    // SAFETY: the caller's promise.
    unsafe { give(value, Language::C, place.cast(), flag) }
}

pub unsafe fn type_set_attr(handle: i32, keyval: i32, value: *mut u8) -> Mpi {
    any_datatype(handle)?.attributes.set(handle, keyval, Bearer::Datatype, value as i64, Language::C)
}

pub fn type_delete_attr(handle: i32, keyval: i32) -> Mpi {
    any_datatype(handle)?.attributes.delete(handle, keyval, Bearer::Datatype)
}

/// A language by the number that MPICH's Fortran library has for it.
pub(in crate::calls) fn language(number: i32) -> Language {
    match number {
        0 => Language::C,
        1 => Language::Wide,
        _ => Language::Fortran,
    }
}

/// For libraries of other languages: the value as they have it.
pub unsafe fn comm_get_attr_as(
    handle: i32,
    keyval: i32,
    place: *mut c_void,
    flag: Out<'_, c_int>,
    kind: i32,
) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe { get_of_comm(handle, keyval, language(kind), place, flag) }
}

/// See [`comm_get_attr_as`].
pub unsafe fn type_get_attr_as(
    handle: i32,
    keyval: i32,
    place: *mut c_void,
    flag: Out<'_, c_int>,
    kind: i32,
) -> Mpi {
    let value = any_datatype(handle)?.attributes.get(keyval, Bearer::Datatype, language(kind))?;
    // SAFETY: the caller's promise.
    unsafe { give(value, language(kind), place, flag) }
}

/// See [`comm_get_attr_as`].
pub unsafe fn comm_set_attr_as(handle: i32, keyval: i32, value: *mut c_void, kind: i32) -> Mpi {
    set_of_comm(handle, keyval, value as i64, language(kind))
}

/// See [`comm_get_attr_as`].
pub unsafe fn type_set_attr_as(handle: i32, keyval: i32, value: *mut c_void, kind: i32) -> Mpi {
    any_datatype(handle)?.attributes.set(handle, keyval, Bearer::Datatype, value as i64, language(kind))
}

/// From now on a key's functions are called by another language's library.
pub fn keyval_set_proxies(keyval: i32, copy: CopyProxy, delete: DeleteProxy) -> Mpi {
    attributes::set_proxies(keyval, copy, delete)
}
