//! The function behind a wrapper. The next library in the loader's order has it, or a library outside this order: Python loads the MPI of
//! mpi4py so.

#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_int, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};

/// All arguments that any function of MPI has. A function ignores words beyond its own.
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
                let next = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) } as usize;
                let found = if next == 0 { of_loaded_library(self.name) } else { next };
                let found = if found == 0 { self.with_short_counts() } else { found };
                self.found.store(found, Ordering::Relaxed);
                found
            }
            found => found,
        }
    }

    /// The same function with counts of 32 bits. A program takes the functions of this library for functions of its MPI. An MPI
    /// may lack large counts. The lower half of a large count is the short one, if the count fits.
    fn with_short_counts(&self) -> usize {
        let short = self.name.to_bytes().strip_suffix(b"_c").and_then(|name| CString::new(name).ok());
        short.map_or(0, |name| of_loaded_library(&name))
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

/// The address of a function of any loaded library but this one; 0 if no library has it.
fn of_loaded_library(name: &CStr) -> usize {
    let mut libraries: Vec<CString> = Vec::new();
    // SAFETY: `collect` takes this list as its data, and the list outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(collect), (&raw mut libraries).cast()) };
    let own = base_of(of_loaded_library as *const c_void);
    let function_of = |library: &CString| {
        // SAFETY: the names end with a zero. A library that is loaded stays: its program holds it, too.
        unsafe {
            let handle = libc::dlopen(library.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD);
            if handle.is_null() {
                return None;
            }
            let found = libc::dlsym(handle, name.as_ptr());
            libc::dlclose(handle);
            (!found.is_null() && base_of(found) != own).then_some(found as usize)
        }
    };
    libraries.iter().find_map(function_of).unwrap_or(0)
}

/// Notes the name of a library. The loader calls it for each, with a lock, so it does no more.
unsafe extern "C" fn collect(info: *mut libc::dl_phdr_info, _: usize, list: *mut c_void) -> c_int {
    // SAFETY: the loader gives a description that lives during the call, and the list of `of_loaded_library`.
    let (name, list) = unsafe { ((*info).dlpi_name, &mut *list.cast::<Vec<CString>>()) };
    if !name.is_null() {
        // SAFETY: the loader's names end with a zero.
        list.push(unsafe { CStr::from_ptr(name) }.to_owned());
    }
    0
}

/// The first address of the library that has this address.
fn base_of(address: *const c_void) -> usize {
    // SAFETY: zeros are a description without names, and the loader fills it in.
    unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        if libc::dladdr(address, &mut info) == 0 { 0 } else { info.dli_fbase as usize }
    }
}
