//! Files of the C library: cmmd_fset_io_mode(3).

use super::message::ERRVAL;
use crate::errors::{Fault, remember};
use crate::files::Together;
use crate::state::{at_exit, together};
use libc::FILE;
use std::ffi::c_int;
use std::sync::Once;

/// Says how the nodes write a file: each for itself, or together.
///
/// # Safety
/// `file` is null, or an open file of the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn CMMD_fset_io_mode(file: *mut FILE, mode: c_int) -> c_int {
    let mode = match mode {
        _ if file.is_null() => Err(Fault::BadBuffer),
        0 | 1 => Ok(None),
        2 => Ok(Some(Together::Once)),
        3 => Ok(Some(Together::InOrder)),
        4 => Err(Fault::Unsupported),
        _ => Err(Fault::BadArgument),
    };
    let mode = match mode {
        Ok(mode) => mode,
        Err(why) => {
            remember(why);
            return ERRVAL;
        }
    };
    // SAFETY: an open file, as the program says.
    let descriptor = unsafe { libc::fileno(file) };
    // What was written before belongs to the mode before.
    flush();
    if mode.is_some() {
        static WATCHED: Once = Once::new();
        // SAFETY: the function stays valid, for this library is never unloaded while it is used.
        WATCHED.call_once(|| unsafe {
            libc::atexit(end);
        });
    }
    together(ERRVAL, |state| state.write_together(descriptor, mode))
}

extern "C" fn end() {
    flush();
    at_exit();
}

/// Has the C library write what it keeps of all files.
pub(super) fn flush() {
    // SAFETY: null names all files.
    unsafe { libc::fflush(std::ptr::null_mut()) };
}

/// Descriptors that lead elsewhere for a while.
pub(crate) mod diverted {
    use crate::files::Shared;
    use std::fs::File;
    use std::io::{Error, Result};
    use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
    use std::os::unix::fs::MetadataExt;

    /// Whether it is one, and may be written.
    pub(crate) fn is_writable(descriptor: i32) -> bool {
        // SAFETY: no memory is involved.
        let flags = unsafe { libc::fcntl(descriptor, libc::F_GETFL) };
        flags >= 0 && flags & libc::O_ACCMODE != libc::O_RDONLY
    }

    fn owned(descriptor: i32) -> Result<File> {
        if descriptor < 0 {
            return Err(Error::last_os_error());
        }
        // SAFETY: the system has just made it, for us alone.
        Ok(unsafe { OwnedFd::from_raw_fd(descriptor) }.into())
    }

    /// Leads a descriptor to memory; gives that, and where it led.
    pub(crate) fn divert(descriptor: i32) -> Result<(File, File)> {
        // SAFETY: a terminated name; no other memory is involved.
        let kept = owned(unsafe { libc::memfd_create(c"cmmd".as_ptr(), libc::MFD_CLOEXEC) })?;
        // SAFETY: no memory is involved.
        let file = owned(unsafe { libc::fcntl(descriptor, libc::F_DUPFD_CLOEXEC, 3) })?;
        // SAFETY: no memory is involved; the program's descriptor stays one.
        match unsafe { libc::dup2(kept.as_raw_fd(), descriptor) } {
            0.. => Ok((kept, file)),
            _ => Err(Error::last_os_error()),
        }
    }

    /// Leads it back, unless the program has closed it: the number may name something else by now.
    pub(crate) fn restore(shared: &Shared) {
        // SAFETY: plain output structure, all-zero is valid; the call fills it.
        let (asked, now) = unsafe {
            let mut now: libc::stat = std::mem::zeroed();
            (libc::fstat(shared.descriptor, &mut now), now)
        };
        let is_ours =
            shared.kept.metadata().is_ok_and(|kept| (kept.dev(), kept.ino()) == (now.st_dev, now.st_ino));
        if asked == 0 && is_ours {
            // SAFETY: no memory is involved.
            unsafe { libc::dup2(shared.file.as_raw_fd(), shared.descriptor) };
        }
    }
}
