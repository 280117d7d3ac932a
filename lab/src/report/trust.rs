//! Whether a run may rank systems at all.

use crate::host::state;
use crate::report::headline::{Answer, Question, answers};
use crate::run::record::Manifest;
use crate::stats::summary::Rows;
use crate::systems::system::System;

/// A rank test says nothing with fewer launches.
const FEWEST_LAUNCHES: usize = 4;
/// A larger share of launches in the host's slow state bends medians.
const MOST_DISTURBED: f64 = 0.2;

/// Why nobody should rank systems by a run, in a sentence for each reason; empty if the run may be used.
pub fn doubts(
    questions: &[Question],
    systems: &[System],
    rows: &Rows<'_>,
    manifest: &Manifest,
) -> Vec<String> {
    let mut doubts = Vec::new();
    let launches = manifest.launches.len();
    let slow = state::slow(&manifest.launches).len();
    if launches > 0 && slow as f64 > MOST_DISTURBED * launches as f64 {
        doubts.push(format!("The host was slow in {slow} of {launches} runs of programs."));
    }
    if let Some(load) = manifest.factors.busy() {
        doubts.push(load);
    }
    let compared: Vec<Vec<Answer<'_>>> = questions
        .iter()
        .map(|question| answers(rows, systems, question))
        .filter(|all| all.len() > 1)
        .collect();
    let has_few =
        |all: &&Vec<Answer<'_>>| all.iter().any(|answer| answer.row.launches.len() < FEWEST_LAUNCHES);
    let few = compared.iter().filter(has_few).count();
    if 2 * few > compared.len() {
        doubts
            .push(format!("{few} of {} comparisons have fewer than {FEWEST_LAUNCHES} runs.", compared.len()));
    }
    doubts
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
    use crate::report::tests::{launch, manifest};
    use crate::stats::summary::tests::row;
    use crate::systems::system::{Encoding, Family};

    const QUESTIONS: [Question; 1] = [Question::small("8 bytes", "ring", "half round trip", 8)];
    const BOTH: [System; 2] =
        [System::new(Family::Mpi, "shm", Encoding::None), System::new(Family::Mpich, "", Encoding::None)];

    fn of(runs: usize, slow: usize) -> Vec<String> {
        let values = vec![1.0; runs];
        let rows = BOTH.map(|system| row(&system, "ring", "half round trip", 8, &values));
        let mut manifest = manifest();
        manifest.factors.others = Some(0.0);
        let lines = (0..10).map(|at| launch(at, if at < slow { 130.0 } else { 60.0 }));
        manifest.launches = lines.collect();
        doubts(&QUESTIONS, &BOTH, &Rows(&rows), &manifest)
    }

    #[test]
    fn quiet_run_with_enough_launches_is_trusted() {
        assert_eq!(of(4, 2), Vec::<String>::new());
    }

    #[test]
    fn disturbed_run_is_not_trusted() {
        assert_eq!(of(6, 3), ["The host was slow in 3 of 10 runs of programs."]);
    }

    #[test]
    fn run_with_few_launches_is_not_trusted() {
        assert_eq!(of(3, 0), ["1 of 1 comparisons have fewer than 4 runs."]);
        assert!(banner(&of(3, 0), "mpi").ends_with("parvum compare --suite mpi --full"));
    }
}
