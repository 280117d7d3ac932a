//! Signals as something to poll, or as other programs take them: the only `unsafe` of the command.

use std::io;
use std::os::fd::{FromRawFd, OwnedFd};

/// Blocks these signals for the process and returns a descriptor that becomes
/// readable when one arrives. To be called before any thread is started, and
/// after the daemon: a child process inherits what is blocked.
pub fn catch(signals: &[i32]) -> io::Result<OwnedFd> {
    // SAFETY: `set` is a plain C structure that sigemptyset initialises; the
    // other calls get valid pointers to it. The descriptor returned is new, and
    // owned by nobody else.
    unsafe {
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        for signal in signals {
            libc::sigaddset(&mut set, *signal);
        }
        if libc::sigprocmask(libc::SIG_BLOCK, &set, std::ptr::null_mut()) != 0 {
            return Err(io::Error::last_os_error());
        }
        match libc::signalfd(-1, &set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK) {
            -1 => Err(io::Error::last_os_error()),
            fd => Ok(OwnedFd::from_raw_fd(fd)),
        }
    }
}

/// From now on a reader of our output that goes ends us quietly, as it ends other programs. Not for what holds connections.
pub fn end_with_the_reader() {
    // SAFETY: no handler is installed, only the action that the process began with before Rust's runtime changed it.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
}

/// The next signal that has arrived.
pub fn next(fd: &OwnedFd) -> Option<i32> {
    // struct signalfd_siginfo has 128 bytes and begins with the number.
    let mut info = [0u8; 128];
    match rustix::io::read(fd, &mut info) {
        Ok(128) => Some(i32::from_ne_bytes([info[0], info[1], info[2], info[3]])),
        _ => None,
    }
}
