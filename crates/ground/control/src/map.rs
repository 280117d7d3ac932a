//! The mapping itself: all `unsafe` of this crate.

use crate::layout::{Behind, FILE_BYTES, Layout, PAGE_BYTES};
use crate::recording::{HEAD_BYTES, Head};
use crate::ring::{RECORD_BYTES, RecordCells};
use rustix::fd::AsFd;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, munmap};
use std::io;
use std::ptr::NonNull;

/// One shared mapping of a control block, unmapped when dropped.
///
/// Invariant: `at` points to `PAGE_BYTES` readable and writable bytes, mapped
/// shared and page aligned, for as long as the value lives.
pub(crate) struct Map {
    at: NonNull<Layout>,
}

// SAFETY: the mapping belongs to the process, not to a thread, and everything
// in `Layout` is an atomic.
unsafe impl Send for Map {}
// SAFETY: as above; shared references only ever reach atomics.
unsafe impl Sync for Map {}

impl Map {
    /// Maps the first page of `file`. The caller has made sure that the file is
    /// at least `PAGE_BYTES` long and sealed against shrinking: a shorter one
    /// would raise SIGBUS at the first touch.
    pub(crate) fn new(file: impl AsFd) -> io::Result<Map> {
        // SAFETY: a fresh mapping at an address of the kernel's choosing
        // overlaps nothing that exists.
        let at = unsafe {
            mmap(
                std::ptr::null_mut(),
                PAGE_BYTES,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED,
                file,
                0,
            )?
        };
        let at = NonNull::new(at.cast::<Layout>()).ok_or(io::ErrorKind::Other)?;
        Ok(Map { at })
    }

    pub(crate) fn layout(&self) -> &Layout {
        // SAFETY: by the invariant the memory is there, aligned and large
        // enough; `Layout` holds nothing but atomics, for which every bit
        // pattern is valid and which other processes may write at any time.
        unsafe { self.at.as_ref() }
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        // SAFETY: `at` came from mmap with this length, and `layout` borrows
        // from self, so no reference outlives this.
        let _ = unsafe { munmap(self.at.as_ptr().cast(), PAGE_BYTES) };
    }
}

/// A shared mapping of what lies behind the first page, unmapped when dropped.
///
/// Invariant: `at` points to a whole `Behind`, mapped shared, for as long as the value lives.
pub(crate) struct BehindMap {
    at: NonNull<Behind>,
}

// SAFETY: as for `Map`.
unsafe impl Send for BehindMap {}
// SAFETY: as for `Map`.
unsafe impl Sync for BehindMap {}

impl BehindMap {
    /// Maps what lies behind the first page. The caller has made sure that the file is `FILE_BYTES` long and sealed.
    pub(crate) fn new(file: impl AsFd) -> io::Result<BehindMap> {
        // SAFETY: a fresh mapping at an address of the kernel's choosing overlaps nothing that exists.
        let at = unsafe {
            mmap(
                std::ptr::null_mut(),
                FILE_BYTES - PAGE_BYTES,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED,
                file,
                PAGE_BYTES as u64,
            )?
        };
        let at = NonNull::new(at.cast()).ok_or(io::ErrorKind::Other)?;
        Ok(BehindMap { at })
    }

    pub(crate) fn behind(&self) -> &Behind {
        // SAFETY: by the invariant the memory is there and page aligned; it holds nothing but atomics.
        unsafe { self.at.as_ref() }
    }
}

impl Drop for BehindMap {
    fn drop(&mut self) {
        // SAFETY: `at` came from mmap with this length, and `behind` borrows from self.
        let _ = unsafe { munmap(self.at.as_ptr().cast(), FILE_BYTES - PAGE_BYTES) };
    }
}

/// A shared mapping of a recording, unmapped when dropped.
///
/// Invariant: `at` points to a head, and `places` records behind it, mapped shared, for as long as the value lives.
pub(crate) struct RecordingMap {
    at: NonNull<Head>,
    places: usize,
}

// SAFETY: as for `Map`.
unsafe impl Send for RecordingMap {}
// SAFETY: as for `Map`.
unsafe impl Sync for RecordingMap {}

impl RecordingMap {
    /// Maps `file`. The caller has made sure that it is long enough for a head and so many records, and sealed.
    pub(crate) fn new(file: impl AsFd, places: usize) -> io::Result<RecordingMap> {
        // SAFETY: a fresh mapping at an address of the kernel's choosing overlaps nothing that exists.
        let at = unsafe {
            mmap(
                std::ptr::null_mut(),
                HEAD_BYTES + places * RECORD_BYTES,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED,
                file,
                0,
            )?
        };
        let at = NonNull::new(at.cast()).ok_or(io::ErrorKind::Other)?;
        Ok(RecordingMap { at, places })
    }

    pub(crate) fn head(&self) -> &Head {
        // SAFETY: by the invariant the memory is there and page aligned; it holds nothing but atomics.
        unsafe { self.at.as_ref() }
    }

    /// Has the kernel put memory behind some records, as far as there are so many.
    #[cold]
    pub(crate) fn take_memory(&self, from: usize, count: usize) {
        let count = count.min(self.places - from);
        // SAFETY: the range lies within the mapping, whose content stays as it is. A kernel that does not know this advice refuses,
        // and gives memory as it is touched.
        let _ = unsafe {
            let start = self.at.add(1).cast::<RecordCells>().add(from);
            madvise(start.as_ptr().cast(), count * RECORD_BYTES, Advice::LinuxPopulateWrite)
        };
    }

    pub(crate) fn places(&self) -> &[RecordCells] {
        // SAFETY: by the invariant so many records, which are nothing but atomics, lie behind the head.
        unsafe { std::slice::from_raw_parts(self.at.add(1).cast().as_ptr(), self.places) }
    }
}

impl Drop for RecordingMap {
    fn drop(&mut self) {
        // SAFETY: `at` came from mmap with this length; `head` and `places` borrow from self.
        let _ = unsafe { munmap(self.at.as_ptr().cast(), HEAD_BYTES + self.places * RECORD_BYTES) };
    }
}
