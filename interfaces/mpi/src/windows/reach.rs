//! What the short way knows of a window: where this process has each target's memory, and whether an epoch is open towards it now.
//!
//! One word says both: so many bytes of the target may be reached by load and store. It is 0 while no epoch is open, and always where
//! the memory is not mapped here. [`Epochs`] is what holds; this is shown whenever that has changed. All loads and stores are relaxed:
//! a thread that accesses a window comes after the one that has opened the epoch, which is the program's business.

use crate::objects::numbers::THREAD_MULTIPLE;
use crate::windows::epochs::Epochs;
use crate::windows::{Flavor, Target};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering::Relaxed};

pub(crate) struct Reach {
    /// The window's handle; 0 before it has one.
    handle: AtomicI32,
    targets: Box<[Toward]>,
    /// Whether any target is locked.
    any_locked: AtomicBool,
}

/// Of one target.
struct Toward {
    /// So many bytes may be accessed now.
    open: AtomicU64,
    /// Where they lie in this process.
    here: u64,
    /// So many bytes may be accessed while an epoch is open.
    size: u64,
    /// Bytes of a displacement.
    unit: u32,
    locked: AtomicBool,
    /// Nobody but this thread accesses it now.
    alone: AtomicBool,
}

impl Reach {
    pub(crate) fn new(flavor: Flavor, targets: &[Target]) -> Reach {
        let toward = |target: &Target| {
            // What is attached to a dynamic window is looked up at each access.
            let here = target.here.filter(|_| flavor != Flavor::Dynamic);
            Toward {
                open: AtomicU64::new(0),
                here: here.unwrap_or(0),
                size: here.map_or(0, |_| target.size),
                unit: target.unit as u32,
                locked: AtomicBool::new(false),
                alone: AtomicBool::new(false),
            }
        };
        Reach {
            handle: AtomicI32::new(0),
            targets: targets.iter().map(toward).collect(),
            any_locked: AtomicBool::new(false),
        }
    }

    #[inline(always)]
    pub(crate) fn handle(&self) -> i32 {
        self.handle.load(Relaxed)
    }

    pub(crate) fn set_handle(&self, handle: i32) {
        self.handle.store(handle, Relaxed);
    }

    /// Which epochs are open from now on: towards one target, or towards all.
    pub(crate) fn show(&self, epochs: &Epochs, rank: Option<usize>) {
        let has_one_thread = crate::process::this::threads() != THREAD_MULTIPLE;
        let show = |rank: usize, toward: &Toward| {
            toward.open.store(if epochs.is_open(rank) { toward.size } else { 0 }, Relaxed);
            toward.locked.store(epochs.is_locked(Some(rank)), Relaxed);
            toward.alone.store(has_one_thread && epochs.is_exclusive(rank), Relaxed);
        };
        match rank {
            Some(rank) => show(rank, &self.targets[rank]),
            None => self.targets.iter().enumerate().for_each(|(rank, toward)| show(rank, toward)),
        }
        self.any_locked.store(epochs.is_locked(None), Relaxed);
    }

    /// Where so many bytes at a displacement lie here, if they may be accessed now.
    #[inline(always)]
    pub(crate) fn spot(&self, rank: i32, displacement: i64, length: u64) -> Option<u64> {
        // What is negative is too large.
        let toward = self.targets.get(rank as usize)?;
        let at = (displacement as u64).checked_mul(toward.unit.into())?;
        let end = at.checked_add(length)?;
        (end <= toward.open.load(Relaxed)).then(|| toward.here.wrapping_add(at))
    }

    /// Whether a lock keeps all others from accessing a target, and this process has but one thread that does.
    #[inline(always)]
    pub(crate) fn is_alone(&self, rank: i32) -> bool {
        self.targets.get(rank as usize).is_some_and(|toward| toward.alone.load(Relaxed))
    }

    /// Whether a lock permits to flush what was done to a target, or to any.
    #[inline(always)]
    pub(crate) fn is_locked(&self, rank: Option<i32>) -> bool {
        match rank {
            None => self.any_locked.load(Relaxed),
            Some(rank) => self.targets.get(rank as usize).is_some_and(|toward| toward.locked.load(Relaxed)),
        }
    }
}
