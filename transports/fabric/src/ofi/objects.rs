//! Owners of what the library allocates.

use super::layout::{Fid, Info};
use super::library::Library;
use std::ffi::CStr;
use std::ptr::NonNull;

/// Information of `fi_getinfo`, or of a request to it.
pub struct Chosen<'a> {
    library: &'a Library,
    info: NonNull<Info>,
}

impl<'a> Chosen<'a> {
    /// Takes what the library allocated.
    pub(super) fn new(library: &'a Library, info: *mut Info) -> Option<Chosen<'a>> {
        Some(Chosen { library, info: NonNull::new(info)? })
    }

    pub(super) fn info(&self) -> *mut Info {
        self.info.as_ptr()
    }

    /// The provider's name, such as `tcp;ofi_rxm`.
    pub fn provider(&self) -> String {
        // SAFETY: `fi_getinfo` gives all attributes, and names that are null or end with a zero.
        unsafe {
            let name = (*(*self.info()).fabric_attr).prov_name;
            if name.is_null() { String::new() } else { CStr::from_ptr(name).to_string_lossy().into_owned() }
        }
    }
}

impl Drop for Chosen<'_> {
    fn drop(&mut self) {
        self.library.free(self.info.as_ptr());
    }
}

/// An object that is closed at its end. `T` begins with a [`Fid`].
pub struct Object<T>(NonNull<T>);

impl<T> Object<T> {
    /// Takes an object that the library made.
    ///
    /// # Safety
    /// `object` is null or belongs to the caller, and its structure begins with a [`Fid`].
    pub(super) unsafe fn new(object: *mut T) -> Option<Object<T>> {
        NonNull::new(object).map(Object)
    }

    pub(super) fn get(&self) -> *mut T {
        self.0.as_ptr()
    }

    pub(super) fn fid(&self) -> *mut Fid {
        self.0.as_ptr().cast()
    }
}

impl<T> Drop for Object<T> {
    fn drop(&mut self) {
        // SAFETY: by the contract of `new`. An object that others still use stays open, and closing it only returns an error.
        unsafe { ((*(*self.fid()).ops).close)(self.fid()) };
    }
}

// SAFETY: an object is used by one thread at a time: its owner has `&mut` or a lock.
unsafe impl<T> Send for Object<T> {}
