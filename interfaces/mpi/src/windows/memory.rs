//! The memory of windows: mapped, shared and copied.

use crate::errors::{Error, Mpi, class};
use parvum_service::{Service, Window};
use parvum_waist::LockWord;
use std::ffi::{CStr, c_int, c_void};
use std::fs::File;
use std::io;
use std::ops::Deref;
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;

/// Parts of memory that lie apart begin at multiples of so many bytes.
pub(crate) const PAGE: u64 = 4096;

/// Memory of a window, mapped by the system.
pub(crate) struct Mapping {
    start: *mut u8,
    length: usize,
}

// SAFETY: an address and a length; who uses the memory is the program's business.
unsafe impl Send for Mapping {}
// SAFETY: likewise.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Memory that only this process has.
    pub(crate) fn private(length: usize) -> Mpi<Mapping> {
        let refused =
            || Error::new(class::NO_MEM, format!("the system refused {length} bytes for the window"));
        map(length, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1).ok_or_else(refused)
    }

    pub(crate) fn start(&self) -> *mut u8 {
        self.start
    }
}

fn map(length: usize, flags: c_int, file: c_int) -> Option<Mapping> {
    // A window of no bytes has an address too.
    let length = length.max(1);
    // SAFETY: a new mapping, at a place that the system chooses.
    let start = unsafe {
        libc::mmap(std::ptr::null_mut(), length, libc::PROT_READ | libc::PROT_WRITE, flags, file, 0)
    };
    (start != libc::MAP_FAILED).then_some(Mapping { start: start.cast(), length })
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: this mapping's own memory. The window is gone, and with it every use that the standard permits.
        unsafe { libc::munmap(self.start.cast::<c_void>(), self.length) };
    }
}

/// A member's lock, where all members see it: a line of its own in memory that is 0 at first.
#[derive(Clone)]
pub(crate) struct SharedLock {
    at: usize,
    mapping: Arc<Mapping>,
}

impl SharedLock {
    /// Bytes of memory that a lock takes.
    pub(crate) const LENGTH: u64 = 64;

    /// That at so many bytes of a mapping, which nobody uses for anything else.
    pub(crate) fn new(mapping: &Arc<Mapping>, at: u64) -> SharedLock {
        assert!(at.is_multiple_of(SharedLock::LENGTH) && at + SharedLock::LENGTH <= mapping.length as u64);
        SharedLock { at: at as usize, mapping: mapping.clone() }
    }
}

impl Deref for SharedLock {
    type Target = LockWord;

    #[inline]
    fn deref(&self) -> &LockWord {
        // SAFETY: the mapping has it, aligned, and lasts as long as this; all who see it use it as a lock alone.
        unsafe { &*self.mapping.start.add(self.at).cast::<LockWord>() }
    }
}

/// Memory without a name, that others of the host map as well.
pub(crate) struct Segment {
    file: File,
    length: usize,
}

const NAME: &CStr = c"parvum window";

impl Segment {
    /// `None`: the system refuses.
    pub(crate) fn new(length: usize) -> Option<Segment> {
        // SAFETY: the name is a string that ends.
        let number = unsafe { libc::memfd_create(NAME.as_ptr(), libc::MFD_CLOEXEC) };
        if number < 0 {
            return None;
        }
        // SAFETY: a new descriptor that nobody else has.
        let file = unsafe { File::from_raw_fd(number) };
        let length = length.max(1);
        file.set_len(length as u64).ok()?;
        Some(Segment { file, length })
    }

    /// By what another process opens it, as long as this one has it: process, descriptor, number of the file, length.
    pub(crate) fn name(&self) -> [u64; 4] {
        let inode = self.file.metadata().map_or(0, |file| file.ino());
        [u64::from(std::process::id()), self.file.as_raw_fd() as u64, inode, self.length as u64]
    }

    /// That of another process. `None`: the system refuses, or the two count processes differently.
    pub(crate) fn open(name: &[u64]) -> Option<Segment> {
        let &[process, descriptor, inode, length] = name else { return None };
        if length == 0 {
            return None;
        }
        let path = format!("/proc/{process}/fd/{descriptor}");
        let file = File::options().read(true).write(true).open(path).ok()?;
        let known: io::Result<_> = file.metadata();
        let is_it = known.is_ok_and(|file| file.ino() == inode && file.len() == length);
        is_it.then_some(Segment { file, length: length as usize })
    }

    /// Maps all of it.
    pub(crate) fn map(&self) -> Option<Mapping> {
        map(self.length, libc::MAP_SHARED, self.file.as_raw_fd())
    }
}

/// Has a service let others use memory.
pub(crate) fn expose(service: &Service, start: *mut u8, length: usize) -> Mpi<Window> {
    // SAFETY: the window's memory is the program's, or of a mapping that lasts as long as the window; the program promises
    // that it uses it only as the standard permits, and no Rust code holds references to it.
    let window = unsafe { service.expose(start, length) };
    window.ok_or_else(|| Error::new(class::OTHER, "there were too many windows"))
}

/// Copies to memory of a window.
pub(crate) fn write(address: u64, data: &[u8]) {
    let to = std::ptr::with_exposed_provenance_mut::<u8>(address as usize);
    // SAFETY: the caller has checked that the window has the memory. That others use it at the same time is the program's
    // business, which the standard forbids it; the origin's buffer may be the same memory.
    unsafe { std::ptr::copy(data.as_ptr(), to, data.len()) };
}

/// Copies from memory of a window.
pub(crate) fn read(address: u64, out: &mut [u8]) {
    let from = std::ptr::with_exposed_provenance::<u8>(address as usize);
    // SAFETY: as for `write`.
    unsafe { std::ptr::copy(from, out.as_mut_ptr(), out.len()) };
}
