//! Which guidelines a system keeps.

use crate::report::markup::bytes;
use crate::stats::paired::{Verdict, judge};
use crate::stats::summary::{Row, Rows};
use crate::systems::system::System;

/// A collective that is slower by less than this is not worth replacing.
const TOLERANCE: f64 = 1.05;

/// The verdict of the launches on a guideline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The collective is not slower, as far as this run can show.
    Kept,
    /// The collective is slower by more than the tolerance, in nearly every launch.
    Broken,
    /// Too few launches to tell.
    TooFew,
}

/// One guideline of one system, for one size and number of processes.
#[derive(Debug, Clone, Copy)]
pub struct Judged<'a> {
    /// `allreduce <= reduce + bcast`.
    pub guideline: &'a str,
    /// The ratios: of each launch the median of its pairs.
    pub row: &'a Row,
    /// What they show.
    pub outcome: Outcome,
}

impl Judged<'_> {
    /// Its size and number of processes, such as `4 KiB of 2`.
    pub fn where_measured(&self) -> String {
        match self.row.size {
            0 => format!("{} processes", self.row.tasks),
            size => format!("{} of {}", bytes(size as f64), self.row.tasks),
        }
    }
}

/// Whether ratios of a collective to its mock-up show a breach. The test is the one for pairs, of the ratios beyond the tolerance: so equal
/// ones pass for a breach in far fewer than one of a hundred.
pub fn outcome(ratios: &[f64]) -> Outcome {
    let beyond: Vec<f64> = ratios.iter().map(|ratio| ratio / TOLERANCE).collect();
    match judge(&beyond) {
        Verdict::Slower => Outcome::Broken,
        Verdict::TooFew => Outcome::TooFew,
        Verdict::Faster | Verdict::Same => Outcome::Kept,
    }
}

/// All guidelines of a system, in the order of their names, sizes and numbers of processes.
pub fn all_of<'a>(rows: &'a [Row], system: &System) -> Vec<Judged<'a>> {
    let of = |row: &'a Row| {
        let guideline = row.metric.strip_suffix(", ratio")?;
        Some(Judged { guideline, row, outcome: outcome(&row.launches) })
    };
    let mut all: Vec<Judged<'a>> = Rows(rows).of("guidelines", system).filter_map(of).collect();
    all.sort_by_key(|one| (one.guideline, one.row.tasks, one.row.size));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guideline_is_broken_only_if_launches_agree() {
        assert_eq!(outcome(&[1.3, 1.2, 1.25, 1.4, 1.31, 1.2, 1.22, 1.3]), Outcome::Broken);
        assert_eq!(outcome(&[1.04; 8]), Outcome::Kept, "within the tolerance");
        assert_eq!(outcome(&[1.3, 0.9, 1.25, 0.8, 1.31, 0.7, 1.22, 0.9]), Outcome::Kept, "noise");
        assert_eq!(outcome(&[0.5; 8]), Outcome::Kept);
        assert_eq!(outcome(&[2.0, 2.0]), Outcome::TooFew);
    }
}
