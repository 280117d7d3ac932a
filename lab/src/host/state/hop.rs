//! How long a cache line takes from one core to another one.
//!
//! On a machine that is shared with others this time doubles for minutes, when the host puts the two cores elsewhere. Every message within
//! the machine doubles with it.

use rustix::thread::{CpuSet, Pid, sched_setaffinity};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Hops of a line in one reading, of which the quickest counts: nobody is quicker for being disturbed.
const READINGS: u32 = 20;
const HOPS: u32 = 100;
/// A thread that gets no processor for that long gives up.
const PATIENCE: Duration = Duration::from_millis(20);

/// A cache line with nothing else in it.
#[repr(align(128))]
struct Line(AtomicU32);

/// Nanoseconds for a line from one core to the other. The result is none if the two cores did not run at the same time.
pub(super) fn hop(cores: &[u32]) -> Option<f64> {
    let [first, second, ..] = *cores else { return None };
    let (there, back) = (Line(AtomicU32::new(0)), Line(AtomicU32::new(0)));
    let until = Instant::now() + PATIENCE;
    std::thread::scope(|scope| {
        let answers = scope.spawn(|| {
            pin(second);
            (1..=READINGS * HOPS).all(|turn| {
                let came = await_turn(&there, turn, until);
                // Release: partner of the acquire in `await_turn`.
                back.0.store(turn, Ordering::Release);
                came
            })
        });
        let asks = scope.spawn(|| {
            pin(first);
            let mut best: Option<f64> = None;
            for reading in 0..READINGS {
                let began = Instant::now();
                for turn in reading * HOPS + 1..=(reading + 1) * HOPS {
                    // Release: partner of the acquire in `await_turn`.
                    there.0.store(turn, Ordering::Release);
                    if !await_turn(&back, turn, until) {
                        return None;
                    }
                }
                let ns = began.elapsed().as_nanos() as f64 / f64::from(2 * HOPS);
                best = Some(best.map_or(ns, |best| best.min(ns)));
            }
            best
        });
        let best = asks.join().ok().flatten();
        let _ = answers.join();
        best
    })
}

/// Spins until it is that turn, or too late.
fn await_turn(line: &Line, turn: u32, until: Instant) -> bool {
    // Acquire: partner of the releases in `hop`.
    for spins in 1_u32.. {
        if line.0.load(Ordering::Acquire) >= turn {
            return true;
        }
        if spins.is_multiple_of(4096) && Instant::now() > until {
            return false;
        }
    }
    false
}

/// An error is ignored: a thread that is not pinned spoils one reading.
fn pin(core: u32) {
    let mut set = CpuSet::new();
    set.set(core as usize);
    let _ = sched_setaffinity(None::<Pid>, &set);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cache_line_hop_takes_time_between_two_cores() {
        assert_eq!(hop(&[0]), None);
        match crate::host::cores::physical(2)[..] {
            // Beside others it may find no moment for both.
            [first, second] => assert!(hop(&[first, second]).is_none_or(|ns| (1.0..100_000.0).contains(&ns))),
            _ => eprintln!("skipped: cache_line_hop_takes_time_between_two_cores: one core"),
        }
    }
}
