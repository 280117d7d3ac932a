//! Events of the process itself: forks, and the end.

use std::os::fd::{AsRawFd, BorrowedFd};

/// Asks that these be called: when the process ends, and in the child when it forks.
pub(crate) fn watch(at_exit: extern "C" fn(), in_child: extern "C" fn()) {
    // SAFETY: both functions stay valid, for this library is never unloaded.
    unsafe {
        libc::atexit(at_exit);
        libc::pthread_atfork(None, None, Some(in_child));
    }
}

/// Lets the daemon and its tasks copy from this process even if Yama is active, because Yama asks the process whom it
/// trusts. Tasks started by hand are not the daemon's children; data for them is streamed there.
pub(crate) fn trust(daemon: i32) {
    // SAFETY: no memory is involved; where there is no Yama the call fails and nothing changes.
    unsafe { libc::prctl(libc::PR_SET_PTRACER, daemon as libc::c_ulong, 0, 0, 0) };
}

/// How many bytes a TCP socket has taken that the other end's system has not acknowledged.
pub(crate) fn unacknowledged(socket: BorrowedFd<'_>) -> usize {
    let mut bytes: libc::c_int = 0;
    // SAFETY: the call writes one int, to a place that is one.
    let asked = unsafe { libc::ioctl(socket.as_raw_fd(), libc::TIOCOUTQ, &mut bytes) };
    if asked == 0 { bytes.max(0) as usize } else { 0 }
}

/// The directory of this library: the `parvum` command is looked for near it.
pub(crate) fn own_directory() -> Option<std::path::PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    // SAFETY: plain output structure, all-zero is valid.
    let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: the address is one of ours; `info` is written by the call.
    let found = unsafe { libc::dladdr(watch as *const libc::c_void, &mut info) };
    if found == 0 || info.dli_fname.is_null() {
        return None;
    }
    // SAFETY: on success the loader gives a terminated string that lives as long as the library.
    let name = unsafe { std::ffi::CStr::from_ptr(info.dli_fname) };
    let path = std::path::Path::new(std::ffi::OsStr::from_bytes(name.to_bytes()));
    path.canonicalize().ok()?.parent().map(std::path::Path::to_path_buf)
}
