//! The short way of one-sided calls: data without holes, in memory that this process has mapped, in an epoch that is open.
//!
//! The window is found and kept without a lock or an exchange ([`Hazards`]), and no more is done than the call is about: a copy, or one
//! instruction of the processor's. Whatever is not so goes the long way ([`crate::windows::access`]), which also says what is wrong: the
//! short way refuses nothing, it is only not taken.

use crate::objects::datatypes::plain_size;
use crate::process::introspect;
use crate::process::this::is_running;
use crate::windows::access::There;
use crate::windows::reach::Reach;
use crate::windows::words::{self, Deed};
use crate::windows::{WINS, Win};
use parvum_sync::Hazards;
use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};

/// The windows, each at its handle's place. Those with high places are not here.
static PINS: Hazards<Win> = Hazards::new();

/// A thread's place as a reader, as [`sight`] keeps it: counted from one, 0 if it has none yet, this if it will have none.
const NONE: u32 = u32::MAX;

/// From now on the window has the short way.
pub(crate) fn keep(handle: i32, win: &Arc<Win>) {
    win.reach.set_handle(handle);
    PINS.set(WINS.entry_of(handle), win);
}

/// Waits until no thread uses the window by the short way, which it has no more.
pub(crate) fn forget(handle: i32) {
    let reader = (introspect::reader() as usize).checked_sub(1).filter(|&reader| reader < NONE as usize - 1);
    drop(PINS.take(WINS.entry_of(handle), reader));
}

/// What somebody does with a window. `None`: it has no short way, or nothing was done.
#[inline(always)]
fn with<T>(handle: i32, act: impl FnOnce(&Win) -> Option<T>) -> Option<T> {
    if !is_running() {
        return None;
    }
    let reader = (introspect::reader() as usize).wrapping_sub(1);
    // SAFETY: the thread has claimed the place: it keeps it in its own memory until it ends.
    let Some(win) = (unsafe { PINS.get(reader, WINS.entry_of(handle)) }) else { return come() };
    if win.reach.handle() == handle { act(&win) } else { None }
}

/// Has this thread be a reader, if it has not tried before; for this call it is too late.
#[cold]
fn come<T>() -> Option<T> {
    /// Gives the place back when its thread ends.
    struct Leaving(usize);
    impl Drop for Leaving {
        fn drop(&mut self) {
            introspect::set_reader(NONE);
            PINS.disclaim(self.0);
        }
    }
    thread_local! {
        static LEAVING: std::cell::OnceCell<Leaving> = const { std::cell::OnceCell::new() };
    }
    if introspect::reader() == 0 {
        introspect::set_reader(NONE);
        // A thread that is ending has nothing any more that would give it back.
        let place = LEAVING.try_with(|leaving| {
            let place = PINS.claim()?;
            leaving.set(Leaving(place)).is_ok().then_some(place)
        });
        if let Ok(Some(place)) = place {
            introspect::set_reader(place as u32 + 1);
        }
    }
    None
}

/// Bytes of data at the origin and at the target, if they are of one predefined type without holes.
#[inline(always)]
fn length(origin: *const u8, count: i64, of: i32, there: &There) -> Option<u64> {
    if origin.is_null() || count != there.count || of != there.datatype {
        return None;
    }
    // A negative count is too large; of nothing the long way has less to do.
    (count as u64).checked_mul(plain_size(of)? as u64).filter(|&length| length > 0)
}

/// Whether a put was done.
///
/// # Safety
/// The program's promise of its call.
#[inline(always)]
pub(crate) unsafe fn put(origin: *const u8, count: i64, of: i32, there: &There, handle: i32) -> bool {
    let Some(length) = length(origin, count, of, there) else { return false };
    let put = |win: &Win| {
        let to = win.reach.spot(there.rank, there.displacement, length)?;
        // SAFETY: the program's promise; `spot` has the memory.
        unsafe { copy(origin, pointer(to), length as usize) };
        Some(())
    };
    with(handle, put).is_some()
}

/// Whether a get was done.
///
/// # Safety
/// The program's promise of its call.
#[inline(always)]
pub(crate) unsafe fn get(origin: *mut u8, count: i64, of: i32, there: &There, handle: i32) -> bool {
    let Some(length) = length(origin, count, of, there) else { return false };
    let get = |win: &Win| {
        let from = win.reach.spot(there.rank, there.displacement, length)?;
        // SAFETY: the program's promise; `spot` has the memory.
        unsafe { copy(pointer(from), origin, length as usize) };
        Some(())
    };
    with(handle, get).is_some()
}

/// Whether elements were combined with the target's. What those were goes where `result` says, unless it is null.
///
/// # Safety
/// The program's promise of its call.
#[inline(always)]
pub(crate) unsafe fn accumulate(
    origin: *const u8,
    result: *mut u8,
    there: &There,
    op: i32,
    handle: i32,
) -> bool {
    let Some((size, deed)) = words::deed(op, there.datatype) else { return false };
    if origin.is_null() && !matches!(deed, Deed::Look) || there.count <= 0 {
        return false;
    }
    let change = |win: &Win| {
        let first = words_at(&win.reach, there, size)?;
        if there.count > 1 && win.reach.is_alone(there.rank) {
            // SAFETY: likewise; and nobody else accesses it.
            return unsafe {
                words::change_all(first, (there.count, there.datatype), op, deed, origin, result)
            };
        }
        if there.count > 1 && words::is_one_value(there.datatype) {
            return None;
        }
        for at in (0..there.count as usize).map(|place| place * size) {
            let (place, operand) = (first.wrapping_add(at), origin.wrapping_add(at));
            let was = if result.is_null() { result } else { result.wrapping_add(at) };
            // SAFETY: the program's promise; `spot` has the memory, and it is aligned.
            unsafe { words::change(place, size, deed, operand, was) };
        }
        Some(())
    };
    with(handle, change).is_some()
}

/// Whether one element was compared with one of the target's, and replaced it if they were equal.
///
/// # Safety
/// The program's promise of its call.
#[inline(always)]
pub(crate) unsafe fn swap(
    origin: *const u8,
    expected: *const u8,
    result: *mut u8,
    there: &There,
    handle: i32,
) -> bool {
    let Some(size) = words::swapped(there.datatype) else { return false };
    if origin.is_null() || expected.is_null() || result.is_null() {
        return false;
    }
    let swap = |win: &Win| {
        let place = words_at(&win.reach, there, size)?;
        // SAFETY: the program's promise; `spot` has the memory, and it is aligned.
        unsafe { words::swap(place, size, origin, expected, result) };
        Some(())
    };
    with(handle, swap).is_some()
}

/// Whether a lock permits to flush; then what was done before is seen by others before what follows is done.
#[inline(always)]
pub(crate) fn flush(rank: Option<i32>, handle: i32) -> bool {
    let is_locked = with(handle, |win| win.reach.is_locked(rank).then_some(())).is_some();
    // With the same in other processes: what was put is there, in whichever order they look.
    fence(Ordering::SeqCst);
    is_locked
}

/// Whether a target's lock was free, and is had now.
pub(crate) fn lock(exclusive: bool, rank: i32, assertions: i32, handle: i32) -> bool {
    with(handle, |win| win.lock_at_once(exclusive, rank, assertions)).is_some()
}

/// Whether a target's lock was given back, and nobody waited for it.
pub(crate) fn unlock(rank: i32, handle: i32) -> bool {
    with(handle, |win| win.unlock_at_once(rank)).is_some()
}

/// Whether there is such a window.
#[inline(always)]
pub(crate) fn is_there(handle: i32) -> bool {
    with(handle, |_| Some(())).is_some()
}

/// Elements that the processor changes in one piece each.
#[inline(always)]
fn words_at(reach: &Reach, there: &There, size: usize) -> Option<*mut u8> {
    let length = (there.count as u64).checked_mul(size as u64)?;
    let first = reach.spot(there.rank, there.displacement, length)?;
    (first & (size as u64 - 1) == 0).then(|| pointer(first))
}

#[inline(always)]
fn pointer(address: u64) -> *mut u8 {
    std::ptr::with_exposed_provenance_mut(address as usize)
}

/// # Safety
/// Both are memory of that length. That others use a window's at the same time is the program's business; the two may overlap.
#[inline(always)]
unsafe fn copy(from: *const u8, to: *mut u8, length: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        match length {
            8 => to.cast::<u64>().write_unaligned(from.cast::<u64>().read_unaligned()),
            4 => to.cast::<u32>().write_unaligned(from.cast::<u32>().read_unaligned()),
            _ => std::ptr::copy(from, to, length),
        }
    }
}
