//! Statuses: 32 bytes of the program's, 20 of the core's.

use crate::numbers::{code_in, code_out, rank_in, rank_out, tag_in, tag_out};
use parvum_mpi::messages::status::Status;
use std::ffi::c_int;

/// `MPI_Status` of the standard's binary interface.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct MpiStatus {
    source: c_int,
    tag: c_int,
    error: c_int,
    /// The library's own: the core's words first.
    own: [u32; 5],
}

const _: () = assert!(size_of::<MpiStatus>() == 32);

/// No code: the core has not set the error, and the program's stays.
const UNSET: c_int = c_int::MIN;

impl MpiStatus {
    fn narrow(&self) -> Status {
        let status = Status::of(rank_in(self.source), tag_in(self.tag), 0);
        let mut status = status.with_words([self.own[0], self.own[1]]);
        status.error = code_in(self.error);
        status
    }

    /// The same, but for the error, which only some calls set.
    fn narrow_without_error(&self) -> Status {
        let mut status = self.narrow();
        status.error = UNSET;
        status
    }

    fn set(&mut self, status: &Status) {
        self.source = rank_out(status.source);
        self.tag = tag_out(status.tag);
        if status.error != UNSET {
            self.error = code_out(status.error);
        }
        let [low, high] = status.words();
        self.own = [low, high, 0, 0, 0];
    }
}

/// One status, or an array of them, or none.
pub struct Statuses {
    program: *mut MpiStatus,
    one: Status,
    before: Status,
    many: Vec<Status>,
}

impl Statuses {
    /// Reads one.
    #[inline]
    pub unsafe fn read(program: *const MpiStatus) -> Statuses {
        let program = program.cast_mut();
        let one = match program.is_null() {
            true => Status::EMPTY,
            // SAFETY: the program promises a status.
            false => unsafe { program.read_unaligned() }.narrow(),
        };
        Statuses { program, one, before: one, many: Vec::new() }
    }

    /// Takes them over for a call that sets them or changes them; null: the program does not want any.
    #[inline]
    pub unsafe fn take(program: *mut MpiStatus, count: usize) -> Statuses {
        let mut taken = Statuses { program, one: Status::EMPTY, before: Status::EMPTY, many: Vec::new() };
        if program.is_null() {
            return taken;
        }
        // SAFETY: the program promises as many.
        let known = |at| unsafe { program.add(at).read_unaligned() }.narrow_without_error();
        if count == 1 {
            taken.one = known(0);
            taken.before = taken.one;
        } else {
            taken.many = (0..count).map(known).collect();
        }
        taken
    }

    /// What the core reads.
    pub fn pointer(&self) -> *const Status {
        if self.program.is_null() { std::ptr::null() } else { &raw const self.one }
    }

    /// Where the core puts them.
    #[inline]
    pub fn place(&mut self) -> *mut Status {
        match self.program.is_null() {
            true => std::ptr::null_mut(),
            false if self.many.is_empty() => &raw mut self.one,
            false => self.many.as_mut_ptr(),
        }
    }

    /// Gives the program what the core has set.
    #[inline]
    pub unsafe fn give(self) {
        if self.program.is_null() {
            return;
        }
        if self.many.is_empty() {
            if self.one != self.before {
                // SAFETY: the program promises a status.
                unsafe { give(self.program, &self.one) };
            }
            return;
        }
        for (at, status) in self.many.iter().enumerate() {
            // SAFETY: the program promises as many.
            unsafe {
                let place = self.program.add(at);
                let before = place.read_unaligned().narrow_without_error();
                if *status != before {
                    give(place, status);
                }
            }
        }
    }
}

unsafe fn give(place: *mut MpiStatus, status: &Status) {
    // SAFETY: the caller's promise.
    unsafe {
        let mut now = place.read_unaligned();
        now.set(status);
        place.write_unaligned(now);
    }
}

/// For the program's query function: a status in the program's form, and back.
pub fn with_own(status: &mut Status, query: impl FnOnce(*mut MpiStatus) -> c_int) -> c_int {
    let mut own = MpiStatus { source: 0, tag: 0, error: 0, own: [0; 5] };
    own.set(status);
    let code = query(&raw mut own);
    let error = status.error;
    *status = own.narrow();
    status.error = error;
    code
}
