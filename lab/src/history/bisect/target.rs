//! The figure of a search, found by name in finished runs.

use crate::against::{key, name};
use crate::catalogue::Rerun;
use crate::error::LabError;
use crate::history::bisect::builds;
use crate::history::commits::Commits;
use crate::history::{ALL, store};
use crate::stats::summary::Row;
use crate::suites::{self, Suite};
use crate::systems::system::{Extent, Family, System};
use std::path::Path;

/// A figure, and what measures it.
#[derive(Debug)]
pub struct Target {
    /// Its name.
    pub name: String,
    /// The suite.
    pub suite: &'static Suite,
    /// Whether only the full run has it.
    pub extent: Extent,
    /// The system.
    pub system: System,
    /// A row of it.
    row: Row,
}

/// Names that are shown if several fit, or none.
const SHOWN: usize = 6;

fn refused(why: String) -> LabError {
    LabError::Bisect(why)
}

impl Target {
    /// The figure with this name, or whose name has all these words, in the runs below a folder.
    pub fn find(asked: &str, suite: &str, folder: &Path) -> Result<Target, LabError> {
        let suite = if suite == ALL { None } else { Some(suites::find(suite)?.name) };
        let store = store::read(folder, suite, &Commits::default())?;
        // Figures of the quick run first: they take less time. Hosts cannot be searched on.
        let mut known: Vec<(String, &'static Suite, Extent, &Row)> = Vec::new();
        for wanted in ["quick", "full"] {
            for run in store
                .runs
                .iter()
                .rev()
                .filter(|run| run.manifest.extent == wanted && run.manifest.hosts.is_empty())
            {
                let suite = suites::find(&run.manifest.suite)?;
                let extent = if wanted == "full" { Extent::Full } else { Extent::Quick };
                for row in &run.rows {
                    if !known.iter().any(|one| one.1.name == suite.name && key(one.3) == key(row)) {
                        known.push((name(row), suite, extent, row));
                    }
                }
            }
        }
        let exact: Vec<_> = known.iter().filter(|one| one.0.eq_ignore_ascii_case(asked)).collect();
        let words: Vec<String> = words(asked);
        let has_all =
            |name: &str| !words.is_empty() && words.iter().all(|word| self::words(name).contains(word));
        let fitting: Vec<_> = match exact[..] {
            [] => known.iter().filter(|one| has_all(&one.0)).collect(),
            _ => exact,
        };
        match fitting[..] {
            [one] => Target::of(one.0.clone(), one.1, one.2, one.3),
            [] => Err(refused(unknown(asked, &known.iter().map(|one| one.0.as_str()).collect::<Vec<_>>()))),
            _ => {
                let names: Vec<String> = fitting
                    .iter()
                    .take(SHOWN)
                    .map(|one| format!("{} (suite {})", one.0, one.1.name))
                    .collect();
                Err(refused(format!(
                    "{} figures have the words {asked:?}, such as {}; help: give more words, or --suite",
                    fitting.len(),
                    names.join("; ")
                )))
            }
        }
    }

    fn of(name: String, suite: &'static Suite, extent: Extent, row: &Row) -> Result<Target, LabError> {
        let is_its = |system: &System| {
            system.family.name() == row.system
                && system.route == row.route
                && system.encoding.name() == row.encoding
        };
        let Some(system) = (suite.systems)().into_iter().find(is_its) else {
            return Err(refused(format!(
                "{name}: the suite {} cannot measure this figure alone",
                suite.name
            )));
        };
        if !system.family.is_ours() {
            return Err(refused(format!(
                "{name}: no commit of Parvum can change a figure of {}",
                row.system
            )));
        }
        if system.family == Family::Python {
            return Err(refused(format!("{name}: --bisect does not build Parvum's package for Python")));
        }
        Ok(Target { name, suite, extent, system, row: row.clone() })
    }

    /// The part of the suite that measures it.
    pub fn part(&self) -> Rerun {
        let of_program = (self.suite.jobs)(self.extent);
        let has_tasks = of_program
            .iter()
            .any(|job| job.measure.program == self.row.program && job.measure.tasks == self.row.tasks);
        Rerun {
            suite: self.suite.name.to_owned(),
            programs: vec![self.row.program.clone()],
            jobs: String::new(),
            tasks: if has_tasks { vec![self.row.tasks] } else { Vec::new() },
            sizes: Vec::new(),
            differs: String::new(),
        }
    }

    /// Its value among rows.
    pub fn value(&self, rows: &[Row]) -> Option<f64> {
        let own = key(&self.row);
        rows.iter().find(|row| key(row) == own).map(|row| row.median).filter(|value| *value > 0.0)
    }

    /// In which unit.
    pub fn unit(&self) -> &str {
        &self.row.unit
    }

    /// The packages whose build it needs.
    pub fn packages(&self) -> Vec<&'static str> {
        builds::packages([self.system.family])
    }
}

/// The words of a name, without marks and in small letters.
fn words(text: &str) -> Vec<String> {
    let text = text.to_lowercase();
    let parts = text.split(|c: char| c.is_whitespace() || ",:".contains(c));
    parts.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// The help for an unknown name: the names that share most of its words, also misspelled ones.
fn unknown(asked: &str, names: &[&str]) -> String {
    let asked_words = words(asked);
    let likeness = |name: &str| -> usize {
        let own = words(name);
        let best = |word: &String| own.iter().map(|other| alike(word, other)).max().unwrap_or(0);
        asked_words.iter().map(best).sum()
    };
    let mut near: Vec<(usize, &str)> = names.iter().map(|name| (likeness(name), *name)).collect();
    near.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
    near.dedup();
    let near: Vec<&str> = near.into_iter().filter(|one| one.0 > 0).take(SHOWN).map(|one| one.1).collect();
    let near = if near.is_empty() { String::new() } else { format!("; near are: {}", near.join("; ")) };
    format!(
        "no figure of the runs is called {asked:?}{near}; help: `parvum compare --history` lists the figures"
    )
}

/// 3 for the same word, 2 if one begins with the other, 1 if one letter differs.
fn alike(word: &str, other: &str) -> usize {
    let is_close = || {
        let (a, b): (Vec<char>, Vec<char>) = (word.chars().collect(), other.chars().collect());
        let head = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
        let tail = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
        a.len().min(b.len()) > 2 && a.len().abs_diff(b.len()) <= 1 && head + tail + 1 >= a.len().max(b.len())
    };
    let shorter = word.len().min(other.len());
    match () {
        () if word == other => 3,
        () if shorter > 2 && (word.starts_with(other) || other.starts_with(word)) => 2,
        () => usize::from(is_close()),
    }
}
