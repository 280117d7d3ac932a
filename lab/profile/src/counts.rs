//! What is counted: calls and nanoseconds of each function, and messages by size.

use crate::ended;
use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

/// Messages are counted by the power of two of their bytes; bucket 0 is of empty ones.
pub const SIZES: usize = 48;

/// The counters of one function.
pub struct Counter {
    pub name: &'static str,
    pub is_waiting: bool,
    pub calls: AtomicU64,
    pub ns: AtomicU64,
}

impl Counter {
    pub const fn new(name: &'static str, is_waiting: bool) -> Counter {
        Counter { name, is_waiting, calls: AtomicU64::new(0), ns: AtomicU64::new(0) }
    }
}

/// Messages that were sent, and their bytes, by size.
pub static MESSAGES: [AtomicU64; SIZES] = [const { AtomicU64::new(0) }; SIZES];
pub static BYTES: AtomicU64 = AtomicU64::new(0);
/// Whether the process called MPI at all.
pub static IS_MPI: AtomicBool = AtomicBool::new(false);

/// When the process began, as far as this library saw.
pub fn began() -> Instant {
    static BEGAN: OnceLock<Instant> = OnceLock::new();
    *BEGAN.get_or_init(Instant::now)
}

thread_local! {
    /// How deep this thread is in calls: an MPI may call itself.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// A call under way.
pub struct Call {
    counter: &'static Counter,
    /// Nothing inside another call, or if nobody wants counts.
    began: Option<Instant>,
}

impl Call {
    pub fn begin(counter: &'static Counter) -> Call {
        let depth = DEPTH.get();
        DEPTH.set(depth + 1);
        let began = (depth == 0 && ended::is_wanted()).then(Instant::now);
        Call { counter, began }
    }

    /// Whether the program made the call, and not a library of MPI's.
    pub fn is_outermost(&self) -> bool {
        self.began.is_some()
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
        if let Some(began) = self.began {
            // Relaxed, here and below: sums, which are read when the process ends.
            self.counter.calls.fetch_add(1, Ordering::Relaxed);
            self.counter.ns.fetch_add(began.elapsed().as_nanos() as u64, Ordering::Relaxed);
            IS_MPI.store(true, Ordering::Relaxed);
        }
    }
}

/// Counts a message of so many bytes.
pub fn message(bytes: u64) {
    let bucket = (u64::BITS - bytes.leading_zeros()) as usize;
    MESSAGES[bucket.min(SIZES - 1)].fetch_add(1, Ordering::Relaxed);
    BYTES.fetch_add(bytes, Ordering::Relaxed);
}
