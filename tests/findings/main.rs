//! Shows that promises hold that were once broken: `./x findings`.
//!
//! People who tested Parvum from outside found promises that did not hold. `tests/findings.txt` has a line for each, with the tests that
//! fail if it breaks again. This program runs those tests and prints one line per promise.

#![forbid(unsafe_code)]

mod run;
mod table;

use run::Outcome;
use std::collections::HashMap;
use std::process::ExitCode;
use table::{Kind, Promise, Test};

const USAGE: &str = "\
usage: ./x findings [--list] [WORD...]

Runs the tests of promises that were once broken, and prints for each promise whether it holds.

  --list  print the promises and their tests, and run nothing
  WORD    only these promises: a kind (3), a number (3.1), or words of the text (\"contexts\")

The exit code is 1 if a promise is broken. Promises are skipped if the host lacks what their tests need.";

fn main() -> ExitCode {
    let (mut words, mut list) = (Vec::new(), false);
    for word in std::env::args().skip(1) {
        match word.as_str() {
            "--list" => list = true,
            "-h" | "--help" => {
                println!("{USAGE}");
                return ExitCode::SUCCESS;
            }
            option if option.starts_with('-') => return refuse(&format!("no option {option}\n{USAGE}")),
            _ => words.push(word),
        }
    }
    let chosen = table::read(include_str!("../findings.txt")).and_then(|mut kinds| {
        table::choose(&mut kinds, &words)?;
        Ok(kinds)
    });
    let kinds = match chosen {
        Ok(kinds) => kinds,
        Err(why) => return refuse(&why),
    };
    if list {
        show(&kinds);
        return ExitCode::SUCCESS;
    }
    let tests: Vec<Test> =
        kinds.iter().flat_map(|kind| &kind.promises).flat_map(|it| it.tests.clone()).collect();
    match run::run(&tests) {
        Ok(outcomes) if report(&kinds, &outcomes) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(why) => refuse(&why),
    }
}

fn refuse(why: &str) -> ExitCode {
    eprintln!("findings: {why}");
    ExitCode::from(2)
}

fn show(kinds: &[Kind]) {
    for kind in kinds {
        println!("[{}] {}", kind.number, kind.text);
        for promise in &kind.promises {
            println!("{:<5} {}", promise.number, promise.text);
            promise.tests.iter().for_each(|test| println!("          {} {}", test.program, test.name));
            promise.untested.iter().for_each(|why| println!("          untested: {why}"));
        }
    }
}

/// Prints a line per promise, and whether none is broken.
fn report(kinds: &[Kind], outcomes: &HashMap<Test, Outcome>) -> bool {
    let mut counts = [0; 4];
    for kind in kinds {
        println!("\n{}", kind.text);
        for promise in &kind.promises {
            let (word, at) = verdict(promise, outcomes);
            counts[at] += 1;
            println!("  {word:<8} {:<5} {}", promise.number, promise.text);
            let of_tests = promise.tests.iter().filter_map(|test| Some((test, outcomes.get(test)?)));
            for (test, outcome) in of_tests {
                let what = match outcome {
                    Outcome::Passed => continue,
                    Outcome::Skipped(why) => format!("was skipped: {why}"),
                    Outcome::Missing => "was not run: there is no such test".to_owned(),
                    Outcome::Failed => "failed".to_owned(),
                };
                println!("                   {} {} {what}", test.program, test.name);
            }
            promise.untested.iter().for_each(|why| println!("                   no test: {why}"));
        }
    }
    let [holds, broken, skipped, untested] = counts;
    println!("\n{holds} promises hold, {broken} are broken, {skipped} skipped, {untested} without a test");
    broken == 0
}

/// The word for a promise, and the count that it belongs to. A promise of which a test was skipped is not said to hold.
fn verdict(promise: &Promise, outcomes: &HashMap<Test, Outcome>) -> (&'static str, usize) {
    let worst = promise.tests.iter().map(|test| outcomes.get(test).unwrap_or(&Outcome::Missing)).max();
    match worst {
        Some(Outcome::Passed) => ("holds", 0),
        Some(Outcome::Missing | Outcome::Failed) => ("BROKEN", 1),
        Some(Outcome::Skipped(_)) => ("skipped", 2),
        None => ("untested", 3),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn promise_holds_only_if_all_its_tests_pass() {
        let test = |name: &str| Test { program: "mpi".into(), name: name.into() };
        let promise = |tests: &[&str]| Promise {
            number: "1.1".into(),
            text: "a promise".into(),
            tests: tests.iter().map(|name| test(name)).collect(),
            untested: None,
        };
        let outcomes = HashMap::from([
            (test("good"), Outcome::Passed),
            (test("bad"), Outcome::Failed),
            (test("lacking"), Outcome::Skipped("no root".into())),
        ]);
        assert_eq!(verdict(&promise(&["good"]), &outcomes).0, "holds");
        assert_eq!(verdict(&promise(&["good", "lacking"]), &outcomes).0, "skipped");
        assert_eq!(verdict(&promise(&["lacking", "bad", "good"]), &outcomes).0, "BROKEN");
        assert_eq!(verdict(&promise(&["good", "unknown"]), &outcomes).0, "BROKEN");
        assert_eq!(verdict(&promise(&[]), &outcomes).0, "untested");
    }
}
