//! Registering descriptors with the runtime.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Lets the runtime watch for input on a descriptor, which it owns from now on.
///
/// Not for room: a socket says so each time its peer has read, and each time the daemon would be
/// woken for nothing. [`room`] waits for that.
pub(super) fn watch(fd: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    register(fd, Interest::READABLE)
}

/// Waits until the descriptor takes something again.
pub(super) async fn room(fd: impl AsFd) -> io::Result<()> {
    // The runtime knows a descriptor by its number, so this is another.
    let other = register(fd.as_fd().try_clone_to_owned()?, Interest::WRITABLE)?;
    other.writable().await.map(drop)
}

fn register(fd: OwnedFd, interest: Interest) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: the descriptor must stay the same and open while it is registered.
    // An `OwnedFd` names one descriptor for life, and nobody but the `AsyncFd`
    // can close it.
    Ok(unsafe { AsyncFd::register_with_interest(fd, interest) }?)
}
