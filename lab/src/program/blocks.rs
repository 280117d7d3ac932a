//! The runs: in blocks, each system once, so that a machine that changes its state hits all alike.
//!
//! Only ratios within a block are compared. A block in which the machine changed its state, or others used it, is left out: its ratios are
//! of two machines.

use super::Asked;
use super::ways::{Named, Way};
use crate::host::cores;
use crate::host::state::{self, Probe, State, Ticks};
use crate::run::launch::Launch;
use crate::stats::paired;
use crate::stats::statistics::{Estimate, estimate};
use parvum_seed::Random;
use serde::Serialize;
use std::cell::RefCell;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Fewer blocks leave wide intervals; more than the most are no use to anybody.
const FEWEST: usize = 8;
const MOST: usize = 40;

/// One run of the program.
#[derive(Debug, Clone, Serialize)]
pub struct Run {
    /// Processes.
    pub processes: u32,
    /// Which block.
    pub block: usize,
    /// Which system, by its place.
    pub way: usize,
    /// Seconds from start to end.
    pub seconds: f64,
    /// The machine before and after.
    pub states: [State; 2],
    /// The share of the cores' time that the host gave to others.
    pub stolen: f64,
    /// Whether the machine changed its state in the block, or others used it: the run is shown, but not compared.
    pub is_disturbed: bool,
    /// Why the run does not count.
    pub failure: Option<String>,
}

/// All runs, and what they printed first.
#[derive(Debug, Default)]
pub struct Measured {
    /// In the order in which they ran.
    pub runs: Vec<Run>,
    /// For each number of processes and system: the output of the first run that worked.
    pub outputs: Vec<(u32, usize, Vec<u8>)>,
    /// Blocks that were left out because the machine changed its state within them.
    pub disturbed: usize,
    /// Numbers of processes that no time was left for.
    pub left_out: Vec<u32>,
}

/// Runs everything until intervals are narrow or the time is over.
pub fn run(
    asked: &Asked,
    ways: &mut [Way],
    scratch: &Path,
    random: &mut Random,
    interrupted: &AtomicBool,
) -> Measured {
    let probe = RefCell::new(Probe::new(cores::physical(2)));
    let runner = Runner { asked, scratch, interrupted, probe };
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
    measured
}

/// The values that all runs share.
struct Runner<'a> {
    asked: &'a Asked,
    scratch: &'a Path,
    interrupted: &'a AtomicBool,
    probe: RefCell<Probe>,
}

/// Whether the machine changed its state within a block, or others used it.
fn is_disturbed(runs: &[Run]) -> bool {
    let looks: Vec<State> = runs.iter().flat_map(|run| run.states).collect();
    let stolen = runs.iter().map(|run| run.stolen).fold(0.0, f64::max);
    !state::is_steady(&looks, stolen)
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
        let mut working: Vec<usize> = (0..ways.len()).collect();
        // The first run of each fills caches and is not counted.
        for way in working.clone() {
            let (run, output) = self.one(processes, usize::MAX, way, &ways[way]);
            match run.failure {
                None => measured.outputs.push((processes, way, output)),
                Some(_) => {
                    ways[way].tidy();
                    working.retain(|other| *other != way);
                    measured.runs.push(run);
                }
            }
        }
        for block in 0..MOST {
            let mut order = working.clone();
            random.shuffle(&mut order);
            let block_began = Instant::now();
            let mut runs: Vec<Run> =
                order.iter().map(|way| self.one(processes, block, *way, &ways[*way]).0).collect();
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

    /// One run, with what it printed.
    fn one(&self, processes: u32, block: usize, at: usize, way: &Way) -> (Run, Vec<u8>) {
        let (asked, out) = (self.asked, self.scratch.join("out"));
        let before = self.probe.borrow_mut().look();
        let ticks = Ticks::now();
        let launch = way.launch(processes, asked);
        let began = Instant::now();
        let ended = run_once(&launch, asked, &out, self.interrupted);
        let seconds = began.elapsed().as_secs_f64();
        let stolen = ticks.and_then(|ticks| Some(Ticks::now()?.since(ticks).stolen_share())).unwrap_or(0.0);
        let states = [before, self.probe.borrow_mut().look()];
        let (output, failure) = match ended {
            Ok(output) => {
                let wrong = asked.check.as_deref().and_then(|check| refused_by(check, &out));
                (output, wrong)
            }
            Err(why) => (Vec::new(), Some(why)),
        };
        (Run { processes, block, way: at, seconds, states, stolen, is_disturbed: false, failure }, output)
    }
}

/// Runs a launch with its own standard input; its output, or why the run failed.
pub fn run_once(
    launch: &Launch,
    asked: &Asked,
    out: &Path,
    interrupted: &AtomicBool,
) -> Result<Vec<u8>, String> {
    let errors = out.with_extension("err");
    let mut launch = launch.clone();
    // The shell joins the files; the words of the program go on as they are.
    let words: Vec<_> =
        std::iter::once(launch.program.clone().into_os_string()).chain(launch.arguments).collect();
    launch.program = "/bin/sh".into();
    let input = asked.input.clone().unwrap_or_else(|| "/dev/null".into());
    let script = "out=$1 in=$2; shift 2; exec \"$@\" <\"$in\" >\"$out\"";
    launch.arguments = ["-c".into(), script.into(), "sh".into(), out.into(), input.into()]
        .into_iter()
        .chain(words)
        .collect();
    match launch.run_unless(&errors, interrupted).failure {
        None => fs::read(out).map_err(|why| format!("its output cannot be read: {why}")),
        Some(why) => Err(why),
    }
}

/// Asks the user's command whether an output is right.
fn refused_by(check: &str, output: &Path) -> Option<String> {
    let input = File::open(output).ok()?;
    let done = Command::new("/bin/sh")
        .args(["-c", check])
        .stdin(input)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .output();
    match done {
        Err(why) => Some(format!("--check cannot be run: {why}")),
        Ok(done) if done.status.success() => None,
        Ok(done) => {
            let words = String::from_utf8_lossy(&done.stderr);
            let last = words.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("no reason given");
            Some(format!("--check says that the output is wrong ({}): {last}", done.status))
        }
    }
}

impl Measured {
    /// Whether anything worked.
    pub fn has_any(&self) -> bool {
        self.runs.iter().any(|run| run.failure.is_none())
    }

    /// Why the first run that failed did.
    pub fn first_failure(&self) -> Option<String> {
        self.runs.iter().find_map(|run| run.failure.clone())
    }

    /// The failure of a system with this number of processes.
    pub fn failure(&self, processes: u32, way: usize) -> Option<&Run> {
        self.runs.iter().find(|run| run.processes == processes && run.way == way && run.failure.is_some())
    }

    /// Seconds by block of a system with this number of processes, in undisturbed blocks.
    fn seconds(&self, processes: u32, way: usize) -> Vec<(usize, f64)> {
        self.worked(processes, way)
            .filter(|run| !run.is_disturbed)
            .map(|run| (run.block, run.seconds))
            .collect()
    }

    fn worked(&self, processes: u32, way: usize) -> impl Iterator<Item = &Run> {
        let counts = move |run: &&Run| run.processes == processes && run.way == way && run.failure.is_none();
        self.runs.iter().filter(counts)
    }

    /// Seconds of a run: of undisturbed blocks, if there are any.
    pub fn time(&self, processes: u32, way: usize) -> Option<Estimate> {
        let calm: Vec<f64> = self.seconds(processes, way).into_iter().map(|one| one.1).collect();
        estimate(&calm)
            .or_else(|| estimate(&self.worked(processes, way).map(|run| run.seconds).collect::<Vec<_>>()))
    }

    /// How many times as long a system takes as another one: a ratio for each block that has both.
    pub fn ratios(&self, processes: u32, way: usize, other: usize) -> Vec<f64> {
        let others = self.seconds(processes, other);
        let of_block = |block: usize| others.iter().find(|one| one.0 == block).map(|one| one.1);
        self.seconds(processes, way)
            .into_iter()
            .filter_map(|(block, seconds)| Some(seconds / of_block(block)?))
            .collect()
    }

    /// What the ratios show.
    pub fn verdict(&self, processes: u32, way: usize, other: usize) -> paired::Verdict {
        paired::judge(&self.ratios(processes, way, other))
    }

    /// Whether every ratio to the first system is known to that many percent.
    fn is_narrow(&self, processes: u32, working: &[usize], percent: f64) -> bool {
        let Some((first, rest)) = working.split_first() else { return true };
        let width = |values: &[f64]| {
            estimate(values)
                .is_none_or(|one| one.count < FEWEST || (one.high - one.low) / one.median > percent / 100.0)
        };
        if rest.is_empty() {
            let all: Vec<f64> = self.seconds(processes, *first).into_iter().map(|one| one.1).collect();
            return !width(&all);
        }
        rest.iter().all(|way| !width(&self.ratios(processes, *way, *first)))
    }

    /// Systems whose output differs from that of the first system that worked, each with its first line that differs. Ranks print in any order,
    /// so lines are compared sorted.
    pub fn differing(&self, processes: u32) -> Vec<(usize, String)> {
        let mut of: Vec<(usize, Vec<&[u8]>)> = Vec::new();
        for (_, way, output) in self.outputs.iter().filter(|one| one.0 == processes) {
            let mut lines: Vec<&[u8]> = output.split(|byte| *byte == b'\n').collect();
            lines.sort_unstable();
            of.push((*way, lines));
        }
        let Some(((_, first), rest)) = of.split_first().map(|(first, rest)| ((first.0, &first.1), rest))
        else {
            return Vec::new();
        };
        let first_difference = |lines: &[&[u8]]| {
            let other = lines
                .iter()
                .find(|line| !first.contains(line))
                .or_else(|| first.iter().find(|line| !lines.contains(line)));
            other.map_or("a line is there more often".to_owned(), |line| {
                String::from_utf8_lossy(line).into_owned()
            })
        };
        rest.iter()
            .filter(|(_, lines)| lines != first)
            .map(|(way, lines)| (*way, first_difference(lines)))
            .collect()
    }

    /// A line of JSON for each run.
    pub fn lines(&self, names: &[Named]) -> String {
        let mut text = Vec::new();
        for run in &self.runs {
            let value = serde_json::json!({
                "system": names[run.way].name, "processes": run.processes, "block": run.block, "seconds": run.seconds,
                "before": run.states[0], "after": run.states[1],
                "stolen": run.stolen, "disturbed": run.is_disturbed, "failure": run.failure,
            });
            let _ = writeln!(text, "{value}");
        }
        String::from_utf8(text).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(block: usize, way: usize, seconds: f64) -> Run {
        Run {
            processes: 2,
            block,
            way,
            seconds,
            states: Default::default(),
            stolen: 0.0,
            is_disturbed: false,
            failure: None,
        }
    }

    /// The host is three times as slow in the last four blocks; the second system always takes a tenth more.
    fn measured() -> Measured {
        let slow = |block: usize| if block < 4 { 1.0 } else { 3.0 };
        let runs =
            (0..8).flat_map(|block| [run(block, 0, slow(block)), run(block, 1, 1.1 * slow(block))]).collect();
        Measured { runs, ..Measured::default() }
    }

    #[test]
    fn ratios_ignore_state_of_host() {
        let measured = measured();
        assert!(measured.ratios(2, 1, 0).iter().all(|ratio| (ratio - 1.1).abs() < 1e-9));
        assert_eq!(measured.verdict(2, 1, 0), paired::Verdict::Slower);
        assert!(measured.is_narrow(2, &[0, 1], 3.0));
    }

    #[test]
    fn disturbed_runs_are_shown_but_not_compared() {
        let mut measured = measured();
        measured.runs.iter_mut().for_each(|run| run.is_disturbed = true);
        assert!(measured.has_any() && measured.time(2, 1).is_some());
        assert_eq!(measured.verdict(2, 1, 0), paired::Verdict::TooFew);
        measured.runs[0].is_disturbed = false;
        assert_eq!(measured.time(2, 0).map(|one| one.count), Some(1), "one calm run counts alone");
    }

    #[test]
    fn outputs_agree_in_any_order_of_lines() {
        let mut measured = measured();
        measured.outputs = vec![(2, 0, b"a\nb\n".to_vec()), (2, 1, b"b\na\n".to_vec())];
        assert!(measured.differing(2).is_empty());
        measured.outputs[1].2 = b"b\nc\n".to_vec();
        assert_eq!(measured.differing(2), [(1, "c".to_owned())]);
    }
}
