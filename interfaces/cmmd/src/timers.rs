//! The stopwatches of a node: wall clock, and what of it the node spent waiting.

use crate::errors::{Cmmd, Fault};
use crate::state::State;
use std::time::Instant;

/// How many there are.
pub(crate) const TIMERS: usize = 64;

/// Places of the engine's counters: nanoseconds asleep, and nanoseconds looking for what is waited for.
const ASLEEP: usize = 25;
const LOOKING: usize = 26;

#[derive(Clone, Copy, Default)]
struct Timer {
    /// Since when it runs, and how long this node had waited by then.
    running: Option<(Instant, u64)>,
    /// Seconds, over all starts and stops.
    elapsed: f64,
    idle: f64,
}

/// All of them.
pub(crate) struct Timers([Timer; TIMERS]);

impl Default for Timers {
    fn default() -> Timers {
        Timers([Timer::default(); TIMERS])
    }
}

/// What is asked of one.
#[derive(Clone, Copy)]
pub(crate) enum Reading {
    Elapsed,
    Busy,
    Idle,
}

impl State {
    /// Nanoseconds that this node has waited in the library, ever.
    fn waited(&self) -> u64 {
        let counters = self.waist.counters();
        counters[ASLEEP] + counters[LOOKING]
    }

    fn timer(&mut self, id: i32) -> Cmmd<&mut Timer> {
        usize::try_from(id).ok().and_then(|id| self.timers.0.get_mut(id)).ok_or(Fault::BadArgument)
    }

    pub(crate) fn clear_timer(&mut self, id: i32) -> Cmmd<i32> {
        *self.timer(id)? = Timer::default();
        Ok(0)
    }

    pub(crate) fn start_timer(&mut self, id: i32) -> Cmmd<i32> {
        let waited = self.waited();
        let timer = self.timer(id)?;
        if timer.running.is_some() {
            return Err(Fault::Unfinished);
        }
        timer.running = Some((Instant::now(), waited));
        Ok(0)
    }

    pub(crate) fn stop_timer(&mut self, id: i32) -> Cmmd<i32> {
        let waited = self.waited();
        let timer = self.timer(id)?;
        let (since, before) = timer.running.take().ok_or(Fault::BadArgument)?;
        let elapsed = since.elapsed().as_secs_f64();
        timer.elapsed += elapsed;
        // Short waits are measured by samples: they may come out longer than they were.
        timer.idle += (waited.saturating_sub(before) as f64 * 1e-9).min(elapsed);
        Ok(0)
    }

    pub(crate) fn read_timer(&mut self, id: i32, what: Reading) -> Cmmd<f64> {
        let timer = self.timer(id)?;
        if timer.running.is_some() {
            return Err(Fault::Unfinished);
        }
        Ok(match what {
            Reading::Elapsed => timer.elapsed,
            Reading::Busy => timer.elapsed - timer.idle,
            Reading::Idle => timer.idle,
        })
    }
}
