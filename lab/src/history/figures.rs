//! One series for each figure, kept apart by suite, extent and machine.

use super::change::{self, Change};
use super::commits::{Commits, short};
use super::store::Run;
use crate::against::{finished::Manifest, is_rate, key, name};
use crate::stats::summary::Row;
use crate::suites;
use std::collections::HashMap;
use std::path::PathBuf;

/// Runs that can be compared: of one suite and extent, on one machine.
#[derive(Debug)]
pub struct Group {
    /// The suite.
    pub suite: String,
    /// quick or full.
    pub extent: String,
    /// The machine, in short.
    pub machine: String,
    /// Its runs, in the order of commits or dates.
    pub runs: Vec<Measured>,
    /// Its figures. Figures that became worse come first.
    pub figures: Vec<Figure>,
}

/// A run, without its rows.
#[derive(Debug)]
pub struct Measured {
    /// Its folder.
    pub folder: PathBuf,
    /// When it began.
    pub date: String,
    /// The commit that it measured.
    pub commit: Option<String>,
    /// The first line of the commit's message, if the repository is at hand.
    pub subject: Option<String>,
}

impl Measured {
    /// The commit in short; the date if the commit is unknown.
    pub fn label(&self) -> String {
        self.commit.as_deref().map_or_else(|| self.date.clone(), short)
    }
}

/// A figure through all runs.
#[derive(Debug)]
pub struct Figure {
    /// System, program, size, tasks and metric.
    pub name: String,
    /// In which unit.
    pub unit: String,
    /// Whether more is better.
    pub is_rate: bool,
    /// Whether a change of Parvum cannot change it: a peer's figure, or one of the machine itself.
    pub is_reference: bool,
    /// Its values.
    pub points: Vec<Point>,
    /// Its changes, with places in `points`.
    pub changes: Vec<Change>,
    /// For each change, whether it is small enough among all figures not to be chance.
    pub certain: Vec<bool>,
    /// For each change, whether figures of other systems changed in the same run.
    pub shared: Vec<bool>,
}

/// The value of a figure in a run.
#[derive(Debug, Clone, Copy)]
pub struct Point {
    /// The run's place in its group.
    pub run: usize,
    /// The median of launches, and its 95 % interval.
    pub value: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Figure {
    /// By how many percent the values of a change grew or fell. `None` if the ratio has no meaning.
    pub fn percent(&self, change: &Change) -> Option<f64> {
        let percent = 100.0 * (change.after / change.before - 1.0);
        (change.before > 0.0 && percent.is_finite()).then_some(percent)
    }

    /// Whether the values after a change are worse.
    pub fn is_worse(&self, change: &Change) -> bool {
        (change.after < change.before) == self.is_rate
    }

    /// First those whose last change is for the worse, then for the better, each the largest first; then those without a change.
    fn rank(&self) -> (u8, f64) {
        let Some(last) = self.changes.last() else { return (2, 0.0) };
        let size = (last.after / last.before).ln().abs();
        (u8::from(!self.is_worse(last)), -if size.is_finite() { size } else { f64::MAX })
    }
}

/// Sorts runs into groups, and finds the changes of each figure.
pub fn groups(runs: Vec<Run>, known: &Commits) -> Vec<Group> {
    let mut groups: Vec<(String, Vec<Run>)> = Vec::new();
    for run in runs {
        let of = [&run.manifest.suite, &run.manifest.extent, &machine(&run.manifest)]
            .map(String::as_str)
            .join("|");
        match groups.iter_mut().find(|(name, _)| *name == of) {
            Some((_, runs)) => runs.push(run),
            None => groups.push((of, vec![run])),
        }
    }
    // Each suite with its longest series first.
    groups.sort_by_key(|(_, runs)| (runs[0].manifest.suite.clone(), std::cmp::Reverse(runs.len())));
    groups.into_iter().map(|(_, runs)| group(&runs, known)).collect()
}

/// Processor, cores and kernel, and the hosts if there are several.
pub fn machine(manifest: &Manifest) -> String {
    let mut processor = manifest.factor("processor");
    for noise in ["(R)", "(TM)", "(tm)", " CPU", " Processor"] {
        processor = processor.replace(noise, "");
    }
    let processor = processor.split_whitespace().collect::<Vec<_>>().join(" ");
    let hosts = match manifest.hosts.len() {
        0 => String::new(),
        _ => format!("hosts {}", manifest.hosts.join(" ")),
    };
    let parts =
        [processor, manifest.factor("cores"), manifest.factor("kernel"), hosts, manifest.factor("network")];
    let known: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    if known.is_empty() { "machine not recorded".to_owned() } else { known.join(", ") }
}

fn group(runs: &[Run], known: &Commits) -> Group {
    let (mut places, mut figures): (HashMap<String, usize>, Vec<Figure>) = (HashMap::new(), Vec::new());
    for (run, row) in runs.iter().enumerate().flat_map(|(run, of)| of.rows.iter().map(move |row| (run, row)))
    {
        let place = *places.entry(key(row)).or_insert_with(|| {
            figures.push(figure(row));
            figures.len() - 1
        });
        figures[place].points.push(Point { run, value: row.median, low: row.low, high: row.high });
    }
    find_changes(&mut figures);
    mark_certain(&mut figures);
    mark_shared(&mut figures);
    figures.sort_by(|a, b| {
        let ((first, second), (other, than)) = (a.rank(), b.rank());
        first.cmp(&other).then(second.total_cmp(&than)).then_with(|| a.name.cmp(&b.name))
    });
    let measured = |run: &Run| Measured {
        folder: run.folder.clone(),
        date: run.manifest.factor("date"),
        subject: run
            .commit
            .as_deref()
            .and_then(|commit| known.find(commit))
            .map(|known| known.subject.clone()),
        commit: run.commit.clone(),
    };
    let manifest = &runs[0].manifest;
    Group {
        suite: manifest.suite.clone(),
        extent: manifest.extent.clone(),
        machine: machine(manifest),
        runs: runs.iter().map(measured).collect(),
        figures,
    }
}

fn figure(row: &Row) -> Figure {
    let ours = suites::ALL.iter().flat_map(|suite| suite.families).filter(|family| family.is_ours());
    let is_ours = row.program == "layers" || ours.into_iter().any(|family| family.name() == row.system);
    Figure {
        name: name(row),
        unit: row.unit.clone(),
        is_rate: is_rate(&row.unit),
        is_reference: !is_ours,
        points: Vec::new(),
        changes: Vec::new(),
        certain: Vec::new(),
        shared: Vec::new(),
    }
}

/// The same series has the same changes each time.
const SEED: u64 = 1;

/// The tests of hundreds of series take seconds, so each core takes a part.
fn find_changes(figures: &mut [Figure]) {
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    let part = figures.len().div_ceil(cores).max(1);
    std::thread::scope(|scope| {
        for figures in figures.chunks_mut(part) {
            scope.spawn(|| {
                for figure in figures {
                    let values: Vec<f64> = figure.points.iter().map(|point| point.value).collect();
                    figure.changes = change::changes(&values, SEED);
                }
            });
        }
    });
}

/// Hundreds of figures have changes by chance: of those marked as certain, one in twenty is expected to be chance (Benjamini and Hochberg).
fn mark_certain(figures: &mut [Figure]) {
    let mut all: Vec<f64> =
        figures.iter().map(|figure| figure.changes.iter().fold(1.0, |p, one| one.p.min(p))).collect();
    all.sort_by(f64::total_cmp);
    let count = all.len() as f64;
    let passed = all.iter().zip(1..).filter(|(p, rank)| **p <= change::LEVEL * f64::from(*rank) / count);
    // The bound is negative if every p is too large.
    let bound = passed.last().map_or(-1.0, |(_, rank)| change::LEVEL * f64::from(rank) / count);
    for figure in figures {
        figure.certain = figure.changes.iter().map(|change| change.p <= bound).collect();
    }
}

/// Fewer figures of other systems cannot show that the machine changed.
const REFERENCES: usize = 4;

/// Marks changes in whose run a third of the references changed too, within one run.
fn mark_shared(figures: &mut [Figure]) {
    let references: Vec<Vec<usize>> =
        figures.iter().filter(|figure| figure.is_reference).map(Figure::changed_runs).collect();
    for figure in figures {
        let of_run = |run: &usize| {
            let with =
                references.iter().filter(|runs| runs.iter().any(|other| other.abs_diff(*run) <= 1)).count();
            references.len() >= REFERENCES && 3 * with >= references.len()
        };
        figure.shared = figure.changed_runs().iter().map(of_run).collect();
    }
}

impl Figure {
    /// The first run after each change.
    fn changed_runs(&self) -> Vec<usize> {
        self.changes.iter().map(|change| self.points[change.at].run).collect()
    }
}
