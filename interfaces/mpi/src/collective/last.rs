//! Which algorithm this process's last collective call used, for MPI_T.

use parvum_collectives::table::Algorithm;
use std::sync::atomic::{AtomicU32, Ordering};

// Relaxed, both ways: one number for a person's eyes, which nothing else depends on.
static LAST: AtomicU32 = AtomicU32::new(0);

/// A collective call uses this algorithm.
#[inline]
pub(super) fn note(algorithm: Algorithm) {
    LAST.store(algorithm as u32, Ordering::Relaxed);
}

/// The algorithm of the last collective call, by its number; 0: there was no such call.
pub(crate) fn last() -> u32 {
    LAST.load(Ordering::Relaxed)
}
