//! Windows, and what is done to the memory of others.

use crate::calls::arguments::{CountTarget, get, give_text, put, put_at, text};
use crate::calls::comms::attributes::{give, language};
use crate::comms::group::{self, group};
use crate::comms::handles::comm;
use crate::errors::{Error, Mpi, class};
use crate::objects::attributes::{Bearer, Language};
use crate::objects::errhandlers::Handler;
use crate::objects::info::hints;
use crate::objects::numbers::{Kind, MAX_OBJECT_NAME, PROC_NULL, WIN_NULL};
use crate::windows::allocating::{self, WindowRequest};
use crate::windows::{self, Flavor, Win, near, win};
use parvum_api::pointers::{Out, Text};
use std::ffi::{c_char, c_int, c_void};
use std::sync::atomic::{Ordering, fence};

unsafe fn create(flavor: Flavor, base: *mut u8, size: i64, unit: i64, info: i32, handle: i32) -> Mpi<i32> {
    let comm = comm(handle)?;
    let hints = hints(info)?;
    let size = usize::try_from(size).map_err(|_| Error::new(class::SIZE, format!("the size is {size}")))?;
    if unit <= 0 || i32::try_from(unit).is_err() {
        return Err(Error::new(
            class::DISP,
            format!("the unit of displacements is {unit}; it is 1 at least"),
        ));
    }
    if flavor == Flavor::Create && base.is_null() && size > 0 {
        return Err(Error::new(class::BASE, "the memory's address is null"));
    }
    allocating::create(&comm, WindowRequest { flavor, base, size, unit: unit as i32, hints })
}

pub unsafe fn win_create(
    base: *mut u8,
    size: i64,
    unit: i64,
    info: i32,
    handle: i32,
    place: Out<'_, c_int>,
) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe { put(place, create(Flavor::Create, base, size, unit, info, handle)?) }
}

unsafe fn allocate(
    flavor: Flavor,
    (size, unit, info, handle): (i64, i64, i32, i32),
    base: *mut u8,
    place: *mut c_int,
) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe {
        let made = create(flavor, std::ptr::null_mut(), size, unit, info, handle)?;
        put_at(base.cast::<usize>(), win(made)?.shown.base)?;
        put_at(place, made)
    }
}

pub unsafe fn win_allocate(
    size: i64,
    unit: i64,
    info: i32,
    handle: i32,
    base: *mut u8,
    place: *mut c_int,
) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe { allocate(Flavor::Allocate, (size, unit, info, handle), base, place) }
}

pub unsafe fn win_allocate_shared(
    size: i64,
    unit: i64,
    info: i32,
    handle: i32,
    base: *mut u8,
    place: *mut c_int,
) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe { allocate(Flavor::Shared, (size, unit, info, handle), base, place) }
}

pub unsafe fn win_create_dynamic(info: i32, handle: i32, place: Out<'_, c_int>) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe { put(place, create(Flavor::Dynamic, std::ptr::null_mut(), 0, 1, info, handle)?) }
}

pub unsafe fn win_attach(handle: i32, base: *mut u8, size: i64) -> Mpi {
    let size = u64::try_from(size).map_err(|_| Error::new(class::SIZE, format!("the size is {size}")))?;
    win(handle)?.exposed.attach(base.expose_provenance() as u64, size)
}

pub unsafe fn win_detach(handle: i32, base: *const u8) -> Mpi {
    win(handle)?.exposed.detach(base.addr() as u64)
}

pub unsafe fn win_free(place: *mut c_int) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe {
        allocating::free(get(place)?)?;
        put_at(place, WIN_NULL)
    }
}

pub unsafe fn win_shared_query(
    handle: i32,
    rank: i32,
    size: Out<'_, i64>,
    unit: CountTarget,
    base: *mut u8,
) -> Mpi {
    let win = win(handle)?;
    if win.flavor == Flavor::Dynamic {
        return Err(Error::new(class::RMA_FLAVOR, "the memory of dynamic windows is not shared"));
    }
    let target = match rank {
        // The first that has any.
        PROC_NULL => win.targets.iter().find(|target| target.size > 0),
        rank => win.target(rank)?.map(|(_, target)| target),
    };
    // Memory of no bytes has no address, as in MPICH: what lies there is another member's.
    let here = |target: &windows::Target| if target.size == 0 { Some(0) } else { target.here };
    let seen = target.and_then(|target| Some((here(target)?, target)));
    // SAFETY: the caller's promise.
    unsafe {
        put(size, seen.map_or(0, |(_, target)| target.size as i64))?;
        unit.put(seen.map_or(1, |(_, target)| target.unit))?;
        put_at(base.cast::<u64>(), seen.map_or(0, |(here, _)| here))
    }
}

pub fn win_get_group(handle: i32, place: Out<'_, c_int>) -> Mpi {
    let members = win(handle)?.comm.group().include_all();
    put(place, group::keep(members)?)
}

pub fn win_set_name(handle: i32, name: Text<'_>) -> Mpi {
    win(handle)?.set_name(&text(name)?);
    Ok(())
}

pub unsafe fn win_get_name(handle: i32, name: *mut c_char, length: Out<'_, c_int>) -> Mpi {
    let text = if handle == WIN_NULL { b"MPI_WIN_NULL".to_vec() } else { win(handle)?.name() };
    // SAFETY: the caller's promise.
    unsafe {
        let written = give_text(name, MAX_OBJECT_NAME, &text)?;
        put(length, written)
    }
}

pub fn win_set_info(handle: i32, info: i32) -> Mpi {
    win(handle)?.set_info(&*crate::objects::info::info(info)?)
}

pub fn win_get_info(handle: i32, place: Out<'_, c_int>) -> Mpi {
    let shown = win(handle)?.info()?;
    put(place, crate::objects::info::keep(shown)?)
}

pub fn win_set_errhandler(handle: i32, errhandler: i32) -> Mpi {
    win(handle)?.set_errhandler(Handler::of(errhandler, Kind::Win)?);
    Ok(())
}

pub fn win_get_errhandler(handle: i32, errhandler: Out<'_, c_int>) -> Mpi {
    put(errhandler, win(handle)?.errhandler().give())
}

pub fn win_call_errhandler(handle: i32, code: i32) -> Mpi {
    win(handle)?.errhandler().call(handle, code)
}

/// Keys of MPI's own, for C; those for Fortran are one more.
const BASE_KEY: i32 = 0x6600_0001;
const SIZE_KEY: i32 = BASE_KEY + 2;
const UNIT_KEY: i32 = BASE_KEY + 4;
const FLAVOR_KEY: i32 = BASE_KEY + 6;
const MODEL_KEY: i32 = BASE_KEY + 8;

/// What a key of MPI's own tells: C finds a pointer to it, but of the base, which is one.
fn own(win: &Win, keyval: i32, language: Language) -> Option<i64> {
    let shown = &win.shown;
    let in_c = language == Language::C;
    let number = |number: &i32| if in_c { &raw const *number as i64 } else { i64::from(*number) };
    match keyval - (keyval + 1) % 2 {
        BASE_KEY => Some(shown.base as i64),
        SIZE_KEY if in_c => Some(&raw const shown.size as i64),
        SIZE_KEY => Some(shown.size),
        UNIT_KEY => Some(number(&shown.unit)),
        FLAVOR_KEY => Some(number(&shown.flavor)),
        MODEL_KEY => Some(number(&shown.model)),
        _ => None,
    }
}

unsafe fn get_attr(
    handle: i32,
    keyval: i32,
    language: Language,
    place: *mut c_void,
    flag: Out<'_, c_int>,
) -> Mpi {
    let win = win(handle)?;
    let value = match own(&win, keyval, language) {
        None => win.attributes.get(keyval, Bearer::Win, language)?,
        value => value,
    };
    // SAFETY: the caller's promise.
    unsafe { give(value, language, place, flag) }
}

fn set_attr(handle: i32, keyval: i32, value: i64, language: Language) -> Mpi {
    let win = win(handle)?;
    refuse_own(&win, keyval)?;
    win.attributes.set(handle, keyval, Bearer::Win, value, language)
}

fn refuse_own(win: &Win, keyval: i32) -> Mpi {
    match own(win, keyval, Language::C) {
        None => Ok(()),
        Some(_) => Err(Error::new(class::KEYVAL, "attributes of MPI's own cannot be changed")),
    }
}

pub unsafe fn win_get_attr(handle: i32, keyval: i32, place: *mut u8, flag: Out<'_, c_int>) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe { get_attr(handle, keyval, Language::C, place.cast(), flag) }
}

pub unsafe fn win_set_attr(handle: i32, keyval: i32, value: *mut u8) -> Mpi {
    set_attr(handle, keyval, value as i64, Language::C)
}

pub fn win_delete_attr(handle: i32, keyval: i32) -> Mpi {
    let win = win(handle)?;
    refuse_own(&win, keyval)?;
    win.attributes.delete(handle, keyval, Bearer::Win)
}

/// For libraries of other languages: the value as they have it.
pub unsafe fn win_get_attr_as(
    handle: i32,
    keyval: i32,
    place: *mut c_void,
    flag: Out<'_, c_int>,
    kind: i32,
) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe { get_attr(handle, keyval, language(kind), place, flag) }
}

/// See [`win_get_attr_as`].
pub unsafe fn win_set_attr_as(handle: i32, keyval: i32, value: *mut c_void, kind: i32) -> Mpi {
    set_attr(handle, keyval, value as i64, language(kind))
}

pub fn win_fence(assertions: i32, handle: i32) -> Mpi {
    win(handle)?.fence(assertions)
}

pub fn win_post(members: i32, assertions: i32, handle: i32) -> Mpi {
    win(handle)?.post(&*group(members)?, assertions)
}

pub fn win_start(members: i32, assertions: i32, handle: i32) -> Mpi {
    win(handle)?.start(&*group(members)?, assertions)
}

pub fn win_complete(handle: i32) -> Mpi {
    win(handle)?.complete()
}

pub fn win_wait(handle: i32) -> Mpi {
    win(handle)?.wait()
}

pub fn win_test(handle: i32, flag: Out<'_, c_int>) -> Mpi {
    put(flag, win(handle)?.test()?.into())
}

const LOCK_EXCLUSIVE: i32 = 234;
const LOCK_SHARED: i32 = 235;

pub fn win_lock(kind: i32, rank: i32, assertions: i32, handle: i32) -> Mpi {
    let exclusive = kind == LOCK_EXCLUSIVE;
    if (exclusive || kind == LOCK_SHARED) && near::lock(exclusive, rank, assertions, handle) {
        return Ok(());
    }
    let win = win(handle)?;
    if !exclusive && kind != LOCK_SHARED {
        let text = "the lock is neither MPI_LOCK_SHARED nor MPI_LOCK_EXCLUSIVE";
        return Err(Error::new(class::LOCKTYPE, text));
    }
    win.lock(exclusive, rank, assertions)
}

pub fn win_unlock(rank: i32, handle: i32) -> Mpi {
    if near::unlock(rank, handle) { Ok(()) } else { win(handle)?.unlock(rank) }
}

pub fn win_lock_all(assertions: i32, handle: i32) -> Mpi {
    win(handle)?.lock_all(assertions)
}

pub fn win_unlock_all(handle: i32) -> Mpi {
    win(handle)?.unlock_all()
}

#[inline(always)]
fn flush(rank: Option<i32>, handle: i32) -> Mpi {
    if near::flush(rank, handle) { Ok(()) } else { flush_far(rank, handle) }
}

#[inline(never)]
fn flush_far(rank: Option<i32>, handle: i32) -> Mpi {
    win(handle)?.flush(rank)
}

#[inline]
pub fn win_flush(rank: i32, handle: i32) -> Mpi {
    flush(Some(rank), handle)
}

pub fn win_flush_all(handle: i32) -> Mpi {
    flush(None, handle)
}

pub fn win_flush_local(rank: i32, handle: i32) -> Mpi {
    flush(Some(rank), handle)
}

pub fn win_flush_local_all(handle: i32) -> Mpi {
    flush(None, handle)
}

pub fn win_sync(handle: i32) -> Mpi {
    if !near::is_there(handle) {
        win(handle)?;
    }
    // With the same in the other processes that load and store in the window.
    fence(Ordering::SeqCst);
    Ok(())
}
