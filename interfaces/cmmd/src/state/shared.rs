//! A file that all nodes write: during this time its descriptor refers to memory.

use crate::errors::{Cmmd, Fault};
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;

/// How nodes write a file together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Together {
    /// Only node 0 writes, because all nodes write the same.
    Once = 2,
    /// All nodes write, one node after the other.
    InOrder = 3,
}

/// A file that is written together.
pub(crate) struct Shared {
    /// The descriptor of the file, which refers to `kept` during this time.
    pub(crate) descriptor: i32,
    pub(crate) mode: Together,
    kept: File,
    file: File,
}

impl Shared {
    /// Leads a descriptor to memory, until [`Shared::restore`].
    pub(crate) fn divert(descriptor: i32, mode: Together) -> io::Result<Shared> {
        let (kept, file) = divert(descriptor)?;
        Ok(Shared { descriptor, mode, kept, file })
    }

    pub(crate) fn take_kept(&mut self) -> Cmmd<Vec<u8>> {
        let mut data = Vec::new();
        let mut take = || {
            self.kept.rewind()?;
            self.kept.read_to_end(&mut data)?;
            self.kept.set_len(0)?;
            self.kept.rewind()
        };
        take().map_err(|_| Fault::Refused)?;
        Ok(data)
    }

    pub(crate) fn put(&mut self, data: &[u8]) -> Cmmd<()> {
        self.file.write_all(data).map_err(|_| Fault::Refused)
    }

    /// Leads it back, unless the program has closed it: the number may name something else by now.
    pub(crate) fn restore(&self) {
        // SAFETY: plain output structure, all-zero is valid; the call fills it.
        let (asked, now) = unsafe {
            let mut now: libc::stat = std::mem::zeroed();
            (libc::fstat(self.descriptor, &mut now), now)
        };
        let is_ours =
            self.kept.metadata().is_ok_and(|kept| (kept.dev(), kept.ino()) == (now.st_dev, now.st_ino));
        if asked == 0 && is_ours {
            // SAFETY: no memory is involved.
            unsafe { libc::dup2(self.file.as_raw_fd(), self.descriptor) };
        }
    }
}

/// Whether it is a descriptor, and may be written.
pub(crate) fn is_writable(descriptor: i32) -> bool {
    // SAFETY: no memory is involved.
    let flags = unsafe { libc::fcntl(descriptor, libc::F_GETFL) };
    flags >= 0 && flags & libc::O_ACCMODE != libc::O_RDONLY
}

fn owned(descriptor: i32) -> io::Result<File> {
    if descriptor < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the system has just made it, for us alone.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) }.into())
}

/// Leads a descriptor to memory; gives that, and where it led.
fn divert(descriptor: i32) -> io::Result<(File, File)> {
    // SAFETY: a terminated name; no other memory is involved.
    let kept = owned(unsafe { libc::memfd_create(c"cmmd".as_ptr(), libc::MFD_CLOEXEC) })?;
    // SAFETY: no memory is involved.
    let file = owned(unsafe { libc::fcntl(descriptor, libc::F_DUPFD_CLOEXEC, 3) })?;
    // SAFETY: no memory is involved; the program's descriptor stays one.
    match unsafe { libc::dup2(kept.as_raw_fd(), descriptor) } {
        0.. => Ok((kept, file)),
        _ => Err(io::Error::last_os_error()),
    }
}
