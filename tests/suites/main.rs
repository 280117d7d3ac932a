//! Runs test suites that others have written, on the system they were written for and on Parvum, and compares what passes.
//!
//! `./x suites mpich` runs MPICH's own suite: the same programs, once with Debian's MPICH and once with Parvum's library of the same binary
//! interface. `--abi` compiles them for the standard's binary interface and takes PyPI's MPICH instead. The source comes from Debian's archive
//! and stays in the cache.

#![forbid(unsafe_code)]

mod known;
mod lists;
mod page;
mod rooms;
mod sides;
mod source;
mod stopping;
mod verdicts;

use known::Known;
use lists::Test;
use page::{Page, Verdict};
use sides::Side;
use source::{Interface, Source};
use std::process::ExitCode;
use verdicts::Outcome;

/// What the command line asks for.
struct Wishes {
    interface: Interface,
    /// Folders of the suite; none: all.
    folders: Vec<String>,
    /// Names of programs; none: all.
    tests: Vec<String>,
    /// Run what MPICH has been asked before once more.
    fresh: bool,
    /// Do not run MPICH at all.
    alone: bool,
    /// Do not run what Parvum was asked before.
    continued: bool,
    /// Seconds for a test that sets no limit itself.
    limit: u64,
}

const USAGE: &str = "\
usage: ./x suites mpich [--abi] [--folder NAME] [--test NAME] [--limit SECONDS] [--fresh | --alone]
                        [--continue]

Runs MPICH's own test suite on MPICH and on Parvum, and says what passes on both, on one, on neither.

  --abi            compile it for the MPI standard's binary interface, and compare with PyPI's MPICH
  --folder NAME    only this folder, such as pt2pt or threads/rma; may be repeated
  --test NAME      only programs of this name; may be repeated
  --limit SECONDS  time for a test that sets no limit itself [default: 60]
  --fresh          run MPICH again; otherwise its verdicts of an earlier run count
  --alone          do not run MPICH: a test that it was never asked counts as one that it passes
  --continue       go on after an earlier run: its verdicts of Parvum count, too

A run that is interrupted prints what it has found, and ends Parvum's machine.

The exit code is 1 if a test passes on MPICH alone and tests/suites/mpich.txt gives no reason.";

fn main() -> ExitCode {
    let wishes = match wishes(std::env::args().skip(1)) {
        Ok(wishes) => wishes,
        Err(why) => return refuse(&why),
    };
    match run(&wishes) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => refuse(&format!("suites: {why}")),
    }
}

fn refuse(why: &str) -> ExitCode {
    eprintln!("{why}");
    ExitCode::from(2)
}

fn wishes(mut words: impl Iterator<Item = String>) -> Result<Wishes, String> {
    let mut wishes = Wishes {
        interface: Interface::Mpich,
        folders: Vec::new(),
        tests: Vec::new(),
        fresh: false,
        alone: false,
        continued: false,
        limit: 60,
    };
    match words.next().as_deref() {
        Some("mpich") => {}
        Some(other) if !other.starts_with('-') => {
            return Err(format!("suites: no suite {other}; there is mpich"));
        }
        _ => return Err(USAGE.to_owned()),
    }
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| format!("suites: {word} needs a value\n{USAGE}"));
        match word.as_str() {
            "--abi" => wishes.interface = Interface::Standard,
            "--fresh" => wishes.fresh = true,
            "--alone" => wishes.alone = true,
            "--continue" => wishes.continued = true,
            "--folder" => wishes.folders.push(value()?),
            "--test" => wishes.tests.push(value()?),
            "--limit" => {
                let text = value()?;
                wishes.limit =
                    text.parse().map_err(|_| format!("suites: --limit {text}: not a number of seconds"))?;
            }
            _ => return Err(USAGE.to_owned()),
        }
    }
    Ok(wishes)
}

impl Wishes {
    fn wants(&self, test: &Test) -> bool {
        let inside = |folder: &String| {
            test.folder == *folder
                || test.folder.strip_prefix(folder.as_str()).is_some_and(|rest| rest.starts_with('/'))
        };
        (self.folders.is_empty() || self.folders.iter().any(inside))
            && (self.tests.is_empty() || self.tests.contains(&test.program))
    }
}

/// Whether everything that passes on MPICH passes on Parvum, or has a reason.
fn run(wishes: &Wishes) -> Result<bool, String> {
    let known = Known::read(include_str!("mpich.txt"), wishes.interface)?;
    stopping::heed()?;
    let source = Source::bring(wishes.interface)?;
    source.build(&wishes.folders)?;
    stopping::refuse()?;
    let tests: Vec<Test> = lists::walk(&source.root)?.into_iter().filter(|test| wishes.wants(test)).collect();
    if tests.is_empty() {
        return Err("no test of the suite has these names".to_owned());
    }
    let mut theirs = Side::mpich(&source, wishes.fresh, wishes.alone)?;
    let mut ours = Side::parvum(&source, wishes.continued)?;
    let mut page = Page::default();
    for (number, test) in tests.iter().enumerate() {
        let verdict = match judge(test, &mut theirs, &mut ours, wishes.limit) {
            Ok(verdict) => verdict,
            Err(why) => {
                page.print(&known, &source);
                return Err(why);
            }
        };
        if verdict.is_news() {
            println!("{}/{} {}: {verdict}", number + 1, tests.len(), test.key());
        }
        page.add(test, verdict);
    }
    let good = page.print(&known, &source);
    ours.end()?;
    Ok(good)
}

/// One test on both.
fn judge(test: &Test, theirs: &mut Side, ours: &mut Side, limit: u64) -> Result<Verdict, String> {
    if let Some(why) = theirs.lacks(test) {
        return Ok(Verdict::NotRun(why));
    }
    let on_theirs = match theirs.known(test) {
        Some(outcome) => outcome,
        None => {
            let outcome = theirs.run(test, limit)?;
            theirs.keep(test, &outcome)?;
            outcome
        }
    };
    let (on_ours, again) = match ours.known(test) {
        Some(outcome) => (outcome, false),
        None => {
            let (outcome, again) = twice(ours, test, limit, on_theirs == Outcome::Passed)?;
            ours.keep(test, &outcome)?;
            (outcome, again)
        }
    };
    Ok(match (on_theirs == Outcome::Passed, on_ours == Outcome::Passed) {
        (true, true) if again => Verdict::SecondTry,
        (true, true) => Verdict::Both,
        (true, false) => Verdict::OnlyMpich(on_ours),
        (false, true) => Verdict::OnlyParvum(on_theirs),
        (false, false) => Verdict::Neither(on_theirs, on_ours),
    })
}

/// Tests race with their own timers: what fails must fail twice, if it should pass. Whether it passed at the second try only.
fn twice(side: &Side, test: &Test, limit: u64, should: bool) -> Result<(Outcome, bool), String> {
    let first = side.run(test, limit)?;
    if first == Outcome::Passed || !should {
        return Ok((first, false));
    }
    let second = side.run(test, limit)?;
    let again = second == Outcome::Passed;
    Ok((second, again))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(words: &[&str]) -> Result<Wishes, String> {
        wishes(words.iter().map(|word| (*word).to_owned()))
    }

    #[test]
    fn folder_option_includes_subfolders() {
        let wishes = asked(&["mpich", "--folder", "threads"]).unwrap();
        let test = |folder: &str| lists::parse(folder, "a 2\n", &|_| false).unwrap().tests.remove(0);
        assert!(wishes.wants(&test("threads")));
        assert!(wishes.wants(&test("threads/rma")));
        assert!(!wishes.wants(&test("threadsafe")));
    }

    #[test]
    fn unknown_arguments_are_refused() {
        assert!(asked(&["mpich", "--abii"]).is_err());
        assert!(asked(&["openmpi"]).is_err());
        assert!(asked(&["mpich", "--limit", "soon"]).is_err());
        assert!(asked(&["mpich", "--folder"]).is_err());
    }
}
