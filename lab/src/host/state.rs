//! The state of the host: how long a cache line takes from one core to another one.
//!
//! On a machine that is shared with others this doubles for minutes at a time, when the host puts the two cores elsewhere, and every message
//! within it with that. A launch in such a state would be held against others that were not; so it is seen, said, and repeated.

use crate::run::record::LaunchRecord;
use rustix::thread::{CpuSet, Pid, sched_setaffinity};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Hops of a line in one reading, of which the quickest counts: nobody is quicker for being disturbed.
const READINGS: u32 = 20;
const HOPS: u32 = 100;
/// Whoever gets no processor for that long gives up.
const PATIENCE: Duration = Duration::from_millis(20);

/// So many times the best of a session is the slow state; it is about twice as slow.
const SLOW: f64 = 1.6;

/// A line of its own.
#[repr(align(128))]
struct Line(AtomicU32);

/// Nanoseconds for a line from one core to the other; none when the two do not run at the same time.
pub fn hop(cores: &[u32]) -> Option<f64> {
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

/// Not being pinned costs a reading, no more.
fn pin(core: u32) {
    let mut set = CpuSet::new();
    set.set(core as usize);
    let _ = sched_setaffinity(None::<Pid>, &set);
}

/// What a line takes when the host is quick: what one of ten launches reached, and not the quickest alone. For a moment both cores may
/// be threads of one; what then took 17 ns took 130 in all other launches of a session.
fn quick(launches: &[LaunchRecord]) -> Option<f64> {
    let mut lines: Vec<f64> = launches.iter().filter_map(|launch| launch.line_ns).collect();
    lines.sort_by(f64::total_cmp);
    lines.get(lines.len() / 10).copied()
}

/// The launches that were in the slow state: those that worked, and whose line took much longer than it does when the host is quick.
pub fn slow(launches: &[LaunchRecord]) -> Vec<usize> {
    let Some(best) = quick(launches) else { return Vec::new() };
    let is_slow = |launch: &&LaunchRecord| {
        launch.failure.is_none() && launch.line_ns.is_some_and(|line| line > SLOW * best)
    };
    launches.iter().filter(is_slow).map(|launch| launch.launch).collect()
}

/// Says that a launch does not count, for another one was made in its place.
pub fn repeated_as(launch: usize) -> String {
    format!("{REPEATED} {launch}")
}

const REPEATED: &str = "the host was in its slow state; repeated as launch";

/// Whether a launch failed by itself: it was not merely repeated because the host was slow.
pub fn has_failed(launch: &LaunchRecord) -> bool {
    launch.failure.as_ref().is_some_and(|why| !why.starts_with(REPEATED))
}

/// What a reader of a session must know of it: nothing when it was quick throughout.
pub fn warning(launches: &[LaunchRecord]) -> Option<String> {
    let repeated =
        |launch: &&LaunchRecord| launch.failure.as_ref().is_some_and(|why| why.starts_with(REPEATED));
    let (repeated, stay) = (launches.iter().filter(repeated).count(), slow(launches).len());
    if repeated + stay == 0 {
        return None;
    }
    let worst = launches.iter().filter_map(|launch| launch.line_ns).fold(0.0, f64::max);
    let best = quick(launches).unwrap_or(worst);
    Some(format!(
        "The host was in its slow state for {} of {} launches (a cache line went from core to core in {worst:.0} ns, in {best:.0} otherwise): {repeated} were repeated, {stay} are in these numbers.",
        repeated + stay,
        launches.len(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::record::LaunchRecord;

    fn launch(number: usize, line_ns: Option<f64>, failure: Option<String>) -> LaunchRecord {
        LaunchRecord {
            launch: number,
            job: "ring".into(),
            program: "ring".into(),
            system: String::new(),
            tasks: 2,
            command: String::new(),
            elapsed_s: 1.0,
            load: String::new(),
            line_ns,
            failure,
        }
    }

    #[test]
    fn cache_line_hop_takes_time_between_two_cores() {
        assert_eq!(hop(&[0]), None);
        match crate::host::cores::physical(2)[..] {
            // Beside others it may find no moment for both.
            [first, second] => assert!(hop(&[first, second]).is_none_or(|ns| (1.0..100_000.0).contains(&ns))),
            _ => eprintln!("skipped: cache_line_hop_takes_time_between_two_cores: one core"),
        }
    }

    #[test]
    fn launch_much_slower_than_best_is_marked_slow() {
        let mut launches = vec![
            launch(0, Some(60.0), None),
            launch(1, Some(130.0), None),
            launch(2, None, None),
            launch(3, Some(90.0), None),
            launch(4, Some(140.0), Some("it died".into())),
        ];
        assert_eq!(slow(&launches), [1]);
        assert!(warning(&launches).expect("one").contains("1 of 5 launches"), "{:?}", warning(&launches));
        launches.push(launch(5, Some(61.0), None));
        launches[1].failure = Some(repeated_as(5));
        assert_eq!(slow(&launches), [0; 0]);
        let told = warning(&launches).expect("it was");
        assert!(told.contains("1 were repeated, 0 are"), "{told}");
        assert_eq!(warning(&launches[2..4]), None);
    }

    #[test]
    fn momentarily_fast_launch_marks_no_others_slow() {
        let mut launches: Vec<LaunchRecord> = (0..20).map(|at| launch(at, Some(130.0), None)).collect();
        launches[7].line_ns = Some(17.0);
        assert_eq!((slow(&launches), warning(&launches)), (vec![], None));
    }
}
