//! Bytes that a connection of TCP has taken and the peer's system does not have yet.

use std::os::fd::{AsRawFd, BorrowedFd};

/// The bytes of the connection that the peer's system has not acknowledged. If a socket is closed with unread data, they are lost.
pub fn unacknowledged(connection: BorrowedFd<'_>) -> usize {
    let mut bytes: libc::c_int = 0;
    // SAFETY: TIOCOUTQ, which tcp(7) calls SIOCOUTQ, writes one int.
    let result = unsafe { libc::ioctl(connection.as_raw_fd(), libc::TIOCOUTQ, &mut bytes) };
    if result == 0 { usize::try_from(bytes).unwrap_or(0) } else { 0 }
}
