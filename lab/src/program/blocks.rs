//! The runs: in blocks, each system once, so that a machine that changes its state hits all alike.
//!
//! Only ratios within a block are compared. A block in which the machine changed its state, or others used it, is left out: its ratios are
//! of two machines.

use super::Asked;
use super::left::Left;
use super::measured::{FEWEST, Measured, Run};
use super::once::{is_unfinished, refused_by, run_first, run_once};
use super::outputs::Output;
use super::systems::Way;
use crate::host::cores;
use crate::host::state::{self, Probe, State, Ticks};
use crate::run::progress::{Progress, Whole};
use parvum_seed::Random;
use std::cell::RefCell;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// More blocks are no use to anybody.
const MOST: usize = 40;
/// The place of the first run of each system, which fills caches and is not counted.
const FIRST: usize = usize::MAX;
/// A run ends after this factor of the time of the fastest system, and never before `LEAST`. The workers of some executors
/// take long to start.
const SLOWER: u32 = 10;
const LEAST: Duration = Duration::from_secs(10);
const LEAST_EXECUTOR: Duration = Duration::from_secs(60);

/// Runs everything until intervals are narrow or the time is over.
pub fn run(
    asked: &Asked,
    ways: &mut [Way],
    scratch: &Path,
    left: &Left,
    random: &mut Random,
    interrupted: &AtomicBool,
) -> Measured {
    let probe = RefCell::new(Probe::new(cores::physical(2)));
    let progress = RefCell::new(Progress::new(asked.budget, Whole::default()));
    let runner = Runner { asked, scratch, left, interrupted, probe, progress };
    let mut measured = Measured::default();
    let began = Instant::now();
    for (at, processes) in asked.processes.iter().copied().enumerate() {
        let spent = began.elapsed();
        if spent >= asked.budget || runner.is_interrupted() {
            measured.left_out.push(processes);
            continue;
        }
        // Time that earlier numbers of processes left over goes to the next ones.
        let share = (asked.budget - spent) / (asked.processes.len() - at) as u32;
        runner.blocks_of(processes, ways, random, share, &mut measured);
    }
    runner.progress.borrow().finish();
    measured
}

/// The values that all runs share.
struct Runner<'a> {
    asked: &'a Asked,
    scratch: &'a Path,
    left: &'a Left,
    interrupted: &'a AtomicBool,
    probe: RefCell<Probe>,
    progress: RefCell<Progress>,
}

/// Whether the machine changed its state within a block, or others used it.
fn is_disturbed(runs: &[Run]) -> bool {
    let looks: Vec<State> = runs.iter().flat_map(|run| run.states).collect();
    let stolen = runs.iter().map(|run| run.stolen).fold(0.0, f64::max);
    !state::is_steady(&looks, stolen)
}

/// The time limit of a first run: the user's limit, else ten times the time of the fastest
/// system. Without a finished system, the time of all runs. That is half if a system has already used its time up, and shorter yet if the program is known to wait for ever.
fn patience_of(asked: &Asked, fastest: Option<f64>, hang: Hang) -> Duration {
    let least = if asked.python.is_some() { LEAST_EXECUTOR } else { LEAST };
    match (asked.patience, fastest, hang) {
        (Some(patience), ..) => patience,
        (None, Some(seconds), _) => (SLOWER * Duration::from_secs_f64(seconds)).max(least),
        (None, None, Hang::Never) => asked.budget,
        (None, None, Hang::Long) => asked.budget / 2,
        (None, None, Hang::Deadlock) => (asked.budget / 2).min(2 * LEAST),
    }
}

/// How the program has hung under another system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Hang {
    Never,
    Long,
    Deadlock,
}

impl Hang {
    fn of(failure: &str) -> Hang {
        match is_unfinished(failure) {
            true if failure.contains("DEADLOCK") => Hang::Deadlock,
            true => Hang::Long,
            false => Hang::Never,
        }
    }
}

impl Runner<'_> {
    fn is_interrupted(&self) -> bool {
        // Relaxed: a signal's handler sets it, and hands over nothing.
        self.interrupted.load(Ordering::Relaxed)
    }

    fn blocks_of(
        &self,
        processes: u32,
        ways: &[Way],
        random: &mut Random,
        share: Duration,
        measured: &mut Measured,
    ) {
        let began = Instant::now();
        // A system that failed is not asked again: it would fail again, and cost its time.
        let mut working = self.first_of(processes, ways, measured);
        // No time for another run of each: the first ones are all that there is, and count.
        let first_took = began.elapsed();
        if first_took > share / 2 {
            let first = measured.runs.iter_mut().filter(|run| run.processes == processes);
            first.for_each(|run| run.block = 0);
            return;
        }
        measured.runs.retain(|run| run.block != FIRST || run.failure.is_some());
        for block in 0..MOST {
            let mut order = working.clone();
            random.shuffle(&mut order);
            let block_began = Instant::now();
            let mut runs: Vec<Run> = Vec::new();
            for way in order.iter().copied() {
                let fastest = measured.time(processes, way).map(|time| time.median);
                let patience =
                    patience_of(self.asked, fastest.or(Some(first_took.as_secs_f64())), Hang::Never);
                let (run, output) = self.one(processes, block, way, &ways[way], patience, measured);
                if let Some(output) = output {
                    measured.keep(processes, way, output);
                }
                runs.push(run);
            }
            for run in runs.iter().filter(|run| run.failure.is_some()) {
                ways[run.way].tidy();
                working.retain(|other| *other != run.way);
            }
            if is_disturbed(&runs) {
                measured.disturbed += 1;
                runs.iter_mut().for_each(|run| run.is_disturbed = true);
            }
            measured.runs.extend(runs);
            let is_late = began.elapsed() + block_began.elapsed() > share;
            let is_narrow =
                block + 1 >= FEWEST && measured.is_narrow(processes, &working, self.asked.precision);
            if working.is_empty() || is_late || is_narrow || self.is_interrupted() {
                break;
            }
        }
    }

    /// The first run of each system, which fills caches; the systems that worked.
    fn first_of(&self, processes: u32, ways: &[Way], measured: &mut Measured) -> Vec<usize> {
        let (mut working, mut fastest, mut hang) = (Vec::new(), None::<f64>, Hang::Never);
        for (at, way) in ways.iter().enumerate() {
            if self.is_interrupted() {
                measured.not_run.push((processes, at));
                continue;
            }
            let patience = patience_of(self.asked, fastest, hang);
            let (run, output) = self.one(processes, FIRST, at, way, patience, measured);
            match (&run.failure, output) {
                (None, output) => {
                    fastest = Some(fastest.unwrap_or(f64::INFINITY).min(run.seconds));
                    working.push(at);
                    if let Some(output) = output {
                        measured.keep(processes, at, output);
                    }
                }
                (Some(why), _) => {
                    hang = hang.max(Hang::of(why));
                    way.tidy();
                }
            }
            measured.runs.push(run);
        }
        working
    }

    /// One run, with what it printed.
    fn one(
        &self,
        processes: u32,
        block: usize,
        at: usize,
        way: &Way,
        patience: Duration,
        measured: &mut Measured,
    ) -> (Run, Option<Output>) {
        let (asked, out) = (self.asked, self.scratch.join("out"));
        self.progress.borrow_mut().begin(&format!("{}, -n {processes}", way.named().name));
        let before = self.probe.borrow_mut().look();
        let ticks = Ticks::now();
        let mut launch = way.launch(processes, patience);
        launch.environment.push(self.left.variable());
        let began = Instant::now();
        let mut ended = match block {
            FIRST => run_first(&launch, asked, &out, self.interrupted, way.why().as_ref()),
            _ => run_once(&launch, asked, &out, self.interrupted),
        };
        let seconds = began.elapsed().as_secs_f64();
        let stolen = ticks.and_then(|ticks| Some(Ticks::now()?.since(ticks).stolen_share())).unwrap_or(0.0);
        if let Some(names) = self.left.end() {
            match &mut ended {
                Ok(()) => measured.note_left(processes, at, names),
                Err(why) if is_unfinished(why) => *why += &format!("; these outlived the launcher: {names}"),
                Err(_) => {}
            }
        }
        let states = [before, self.probe.borrow_mut().look()];
        let judged = || asked.check.as_deref().and_then(|check| refused_by(check, &out, patience.max(LEAST)));
        let (output, failure) = match ended {
            Err(why) => (None, Some(why)),
            // Reading a large output takes its time.
            Ok(()) if !measured.wants_output(processes, at) => (None, judged()),
            Ok(()) => match Output::read(&out) {
                Ok(output) => (Some(output), judged()),
                Err(why) => (None, Some(format!("its output cannot be read: {why}"))),
            },
        };
        // Before the next run: the disk may be small.
        let _ = std::fs::remove_file(&out);
        self.progress.borrow_mut().end();
        (Run { processes, block, way: at, seconds, states, stolen, is_disturbed: false, failure }, output)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_gets_ten_times_as_long_as_the_fastest() {
        let second = Duration::from_secs(1);
        let mut asked = Asked { budget: 120 * second, ..Asked::default() };
        assert_eq!(patience_of(&asked, Some(2.0), Hang::Never), 20 * second);
        assert_eq!(patience_of(&asked, Some(0.1), Hang::Long), LEAST);
        assert_eq!(patience_of(&asked, None, Hang::Never), 120 * second);
        assert_eq!(patience_of(&asked, None, Hang::Long), 60 * second);
        assert_eq!(patience_of(&asked, None, Hang::of("DEADLOCK: rank 0 waits")), 20 * second);
        asked.patience = Some(7 * second);
        assert_eq!(patience_of(&asked, Some(2.0), Hang::Long), 7 * second);
    }
}
