//! The use of a task's time: waiting, calls, computing.
//!
//! To look at the clock takes about as long as a tenth of a short message. Only one call in [`EVERY`] is therefore
//! timed, and represents all. Sleep is always timed, because it takes far longer than the clock.

use std::time::Instant;

/// One call in this number is timed.
const EVERY: u32 = 64;

/// The measured time of one task.
#[derive(Default)]
pub(crate) struct Time {
    calls: u32,
    /// The call under way is timed.
    is_sample: bool,
    /// Nanoseconds asleep, ever.
    pub(crate) asleep: u64,
    /// Nanoseconds that the call under way has looked for something.
    looked: u64,
}

/// A call, or a wait, that is timed: when it began, and how long the task had slept by then.
pub(crate) type Begun = Option<(Instant, u64)>;

impl Time {
    /// A call of the interface begins.
    #[inline]
    pub(crate) fn begins_call(&mut self) -> Begun {
        self.calls = self.calls.wrapping_add(1);
        if !self.calls.is_multiple_of(EVERY) {
            return None;
        }
        self.is_sample = true;
        self.looked = 0;
        Some((Instant::now(), self.asleep))
    }

    /// A wait begins, in a call.
    #[inline]
    pub(crate) fn begins_wait(&self) -> Begun {
        self.is_sample.then(|| (Instant::now(), self.asleep))
    }

    /// The wait is over.
    #[inline]
    pub(crate) fn ends_wait(&mut self, begun: Begun) {
        if let Some(begun) = begun {
            self.looked += self.awake_since(begun);
        }
    }

    /// A timed call has ended: returns the time of looking and the time of other work, of this call and of the calls
    /// that it represents.
    pub(crate) fn ends_call(&mut self, begun: (Instant, u64)) -> (u64, u64) {
        self.is_sample = false;
        let (awake, many) = (self.awake_since(begun), u64::from(EVERY));
        (many * self.looked.min(awake), many * awake.saturating_sub(self.looked))
    }

    fn awake_since(&self, (began, asleep): (Instant, u64)) -> u64 {
        (began.elapsed().as_nanos() as u64).saturating_sub(self.asleep - asleep)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_samples_one_call_in_many_without_sleep() {
        let mut time = Time::default();
        let timed = (0..4 * EVERY).filter(|_| time.begins_call().is_some()).count();
        assert_eq!(timed, 4);
        let wait = time.begins_wait();
        time.asleep += 3_600_000_000_000;
        time.ends_wait(wait);
        assert_eq!(time.looked, 0, "all of the time was slept away");
    }
}
