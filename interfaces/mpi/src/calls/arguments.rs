//! Arguments of calls as programs give them: counts, arrays, texts, and places for results.

use crate::callbacks::calling::calling;
use crate::errors::{Error, Mpi, class};
use crate::objects::numbers::{COMM_NULL, UNDEFINED};
use parvum_api::pointers::{Given, Out, Text};
use std::ffi::{c_char, c_int, c_void};

/// An array of counts or displacements, of 32 or 64 bits each.
#[derive(Clone, Copy)]
pub struct Numbers {
    start: *const c_void,
    wide: bool,
}

impl Numbers {
    pub fn narrow(start: *const i32) -> Numbers {
        Numbers { start: start.cast(), wide: false }
    }

    pub fn wide(start: *const i64) -> Numbers {
        Numbers { start: start.cast(), wide: true }
    }

    pub(super) fn is_null(&self) -> bool {
        self.start.is_null()
    }

    /// The number at a place.
    pub(super) unsafe fn at(&self, place: usize) -> i64 {
        // SAFETY: the program promises as many numbers as the call uses.
        unsafe {
            match self.wide {
                true => self.start.cast::<i64>().add(place).read_unaligned(),
                false => i64::from(self.start.cast::<i32>().add(place).read_unaligned()),
            }
        }
    }

    /// The first `count` of them.
    pub(super) unsafe fn all(&self, count: usize) -> Mpi<Vec<i64>> {
        if self.is_null() && count > 0 {
            return Err(null("an array"));
        }
        // SAFETY: the caller's promise.
        Ok((0..count).map(|place| unsafe { self.at(place) }).collect())
    }
}

/// Makes the type that a call asks for of an argument of the program's.
///
/// # Safety
/// As the type promises.
#[inline(always)]
pub unsafe fn given<R, G: Given<R>>(argument: R) -> G {
    // SAFETY: the caller's promise.
    unsafe { G::given(argument) }
}

/// The place of a count, of 32 or 64 bits: null, or the program's memory for one.
#[derive(Clone, Copy)]
pub struct CountTarget {
    start: *mut c_void,
    wide: bool,
}

impl CountTarget {
    /// # Safety
    /// `start` must be null, or valid for reads and writes until the call returns.
    pub unsafe fn narrow(start: *mut i32) -> CountTarget {
        CountTarget { start: start.cast(), wide: false }
    }

    /// # Safety
    /// As for `narrow`.
    pub unsafe fn wide(start: *mut i64) -> CountTarget {
        CountTarget { start: start.cast(), wide: true }
    }

    /// Puts a number there; one that does not fit becomes `MPI_UNDEFINED`.
    pub(super) fn put(&self, number: i64) -> Mpi {
        if self.start.is_null() {
            return Err(null("an argument for a result"));
        }
        // SAFETY: the maker of the place has promised room.
        unsafe {
            match self.wide {
                true => self.start.cast::<i64>().write_unaligned(number),
                false => self.start.cast::<i32>().write_unaligned(i32::try_from(number).unwrap_or(UNDEFINED)),
            }
        }
        Ok(())
    }

    pub(super) fn get(&self) -> Mpi<i64> {
        if self.start.is_null() {
            return Err(null("an argument"));
        }
        // SAFETY: the maker of the place has promised a number there.
        Ok(unsafe {
            match self.wide {
                true => self.start.cast::<i64>().read_unaligned(),
                false => i64::from(self.start.cast::<i32>().read_unaligned()),
            }
        })
    }
}

#[cold]
pub(super) fn null(what: &str) -> Error {
    Error::new(class::ARG, format!("{what} is a null pointer"))
}

/// Refuses a call that has no place for a result, before anything is done: faces ask so of each.
#[inline(always)]
pub fn there(is_null: bool, name: &'static str) -> Mpi {
    if is_null { Err(null(name)) } else { Ok(()) }
}

/// Refuses a call that begins something for which there would be no request.
#[inline(always)]
pub fn room_for_a_request() -> Mpi {
    crate::requests::handles::room_for_one()
}

/// Puts a null handle where a call that has failed should have put a handle. The place itself may be what was wrong.
#[cold]
pub unsafe fn put_null_of(place: *mut c_int, null: i32) {
    // SAFETY: the caller's promise.
    unsafe { Out::new(place) }.put(null);
}

/// The same of a file.
#[cold]
pub unsafe fn put_no_file(place: *mut usize) {
    // SAFETY: the caller's promise.
    unsafe { Out::new(place) }.put(0);
}

/// The handle that lies at a place of the program's, for the handler of a call's errors; 0, which names nothing, if there is no place.
#[inline]
pub unsafe fn named_at(place: *const c_int) -> i32 {
    // SAFETY: the caller's promise.
    if place.is_null() { 0 } else { unsafe { place.read_unaligned() } }
}

/// Refuses hints that are no info object, where nobody else would look at them.
pub fn known_hints(handle: i32) -> Mpi {
    crate::objects::info::hints(handle).map(drop)
}

/// Puts a result where the program wants it.
#[inline]
pub(super) fn put<T>(place: Out<'_, T>, value: T) -> Mpi {
    if place.is_null() {
        return Err(null("an argument for a result"));
    }
    place.put(value);
    Ok(())
}

/// The same by a pointer to the first of several values.
pub(super) unsafe fn put_at<T>(place: *mut T, value: T) -> Mpi {
    // SAFETY: the caller's promise.
    put(unsafe { Out::new(place) }, value)
}

/// Puts a result where the program wants it, if it does.
pub(super) unsafe fn put_if_at<T>(place: *mut T, value: T) {
    // SAFETY: the caller's promise.
    unsafe { Out::new(place) }.put(value);
}

/// Puts `MPI_COMM_NULL` where a communicator will stand when a request is over.
pub(super) unsafe fn put_null(place: *mut c_int) -> Mpi {
    if place.is_null() {
        return Err(null("an argument for a result"));
    }
    // SAFETY: the program promises room for the result.
    unsafe { (calling().put_comm)(place, COMM_NULL) };
    Ok(())
}

/// What a pointer of the program's points to.
pub(super) unsafe fn get<T: Copy>(place: *const T) -> Mpi<T> {
    if place.is_null() {
        return Err(null("an argument"));
    }
    // SAFETY: the program promises a value there.
    Ok(unsafe { place.read_unaligned() })
}

/// An array of the program's.
pub(super) unsafe fn array<'a, T>(start: *const T, count: usize) -> Mpi<&'a [T]> {
    match count {
        0 => Ok(&[]),
        _ if start.is_null() => Err(null("an array")),
        // SAFETY: the program promises as many.
        count => Ok(unsafe { std::slice::from_raw_parts(start, count) }),
    }
}

/// An array that the call changes.
pub(super) unsafe fn array_mut<'a, T>(start: *mut T, count: usize) -> Mpi<&'a mut [T]> {
    match count {
        0 => Ok(&mut []),
        _ if start.is_null() => Err(null("an array")),
        // SAFETY: the program promises as many, and that nobody else uses them during the call.
        count => Ok(unsafe { std::slice::from_raw_parts_mut(start, count) }),
    }
}

pub(super) fn length_of(count: i32) -> Mpi<usize> {
    usize::try_from(count).map_err(|_| Error::new(class::COUNT, format!("the count is {count}")))
}

/// Text of the program's: bytes in whichever encoding.
pub(super) fn text(text: Text<'_>) -> Mpi<Vec<u8>> {
    text.get().map(|text| text.to_bytes().to_vec()).ok_or_else(|| null("a string"))
}

/// Text of the program's that must be UTF-8, for the machine keeps it so.
pub(super) fn plain_text(start: Text<'_>) -> Mpi<String> {
    let bytes = text(start)?;
    String::from_utf8(bytes).map_err(|wrong| {
        let text = format!("\"{}\" is not UTF-8, which this name must be", wrong.as_bytes().escape_ascii());
        Error::new(class::ARG, text)
    })
}

/// Gives the program text, in room for `room` bytes with the zero at its end; how long it is.
pub(super) unsafe fn give_text(place: *mut c_char, room: usize, text: impl AsRef<[u8]>) -> Mpi<i32> {
    if place.is_null() {
        return Err(null("an argument for text"));
    }
    let text = text.as_ref();
    let mut end = text.len().min(room - 1);
    // No character of UTF-8 is cut.
    if let Ok(text) = str::from_utf8(text) {
        end = text.floor_char_boundary(end);
    }
    // SAFETY: the program promises as much room as the standard says.
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr(), place.cast(), end);
        place.add(end).write(0);
    }
    Ok(end as i32)
}

/// What is not built says so, and never succeeds.
pub fn unsupported() -> Mpi {
    Err(Error::new(class::UNSUPPORTED_OPERATION, "Parvum does not have this function"))
}
