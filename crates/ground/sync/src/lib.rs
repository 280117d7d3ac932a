//! What threads and processes need of each other, below all messages.
//!
//! - [`BiasedLock`]: the lock of a process. A program with one thread pays nothing for it.
//! - [`Hazards`]: a table of objects that threads read without a lock.
//! - [`LockWord`] and [`LockQueue`]: a lock in memory that several processes share.
//! - [`fences`] and [`global_fences`]: a cheap fence for the frequent side and a dear one for the rare side, within a process or among
//!   processes.
//! - [`fetch_for_writing`]: a hint to the processor about memory that is written soon.
//! - [`StandIn`]: a thread that looks for messages, so that another thread sleeps on.
//! - [`futex`]: sleeping on a word of memory.
//! - [`fork`] and [`without_signals`]: what a forked child must forget, and threads that take no signals of the program.
//!
//! Models of the locks, the hazard pointers and the fences run under loom.

#![deny(unsafe_code)]

#[allow(unsafe_code)]
mod bias;
#[allow(unsafe_code)]
mod biased;
#[allow(unsafe_code)]
pub mod fences;
#[allow(unsafe_code)]
pub mod fork;
#[cfg(not(loom))]
pub mod futex;
#[allow(unsafe_code)]
pub mod global_fences;
#[allow(unsafe_code)]
mod hazard;
#[allow(unsafe_code)]
mod prefetch;
mod shared_lock;
#[allow(unsafe_code)]
mod signals;
mod stand_in;

pub use biased::{BiasedGuard, BiasedLock};
pub use hazard::{Hazards, Pinned};
pub use prefetch::{fetch_for_reading, fetch_for_writing};
pub use shared_lock::{LockQueue, LockWord};
pub use signals::without_signals;
pub use stand_in::StandIn;
