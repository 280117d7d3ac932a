//! How a task waits: it spins while that is likely to help, then sleeps.
//!
//! Spinning helps when the awaited message comes soon *and* its sender has a
//! core of its own. Both are learnt: a wait that ended while spinning makes the
//! next one spin longer; one that had to sleep long makes it shorter; and a
//! sleeper that was woken from its own core knows that it must get out of the
//! way at once, for its peer had been waiting for that core.

use parvum_page::TaskPage;
use std::time::{Duration, Instant};

/// The longest time to spin; about what it costs to fall asleep on one core and
/// be woken from another, both idle states included.
const LONGEST: Duration = Duration::from_micros(50);
/// A sleeper looks after the daemon's connection at least this often.
const LONGEST_SLEEP: Duration = Duration::from_millis(500);

/// What one task has learnt about waiting.
pub(crate) struct Patience {
    budget: Duration,
}

impl Patience {
    pub(crate) fn new() -> Patience {
        Patience { budget: LONGEST }
    }

    /// How long to spin now.
    pub(crate) fn budget(&self) -> Duration {
        self.budget
    }

    /// The wait ended while spinning.
    pub(crate) fn spun(&mut self) {
        self.budget = (self.budget * 2).max(LONGEST / 16).min(LONGEST);
    }

    /// The wait needed sleep.
    pub(crate) fn slept(&mut self, how_long: Duration, woken_from_own_core: bool) {
        self.budget = if woken_from_own_core {
            Duration::ZERO
        } else if how_long < 2 * LONGEST {
            LONGEST
        } else {
            self.budget / 2
        };
    }
}

/// How long to sleep at most, given when the wait must end.
pub(crate) fn sleep_limit(deadline: Option<Instant>) -> Duration {
    deadline.map_or(LONGEST_SLEEP, |end| end.saturating_duration_since(Instant::now()).min(LONGEST_SLEEP))
}

/// Whether the last waker of `page` ran on the core that this task runs on now.
pub(crate) fn woken_from_own_core(page: &TaskPage) -> bool {
    let waker = page.door().waker_cpu.load(std::sync::atomic::Ordering::Relaxed);
    waker == rustix::thread::sched_getcpu() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patience_grows_with_success_and_ends_on_a_shared_core() {
        let mut patience = Patience::new();
        patience.slept(Duration::from_micros(3), true);
        assert_eq!(patience.budget(), Duration::ZERO);
        patience.slept(Duration::from_micros(3), false);
        assert_eq!(patience.budget(), LONGEST, "soon, and from another core: spinning would have helped");
        for _ in 0..40 {
            patience.slept(Duration::from_secs(1), false);
        }
        assert_eq!(patience.budget(), Duration::ZERO);
        patience.spun();
        assert!(patience.budget() > Duration::ZERO);
    }

    #[test]
    fn a_sleep_never_outlasts_the_deadline() {
        assert_eq!(sleep_limit(None), LONGEST_SLEEP);
        assert_eq!(sleep_limit(Some(Instant::now())), Duration::ZERO);
    }
}
