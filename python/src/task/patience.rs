//! Waits without the interpreter's lock, until something comes, the timeout passes, or a signal handler raises.

use crate::{task::errors, task::process};
use parvum_api::{CoreApi, Notes, Status, call};
use pyo3::prelude::*;
use std::time::{Duration, Instant};

/// The longest single wait of the thread that handles signals. A signal ends its sleep. A signal just before the sleep is found by
/// polling, after 5 ms at first, and less and less often in a long wait.
pub(crate) struct Looks {
    next: Duration,
    /// When the last wait should have ended.
    until: Instant,
}

impl Looks {
    const FIRST: Duration = Duration::from_millis(5);
    const MOST: Duration = Duration::from_secs(10);

    pub(crate) fn new() -> Looks {
        Looks { next: Looks::FIRST, until: Instant::now() }
    }

    pub(crate) fn next(&mut self) -> Duration {
        let now = Instant::now();
        // If the last wait was interrupted, the interruption may come again at once.
        let slice = if now < self.until { Looks::FIRST } else { self.next };
        self.next = (slice * 4).min(Looks::MOST);
        self.until = now + slice;
        slice
    }
}

/// The same wait, which signals also end.
pub(crate) fn until_signal(notes: Notes) -> Notes {
    Notes { call: notes.call | call::UNTIL_SIGNAL, ..notes }
}

/// When a wait must end.
#[derive(Clone, Copy)]
pub(crate) enum Limit {
    Never,
    /// Does not wait.
    Now,
    At(Instant),
}

impl Limit {
    /// Seconds from now; `None`: no limit.
    pub(crate) fn of(py: Python<'_>, seconds: Option<f64>) -> PyResult<Limit> {
        match seconds {
            None => Ok(Limit::Never),
            Some(seconds) if seconds <= 0.0 => Ok(Limit::Now),
            Some(seconds) if seconds.is_nan() => Err(errors::bad_argument(py, "a timeout of NaN")),
            // No program waits longer.
            Some(seconds) => Ok(Instant::now()
                .checked_add(Duration::from_secs_f64(seconds.min(1e9)))
                .map_or(Limit::Never, Limit::At)),
        }
    }
}

/// Lets `attempt` do what it can at once, then wait. `Err(Pending)` becomes `TimedOut` after the timeout.
pub(crate) fn wait<T: Send>(
    py: Python<'_>,
    api: CoreApi,
    notes: Notes,
    limit: Limit,
    attempt: impl Fn(&Notes) -> Result<T, Status> + Sync + Send,
) -> PyResult<T> {
    match attempt(&Notes { limit: 0, ..notes }) {
        Err(Status::Pending) => wait_on(py, api, notes, limit, attempt),
        other => other.map_err(|status| errors::of(py, status, notes.peer, || api.last_error())),
    }
}

/// The same if `attempt` can do nothing at once.
pub(crate) fn wait_on<T: Send>(
    py: Python<'_>,
    api: CoreApi,
    notes: Notes,
    limit: Limit,
    attempt: impl Fn(&Notes) -> Result<T, Status> + Sync + Send,
) -> PyResult<T> {
    let failed = |status| errors::of(py, status, notes.peer, || api.last_error());
    let handles_signals = is_main_thread();
    let waits = if handles_signals { until_signal(notes) } else { notes };
    let mut looks = Looks::new();
    loop {
        let left = match limit {
            Limit::Never => None,
            Limit::Now => return Err(failed(Status::Pending)),
            Limit::At(end) => Some(end.saturating_duration_since(Instant::now())),
        };
        let slice = match (left, handles_signals) {
            (None, true) => Some(looks.next()),
            (Some(left), true) => Some(left.min(looks.next())),
            (left, false) => left,
        };
        // With a limit of 0 the attempt would not wait.
        let slice = slice.map_or(-1, |slice| (slice.as_nanos() as i64).max(1));
        match process::outside(py, || attempt(&Notes { limit: slice, ..waits })) {
            Err(Status::Pending) => {
                py.check_signals()?;
                process::api(py)?;
                // Some waits do not return this themselves.
                if api.progress().lost {
                    return Err(failed(Status::NoMachine));
                }
                if left.is_some_and(|left| left.is_zero()) {
                    return Err(failed(Status::Pending));
                }
            }
            other => return other.map_err(failed),
        }
    }
}

/// True if this is the process's first thread, which runs Python's signal handlers.
#[allow(unsafe_code)]
pub(crate) fn is_main_thread() -> bool {
    // SAFETY: the functions have no arguments and cannot fail.
    unsafe { libc::gettid() == libc::getpid() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_start_short_again_after_ended_wait() {
        let mut looks = Looks::new();
        let mut waits = || {
            let slice = looks.next();
            // Counts as a wait of this length.
            looks.until -= slice;
            slice
        };
        assert_eq!((waits(), waits(), waits()), (Looks::FIRST, 4 * Looks::FIRST, 16 * Looks::FIRST));
        assert_eq!((0..20).map(|_| waits()).last(), Some(Looks::MOST));
        looks.until = Instant::now() + Looks::MOST;
        assert_eq!(looks.next(), Looks::FIRST);
    }
}
