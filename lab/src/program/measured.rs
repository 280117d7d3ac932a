//! All runs, and what they show together.

use super::outputs::{self, Compared, Output, Printed};
use super::systems::Named;
use crate::host::state::State;
use crate::stats::paired;
use crate::stats::statistics::{Estimate, estimate};
use serde::Serialize;
use std::io::Write;

/// Fewer blocks leave wide intervals.
pub const FEWEST: usize = 8;

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
    /// For each number of processes and system: the outputs of the first two runs that worked.
    pub printed: Vec<Printed>,
    /// Blocks that were left out because the machine changed its state within them.
    pub disturbed: usize,
    /// Numbers of processes that no time was left for.
    pub left_out: Vec<u32>,
    /// Systems, with their numbers of processes, that no time was left for.
    pub not_run: Vec<(u32, usize)>,
    /// Processes that a system left behind, and with how many processes of the program.
    pub left_behind: Vec<(u32, usize, String)>,
}

impl Measured {
    /// Whether anything worked.
    pub fn has_any(&self) -> bool {
        self.runs.iter().any(|run| run.failure.is_none())
    }

    /// The failure of a system with this number of processes.
    pub fn failure(&self, processes: u32, way: usize) -> Option<&Run> {
        self.runs.iter().find(|run| run.processes == processes && run.way == way && run.failure.is_some())
    }

    /// How many runs with this number of processes worked under a system.
    pub fn worked_count(&self, processes: u32, way: usize) -> usize {
        self.worked(processes, way).count()
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
    pub fn is_narrow(&self, processes: u32, working: &[usize], percent: f64) -> bool {
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

    /// The comparison of the outputs with this number of processes.
    pub fn outputs(&self, processes: u32) -> Compared {
        outputs::compare(self.printed.iter().filter(|one| one.processes == processes))
    }

    /// Whether more outputs of a system are wanted.
    pub fn wants_output(&self, processes: u32, way: usize) -> bool {
        let known = self.printed.iter().find(|one| one.processes == processes && one.way == way);
        known.is_none_or(|printed| printed.outputs.len() < outputs::RUNS)
    }

    /// Keeps an output.
    pub fn keep(&mut self, processes: u32, way: usize, output: Output) {
        let known = self.printed.iter_mut().find(|one| one.processes == processes && one.way == way);
        match known {
            Some(printed) => printed.outputs.push(output),
            None => self.printed.push(Printed { processes, way, outputs: vec![output] }),
        }
    }

    /// Notes processes that a system left behind, once for each number of processes.
    pub fn note_left(&mut self, processes: u32, way: usize, names: String) {
        if !self.left_behind.iter().any(|one| (one.0, one.1) == (processes, way)) {
            self.left_behind.push((processes, way, names));
        }
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
    fn few_outputs_of_a_system_are_wanted() {
        let mut measured = measured();
        (1..outputs::RUNS).for_each(|_| measured.keep(2, 1, Output::default()));
        assert!(measured.wants_output(2, 1) && measured.wants_output(2, 0));
        measured.keep(2, 1, Output::default());
        assert!(!measured.wants_output(2, 1) && measured.wants_output(4, 1));
    }
}
