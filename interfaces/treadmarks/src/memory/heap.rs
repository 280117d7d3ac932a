//! The shared heap: an address range that is free in all processes, and memory without a name behind it.
//!
//! The memory is mapped at the address that the program uses. If pages are protected from the program, the library has
//! a second mapping, in which it can always read and write. Nothing is taken from the system before it is touched.

use crate::errors::{Trouble, end};
use libc::{MAP_FAILED, MAP_FIXED, MAP_NORESERVE, MAP_SHARED, PROT_NONE, PROT_READ, PROT_WRITE, c_void};
use parvum_consistency::Access;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::fs::MetadataExt;

/// The possible addresses of a heap: far from programs and libraries, in address spaces of 47 bits and of 39 bits.
const PLACES: [usize; 8] = [
    0x2000_0000_0000,
    0x3000_0000_0000,
    0x1000_0000_0000,
    0x1800_0000_0000,
    0x40_0000_0000,
    0x30_0000_0000,
    0x20_0000_0000,
    0x18_0000_0000,
];

/// Address ranges kept free until all processes have agreed on one.
pub(crate) struct Places {
    length: usize,
    kept: Vec<usize>,
}

impl Places {
    /// Reserves this number of bytes at every address that is free here.
    pub(crate) fn keep(length: usize) -> Places {
        let keep = |place: &usize| {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | MAP_NORESERVE | libc::MAP_FIXED_NOREPLACE;
            let at = std::ptr::without_provenance_mut::<c_void>(*place);
            // SAFETY: a new mapping that replaces no other mapping.
            let got = unsafe { libc::mmap(at, length, PROT_NONE, flags, -1, 0) };
            if got != MAP_FAILED && got != at {
                // An old kernel, which takes the address for a wish.
                unmap(got.addr(), length);
            }
            got == at
        };
        Places { length, kept: PLACES.iter().copied().filter(keep).collect() }
    }

    /// Which they are, as bits.
    pub(crate) fn bits(&self) -> u64 {
        let bit = |place: &usize| PLACES.iter().position(|other| other == place).map_or(0, |at| 1 << at);
        self.kept.iter().map(bit).sum()
    }

    /// Lets go of all but the first of these.
    pub(crate) fn choose(mut self, bits: u64) -> Option<usize> {
        let chosen = (0..PLACES.len()).find(|at| bits & (1 << at) != 0).map(|at| PLACES[at]);
        self.kept.retain(|place| Some(*place) != chosen);
        chosen
    }
}

impl Drop for Places {
    fn drop(&mut self) {
        self.kept.iter().for_each(|&place| unmap(place, self.length));
    }
}

fn unmap(start: usize, length: usize) {
    // SAFETY: the mapping is this module's, and nobody uses it.
    unsafe { libc::munmap(std::ptr::without_provenance_mut(start), length) };
}

/// Memory without a name, that others of the host may map as well.
pub(crate) struct Segment {
    file: File,
    length: u64,
}

impl Segment {
    pub(crate) fn new(length: u64) -> io::Result<Segment> {
        // SAFETY: the name is a string that ends.
        let number = unsafe { libc::memfd_create(c"treadmarks heap".as_ptr(), libc::MFD_CLOEXEC) };
        if number < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: a new descriptor that nobody else has.
        let file = unsafe { File::from_raw_fd(number) };
        file.set_len(length)?;
        Ok(Segment { file, length })
    }

    /// By what another process opens it, as long as this one has it: process, descriptor, number of the file, length.
    pub(crate) fn name(&self) -> [u64; 4] {
        let inode = self.file.metadata().map_or(0, |file| file.ino());
        [u64::from(std::process::id()), self.file.as_raw_fd() as u64, inode, self.length]
    }

    /// That of another process. `None`: the system refuses, or the two count processes differently.
    pub(crate) fn open([process, descriptor, inode, length]: [u64; 4]) -> Option<Segment> {
        let path = format!("/proc/{process}/fd/{descriptor}");
        let file = File::options().read(true).write(true).open(path).ok()?;
        let is_it = file.metadata().is_ok_and(|file| file.ino() == inode && file.len() == length);
        is_it.then_some(Segment { file, length })
    }

    /// Maps some of it: at an address that was kept for that, or anywhere.
    pub(crate) fn map(
        &self,
        at: Option<usize>,
        (from, length): (u64, usize),
        protection: i32,
    ) -> io::Result<usize> {
        let flags = MAP_SHARED | MAP_NORESERVE | if at.is_some() { MAP_FIXED } else { 0 };
        let at = std::ptr::without_provenance_mut::<c_void>(at.unwrap_or(0));
        // SAFETY: a new mapping; at a fixed address it replaces a mapping that this module has reserved for it.
        let got = unsafe { libc::mmap(at, length, protection, flags, self.file.as_raw_fd(), from as i64) };
        if got == MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(got.expose_provenance()) }
    }

    /// As the program may use it: protection for what may be done to it.
    pub(crate) fn protection(access: Access) -> i32 {
        match access {
            Access::None => PROT_NONE,
            Access::Read => PROT_READ,
            Access::Write => PROT_READ | PROT_WRITE,
        }
    }
}

/// Where the heap is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Heap {
    pub(crate) start: usize,
    pub(crate) length: usize,
    pub(crate) page: usize,
}

impl Heap {
    /// The place of an address in it.
    pub(crate) fn place(&self, address: usize) -> Option<usize> {
        address.checked_sub(self.start).filter(|place| *place < self.length)
    }

    /// Whether the heap contains all of this range.
    pub(crate) fn has(&self, address: usize, length: usize) -> bool {
        self.place(address).is_some_and(|place| length <= self.length - place)
    }

    /// How many pages it has.
    pub(crate) fn pages(&self) -> usize {
        self.length / self.page
    }

    /// Sets the access of this process's program to pages.
    pub(crate) fn protect(&self, first: u32, count: u32, access: Access) {
        let (start, length) = (first as usize * self.page, count as usize * self.page);
        assert!(start + length <= self.length);
        let at = std::ptr::with_exposed_provenance_mut::<c_void>(self.start + start);
        // SAFETY: the range is the heap's, whose memory no Rust code refers to.
        let done = unsafe { libc::mprotect(at, length, Segment::protection(access)) };
        if done != 0 {
            end(&Trouble::CannotProtect(io::Error::last_os_error().to_string()));
        }
    }

    /// Has the system use huge pages for what is touched from now on, where it can: it does not matter where it cannot.
    pub(crate) fn wish_for_huge_pages(&self) {
        let at = std::ptr::with_exposed_provenance_mut::<c_void>(self.start);
        // SAFETY: the range is the heap's; what is in it stays.
        unsafe { libc::madvise(at, self.length, libc::MADV_HUGEPAGE) };
    }

    /// Whether any of this is.
    pub(crate) fn meets(&self, address: usize, length: usize) -> bool {
        address < self.start + self.length && address.saturating_add(length) > self.start
    }
}

/// The library's mapping of the heap, in which it can always read and write.
pub(crate) struct View {
    heap: Heap,
    at: usize,
}

impl View {
    /// `at` is a readable and writable mapping of the heap's memory, with the same length, which stays until the
    /// process ends.
    pub(crate) fn new(heap: Heap, at: usize) -> View {
        View { heap, at }
    }

    fn address(&self, page: u32, offset: usize) -> *mut u8 {
        std::ptr::with_exposed_provenance_mut(self.at + page as usize * self.heap.page + offset)
    }

    /// Has there be memory for a byte of a page.
    pub(crate) fn bring(&self, page: u32, offset: usize) {
        assert!(offset < self.heap.page && (page as usize) < self.heap.pages());
        // A read of shared memory makes a page where there was none. SAFETY: the view has it; what it reads is of no matter, and the
        // program may be writing there.
        unsafe { std::ptr::read_volatile(self.address(page, offset)) };
    }

    pub(crate) fn load(&self, page: u32, out: &mut [u8]) {
        assert!(out.len() == self.heap.page && (page as usize) < self.heap.pages());
        // SAFETY: the view has the page, and stays mapped as long as the process. The program may be writing to the
        // page through its own mapping. If it is free of races, no process reads these words now.
        unsafe { std::ptr::copy_nonoverlapping(self.address(page, 0), out.as_mut_ptr(), out.len()) };
    }

    pub(crate) fn store(&self, page: u32, offset: usize, data: &[u8]) {
        assert!(offset + data.len() <= self.heap.page && (page as usize) < self.heap.pages());
        // SAFETY: as above; the program does not write to these words at the same time.
        unsafe { std::ptr::copy_nonoverlapping(data.as_ptr(), self.address(page, offset), data.len()) };
    }
}
