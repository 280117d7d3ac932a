//! Whether a run may rank systems at all.

use crate::report::headline::{Answer, Question, answers};
use crate::run::disturbed::Comparable;
use crate::run::record::Manifest;
use crate::stats::paired::{FEWEST, compare_rows};
use crate::stats::statistics::Verdict;
use crate::stats::summary::{Row, Rows};
use crate::suites::counts;
use crate::systems::system::System;

/// Why nobody should rank systems by a run, in a sentence for each reason; empty if the run may be used.
pub fn doubts(
    questions: &[Question],
    systems: &[System],
    rows: &Rows<'_>,
    manifest: &Manifest,
) -> Vec<String> {
    let mut doubts = Vec::new();
    // Counts do not move with the load.
    if manifest.suite != counts::SUITE.name {
        doubts.extend(Comparable::count(&manifest.launches).doubt());
    }
    let compared: Vec<Vec<Answer<'_>>> = questions
        .iter()
        .map(|question| answers(rows, systems, question))
        .filter(|all| all.len() > 1)
        .collect();
    let has_few = |all: &&Vec<Answer<'_>>| all[1..].iter().all(|answer| has_few_runs(all[0].row, answer.row));
    let few = compared.iter().filter(has_few).count();
    if 2 * few > compared.len() {
        doubts
            .push(format!("{few} of {} comparisons have fewer than {FEWEST} pairs of runs.", compared.len()));
    }
    doubts
}

fn has_few_runs(first: &Row, second: &Row) -> bool {
    compare_rows(first, second) == Verdict::TooFew
}

/// The banner over such a run, for a page and for a terminal.
pub fn banner(doubts: &[String], suite: &str) -> String {
    format!(
        "Do not rank systems by this run. {} Run it again when the machine is idle: parvum compare --suite {suite} --full",
        doubts.join(" ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::state::State;
    use crate::report::tests::{launch, manifest};
    use crate::run::record::LaunchRecord;
    use crate::stats::summary::tests::row;
    use crate::systems::system::{Encoding, Family};

    const QUESTIONS: [Question; 1] = [Question::small("8 bytes", "ring", "half round trip", 8)];
    const BOTH: [System; 2] =
        [System::new(Family::Mpi, "shm", Encoding::None), System::new(Family::Mpich, "", Encoding::None)];

    /// The doubts about ten blocks.
    fn of(runs: usize, disturbed: usize) -> Vec<String> {
        let values = vec![1.0; runs];
        let rows = BOTH.map(|system| Row {
            blocks: (0..runs).collect(),
            ..row(&system, "ring", "half round trip", 8, &values)
        });
        let mut manifest = manifest();
        let state = |at: usize| State { others: Some(u32::from(at / 2 < disturbed)), ..State::default() };
        manifest.launches =
            (0..20).map(|at| LaunchRecord { block: at / 2, before: state(at), ..launch(at, 60.0) }).collect();
        doubts(&QUESTIONS, &BOTH, &Rows(&rows), &manifest)
    }

    #[test]
    fn quiet_run_with_enough_launches_is_trusted() {
        assert_eq!(of(FEWEST, 2), Vec::<String>::new());
    }

    #[test]
    fn disturbed_run_is_not_trusted() {
        assert_eq!(
            of(FEWEST, 6),
            ["The machine changed its speed or was used by others in 12 of 20 runs of programs."]
        );
    }

    #[test]
    fn run_with_few_launches_is_not_trusted() {
        let few = of(FEWEST - 1, 0);
        assert_eq!(few, [format!("1 of 1 comparisons have fewer than {FEWEST} pairs of runs.")]);
        assert!(banner(&few, "mpi").ends_with("parvum compare --suite mpi --full"));
    }
}
