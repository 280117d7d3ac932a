//! What passed where, per folder.

use crate::known::Known;
use crate::lists::Test;
use crate::source::Source;
use crate::verdicts::Outcome;
use std::fmt;

/// What came of one test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Both,
    /// Both, and on Parvum not at once.
    SecondTry,
    OnlyMpich(Outcome),
    OnlyParvum(Outcome),
    Neither(Outcome, Outcome),
    NotRun(String),
}

impl Verdict {
    /// Whether it is worth a line of its own.
    pub fn is_news(&self) -> bool {
        matches!(self, Verdict::SecondTry | Verdict::OnlyMpich(_))
    }

    fn column(&self) -> usize {
        match self {
            Verdict::Both | Verdict::SecondTry => 0,
            Verdict::OnlyMpich(_) => 1,
            Verdict::OnlyParvum(_) => 2,
            Verdict::Neither(..) => 3,
            Verdict::NotRun(_) => 4,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Both => write!(out, "passes on both"),
            Verdict::SecondTry => write!(out, "passes on both, on Parvum at the second try"),
            Verdict::OnlyMpich(how) => write!(out, "passes only on MPICH; on Parvum it {how}"),
            Verdict::OnlyParvum(how) => write!(out, "passes only on Parvum; on MPICH it {how}"),
            Verdict::Neither(theirs, ours) => write!(out, "on MPICH it {theirs}; on Parvum it {ours}"),
            Verdict::NotRun(why) => write!(out, "not run: {why}"),
        }
    }
}

/// All verdicts.
#[derive(Default)]
pub struct Page {
    rows: Vec<(Test, Verdict)>,
}

impl Page {
    /// One more.
    pub fn add(&mut self, test: &Test, verdict: Verdict) {
        self.rows.push((test.clone(), verdict));
    }

    /// Prints the page. Whether all that pass on MPICH pass on Parvum, or have a reason.
    pub fn print(&self, known: &Known, source: &Source) -> bool {
        println!("\n{}", self.table());
        let (mut unknown, mut stale) = (Vec::new(), Vec::new());
        for (test, verdict) in &self.rows {
            match (verdict, known.reason(test)) {
                (Verdict::OnlyMpich(_), Some(reason)) => println!("known: {}: {reason}", test.key()),
                (Verdict::OnlyMpich(_), None) => unknown.push((test, verdict)),
                (Verdict::Both | Verdict::SecondTry | Verdict::OnlyParvum(_), Some(_)) => stale.push(test),
                (
                    Verdict::NotRun(_) | Verdict::SecondTry | Verdict::Neither(..) | Verdict::OnlyParvum(_),
                    _,
                ) => {
                    println!("{}: {verdict}", test.key());
                }
                (Verdict::Both, None) => {}
            }
        }
        // A line may stand for several tests, of which only some fail.
        let fails =
            |name: &str| self.rows.iter().any(|(test, verdict)| named(test) == name && verdict.column() == 1);
        for test in stale.iter().filter(|test| !fails(&named(test))) {
            println!("passes, though tests/suites/mpich.txt gives a reason why not: {}", test.key());
        }
        for (test, verdict) in &unknown {
            println!("WORSE: {}: {verdict}", test.key());
        }
        println!("what each test said is in {}", source.outputs().display());
        unknown.is_empty()
    }

    fn table(&self) -> String {
        let mut text = format!(
            "{:<10} {:>6} {:>6} {:>11} {:>12} {:>8} {:>8}\n",
            "folder", "tests", "both", "only MPICH", "only Parvum", "neither", "not run"
        );
        let top = |test: &Test| test.folder.split('/').next().unwrap_or_default().to_owned();
        let mut folders: Vec<String> = Vec::new();
        for (test, _) in &self.rows {
            if !folders.contains(&top(test)) {
                folders.push(top(test));
            }
        }
        for folder in folders.iter().map(Some).chain([None]) {
            let mut counts = [0; 5];
            let inside = |row: &&(Test, Verdict)| folder.is_none_or(|folder| top(&row.0) == *folder);
            self.rows.iter().filter(inside).for_each(|(_, verdict)| counts[verdict.column()] += 1);
            let [both, mpich, parvum, neither, not_run] = counts;
            let all: u32 = counts.iter().sum();
            let name = folder.map_or("all", String::as_str);
            text += &format!(
                "{name:<10} {all:>6} {both:>6} {mpich:>11} {parvum:>12} {neither:>8} {not_run:>8}\n"
            );
        }
        text
    }
}

fn named(test: &Test) -> String {
    format!("{}/{}", test.folder, test.program)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lists;

    #[test]
    fn subfolders_count_for_their_parent() {
        let mut page = Page::default();
        let test = |folder: &str| lists::parse(folder, "a\n", &|_| false).unwrap().tests.remove(0);
        page.add(&test("threads/rma"), Verdict::Both);
        page.add(&test("threads/init"), Verdict::OnlyMpich(Outcome::Overdue));
        page.add(&test("io"), Verdict::NotRun("no room".to_owned()));
        let table = page.table();
        let row = |name: &str| -> Vec<String> {
            let line = table.lines().find(|line| line.starts_with(name)).unwrap();
            line.split_whitespace().skip(1).map(str::to_owned).collect()
        };
        assert_eq!(row("threads"), ["2", "1", "1", "0", "0", "0"]);
        assert_eq!(row("io"), ["1", "0", "0", "0", "0", "1"]);
        assert_eq!(row("all"), ["3", "1", "1", "0", "0", "1"]);
    }
}
