//! What came of tests, kept in a file for later runs.

use std::collections::HashMap;
use std::fmt;
use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;

/// How a test ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Passed,
    /// Why not.
    Failed(String),
    /// It did not end in time.
    Overdue,
}

impl fmt::Display for Outcome {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Passed => write!(out, "passes"),
            Outcome::Failed(why) => write!(out, "fails ({why})"),
            Outcome::Overdue => write!(out, "does not end in time"),
        }
    }
}

/// The verdicts of one system, a line each.
pub struct Verdicts {
    all: HashMap<String, Outcome>,
    file: PathBuf,
}

impl Verdicts {
    /// Those of a file; `fresh` forgets them first.
    pub fn open(file: PathBuf, fresh: bool) -> Result<Verdicts, String> {
        if fresh && file.exists() {
            fs::remove_file(&file).map_err(|why| format!("{}: {why}", file.display()))?;
        }
        let text = fs::read_to_string(&file).unwrap_or_default();
        let lines = text.lines().filter_map(|line| line.split_once('\t'));
        let all = lines.map(|(key, outcome)| (key.to_owned(), recalled(outcome))).collect();
        Ok(Verdicts { all, file })
    }

    /// What came of a test.
    pub fn of(&self, key: &str) -> Option<Outcome> {
        self.all.get(key).cloned()
    }

    /// Adds one.
    pub fn keep(&mut self, key: &str, outcome: &Outcome) -> Result<(), String> {
        let line = format!("{key}\t{}\n", kept(outcome));
        let add = || File::options().create(true).append(true).open(&self.file)?.write_all(line.as_bytes());
        add().map_err(|why| format!("{}: {why}", self.file.display()))?;
        self.all.insert(key.to_owned(), outcome.clone());
        Ok(())
    }
}

fn kept(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Passed => "passed".to_owned(),
        Outcome::Failed(why) => format!("failed {why}"),
        Outcome::Overdue => "overdue".to_owned(),
    }
}

fn recalled(text: &str) -> Outcome {
    match text {
        "passed" => Outcome::Passed,
        "overdue" => Outcome::Overdue,
        _ => Outcome::Failed(text.strip_prefix("failed ").unwrap_or(text).to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_run_reads_verdicts_of_earlier_one() {
        let file = std::env::temp_dir().join(format!("parvum-verdicts-{}", std::process::id()));
        let outcomes = [Outcome::Passed, Outcome::Overdue, Outcome::Failed("it says: x\ty".to_owned())];
        let mut first = Verdicts::open(file.clone(), true).expect("opened");
        for (number, outcome) in outcomes.iter().enumerate() {
            first.keep(&format!("rma/a {number}"), outcome).expect("kept");
        }
        let later = Verdicts::open(file.clone(), false).expect("opened");
        for (number, outcome) in outcomes.iter().enumerate() {
            assert_eq!(later.of(&format!("rma/a {number}")).as_ref(), Some(outcome));
        }
        assert_eq!(Verdicts::open(file.clone(), true).expect("opened").of("rma/a 0"), None);
        assert!(!file.exists());
    }
}
