//! The clock of a recording.
//!
//! Where the kernel itself keeps time by the processor's counter, that counter is read alone: less than half the cost of asking
//! for the time. What it means is found out afterwards, from two readings of both.

use crate::block::monotonic_ns;

/// What the time in records is taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// CLOCK_MONOTONIC, in nanoseconds.
    Monotonic,
    /// The processor's counter, which all of its cores share.
    Counter,
    /// The processor time that the process has had, in nanoseconds: of no other process, and compared with no other clock.
    ProcessorTime,
}

/// A reading of both clocks at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// What records say.
    pub ticks: u64,
    /// Nanoseconds of CLOCK_MONOTONIC.
    pub monotonic: u64,
}

impl Clock {
    /// The best one of this host.
    pub fn of_this_host() -> Clock {
        const SOURCE: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
        let source = std::fs::read_to_string(SOURCE).unwrap_or_default();
        // The kernel has seen to it that it runs evenly and alike on all cores, else it would use another.
        if cfg!(target_arch = "x86_64") && source.trim() == "tsc" { Clock::Counter } else { Clock::Monotonic }
    }

    /// The time, in ticks.
    #[inline]
    pub fn now(self) -> u64 {
        match self {
            Clock::Monotonic => monotonic_ns(),
            Clock::Counter => counter(),
            Clock::ProcessorTime => processor_time(),
        }
    }

    /// Reads both clocks. Processor time begins with its process, whenever that is.
    pub fn moment(self) -> Moment {
        // A pause between the two readings would count as a difference of the clocks: the shortest one of some is taken.
        let read = || {
            let before = self.now();
            let monotonic = monotonic_ns();
            let pause = self.now().wrapping_sub(before);
            (pause, Moment { ticks: before.wrapping_add(pause / 2), monotonic })
        };
        match self {
            Clock::Monotonic => {
                let now = monotonic_ns();
                Moment { ticks: now, monotonic: now }
            }
            Clock::ProcessorTime => Moment { ticks: 0, monotonic: monotonic_ns() },
            Clock::Counter => (0..4).map(|_| read()).min_by_key(|(pause, _)| *pause).expect("some").1,
        }
    }
}

fn processor_time() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn counter() -> u64 {
    // SAFETY: reads a register, which every processor of this kind has and the kernel lets programs read.
    unsafe { core::arch::x86_64::_rdtsc() }
}

#[cfg(not(target_arch = "x86_64"))]
fn counter() -> u64 {
    monotonic_ns()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_and_time_advance_at_one_rate() {
        for clock in [Clock::Monotonic, Clock::of_this_host()] {
            let first = clock.moment();
            std::thread::sleep(std::time::Duration::from_millis(5));
            let middle = clock.moment();
            std::thread::sleep(std::time::Duration::from_millis(15));
            let last = clock.moment();
            let share = (middle.ticks - first.ticks) as f64 / (last.ticks - first.ticks) as f64;
            let told = first.monotonic as f64 + share * (last.monotonic - first.monotonic) as f64;
            let error = (told - middle.monotonic as f64).abs();
            assert!(error < 100_000.0, "{clock:?}: {error} ns");
        }
    }
}
