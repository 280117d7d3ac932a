//! The function behind a wrapper: that of the next library in the loader's order.

#![allow(unsafe_code)]

use std::ffi::CStr;
use std::sync::atomic::{AtomicUsize, Ordering};

/// All arguments that any function of MPI has. Words that a function does not have it does not look at.
pub type Words = [usize; 12];
type Function = unsafe extern "C" fn(
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
) -> usize;

/// A function of the next library, found at its first call.
pub struct Next {
    name: &'static CStr,
    found: AtomicUsize,
}

impl Next {
    pub const fn new(name: &'static CStr) -> Next {
        Next { name, found: AtomicUsize::new(0) }
    }

    /// Its address; 0 if no library has it.
    fn address(&self) -> usize {
        // Relaxed: every thread finds the same address.
        match self.found.load(Ordering::Relaxed) {
            0 => {
                // SAFETY: the name ends with a zero.
                let found = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) } as usize;
                self.found.store(found, Ordering::Relaxed);
                found
            }
            found => found,
        }
    }

    /// Calls it.
    ///
    /// # Safety
    /// The words must be arguments as the function wants them.
    pub unsafe fn call(&self, words: Words) -> usize {
        let address = self.address();
        if address == 0 {
            eprintln!("parvum-profile: no library of this program has {}", self.name.to_string_lossy());
            std::process::abort();
        }
        // SAFETY: dlsym's address of a function in C, which takes words and returns one.
        let function: Function = unsafe { std::mem::transmute(address) };
        let [a, b, c, d, e, f, g, h, i, j, k, l] = words;
        // SAFETY: the caller's promise; words beyond its own are not looked at.
        unsafe { function(a, b, c, d, e, f, g, h, i, j, k, l) }
    }

    /// Calls it if a library has it.
    ///
    /// # Safety
    /// As for [`call`](Next::call).
    pub unsafe fn try_call(&self, words: Words) -> Option<usize> {
        // SAFETY: the caller's promise.
        (self.address() != 0).then(|| unsafe { self.call(words) })
    }
}
