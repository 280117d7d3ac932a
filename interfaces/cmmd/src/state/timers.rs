//! The stopwatches of a node: wall clock, and what of it the node spent waiting.

use crate::errors::{Cmmd, Fault};
use std::time::Instant;

/// How many there are.
pub(crate) const TIMERS: usize = 64;

#[derive(Clone, Copy, Default)]
struct Timer {
    /// Since when it runs, and how long this node had waited by then.
    running: Option<(Instant, u64)>,
    /// Seconds, over all starts and stops.
    elapsed: f64,
    idle: f64,
}

/// All stopwatches of a node.
pub(crate) struct Timers {
    all: [Timer; TIMERS],
    /// How many run. Calls look at the clock only while one runs.
    running: usize,
    /// Nanoseconds that calls of this node have waited while a stopwatch ran, over all threads.
    waited: u64,
}

impl Default for Timers {
    fn default() -> Timers {
        Timers { all: [Timer::default(); TIMERS], running: 0, waited: 0 }
    }
}

impl Timers {
    /// The time at which a call begins to wait, if a stopwatch runs.
    #[inline]
    pub(crate) fn start_wait(&self) -> Option<Instant> {
        (self.running > 0).then(Instant::now)
    }

    /// Counts a wait that [`Timers::begin_wait`] has noted.
    #[inline]
    pub(crate) fn end_wait(&mut self, began: Option<Instant>) {
        if let Some(began) = began {
            self.waited += began.elapsed().as_nanos() as u64;
        }
    }
}

/// The kinds of reading of a timer.
#[derive(Clone, Copy)]
pub(crate) enum Reading {
    Elapsed,
    Busy,
    Idle,
}

impl Timers {
    fn get(&mut self, id: i32) -> Cmmd<&mut Timer> {
        usize::try_from(id).ok().and_then(|id| self.all.get_mut(id)).ok_or(Fault::BadArgument)
    }

    pub(crate) fn clear(&mut self, id: i32) -> Cmmd<i32> {
        let timer = std::mem::take(self.get(id)?);
        if timer.running.is_some() {
            self.running -= 1;
        }
        Ok(0)
    }

    pub(crate) fn start(&mut self, id: i32) -> Cmmd<i32> {
        let waited = self.waited;
        let timer = self.get(id)?;
        if timer.running.is_some() {
            return Err(Fault::Unfinished);
        }
        timer.running = Some((Instant::now(), waited));
        self.running += 1;
        Ok(0)
    }

    pub(crate) fn stop(&mut self, id: i32) -> Cmmd<i32> {
        let waited = self.waited;
        let timer = self.get(id)?;
        let (since, before) = timer.running.take().ok_or(Fault::BadArgument)?;
        let elapsed = since.elapsed().as_secs_f64();
        timer.elapsed += elapsed;
        // Several threads that wait at once are longer idle together than the clock went on.
        timer.idle += ((waited - before) as f64 * 1e-9).min(elapsed);
        self.running -= 1;
        Ok(0)
    }

    pub(crate) fn read(&mut self, id: i32, what: Reading) -> Cmmd<f64> {
        let timer = self.get(id)?;
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
