//! The mapping itself: all `unsafe` of this crate.

use crate::barrier::SegmentBarrier;
use crate::pair::Head as LineHead;
use parvum_control::PAGE_BYTES;
use rustix::fd::AsFd;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::io;
use std::ptr::NonNull;

/// A shared mapping of a barrier and its segment, unmapped when dropped.
///
/// Invariant: `at` points to `bytes` readable and writable bytes, at least a page, mapped shared and page aligned, for as long as
/// the value lives.
pub(crate) struct SegmentMap {
    at: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the mapping belongs to the process, not to a thread; what is no atomic is only copied, to and from.
unsafe impl Send for SegmentMap {}
// SAFETY: as above.
unsafe impl Sync for SegmentMap {}

impl SegmentMap {
    /// Maps so many bytes of `file`, at least a page. The caller has made sure that it is so long, and sealed.
    pub(crate) fn new(file: impl AsFd, bytes: usize) -> io::Result<SegmentMap> {
        assert!(bytes >= PAGE_BYTES, "a segment has a page");
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a fresh mapping at an address of the kernel's choosing overlaps nothing that exists.
        let at = unsafe { mmap(std::ptr::null_mut(), bytes, access, MapFlags::SHARED, file, 0)? };
        let at = NonNull::new(at.cast()).ok_or(io::ErrorKind::Other)?;
        Ok(SegmentMap { at, bytes })
    }

    #[inline]
    pub(crate) fn barrier(&self) -> &SegmentBarrier {
        // SAFETY: by the invariant the memory is there, page aligned and larger than a `SegmentBarrier`,
        // which holds nothing but atomics: every bit pattern is valid, whoever writes them.
        unsafe { self.at.cast::<SegmentBarrier>().as_ref() }
    }

    /// The head of a line at a place behind the barrier, aligned for it.
    #[inline]
    pub(crate) fn line(&self, at: usize) -> &LineHead {
        self.check(at, size_of::<LineHead>());
        assert!(at.is_multiple_of(align_of::<LineHead>()), "where a line begins");
        // SAFETY: within the mapping and aligned, by the assertion; they are atomics, for which every bit pattern is valid.
        unsafe { self.at.add(at).cast().as_ref() }
    }

    /// Copies bytes to a place behind the barrier.
    #[inline]
    pub(crate) fn write(&self, at: usize, data: &[u8]) {
        self.check(at, data.len());
        // SAFETY: within the mapping, by the check, and apart from the program's memory. Members that keep to their rounds neither
        // read nor write there now; from one that does not, some reader gets other bytes, and no more.
        unsafe { std::ptr::copy_nonoverlapping(data.as_ptr(), self.at.add(at).as_ptr(), data.len()) };
    }

    /// Copies bytes from a place behind the barrier.
    #[inline]
    pub(crate) fn read(&self, at: usize, out: &mut [u8]) {
        self.check(at, out.len());
        // SAFETY: as in `write`.
        unsafe { std::ptr::copy_nonoverlapping(self.at.add(at).as_ptr(), out.as_mut_ptr(), out.len()) };
    }

    #[inline]
    fn check(&self, at: usize, length: usize) {
        assert!(at >= size_of::<SegmentBarrier>(), "behind the barrier");
        assert!(at.checked_add(length).is_some_and(|end| end <= self.bytes), "within the board");
    }
}

impl Drop for SegmentMap {
    fn drop(&mut self) {
        // SAFETY: `at` came from mmap with this length; references into it borrow from self.
        let _ = unsafe { munmap(self.at.as_ptr().cast(), self.bytes) };
    }
}
