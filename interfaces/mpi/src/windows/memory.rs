//! The memory of windows: mapped, shared and copied.

use crate::errors::{Error, Mpi, class};
use parvum_service::{Service, Window};
use std::ffi::{CStr, c_int, c_void};
use std::fs::{self, File, Metadata};
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::fs::{FileExt, OpenOptionsExt};

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

    pub(crate) fn length(&self) -> usize {
        self.length
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

/// Memory without a name, that others of the host map as well. Its last bytes are a random word, by which it is known.
pub(crate) struct Segment {
    file: File,
    length: usize,
    word: u64,
}

const NAME: &CStr = c"parvum window";
/// Bytes of the random word.
const WORD: usize = size_of::<u64>();

impl Segment {
    /// `None`: the system refuses.
    pub(crate) fn new(length: usize) -> Option<Segment> {
        // SAFETY: the name is a string that ends.
        let number =
            unsafe { libc::memfd_create(NAME.as_ptr(), libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING) };
        if number < 0 {
            return None;
        }
        // SAFETY: a new descriptor that nobody else has.
        let file = unsafe { File::from_raw_fd(number) };
        let word_at = length.checked_next_multiple_of(WORD)?;
        let length = word_at.checked_add(WORD)?;
        file.set_len(length as u64).ok()?;
        let word = random_word()?;
        file.write_all_at(&word.to_ne_bytes(), word_at as u64).ok()?;
        // Memory that a process has mapped must not vanish under it: an access would end the process.
        let seals = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;
        // SAFETY: the descriptor is the file's.
        let sealed = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, seals) };
        (sealed == 0).then_some(Segment { file, length, word })
    }

    /// By what another process opens it, as long as this one has it: process, descriptor, length, random word.
    pub(crate) fn name(&self) -> [u64; 4] {
        [u64::from(std::process::id()), self.file.as_raw_fd() as u64, self.length as u64, self.word]
    }

    /// That of another process. `None`: the system refuses, or the process's number leads to another one: it is of another namespace, or
    /// was given out again.
    pub(crate) fn open(name: &[u64]) -> Option<Segment> {
        let &[process, descriptor, length, word] = name else { return None };
        let path = format!("/proc/{process}/fd/{descriptor}");
        // Whatever else lies there is not opened: that may have an effect.
        let is_like_it = |known: Metadata| known.is_file() && known.len() == length;
        if !fs::metadata(&path).is_ok_and(is_like_it) {
            return None;
        }
        let mut options = File::options();
        let file =
            options.read(true).write(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path).ok()?;
        let mut seen = [0; WORD];
        file.read_exact_at(&mut seen, length.checked_sub(WORD as u64)?).ok()?;
        // SAFETY: likewise; what has no seals gives -1.
        let seals = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GET_SEALS) };
        let is_sealed = seals >= 0 && seals & libc::F_SEAL_SHRINK != 0;
        let is_it = is_sealed && u64::from_ne_bytes(seen) == word;
        is_it.then_some(Segment { file, length: length as usize, word })
    }

    /// Maps all of it.
    pub(crate) fn map(&self) -> Option<Mapping> {
        map(self.length, libc::MAP_SHARED, self.file.as_raw_fd())
    }
}

/// A word that no other segment has. `None`: the system has no random numbers yet.
fn random_word() -> Option<u64> {
    let mut word = [0_u8; WORD];
    // SAFETY: it writes so many bytes at most.
    let got = unsafe { libc::getrandom(word.as_mut_ptr().cast(), WORD, 0) };
    (got == WORD as isize).then_some(u64::from_ne_bytes(word))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segment_opens_by_name_and_cannot_shrink() {
        let made = Segment::new(100).expect("memory");
        let opened = Segment::open(&made.name()).expect("the same memory");
        let (one, other) = (made.map().expect("mapped"), opened.map().expect("mapped"));
        write(one.start().expose_provenance() as u64, b"a window");
        let mut seen = [0; 8];
        read(other.start().expose_provenance() as u64, &mut seen);
        assert_eq!(&seen, b"a window");
        assert!(opened.file.set_len(1).is_err(), "it must not shrink");
    }

    /// As with one PID namespace for each process, or with a number that was given out again.
    #[test]
    fn segment_open_refuses_other_memory_at_descriptor() {
        let (made, other) = (Segment::new(100).expect("memory"), Segment::new(100).expect("memory"));
        let [process, _, length, word] = made.name();
        let [_, descriptor, ..] = other.name();
        assert!(Segment::open(&[process, descriptor, length, word]).is_none());
        assert!(Segment::open(&[process, descriptor, 0, word]).is_none());
    }

    #[test]
    fn segment_open_refuses_plain_file() {
        let file = File::open("/proc/self/exe").expect("a file");
        let length = file.metadata().expect("known").len();
        let name = [std::process::id().into(), file.as_raw_fd() as u64, length, 0];
        assert!(Segment::open(&name).is_none());
        assert!(Segment::open(&[0; 4]).is_none());
    }
}
