//! How late this daemon is called. On a busy host it may be called so late that others seem silent which have spoken.

use std::cell::Cell;
use std::time::{Duration, Instant};

/// The worst is remembered for so long, and at the most for twice that.
const SPAN: Duration = Duration::from_secs(5);
/// What the daemon knows of its own lateness.
pub(crate) struct Lateness {
    /// When it wants to be called next.
    due: Cell<Instant>,
    /// How often it wants to be called.
    step: Cell<Duration>,
    since: Cell<Instant>,
    now: Cell<Duration>,
    before: Cell<Duration>,
}

impl Lateness {
    pub fn new(now: Instant) -> Lateness {
        let none = || Cell::new(Duration::ZERO);
        // Nobody is late who is not being called.
        Lateness {
            due: Cell::new(now + SPAN * 1_000_000),
            step: none(),
            since: Cell::new(now),
            now: none(),
            before: none(),
        }
    }

    /// From now on it is called, a step apart.
    pub fn begin(&self, now: Instant, step: Duration) {
        self.step.set(step);
        self.due.set(now + step);
    }

    /// It was called; how late that was.
    pub fn called(&self, now: Instant) -> Duration {
        let late = now.saturating_duration_since(self.due.replace(now + self.step.get()));
        if now - self.since.get() >= SPAN {
            self.since.set(now);
            self.before.set(self.now.take());
        }
        self.now.set(self.now.get().max(late));
        late
    }

    /// The worst of late; a call that is overdue counts.
    pub fn worst(&self, now: Instant) -> Duration {
        let overdue = now.saturating_duration_since(self.due.get());
        overdue.max(self.now.get()).max(self.before.get())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lateness_remembers_worst_for_a_while() {
        const STEP: Duration = Duration::from_millis(200);
        let began = Instant::now();
        let lateness = Lateness::new(began);
        let at = |milliseconds| began + Duration::from_millis(milliseconds);
        assert_eq!(lateness.worst(at(60_000)), Duration::ZERO, "nobody calls it");
        lateness.begin(began - STEP, STEP);
        assert_eq!(lateness.called(at(0)), Duration::ZERO);
        assert_eq!(lateness.worst(at(900)), Duration::from_millis(700), "overdue by now");
        assert_eq!(lateness.called(at(1_000)), Duration::from_millis(800));
        (6..=10).for_each(|call| assert!(lateness.called(at(call * 200)) <= STEP));
        assert_eq!(lateness.worst(at(2_000)), Duration::from_millis(800));
        (11..=26).for_each(|call| assert!(lateness.called(at(call * 200)) <= STEP));
        assert_eq!(lateness.worst(at(5_200)), Duration::from_millis(800));
        (27..=60).for_each(|call| assert!(lateness.called(at(call * 200)) <= STEP));
        assert_eq!(lateness.worst(at(12_000)), Duration::ZERO);
    }
}
