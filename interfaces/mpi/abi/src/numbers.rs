//! Numbers: which are the core's, and which the program's. The tables are made from the two headers; what both lack stays as it is.

use std::ffi::c_int;

mod names {
    #![allow(missing_docs, reason = "each converts what its name says, in or out")]
    #![allow(clippy::manual_range_patterns, reason = "they stand as the headers have them")]
    include!(concat!(env!("OUT_DIR"), "/names.rs"));
}
pub use names::*;

/// `MPI_IN_PLACE`.
pub const IN_PLACE: usize = 1;
const BUFFER_AUTOMATIC: usize = 2;

/// The class of an error is in these bits of its code.
const CLASS_BITS: c_int = 0xff;
/// Codes of the program's own have this bit.
const OWN: c_int = 1 << 30;
/// The core's code.
pub fn code_in(code: c_int) -> c_int {
    with_class(code, &CLASS_IN)
}

/// The program's code.
pub fn code_out(code: c_int) -> c_int {
    with_class(code, &CLASS_OUT)
}

fn with_class(code: c_int, classes: &[u8; 256]) -> c_int {
    match code {
        code if code < 0 || code & OWN != 0 => code,
        code => code & !CLASS_BITS | c_int::from(classes[(code & CLASS_BITS) as usize]),
    }
}

/// What a call gives.
#[inline]
pub fn given(code: c_int) -> c_int {
    if code == 0 { 0 } else { code_out(code) }
}

/// An address of data, or one that stands for something.
#[inline]
pub fn buffer(address: usize) -> usize {
    match address {
        IN_PLACE => parvum_mpi::objects::numbers::IN_PLACE,
        BUFFER_AUTOMATIC => parvum_mpi::objects::numbers::BUFFER_AUTOMATIC,
        address => address,
    }
}

/// The address of a detached buffer stands there: one that stands for something becomes the program's.
pub unsafe fn give_buffer(place: *mut u8) {
    let place = place.cast::<usize>();
    // SAFETY: the program promises room for an address.
    unsafe {
        if !place.is_null() && place.read_unaligned() == parvum_mpi::objects::numbers::BUFFER_AUTOMATIC {
            place.write_unaligned(BUFFER_AUTOMATIC);
        }
    }
}

/// The length of an array; one that is negative is refused by the core.
pub fn length(count: impl Into<i64>) -> usize {
    usize::try_from(count.into()).unwrap_or(0)
}

/// A number of the program's that a call reads, writes, or both.
pub struct Int {
    program: *mut c_int,
    core: c_int,
    before: c_int,
}

impl Int {
    /// Takes it over for a call.
    pub unsafe fn take(program: *mut c_int, convert: impl FnOnce(c_int) -> c_int) -> Int {
        // SAFETY: the program promises a number, or room for one.
        let before = if program.is_null() { 0 } else { convert(unsafe { program.read_unaligned() }) };
        Int { program, core: before, before }
    }

    /// Where the core finds and puts it.
    pub fn place(&mut self) -> *mut c_int {
        if self.program.is_null() { std::ptr::null_mut() } else { &raw mut self.core }
    }

    /// Gives it to the program, if the core has changed it.
    pub unsafe fn give(self, convert: impl FnOnce(c_int) -> c_int) {
        if self.core != self.before {
            // SAFETY: the core changes it only when the program has given a place.
            unsafe { self.program.write_unaligned(convert(self.core)) };
        }
    }
}

/// An array of numbers.
pub struct Ints {
    program: *mut c_int,
    core: Vec<c_int>,
}

impl Ints {
    /// Reads an array.
    pub unsafe fn read(program: *const c_int, count: usize, convert: impl Fn(c_int) -> c_int) -> Ints {
        let count = if program.is_null() { 0 } else { count };
        // SAFETY: the program promises as many.
        let core = (0..count).map(|at| convert(unsafe { program.add(at).read_unaligned() })).collect();
        Ints { program: program.cast_mut(), core }
    }

    /// Takes over room for an array.
    pub unsafe fn take(program: *mut c_int, count: usize, convert: impl Fn(c_int) -> c_int) -> Ints {
        // SAFETY: the caller's promise.
        unsafe { Ints::read(program, count, convert) }
    }

    /// What the core reads.
    pub fn pointer(&self) -> *const c_int {
        if self.program.is_null() { std::ptr::null() } else { self.core.as_ptr() }
    }

    /// What the core writes.
    pub fn place(&mut self) -> *mut c_int {
        if self.program.is_null() { std::ptr::null_mut() } else { self.core.as_mut_ptr() }
    }

    /// Gives them to the program.
    pub unsafe fn give(self, convert: impl Fn(c_int) -> c_int) {
        for (at, &number) in self.core.iter().enumerate() {
            // SAFETY: the program promises as many.
            unsafe { self.program.add(at).write_unaligned(convert(number)) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_codes_round_trip_between_abi_and_core() {
        // MPI_ERR_REQUEST is 7 in the standard and 19 in the core.
        assert_eq!((code_out(19 | 5 << 8), code_in(7 | 5 << 8)), (7 | 5 << 8, 19 | 5 << 8));
        assert_eq!((code_in(OWN | 7), code_out(OWN | 7)), (OWN | 7, OWN | 7));
        for code in -3..4 * CLASS_BITS {
            assert_eq!((code_out(code_in(code)), code_in(code_out(code))), (code, code));
        }
        // Where the core has a class (77) and the standard none, there is none.
        assert_eq!(parvum_mpi::errors::class_of(code_in(77)), None);
    }

    #[test]
    fn numbers_unknown_to_standard_are_refused() {
        // The core's exclusive lock is 234.
        assert_eq!((lock_in(301), lock_in(234)), (234, c_int::MIN));
        // Any source is -1 here and -2 there, where -1 is nobody.
        assert_eq!((rank_in(-1), rank_in(-3), rank_in(-2), rank_in(5)), (-2, -1, c_int::MIN, 5));
        assert_eq!((rank_out(-2), rank_out(-1), rank_out(-3)), (-1, -3, -4));
        assert_eq!((assert_in(1024 | 8192), amode_in(2 | 256)), (1024 | 2048, 1 | 4));
    }
}
