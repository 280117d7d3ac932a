//! Memory of an array that other processes map. After `freeze` the memory behind the descriptor stays as it is. Later writes of
//! this process go to private pages.

use crate::objects::buffers::Buffer;
use crate::task::errors;
use pyo3::prelude::*;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Maps the memory of a descriptor privately in place of the buffer. The buffer must be a shared mapping of the descriptor.
#[pyfunction]
pub(crate) fn freeze(py: Python<'_>, buffer: &Bound<'_, PyAny>, place: i32) -> PyResult<()> {
    let memory = Buffer::writable(buffer)?;
    let (start, length) = (memory.start(), memory.length());
    if !start.addr().is_multiple_of(page()) || length == 0 {
        return Err(errors::bad_argument(py, "the buffer does not begin a page"));
    }
    // The kernel unmaps the old range before it refuses a new mapping there, so the new mapping is made elsewhere, and then moved.
    // SAFETY: a new private mapping, of nobody yet.
    let new = unsafe {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        libc::mmap(std::ptr::null_mut(), length, access, libc::MAP_PRIVATE | libc::MAP_NORESERVE, place, 0)
    };
    if new == libc::MAP_FAILED {
        return Err(io::Error::last_os_error().into());
    }
    // SAFETY: the range is a mapping that the buffer's object owns, and that the object unmaps by address. The new mapping has the
    // same contents, so no reader sees a change.
    let moved = unsafe {
        let how = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
        libc::mremap(new, length, length, how, start.cast::<std::ffi::c_void>())
    };
    if moved == libc::MAP_FAILED {
        let why = io::Error::last_os_error();
        // SAFETY: the new mapping, which nobody else knows.
        unsafe { libc::munmap(new, length) };
        return Err(why.into());
    }
    Ok(())
}

/// The size of a page.
fn page() -> usize {
    // SAFETY: asks for a number.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(size).unwrap_or(4096)
}

/// Whether this process has written to a private mapping since `freeze`. True if the kernel does not tell.
#[pyfunction]
pub(crate) fn is_touched(buffer: &Bound<'_, PyAny>) -> PyResult<bool> {
    let memory = Buffer::of(buffer)?;
    let (start, length) = (memory.start().addr(), memory.length());
    Ok(looks_touched(start, length).unwrap_or(true))
}

/// Looks at each page of the range in the kernel's table of this process's pages.
fn looks_touched(start: usize, length: usize) -> io::Result<bool> {
    /// Bits of an entry: the page is in memory, it is swapped out, it is a page of a file or of shared memory.
    const PRESENT: u64 = 1 << 63;
    const SWAPPED: u64 = 1 << 62;
    const OF_FILE: u64 = 1 << 61;
    const AT_ONCE: usize = 8192;
    let table = File::open("/proc/self/pagemap")?;
    let page = page();
    let pages = length.div_ceil(page);
    let mut entries = vec![0u8; AT_ONCE * 8];
    for first in (0..pages).step_by(AT_ONCE) {
        let part = &mut entries[..AT_ONCE.min(pages - first) * 8];
        table.read_exact_at(part, ((start / page + first) * 8) as u64)?;
        let (words, _) = part.as_chunks::<8>();
        let is_own = |word: &[u8; 8]| {
            let entry = u64::from_le_bytes(*word);
            entry & SWAPPED != 0 || entry & (PRESENT | OF_FILE) == PRESENT
        };
        if words.iter().any(is_own) {
            return Ok(true);
        }
    }
    Ok(false)
}
