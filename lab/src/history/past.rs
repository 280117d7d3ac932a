//! `parvum compare --commits`: a suite for old commits, so that a history exists before anybody kept one.
//!
//! Commits are built in a clone, and the programs of the newest commit measure all of them.

use super::bisect::builds::{Workshop, packages};
use super::bisect::search::Failure;
use super::bisect::sources::{Commit, Sources};
use super::commits::Commits;
use super::store;
use crate::error::LabError;
use crate::run::comparison::{Scratch, Within, session, until_interrupted};
use crate::run::options::CompareOptions;
use crate::run::progress::Whole;
use crate::suites;
use crate::systems::system::{Family, System};
use std::collections::HashSet;
use std::fmt::Write;
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Seconds for the measurements of one commit.
const BUDGET: u64 = 30;

/// Fewer commits have no change that can be found.
const FEWEST: usize = 2;

/// Measures commits from OLD to NEW, and returns a summary. Ctrl-C ends the work; the same command goes on with the commits that are left.
pub fn past(options: &CompareOptions) -> Result<String, LabError> {
    let [old, new, count] = &options.commits[..] else {
        return Err(refused("--commits needs OLD, NEW and N".to_owned()));
    };
    let count = count.parse().ok().filter(|count| *count >= FEWEST);
    let Some(count) = count else {
        return Err(refused(format!(
            "N is a number of commits, {FEWEST} or more (got {:?})",
            options.commits[2]
        )));
    };
    let systems = systems(options)?;
    let sources = Sources::find()?;
    let all = sources.between(old, new)?;
    let touched = sources.touching_code(&all);
    let chosen = evenly(all.len(), &touched, count);
    let commits: Vec<&Commit> = chosen.into_iter().map(|at| &all[at]).collect();
    until_interrupted(|interrupted| Past { options, systems: &systems, interrupted }.run(&sources, &commits))
}

fn refused(why: String) -> LabError {
    LabError::Commits(why)
}

/// The chosen systems. `--commits` builds no package for Python.
fn systems(options: &CompareOptions) -> Result<Vec<System>, LabError> {
    let suite = suites::find(&options.suite)?;
    let chosen = suite.select(&options.systems)?;
    let mut systems: Vec<System> = (suite.systems)().into_iter().filter(|system| chosen(system)).collect();
    systems.retain(|system| system.family != Family::Python);
    if systems.iter().any(|system| system.family.is_ours()) {
        return Ok(systems);
    }
    Err(refused("no chosen system is Parvum; help: leave out --systems, or add parvum to it".to_owned()))
}

/// At most `count` places of 0..length: the first, the last, and between them places that touch code, evenly spread.
fn evenly(length: usize, touches_code: &[bool], count: usize) -> Vec<usize> {
    let mut inner: Vec<usize> = (1..length - 1).filter(|at| touches_code[*at]).collect();
    let wanted = count - 2;
    if inner.len() > wanted {
        inner = (0..wanted).map(|number| inner[(2 * number + 1) * inner.len() / (2 * wanted)]).collect();
    }
    let mut places = vec![0];
    places.append(&mut inner);
    places.push(length - 1);
    places
}

struct Past<'a> {
    options: &'a CompareOptions,
    systems: &'a [System],
    interrupted: &'a AtomicBool,
}

impl Past<'_> {
    fn run(&self, sources: &Sources, commits: &[&Commit]) -> Result<String, LabError> {
        let done = self.done();
        let scratch = Scratch::create()?;
        let newest = commits[commits.len() - 1];
        let programs = sources.clone_into(&scratch.path().join("p"))?;
        programs.checkout(newest)?;
        let tree = sources.clone_into(&scratch.path().join("t"))?;
        let packages = packages(self.systems.iter().map(|system| system.family));
        let interrupted = self.interrupted;
        let workshop = Workshop { scratch: scratch.path().to_owned(), tree, packages, interrupted };
        let (mut measured, mut kept, mut skipped) = (0, 0, Vec::new());
        for (number, commit) in commits.iter().enumerate() {
            if done.contains(&commit.name) {
                kept += 1;
                continue;
            }
            eprintln!("{} of {}: building and measuring {}", number + 1, commits.len(), commit.words());
            match self.measure(&workshop, number, commit) {
                Ok(()) => measured += 1,
                Err(Failure::Stop(why)) => return Err(why),
                Err(Failure::Skip(why)) => {
                    eprintln!("skipped: {why}");
                    skipped.push(format!("{}: {why}", commit.words()));
                }
            }
            let _ = fs::remove_dir_all(workshop.installed(number));
        }
        Ok(self.words(measured, kept, &skipped))
    }

    /// Commits that a finished run of this suite and extent in the folder of `--out` has measured.
    fn done(&self) -> HashSet<String> {
        let store = store::read(&self.options.out, Some(&self.options.suite), &Commits::default());
        let extent = if self.options.full { "full" } else { "quick" };
        let runs = store.unwrap_or_default().runs.into_iter().filter(|run| run.manifest.extent == extent);
        runs.filter_map(|run| run.commit).collect()
    }

    fn measure(&self, workshop: &Workshop, number: usize, commit: &Commit) -> Result<(), Failure> {
        workshop.build(number, commit)?;
        let installed = workshop.installed(number);
        let names: Vec<String> = self.systems.iter().map(System::id).collect();
        let options = CompareOptions {
            suite: self.options.suite.clone(),
            full: self.options.full,
            systems: names.join(","),
            seed: self.options.seed,
            budget: Some(self.options.budget.unwrap_or(BUDGET)),
            out: self.options.out.clone(),
            apps: Some(workshop.scratch.join("p/apps")),
            parvum: Some(installed.join("bin/parvum")),
            libraries: Some(installed.join("lib")),
            commit: Some(commit.name.clone()),
            ..CompareOptions::default()
        };
        let whole = Whole { is_quiet: true, ..Whole::default() };
        let within = Within { parts: &[], folder: None, whole };
        let report = session(&options, &within, Instant::now(), self.interrupted);
        report.map(drop).map_err(|why| match self.interrupted.load(Ordering::Relaxed) {
            // Relaxed: a signal's handler sets the flag and hands over nothing.
            true => Failure::Stop(LabError::Interrupted),
            false => Failure::Skip(why.to_string()),
        })
    }

    /// The summary.
    fn words(&self, measured: usize, kept: usize, skipped: &[String]) -> String {
        let mut text = format!("Measured {measured} commits");
        if kept > 0 {
            let _ = write!(text, "; {kept} more had a run in {}", self.options.out.display());
        }
        text.push('\n');
        for commit in skipped {
            let _ = writeln!(text, "Skipped {commit}");
        }
        let _ = write!(text, "Next: parvum compare --history {}", self.options.out.display());
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chosen_commits_are_first_last_and_evenly_spread_ones_that_touch_code() {
        assert_eq!(evenly(10, &[true; 10], 4), [0, 3, 7, 9]);
        assert_eq!(evenly(10, &[true; 10], 2), [0, 9]);
        assert_eq!(evenly(3, &[true; 3], 30), [0, 1, 2]);
        let mut touches_code = [false; 10];
        touches_code[4] = true;
        assert_eq!(evenly(10, &touches_code, 30), [0, 4, 9]);
        for count in 2..40 {
            let places = evenly(40, &[true; 40], count);
            assert_eq!(places.len(), count);
            assert!(places.is_sorted_by(|a, b| a < b), "{places:?}");
        }
    }

    #[test]
    fn commits_are_refused_without_parvum_or_number() {
        let of = |systems: &str, words: [&str; 3]| {
            let options = CompareOptions {
                suite: "main".to_owned(),
                systems: systems.to_owned(),
                commits: words.map(str::to_owned).to_vec(),
                ..CompareOptions::default()
            };
            past(&options).expect_err("refused").to_string()
        };
        assert!(of("mpich", ["HEAD~1", "HEAD", "5"]).contains("no chosen system is Parvum"));
        for number in ["1", "-3", "many"] {
            let why = of("parvum", ["HEAD~1", "HEAD", number]);
            assert!(why.contains("2 or more") && why.contains(number), "{why}");
        }
    }
}
