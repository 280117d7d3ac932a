//! `parvum compare --bisect`: the commit that changed a figure.
//!
//! Commits are built in a clone and measured side by side with GOOD and BAD, by the same programs.

pub(super) mod builds;
pub(super) mod search;
pub(super) mod sources;
mod target;

use crate::error::LabError;
use crate::history::words::grown;
use crate::run::comparison::{Scratch, Within, fresh_seed, session, until_interrupted};
use crate::run::options::CompareOptions;
use crate::run::progress::Whole;
use crate::stats::goals::digits;
use crate::systems::system::Extent;
use builds::Workshop;
use parvum_seed::Random;
use search::{Bench, Failure, Found};
use sources::{Commit, Sources};
use std::fmt::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use target::Target;

/// Seconds for the launches of one value.
const BUDGET: u64 = 3;

/// Finds the commit, and returns it in words. Ctrl-C ends the search, its processes and its files.
pub fn bisect(options: &CompareOptions) -> Result<String, LabError> {
    let [figure, good, bad] = &options.bisect[..] else {
        return Err(LabError::Bisect("--bisect needs FIGURE, GOOD and BAD".to_owned()));
    };
    let target = Target::find(figure, &options.suite, &options.out)?;
    let sources = Sources::find()?;
    let commits = sources.between(good, bad)?;
    until_interrupted(|interrupted| run(&target, &sources, &commits, options, interrupted))
}

fn run(
    target: &Target,
    sources: &Sources,
    commits: &[Commit],
    options: &CompareOptions,
    interrupted: &AtomicBool,
) -> Result<String, LabError> {
    let scratch = Scratch::create()?;
    let last = commits.len() - 1;
    // The programs come from BAD, and serve all commits.
    let programs = sources.clone_into(&scratch.path().join("p"))?;
    programs.checkout(&commits[last])?;
    let tree = sources.clone_into(&scratch.path().join("t"))?;
    let workshop =
        Workshop { scratch: scratch.path().to_owned(), tree, packages: target.packages(), interrupted };
    let random = Random::new(options.seed.unwrap_or_else(fresh_seed));
    let budget = options.budget.unwrap_or(BUDGET);
    let mut bench = Builds { target, commits, workshop, random, budget, interrupted };
    bench.say(&format!("{}: {} commits after {}", target.name, last, commits[0].words()));
    match search::search(&mut bench, last) {
        Ok(Some(found)) => Ok(words(target, commits, &found)),
        Ok(None) => Err(LabError::Bisect(format!(
            "{}: no difference between {} and {}; help: choose commits that lie further apart, or wait until the machine is idle",
            target.name,
            commits[0].words(),
            commits[last].words()
        ))),
        Err(Failure::Skip(why)) => Err(LabError::Bisect(format!("GOOD or BAD cannot be measured: {why}"))),
        Err(Failure::Stop(why)) => Err(why),
    }
}

/// Commits that are built and measured.
struct Builds<'a> {
    target: &'a Target,
    commits: &'a [Commit],
    workshop: Workshop<'a>,
    random: Random,
    budget: u64,
    interrupted: &'a AtomicBool,
}

impl Builds<'_> {
    /// A short run of the part of the suite that has the figure.
    fn measure(&mut self, number: usize) -> Result<f64, Failure> {
        let (installed, scratch) = (self.workshop.installed(number), &self.workshop.scratch);
        let options = CompareOptions {
            suite: self.target.suite.name.to_owned(),
            full: self.target.extent == Extent::Full,
            systems: self.target.system.id(),
            seed: Some(self.random.number() >> 32),
            budget: Some(self.budget),
            out: scratch.join("r"),
            apps: Some(scratch.join("p/apps")),
            parvum: Some(installed.join("bin/parvum")),
            libraries: Some(installed.join("lib")),
            commit: Some(self.commits[number].name.clone()),
            ..CompareOptions::default()
        };
        let part = self.target.part();
        let whole = Whole { is_quiet: true, ..Whole::default() };
        let within = Within { parts: &[&part], folder: None, whole };
        let report = session(&options, &within, Instant::now(), self.interrupted).map_err(|why| {
            // Ctrl-C also ends the compiler of the programs, which then fails. Relaxed: a signal's handler sets the flag and hands over
            // nothing.
            match self.interrupted.load(Ordering::Relaxed) {
                true => Failure::Stop(LabError::Interrupted),
                false => Failure::Skip(why.to_string()),
            }
        })?;
        let value = self.target.value(&report.rows);
        let _ = std::fs::remove_dir_all(report.folder);
        value.ok_or_else(|| Failure::Skip("it does not measure the figure".to_owned()))
    }
}

impl Bench for Builds<'_> {
    fn build(&mut self, number: usize) -> Result<(), Failure> {
        let commit = &self.commits[number];
        self.say(&format!("building and measuring {}", commit.words()));
        let built = self.workshop.build(number, commit).and_then(|()| {
            // The first run of a build is cold, and tells whether the figure is there.
            self.measure(number).map(drop)
        });
        built.map_err(|failure| match failure {
            Failure::Skip(why) => {
                self.say(&format!("skipped: {why}"));
                Failure::Skip(format!("{}: {why}", commit.words()))
            }
            stop => stop,
        })
    }

    fn block(&mut self, commits: &[usize]) -> Result<Vec<f64>, Failure> {
        let mut order: Vec<usize> = (0..commits.len()).collect();
        self.random.shuffle(&mut order);
        let mut values = vec![0.0; commits.len()];
        for at in order {
            values[at] = self.measure(commits[at])?;
        }
        Ok(values)
    }

    fn say(&mut self, text: &str) {
        eprintln!("{text}");
    }
}

/// The result in words.
fn words(target: &Target, commits: &[Commit], found: &Found) -> String {
    let change = grown(100.0 * (found.factor - 1.0));
    let [before, after] = found.values.map(digits);
    let mut text = format!("{}: {change} from GOOD to BAD\n", target.name);
    let suspects: Vec<&Commit> = found.suspects.iter().map(|number| &commits[*number]).collect();
    match suspects[..] {
        [only] => {
            let _ = writeln!(text, "Changed by {}", only.words());
        }
        _ => {
            let _ = writeln!(
                text,
                "Changed by one of {} commits; only the last could be measured:",
                suspects.len()
            );
            for one in suspects {
                let _ = writeln!(text, "  {}", one.words());
            }
        }
    }
    let _ = writeln!(text, "Before: {before} {unit}, after: {after} {unit}", unit = target.unit());
    for (_, why) in &found.skipped {
        let _ = writeln!(text, "Skipped {why}");
    }
    for number in &found.unclear {
        let _ = writeln!(text, "Unclear, about in the middle of GOOD and BAD: {}", commits[*number].words());
    }
    text
}

#[cfg(test)]
mod tests;
