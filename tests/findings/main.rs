//! Shows promises that were once broken.
//!
//! People who tested Parvum from outside found promises that did not hold. `tests/findings.txt` has a line for each, with the tests that
//! fail if it breaks again.

#![forbid(unsafe_code)]

mod table;

use std::process::ExitCode;
use table::Kind;

const USAGE: &str = "\
usage: findings [WORD...]

Prints promises that were once broken, and their tests.

  WORD    only these promises: a kind (3), a number (3.1), or words of the text (\"contexts\")";

fn main() -> ExitCode {
    let mut words = Vec::new();
    for word in std::env::args().skip(1) {
        match word.as_str() {
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
    show(&kinds);
    ExitCode::SUCCESS
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
