//! Two runs of one suite side by side: what changed between them beyond noise.
//!
//! Each value that both have is compared by the rank test over launches. As there are hundreds, some would differ by chance: changes
//! are named so that one in twenty of those named is expected to be none (Benjamini and Hochberg). And launches of one run share the machine's mood,
//! which the test cannot see: what did not change between two runs on one machine (floors, and peers of the same version) shows by how much
//! everything moves, and less than that is not named.

pub mod finished;
mod page;
mod words;

use crate::error::LabError;
use crate::stats::statistics::{quantile, rank_test, sorted};
use crate::stats::summary::Row;
use crate::suites;
use finished::Finished;
use std::collections::HashMap;
use std::path::Path;
pub(crate) use words::name;

/// One in so many of the changes that are named may be none.
const FALSE: f64 = 0.05;
/// With three against three, even complete separation has p = 0.1.
const FEWEST: usize = 4;
/// Values of what did not change, below which they say nothing of the rest.
const REFERENCES: usize = 20;

/// Of logarithms; a ratio that is the same comes out the same within this.
const ROUNDING: f64 = 1e-9;

/// What two runs show beside each other.
#[derive(Debug)]
pub struct Against {
    /// The earlier.
    pub old: Finished,
    /// The later.
    pub new: Finished,
    /// How the two machines and what is on them differ.
    pub differences: Vec<String>,
    /// Whether they are one machine, as far as it shows.
    pub same_machine: bool,
    /// Values that changed, the largest change first.
    pub changes: Vec<Change>,
    /// Values that both have and that could be tested.
    pub tested: usize,
    /// Values that both have, of which one has too few launches.
    pub untested: usize,
    /// Values that the earlier alone has, and those that the later alone has.
    pub alone: [usize; 2],
    /// By which factor what did not change moved, and how many values say so.
    pub drift: Option<(f64, usize)>,
}

/// A value that changed.
#[derive(Debug)]
pub struct Change {
    /// As it was.
    pub old: Row,
    /// As it is.
    pub new: Row,
    /// By which factor it became better; below one, worse.
    pub better: f64,
    /// The least and the most that both intervals allow.
    pub interval: [f64; 2],
}

impl Change {
    /// By which factor it changed, the better or the worse way, and the least and the most that both intervals allow.
    fn size(&self) -> (f64, [f64; 2]) {
        let [low, high] = self.interval;
        if self.better > 1.0 {
            (self.better, [low, high])
        } else {
            (1.0 / self.better, [1.0 / high, 1.0 / low])
        }
    }
}

/// Reads two folders and compares them.
pub fn folders(old: &Path, new: &Path) -> Result<Against, LabError> {
    let manifests = [finished::manifest(old)?, finished::manifest(new)?];
    same_suite(old, &manifests[0].suite, &manifests[1].suite)?;
    Ok(runs(finished::read(old)?, finished::read(new)?))
}

/// Refuses, before anything is run, a folder that the suite's run could not be compared with.
pub fn can_be_held_against(old: &Path, suite: &str) -> Result<(), LabError> {
    suites::find(suite)?;
    same_suite(old, &finished::manifest(old)?.suite, suite)?;
    finished::read(old).map(drop)
}

fn same_suite(folder: &Path, old: &str, new: &str) -> Result<(), LabError> {
    if old == new {
        return Ok(());
    }
    Err(LabError::OtherSuite { folder: folder.to_owned(), theirs: old.to_owned(), ours: new.to_owned() })
}

/// Compares two runs.
pub fn runs(old: Finished, new: Finished) -> Against {
    let (differences, same_machine) = words::differences(&old.manifest, &new.manifest);
    let with_launches = |row: &&Row| !row.launches.is_empty();
    let known: HashMap<String, &Row> =
        old.rows.iter().filter(with_launches).map(|row| (key(row), row)).collect();
    let later: Vec<&Row> = new.rows.iter().filter(with_launches).collect();
    let pairs: Vec<(&Row, &Row)> =
        later.iter().filter_map(|row| Some((*known.get(&key(row))?, *row))).collect();
    let alone = [known.len() - pairs.len(), later.len() - pairs.len()];
    let both = pairs.len();
    let testable = |pair: &&(&Row, &Row)| pair.0.samples >= FEWEST && pair.1.samples >= FEWEST;
    let tested: Vec<(&Row, &Row, f64)> = pairs
        .iter()
        .filter(testable)
        .map(|(old, new)| (*old, *new, rank_test(&old.launches, &new.launches)))
        .collect();
    let unchanged = |row: &Row| same_machine && is_reference(row, &old, &new);
    let drift = drift(tested.iter().filter(|pair| unchanged(pair.0)).map(|(old, new, _)| ratio(old, new)));
    let bound = bound(tested.iter().map(|pair| pair.2).collect());
    let mut changes: Vec<Change> = tested
        .iter()
        .filter(|(_, _, p)| *p <= bound)
        .map(|(old, new, _)| change(old, new))
        .filter(|change| change.better.is_finite() && change.better > 0.0 && change.better != 1.0)
        .filter(|change| drift.is_none_or(|(drift, _)| change.better.ln().abs() > drift.ln() + ROUNDING))
        .collect();
    changes.sort_by(|a, b| b.better.ln().abs().total_cmp(&a.better.ln().abs()));
    let (tested, untested) = (tested.len(), both - tested.len());
    Against { old, new, differences, same_machine, changes, tested, untested, alone, drift }
}

/// What two rows of one thing have in common.
pub(crate) fn key(row: &Row) -> String {
    format!(
        "{}|{}|{}|{}|{}|{}|{}|{:?}|{}",
        row.program, row.system, row.route, row.encoding, row.tasks, row.size, row.metric, row.task, row.unit
    )
}

/// The largest p at which a change is named.
fn bound(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let count = values.len() as f64;
    let named = values.iter().zip(1..).filter(|(p, rank)| **p <= FALSE * f64::from(*rank) / count);
    // Where none is, no p is small enough.
    named.map(|(p, _)| *p).last().unwrap_or(-1.0)
}

fn ratio(old: &Row, new: &Row) -> f64 {
    if is_rate(&old.unit) { new.median / old.median } else { old.median / new.median }
}

/// Whether more is better.
pub(crate) fn is_rate(unit: &str) -> bool {
    unit.ends_with("/s")
}

fn change(old: &Row, new: &Row) -> Change {
    let interval = if is_rate(&old.unit) {
        [new.low / old.high, new.high / old.low]
    } else {
        [old.low / new.high, old.high / new.low]
    };
    Change { better: ratio(old, new), interval, old: old.clone(), new: new.clone() }
}

/// By which factor nineteen of twenty such ratios moved at most, either way.
fn drift(ratios: impl Iterator<Item = f64>) -> Option<(f64, usize)> {
    let moved: Vec<f64> = ratios.map(|ratio| ratio.ln().abs()).filter(|moved| moved.is_finite()).collect();
    if moved.len() < REFERENCES {
        return None;
    }
    quantile(&sorted(&moved), 0.95).map(|moved_by| (moved_by.exp(), moved.len()))
}

/// Whether what a row measured is the same in both runs: a floor of the machine, or a peer's unchanged version.
fn is_reference(row: &Row, old: &Finished, new: &Finished) -> bool {
    let ours = suites::ALL.iter().flat_map(|suite| suite.families).filter(|family| family.is_ours());
    if row.program == "layers" || ours.into_iter().any(|family| family.name() == row.system) {
        return false;
    }
    let version = |run: &Finished| {
        run.manifest.systems.iter().find(|system| system.name == row.system).map(|one| one.version.clone())
    };
    version(old) == version(new)
}

#[cfg(test)]
mod tests;
