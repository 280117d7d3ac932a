//! Registering descriptors with the runtime.

use std::io;
use std::os::fd::OwnedFd;
use tokio::io::unix::AsyncFd;

/// Lets the runtime watch a descriptor, which it owns from now on.
pub(super) fn watch(fd: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: the descriptor must stay the same and open while it is registered.
    // An `OwnedFd` names one descriptor for life, and nobody but the `AsyncFd`
    // can close it.
    Ok(unsafe { AsyncFd::register(fd) }?)
}
