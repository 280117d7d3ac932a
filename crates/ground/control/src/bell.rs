//! What wakes a task that sleeps in poll(2).

use rustix::fd::AsFd;

/// What wakes a task that sleeps in poll(2).
pub trait Bell {
    /// Wakes it.
    fn ring(&self);
}

/// The task's eventfd.
impl<T: AsFd> Bell for T {
    fn ring(&self) {
        // A full counter (EAGAIN) wakes as well.
        let _ = rustix::io::write(self, &1u64.to_ne_bytes());
    }
}
