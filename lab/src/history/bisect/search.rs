//! The search for the commit that changed a figure: which commit is next, and on which side of the change it is. It knows neither Git nor a
//! clock, so tests simulate it.

use crate::error::LabError;
use crate::stats::paired::{self, Verdict};
use crate::stats::statistics::median;
use std::collections::HashMap;

/// Blocks of GOOD and BAD, all judged at once.
const ENDS: usize = 16;
/// Blocks of one commit, at most. The test looks after each block.
const MOST: usize = 16;

/// Why a commit has no value.
#[derive(Debug)]
pub enum Failure {
    /// The commit does not build or lacks the figure. The search goes on with another commit.
    Skip(String),
    /// The search ends.
    Stop(LabError),
}

/// Builds and measures commits, which are numbered from GOOD (0) to BAD.
pub trait Bench {
    /// Builds a commit.
    fn build(&mut self, commit: usize) -> Result<(), Failure>;
    /// Measures commits that were built, one right after the other, in any order; a value for each.
    fn block(&mut self, commits: &[usize]) -> Result<Vec<f64>, Failure>;
    /// A line about what goes on.
    fn say(&mut self, text: &str);
}

/// What was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The commits among which the change is; all but the last could not be measured. Usually one.
    pub suspects: Vec<usize>,
    /// The figure just before these commits, and at the last of them. Both follow from ratios to GOOD within blocks, because the host may have
    /// changed its state between two commits.
    pub values: [f64; 2],
    /// By which factor BAD differs from GOOD.
    pub factor: f64,
    /// Commits that could not be measured, and why.
    pub skipped: Vec<(usize, String)>,
    /// Commits that lie between GOOD and BAD as far as the test can tell; the larger half of their blocks decided.
    pub unclear: Vec<usize>,
}

/// Searches between GOOD, 0, and BAD, `last`. `None` if GOOD and BAD are the same within noise.
pub fn search(bench: &mut impl Bench, last: usize) -> Result<Option<Found>, Failure> {
    bench.build(0)?;
    bench.build(last)?;
    let (mut ratios, mut values) = (Vec::new(), Vec::new());
    for _ in 0..ENDS {
        let [good, bad] = bench.block(&[0, last])?[..] else { return Err(short()) };
        ratios.push(bad / good);
        values.push(good);
    }
    let grows = match paired::judge(&ratios) {
        Verdict::Slower => true,
        Verdict::Faster => false,
        Verdict::Same | Verdict::TooFew => return Ok(None),
    };
    let factor = median(&ratios).unwrap_or(1.0);
    let good = median(&values).unwrap_or(0.0);
    let mut search = Search { grows, last, unclear: Vec::new(), factors: [(0, 1.0), (last, factor)].into() };
    let (mut low, mut high) = (0, last);
    let mut skipped: Vec<(usize, String)> = Vec::new();
    while let Some(commit) = next(low, high, &skipped) {
        bench.say(&format!("{} commits left", high - low));
        let side = bench.build(commit).and_then(|()| search.is_bad(bench, commit));
        match side {
            Ok(true) => high = commit,
            Ok(false) => low = commit,
            Err(Failure::Skip(why)) => skipped.push((commit, why)),
            Err(stop) => return Err(stop),
        }
    }
    Ok(Some(Found {
        suspects: (low + 1..=high).collect(),
        values: [low, high].map(|commit| good * search.factors.get(&commit).copied().unwrap_or(1.0)),
        factor,
        skipped,
        unclear: search.unclear,
    }))
}

/// The commit nearest to the middle of those between `low` and `high` that were not skipped.
fn next(low: usize, high: usize, skipped: &[(usize, String)]) -> Option<usize> {
    let middle = low.midpoint(high);
    let open = (low + 1..high).filter(|commit| skipped.iter().all(|one| one.0 != *commit));
    open.min_by_key(|commit| commit.abs_diff(middle))
}

fn short() -> Failure {
    Failure::Skip("a block has too few values".to_owned())
}

/// The search, beside its bounds.
struct Search {
    /// Whether the figure is larger at BAD than at GOOD.
    grows: bool,
    last: usize,
    unclear: Vec<usize>,
    /// By which factor each commit differs from GOOD.
    factors: HashMap<usize, f64>,
}

impl Search {
    /// Whether a commit is on BAD's side of the middle between GOOD and BAD. All three are measured within each block, so that the state of
    /// the host does not matter; the middle makes both kinds of error as rare.
    fn is_bad(&mut self, bench: &mut impl Bench, commit: usize) -> Result<bool, Failure> {
        let (mut ratios, mut factors) = (Vec::new(), Vec::new());
        let mut clear = None;
        for _ in 0..MOST {
            let [good, own, bad] = bench.block(&[0, commit, self.last])?[..] else { return Err(short()) };
            ratios.push(own / (good * bad).sqrt());
            factors.push(own / good);
            clear = match paired::judge(&ratios) {
                Verdict::Slower => Some(true),
                Verdict::Faster => Some(false),
                Verdict::Same | Verdict::TooFew => continue,
            };
            break;
        }
        self.factors.insert(commit, median(&factors).unwrap_or(1.0));
        if clear.is_none() {
            self.unclear.push(commit);
        }
        let above = clear.unwrap_or_else(|| median(&ratios).unwrap_or(1.0) > 1.0);
        Ok(above == self.grows)
    }
}

#[cfg(test)]
mod tests;
