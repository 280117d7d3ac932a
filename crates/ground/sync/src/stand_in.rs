//! A thread that looks for messages stands in for a thread that would be woken for each of them.
//!
//! The driver of a process sleeps in poll(2), and the kernel wakes it for each packet. If another thread of the process
//! looks for packets anyway, the driver would only take the process lock and the core from it. A driver that wakes
//! while another thread looks therefore sleeps on, until the other thread has looked to the end.

#[cfg(not(loom))]
use crate::futex::{self, Among, Woken};
#[cfg(not(loom))]
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

#[cfg(loom)]
use loom::sync::atomic::{AtomicU32, Ordering};

/// No thread looks.
const NOBODY: u32 = 0;
/// A thread looks.
const LOOKS: u32 = 1;
/// A thread looks, and the driver waits for the end of it.
const AWAITED: u32 = 2;

/// Whether a thread looks instead of the driver.
pub struct StandIn(AtomicU32);

impl Default for StandIn {
    fn default() -> StandIn {
        StandIn(AtomicU32::new(NOBODY))
    }
}

impl StandIn {
    /// This thread looks from now on. One thread at a time does.
    pub fn begin(&self) {
        // Relaxed: a driver that sees this late looks itself, and two threads may look.
        self.0.store(LOOKS, Ordering::Relaxed);
    }

    /// This thread does not look any more. Wakes the driver if the driver waits.
    pub fn end(&self) {
        // Release: partner of the acquire in `await_end`.
        if self.0.swap(NOBODY, Ordering::Release) == AWAITED {
            self.wake();
        }
    }

    /// On the driver's thread: waits until no thread looks, or for `limit`.
    /// True: a signal handler has run.
    pub fn await_end(&self, limit: Duration) -> bool {
        // Acquire: partner of the release in `end`.
        let seen = self.0.compare_exchange(LOOKS, AWAITED, Ordering::Acquire, Ordering::Acquire);
        seen != Err(NOBODY) && self.sleep(limit)
    }

    #[cfg(not(loom))]
    fn wake(&self) {
        futex::wake(&self.0, 1, Among::Threads);
    }

    #[cfg(not(loom))]
    fn sleep(&self, limit: Duration) -> bool {
        futex::sleep(&self.0, AWAITED, Some(limit), Among::Threads) == Woken::Interrupted
    }

    #[cfg(loom)]
    fn wake(&self) {}

    /// The kernel compares the word and sleeps in one step, and a wakeup follows each change.
    #[cfg(loom)]
    fn sleep(&self, _: Duration) -> bool {
        while self.0.load(Ordering::Acquire) == AWAITED {
            loom::thread::yield_now();
        }
        false
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::time::Instant;

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn driver_waits_only_while_another_thread_looks() {
        let stand_in = Arc::new(StandIn::default());
        let began = Instant::now();
        stand_in.await_end(LONG);
        stand_in.begin();
        stand_in.await_end(Duration::from_millis(1));
        let driver = std::thread::spawn({
            let stand_in = stand_in.clone();
            move || stand_in.await_end(LONG)
        });
        while stand_in.0.load(Ordering::Relaxed) != AWAITED {
            std::thread::yield_now();
        }
        stand_in.end();
        driver.join().expect("it was woken");
        stand_in.await_end(LONG);
        assert!(began.elapsed() < LONG);
    }
}

#[cfg(all(test, loom))]
mod models {
    use super::*;
    use loom::sync::Arc;

    /// However the two interleave, the driver does not wait for a thread that has looked to the end.
    #[test]
    fn driver_goes_on_after_every_end() {
        loom::model(|| {
            let stand_in = Arc::new(StandIn::default());
            let looker = loom::thread::spawn({
                let stand_in = stand_in.clone();
                move || {
                    for _ in 0..2 {
                        stand_in.begin();
                        stand_in.end();
                    }
                }
            });
            stand_in.await_end(Duration::ZERO);
            looker.join().expect("it ends");
            stand_in.await_end(Duration::ZERO);
        });
    }
}
