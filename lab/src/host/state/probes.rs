//! The probes: each takes a few milliseconds, and its quickest reading counts.

use super::State;
use super::hop::hop;
use std::fs;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Larger than the caches of a core.
const COPIED: usize = 8 << 20;
const COPIES: u32 = 3;
const STEPS: u32 = 20_000;
const READINGS: u32 = 5;
/// A process that is just ending is gone within a few looks.
const LOOKS: u32 = 6;
/// Between two looks, long enough for that end and short beside a launch.
const BETWEEN: Duration = Duration::from_micros(300);

/// Looks at the machine.
#[derive(Debug)]
pub struct Probe {
    cores: Vec<u32>,
    from: Vec<u8>,
    to: Vec<u8>,
}

impl Probe {
    /// Cache lines go between the first two of these cores.
    pub fn new(cores: Vec<u32>) -> Probe {
        // Touched here, for the first copy would measure page faults.
        Probe { cores, from: vec![1; COPIED], to: vec![2; COPIED] }
    }

    /// The machine at this moment. Takes about 10 ms.
    pub fn look(&mut self) -> State {
        // First: the other probes are ready processes themselves.
        let others = others();
        State {
            others,
            line_ns: hop(&self.cores),
            step_ns: Some(step_ns()),
            copy_gb_s: Some(self.copy_gb_s()),
        }
    }

    fn copy_gb_s(&mut self) -> f64 {
        let quickest = quickest(COPIES, || {
            self.to.copy_from_slice(black_box(&self.from));
            black_box(&self.to);
        });
        COPIED as f64 / quickest.as_nanos().max(1) as f64
    }
}

/// The shortest of several readings.
fn quickest(readings: u32, mut work: impl FnMut()) -> Duration {
    let reading = |_| {
        let began = Instant::now();
        work();
        began.elapsed()
    };
    (0..readings).map(reading).min().unwrap_or_default()
}

/// A chain of multiplications. The core cannot start one before the one before is done, so the time depends on the frequency alone.
fn step_ns() -> f64 {
    let quickest = quickest(READINGS, || {
        let mut value = black_box(3_u64);
        for _ in 0..STEPS {
            value = black_box(value.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        }
    });
    quickest.as_nanos() as f64 / f64::from(STEPS)
}

/// Processes and threads that are ready beside this one: the fewest of several looks.
fn others() -> Option<u32> {
    let mut fewest: Option<u32> = None;
    for look in 0..LOOKS {
        if look > 0 {
            std::thread::sleep(BETWEEN);
        }
        let ready = ready(&fs::read_to_string("/proc/loadavg").ok()?)?.saturating_sub(1);
        fewest = Some(fewest.map_or(ready, |fewest| fewest.min(ready)));
        if ready == 0 {
            break;
        }
    }
    fewest
}

/// The fourth word of the load average is READY/ALL.
fn ready(load: &str) -> Option<u32> {
    load.split_whitespace().nth(3)?.split('/').next()?.parse().ok()
}

/// The ticks of all cores since the start of the system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ticks {
    /// All ticks.
    pub all: u64,
    /// Ticks that the host gave to others.
    pub stolen: u64,
}

impl Ticks {
    /// The ticks until now; none if the kernel does not tell.
    pub fn now() -> Option<Ticks> {
        Ticks::read(&fs::read_to_string("/proc/stat").ok()?)
    }

    fn read(stat: &str) -> Option<Ticks> {
        let line = stat.lines().next()?.strip_prefix("cpu ")?;
        // user, nice, system, idle, iowait, irq, softirq, steal; guests count as user too.
        let ticks: Vec<u64> = line.split_whitespace().take(8).map_while(|tick| tick.parse().ok()).collect();
        let all: u64 = ticks.iter().sum();
        (ticks.len() == 8).then(|| Ticks { all, stolen: ticks[7] })
    }

    /// The ticks since another reading.
    pub fn since(self, earlier: Ticks) -> Ticks {
        Ticks {
            all: self.all.saturating_sub(earlier.all),
            stolen: self.stolen.saturating_sub(earlier.stolen),
        }
    }

    /// The share that the host gave to others. A single tick may be an accident and does not count.
    pub fn stolen_share(self) -> f64 {
        if self.stolen < 2 { 0.0 } else { self.stolen as f64 / self.all.max(1) as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn look_reports_plausible_values() {
        let state = Probe::new(vec![0]).look();
        assert_eq!(state.line_ns, None, "one core");
        assert!(state.step_ns.is_some_and(|ns| (0.05..100.0).contains(&ns)), "{state:?}");
        assert!(state.copy_gb_s.is_some_and(|rate| (0.01..1000.0).contains(&rate)), "{state:?}");
    }

    #[test]
    fn ready_processes_are_read_from_load_average() {
        assert_eq!(ready("0.20 0.18 0.12 3/80 11206\n"), Some(3));
        assert_eq!(ready("0.20 0.18\n"), None);
    }

    #[test]
    fn ticks_tell_the_stolen_share() {
        let stat = "cpu  10 1 5 70 4 2 3 5 9 9\ncpu0 1 1 1 1 1 1 1 1 1 1\n";
        let ticks = Ticks::read(stat).expect("eight numbers");
        assert_eq!(ticks, Ticks { all: 100, stolen: 5 });
        let later = Ticks { all: 140, stolen: 9 };
        assert_eq!(later.since(ticks).stolen_share(), 0.1);
        assert_eq!(Ticks { stolen: 6, ..later }.since(ticks).stolen_share(), 0.0, "one tick says nothing");
        assert_eq!((Ticks::read("cpu  10 1 5 70\n"), Ticks::read("intr 1 2\n")), (None, None));
    }
}
