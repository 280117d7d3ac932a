//! Pools of buffers.

use super::{Handle, Kind, count, done, handle};
use crate::buffers::{NetworkBuffer, NetworkBufferFreeList};
use crate::errors::Error;
use std::collections::HashMap;
use std::ffi::{c_int, c_void};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A pool, and what the program has of it: by address. The box stays where it is, and so does the memory.
pub struct Pool(Mutex<Lent>);

struct Lent {
    list: NetworkBufferFreeList,
    lent: HashMap<usize, Box<NetworkBuffer>>,
}

impl Kind for Pool {
    const MARK: u64 = 0x6368_706f_6f6c_0000;
}

impl Pool {
    fn lock(&self) -> MutexGuard<'_, Lent> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes a pool with this number of buffers of this size.
#[unsafe(no_mangle)]
pub extern "C" fn ch_pool_create(size: usize, number: c_int, may_grow: c_int) -> *mut Handle<Pool> {
    let make = || {
        let number = usize::try_from(number).map_err(|_| Error::BadArgument)?;
        if size == 0 || size.checked_mul(number).is_none_or(|all| all > isize::MAX as usize) {
            return Err(Error::BadArgument);
        }
        let list = NetworkBufferFreeList::new(size, number, may_grow != 0);
        Ok(Pool(Mutex::new(Lent { list, lent: HashMap::new() })))
    };
    handle(make())
}

/// Releases a pool and all its buffers; refused while the program has any of them.
///
/// # Safety
/// A handle of this library that nobody uses any more, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ch_pool_destroy(pool: *mut Handle<Pool>) -> c_int {
    // SAFETY: the caller's promise.
    let destroy = || unsafe {
        if !Handle::of(pool)?.lock().lent.is_empty() {
            return Err(Error::NoBuffer);
        }
        Handle::release(pool)
    };
    done(destroy())
}

/// How many buffers are free.
///
/// # Safety
/// A handle of this library, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ch_pool_free(pool: *const Handle<Pool>) -> c_int {
    // SAFETY: the caller's promise.
    count(unsafe { Handle::of(pool) }.map(|pool| pool.lock().list.free()))
}

/// How many buffers were made in service.
///
/// # Safety
/// A handle of this library, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ch_pool_grown(pool: *const Handle<Pool>) -> c_int {
    // SAFETY: the caller's promise.
    count(unsafe { Handle::of(pool) }.map(|pool| pool.lock().list.grown()))
}

/// A free buffer of the pool's size. Null if all buffers are in use, and the pool may not grow, or not in this call.
///
/// # Safety
/// A handle of this library, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ch_buffer_get(pool: *mut Handle<Pool>, may_grow: c_int) -> *mut c_void {
    let get = || {
        // SAFETY: the caller's promise.
        let mut pool = unsafe { Handle::of(pool)? }.lock();
        let mut buffer = Box::new(pool.list.get(may_grow != 0).ok_or(Error::NoBuffer)?);
        let start = buffer.memory().as_mut_ptr();
        pool.lent.insert(start as usize, buffer);
        Ok(start.cast())
    };
    get().unwrap_or_else(|why: Error| {
        super::failed(&why);
        std::ptr::null_mut()
    })
}

/// Gives a buffer back. A buffer that the pool has not lent is an error.
///
/// # Safety
/// A handle of this library, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ch_buffer_put(pool: *mut Handle<Pool>, buffer: *mut c_void) -> c_int {
    let put = || {
        // SAFETY: the caller's promise.
        let mut pool = unsafe { Handle::of(pool)? }.lock();
        let buffer = pool.lent.remove(&(buffer as usize)).ok_or(Error::BadArgument)?;
        pool.list.put(*buffer);
        Ok(())
    };
    done(put())
}
