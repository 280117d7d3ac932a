//! This process: its engine, what it is in the machine, and the communicators that it begins with. How it begins and ends is in
//! [`life`](crate::process::life).

use super::machine::{DEFERRING, Machine, NEW, RUNNING, STAGE, out_of_order, post_deferred};
use crate::comms::comm::Comm;
use crate::errors::Mpi;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, OnceLock};

/// What a process of an MPI program has.
pub(crate) struct Process {
    /// Its engine, and what it is in the machine.
    pub(super) machine: Machine,
    pub(crate) world: Arc<Comm>,
    pub(crate) own: Arc<Comm>,
}

impl Deref for Process {
    type Target = Machine;

    #[inline(always)]
    fn deref(&self) -> &Machine {
        &self.machine
    }
}

// `life` sets all of these.
pub(super) static PROCESS: OnceLock<Process> = OnceLock::new();
pub(super) static THREADS: AtomicI32 = AtomicI32::new(0);
pub(super) static MAY_DEFER: AtomicBool = AtomicBool::new(false);
/// `MPI_Init` was called: a session alone begins without it.
pub(super) static HAS_WORLD: AtomicBool = AtomicBool::new(false);
pub(super) static FINALIZED_WORLD: AtomicBool = AtomicBool::new(false);

/// The process, once `MPI_Init` was called and until `MPI_Finalize` is.
#[inline]
pub(crate) fn process() -> Mpi<&'static Process> {
    // Acquire: pairs with the release in `life`, behind which the process is there.
    match STAGE.load(Ordering::Acquire) {
        RUNNING => Ok(PROCESS.get().expect("made before")),
        DEFERRING => Ok(undeferred()),
        stage => Err(out_of_order(stage)),
    }
}

/// The same for the few calls that leave deferred receives alone.
#[inline]
pub(crate) fn running() -> Mpi<&'static Process> {
    // Acquire: as in `process`.
    match STAGE.load(Ordering::Acquire) {
        RUNNING | DEFERRING => Ok(PROCESS.get().expect("made before")),
        stage => Err(out_of_order(stage)),
    }
}

/// Whether [`process`] would find it, and nothing to do first.
#[inline(always)]
pub(crate) fn is_running() -> bool {
    // Acquire: as in `process`.
    STAGE.load(Ordering::Acquire) == RUNNING
}

#[cold]
fn undeferred() -> &'static Process {
    post_deferred();
    PROCESS.get().expect("made before")
}

/// Whether receives may be left unposted: one thread at a time calls, and nobody waits by another interface meanwhile.
#[inline]
pub(crate) fn may_defer() -> bool {
    // Relaxed: see where `life` sets it.
    MAY_DEFER.load(Ordering::Relaxed)
}

/// Whether the next call finds receives that are deferred. Nothing once the process has finalized.
pub(crate) fn defers(some: bool) {
    let (before, after) = if some { (RUNNING, DEFERRING) } else { (DEFERRING, RUNNING) };
    // Release: the process is there, whichever of the two a call sees. A failure has nothing to say: it is so already.
    let _ = STAGE.compare_exchange(before, after, Ordering::Release, Ordering::Relaxed);
}

/// Whether `MPI_Init` was called.
pub(crate) fn is_initialized() -> bool {
    // Acquire: partner of the release in `life::init`.
    HAS_WORLD.load(Ordering::Acquire)
}

/// Whether MPI has begun in this process, by `MPI_Init` or by a session: what the environment says has been read.
pub(crate) fn has_begun() -> bool {
    // Acquire: as in `process`.
    STAGE.load(Ordering::Acquire) != NEW
}

/// Whether `MPI_Finalize` was called.
pub(crate) fn is_finalized() -> bool {
    // Acquire: partner of the release in `life::finalize`.
    FINALIZED_WORLD.load(Ordering::Acquire)
}

/// The level of threads that the program was given.
pub(crate) fn threads() -> i32 {
    // Relaxed: set before `MPI_Init` returns, and the program orders its threads behind that call.
    THREADS.load(Ordering::Relaxed)
}
