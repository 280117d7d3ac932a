//! The functions of `containers.h`: C arguments checked and turned into Rust's.
//!
//! Every function refuses null pointers, handles of another kind and counts that cannot be with `CH_EARGUMENT`. The
//! library must trust the program's claims about its own memory: that `n` bytes are at a pointer, or that a handle is
//! not released yet.

mod calls;
mod containers;
mod groups;
mod names;
mod pools;
mod state;

use crate::errors::Error;
use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int, c_long, c_void};
use std::time::Duration;

thread_local! {
    /// The number of this thread's last failure.
    static LAST: Cell<c_int> = const { Cell::new(0) };
}

/// Marks what a handle is: the word at its beginning.
trait Kind {
    const MARK: u64;
}

/// The object behind a pointer of the program.
#[repr(C)]
struct Handle<T> {
    mark: u64,
    it: T,
}

impl<T: Kind> Handle<T> {
    /// Lends it to the program.
    fn lend(it: T) -> *mut Handle<T> {
        Box::into_raw(Box::new(Handle { mark: T::MARK, it }))
    }

    /// What the program means.
    ///
    /// # Safety
    /// Null, or a handle of this library that was not released, of whatever kind.
    #[inline]
    unsafe fn of<'a>(handle: *const Handle<T>) -> Result<&'a T, Error> {
        // SAFETY: every handle begins with its mark.
        match unsafe { handle.cast::<u64>().as_ref() } {
            // SAFETY: the mark shows that the object has this type, and all uses are through shared references.
            Some(mark) if *mark == T::MARK => Ok(unsafe { &(*handle).it }),
            _ => Err(Error::BadArgument),
        }
    }

    /// Takes it back.
    ///
    /// # Safety
    /// As for `of`, and nobody may use it afterwards.
    unsafe fn release(handle: *mut Handle<T>) -> Result<(), Error> {
        // SAFETY: the caller's promise.
        unsafe { Handle::of(handle)? };
        // SAFETY: it came from `lend`, and is of this kind. The mark goes first, so that a second release is seldom believed.
        unsafe {
            (*handle).mark = 0;
            drop(Box::from_raw(handle));
        }
        Ok(())
    }
}

/// Remembers a failure; gives its number.
#[cold]
fn failed(why: &Error) -> c_int {
    LAST.set(why.number());
    why.number()
}

#[inline]
fn done(result: Result<(), Error>) -> c_int {
    count(result.map(|()| 0))
}

#[inline]
fn count(result: Result<usize, Error>) -> c_int {
    match result {
        Ok(number) => c_int::try_from(number).unwrap_or(c_int::MAX),
        Err(why) => failed(&why),
    }
}

#[inline]
fn length(result: Result<usize, Error>) -> c_long {
    match result {
        Ok(number) => number as c_long,
        Err(why) => failed(&why).into(),
    }
}

fn handle<T: Kind>(result: Result<T, Error>) -> *mut Handle<T> {
    match result {
        Ok(it) => Handle::lend(it),
        Err(why) => {
            failed(&why);
            std::ptr::null_mut()
        }
    }
}

/// A C string of the program, in UTF-8.
///
/// # Safety
/// `text` must be null or end with a zero byte, and must not change meanwhile.
unsafe fn text<'a>(text: *const c_char) -> Result<&'a str, Error> {
    if text.is_null() {
        return Err(Error::BadArgument);
    }
    // SAFETY: not null, and terminated as the caller says.
    unsafe { CStr::from_ptr(text) }.to_str().map_err(|_| Error::BadArgument)
}

/// The program's bytes.
///
/// # Safety
/// Unless there are none, they must be readable, and must not change meanwhile.
#[inline]
unsafe fn bytes<'a>(start: *const c_void, length: usize) -> Result<&'a [u8], Error> {
    match length {
        0 => Ok(&[]),
        _ if start.is_null() || length > isize::MAX as usize => Err(Error::BadArgument),
        // SAFETY: not null, and readable as the caller says.
        _ => Ok(unsafe { std::slice::from_raw_parts(start.cast(), length) }),
    }
}

/// The program's room.
///
/// # Safety
/// Unless there is none, it must be writable, and nobody else may use it meanwhile.
#[inline]
unsafe fn room<'a>(start: *mut c_void, length: usize) -> Result<&'a mut [u8], Error> {
    match length {
        0 => Ok(&mut []),
        _ if start.is_null() || length > isize::MAX as usize => Err(Error::BadArgument),
        // SAFETY: not null, and writable as the caller says.
        _ => Ok(unsafe { std::slice::from_raw_parts_mut(start.cast(), length) }),
    }
}

/// An array of the program.
///
/// # Safety
/// Unless there are none, `count` items must be readable, and must not change meanwhile.
unsafe fn array<'a, T>(start: *const T, count: c_int) -> Result<&'a [T], Error> {
    match usize::try_from(count) {
        Ok(0) => Ok(&[]),
        // SAFETY: not null, and readable as the caller says.
        Ok(count) if !start.is_null() => Ok(unsafe { std::slice::from_raw_parts(start, count) }),
        _ => Err(Error::BadArgument),
    }
}

/// Writes a result where the program wants it, if it does.
///
/// # Safety
/// `place` must be null or valid for a write.
#[inline]
unsafe fn put<T>(place: *mut T, value: T) {
    if !place.is_null() {
        // SAFETY: not null, and valid as the caller says.
        unsafe { place.write(value) };
    }
}

/// A time-out in milliseconds; negative stands for none.
fn limit(milliseconds: c_long) -> Option<Duration> {
    u64::try_from(milliseconds).ok().map(Duration::from_millis)
}

/// The number of this thread's last failure; 0 if none failed yet.
#[unsafe(no_mangle)]
pub extern "C" fn ch_error() -> c_int {
    LAST.get()
}

/// The text of an error's number; it lasts for ever.
#[unsafe(no_mangle)]
pub extern "C" fn ch_error_text(number: c_int) -> *const c_char {
    crate::errors::text(number).as_ptr()
}

/// The last error message of the virtual machine: at most `room` bytes with the zero at their end. Gives the length of
/// all of it.
///
/// # Safety
/// `out` must be writable for `space` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ch_reason(out: *mut c_char, space: usize) -> usize {
    let said = crate::engine::reason();
    // SAFETY: the caller's promise.
    if let Ok(out) = unsafe { room(out.cast(), space) }
        && let Some(most) = out.len().checked_sub(1)
    {
        let most = said.floor_char_boundary(most);
        out[..most].copy_from_slice(&said.as_bytes()[..most]);
        out[most] = 0;
    }
    said.len()
}

/// This task's id; joins the machine, and starts it if need be.
#[unsafe(no_mangle)]
pub extern "C" fn ch_my_task() -> c_int {
    match crate::my_task() {
        Ok(task) => task,
        Err(why) => failed(&why),
    }
}

/// Questions that this process has asked the name server.
#[unsafe(no_mangle)]
pub extern "C" fn ch_exchanges() -> u64 {
    crate::counts().exchanges
}
