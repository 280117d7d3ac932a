//! Handles: pointers of the program's, numbers of the core's.
//!
//! A predefined object has a number below 1024, by the standard. What a program has made is the core's handle with [`MADE`] above
//! it, which is none of those and never null.

use crate::numbers::HANDLES;

/// Above the core's handle, in the handle of what a program has made.
const MADE: usize = 1 << 32;
/// Predefined handles lie below.
const PREDEFINED: usize = 1024;
/// A handle of the core's that names nothing, of no kind.
const NOTHING: i32 = -1;
/// Places of the core's handles below this one belong to predefined objects.
const FIRST_MADE: u32 = 16;

const MESSAGE_NULL: usize = 0x128;
const MESSAGE_NO_PROC: usize = 0x129;

/// The core's handles of predefined objects, by the standard's.
static TO_CORE: [i32; PREDEFINED] = {
    let mut all = [NOTHING; PREDEFINED];
    let mut at = 0;
    while at < HANDLES.len() {
        all[HANDLES[at].0 as usize] = HANDLES[at].1;
        at += 1;
    }
    all
};

/// The core's handle.
#[inline]
pub fn narrow(handle: usize) -> i32 {
    match handle {
        handle if handle < PREDEFINED => TO_CORE[handle],
        handle if handle & !0xffff_ffff == MADE => handle as u32 as i32,
        _ => NOTHING,
    }
}

/// The program's handle.
#[inline]
pub fn widen(handle: i32) -> usize {
    let number = handle as u32;
    let is_made = number >> 30 == 2 && number & 0xf_ffff >= FIRST_MADE;
    if is_made { MADE | number as usize } else { predefined(handle) }
}

/// The standard's number of a predefined object; one that the standard does not know has the form of what a program has made.
fn predefined(handle: i32) -> usize {
    // Messages share their nulls with requests, and are widened by `widen_message`.
    let of_objects = |entry: &&(u16, i32)| !matches!(entry.0 as usize, MESSAGE_NULL | MESSAGE_NO_PROC);
    let mut objects = HANDLES.iter().filter(of_objects);
    objects.find(|entry| entry.1 == handle).map_or(MADE | handle as u32 as usize, |entry| entry.0 as usize)
}

fn widen_message(handle: i32) -> usize {
    match handle {
        handle if handle == TO_CORE[MESSAGE_NULL] => MESSAGE_NULL,
        handle if handle == TO_CORE[MESSAGE_NO_PROC] => MESSAGE_NO_PROC,
        handle => widen(handle),
    }
}

/// The number by which `MPI_X_toint` knows a handle: the standard's of a predefined object, else the core's.
pub fn to_int(handle: usize) -> i32 {
    handle as u32 as i32
}

/// The handle of such a number.
pub fn from_int(number: i32) -> usize {
    if (0..PREDEFINED as i32).contains(&number) { number as usize } else { MADE | number as u32 as usize }
}

/// A handle of the program's that a call reads, writes, or both.
pub struct Handle {
    program: *mut usize,
    /// As wide as the widest place that the core writes: a file's.
    core: u64,
    before: i32,
}

impl Handle {
    /// Takes it over for a call. What is there before a call that only writes is no matter.
    #[inline]
    pub unsafe fn take(program: *mut usize) -> Handle {
        // SAFETY: the program promises a handle, or room for one.
        let before = if program.is_null() { NOTHING } else { narrow(unsafe { program.read_unaligned() }) };
        Handle { program, core: u64::from(before as u32), before }
    }

    /// The core's handle, as it is now.
    #[inline]
    pub fn now(&self) -> i32 {
        self.core as u32 as i32
    }

    /// Where the core finds and puts it.
    #[inline]
    pub fn place(&mut self) -> *mut i32 {
        if self.program.is_null() { std::ptr::null_mut() } else { (&raw mut self.core).cast() }
    }

    /// Gives it to the program, if the core has changed it.
    #[inline]
    pub unsafe fn give(self) {
        // SAFETY: the caller's promise.
        unsafe { self.give_as(widen) };
    }

    /// The same of a message, whose nulls are its own.
    pub unsafe fn give_message(self) {
        // SAFETY: the caller's promise.
        unsafe { self.give_as(widen_message) };
    }

    #[inline]
    unsafe fn give_as(self, widen: impl FnOnce(i32) -> usize) {
        let now = self.now();
        if now != self.before {
            // SAFETY: the core changes it only when the program has given a place.
            unsafe { self.program.write_unaligned(widen(now)) };
        }
    }
}

/// Puts `MPI_COMM_NULL` where a communicator should have stood at the end of a request, if the program has given a place.
#[cold]
pub unsafe fn no_comm(program: *mut usize) {
    if !program.is_null() {
        // SAFETY: the program's place.
        unsafe { program.write_unaligned(widen(parvum_mpi::objects::numbers::COMM_NULL)) };
    }
}

/// So many are converted without asking for memory.
const FEW: usize = 32;

/// An array of handles.
pub struct Handles {
    program: *mut usize,
    count: usize,
    few: [i32; FEW],
    many: Vec<i32>,
}

impl Handles {
    /// Reads an array.
    #[inline]
    pub unsafe fn read(program: *const usize, count: usize) -> Handles {
        let program = program.cast_mut();
        let count = if program.is_null() { 0 } else { count };
        let mut handles = Handles { program, count, few: [0; FEW], many: Vec::new() };
        if count > FEW {
            handles.many = vec![0; count];
        }
        for at in 0..count {
            // SAFETY: the program promises as many.
            let handle = narrow(unsafe { program.add(at).read_unaligned() });
            handles.core()[at] = handle;
        }
        handles
    }

    /// Takes an array over for a call, or room for one.
    #[inline]
    pub unsafe fn take(program: *mut usize, count: usize) -> Handles {
        // SAFETY: the caller's promise.
        unsafe { Handles::read(program, count) }
    }

    fn core(&mut self) -> &mut [i32] {
        if self.count > FEW { &mut self.many } else { &mut self.few[..self.count] }
    }

    /// What the core reads; null, when the program has given no array.
    pub fn pointer(&self) -> *const i32 {
        match self.program.is_null() {
            true => std::ptr::null(),
            false if self.count > FEW => self.many.as_ptr(),
            false => self.few.as_ptr(),
        }
    }

    /// What the core reads and writes.
    pub fn place(&mut self) -> *mut i32 {
        match self.program.is_null() {
            true => std::ptr::null_mut(),
            false if self.count > FEW => self.many.as_mut_ptr(),
            false => self.few.as_mut_ptr(),
        }
    }

    /// Gives the program what the core has changed.
    #[inline]
    pub unsafe fn give(mut self) {
        let program = self.program;
        for (at, &handle) in self.core().iter().enumerate() {
            // SAFETY: the program promises as many.
            unsafe {
                let place = program.add(at);
                if narrow(place.read_unaligned()) != handle {
                    place.write_unaligned(widen(handle));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_round_trip_between_abi_and_core() {
        for &(standard, core) in HANDLES {
            assert_eq!(narrow(standard.into()), core);
            let back = if standard >> 1 == 0x94 { widen_message(core) } else { widen(core) };
            assert_eq!(back, usize::from(standard));
            assert_eq!(from_int(to_int(standard.into())), usize::from(standard));
        }
        // A communicator that a program has made.
        let made = (2_u32 << 30 | 1 << 26 | 3 << 20 | 17) as i32;
        assert_eq!((narrow(widen(made)), from_int(to_int(widen(made)))), (made, widen(made)));
        assert!(widen(made) >= PREDEFINED);
    }

    #[test]
    fn narrow_returns_nothing_for_invalid_handle() {
        for none in [0, 1, 0x1ff, 1023, 1024, 0x7fff_ffff_ff10] {
            assert_eq!(narrow(none), NOTHING, "{none:#x}");
        }
    }
}
