//! What a terminal shows: a person's first look.

use crate::report::trust;
use crate::run::disturbed;
use crate::run::record::Manifest;
use crate::stats::goals::{Goal, Outcome};
use crate::stats::summary::{Row, Rows};
use crate::suites::Suite;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The suite's own table, the bars, what is absent and what failed.
pub fn render(suite: &Suite, rows: &[Row], goals: &[Goal], manifest: &Manifest) -> String {
    let rows = Rows(rows);
    let doubts = trust::doubts(suite.pages.questions, &(suite.systems)(), &rows, manifest);
    let mut text = String::new();
    if !doubts.is_empty() {
        let _ = writeln!(text, "{}\n", wrapped(&trust::banner(&doubts, suite.name), WIDTH).join("\n"));
    }
    text.push_str(&(suite.table)(&rows, manifest));
    if !goals.is_empty() {
        text.push_str("\nParvum's own targets\n");
    }
    let (silent, telling): (Vec<&Goal>, Vec<&Goal>) =
        goals.iter().partition(|goal| goal.outcome == Outcome::NoData);
    if !silent.is_empty() {
        let _ = writeln!(text, "  {} of {} need data that this run does not have", silent.len(), goals.len());
    }
    for goal in telling {
        let mark = if goal.outcome == Outcome::Reached { "reached" } else { "MISSED" };
        for (at, line) in wrapped(&format!("{}: {}", goal.what, goal.bar), WIDTH - 11).iter().enumerate() {
            let _ = writeln!(text, "  {:<8} {line}", if at == 0 { mark } else { "" });
        }
        for line in wrapped(&goal.found, WIDTH - 11) {
            let _ = writeln!(text, "           {line}");
        }
    }
    if let Some(note) = manifest.cut_short() {
        let _ = writeln!(text, "\n{}", wrapped(&note, WIDTH).join("\n"));
    }
    if let Some(warning) = disturbed::warning(&manifest.launches) {
        let _ = writeln!(text, "\n{}", wrapped(&warning, WIDTH).join("\n"));
    }
    if !manifest.absent.is_empty() {
        let _ = writeln!(text, "\nNot compared:");
    }
    for absent in &manifest.absent {
        let lines = wrapped(&format!("{}: {}", absent.name, absent.remedy), WIDTH - 6);
        for (at, line) in lines.iter().enumerate() {
            let _ = writeln!(text, "{}{line}", if at == 0 { "  " } else { "      " });
        }
    }
    failures(&mut text, manifest);
    text
}

/// What never succeeded, and how many launches failed in all.
fn failures(text: &mut String, manifest: &Manifest) {
    let failed = manifest.launches.iter().filter(|launch| launch.has_failed()).count();
    if failed == 0 {
        return;
    }
    let mut jobs: BTreeMap<&str, Option<&str>> = BTreeMap::new();
    for launch in &manifest.launches {
        let why = jobs.entry(&launch.job).or_insert(launch.failure.as_deref());
        if launch.failure.is_none() {
            *why = None;
        }
    }
    let never: Vec<(&str, &str)> = jobs.into_iter().filter_map(|(job, why)| Some((job, why?))).collect();
    if !never.is_empty() {
        text.push_str("\nFailed every time:\n");
    }
    for (job, why) in never {
        let lines = wrapped(&format!("{job}: {why}"), WIDTH - 6);
        for (at, line) in lines.iter().take(3).enumerate() {
            let more = if at == 2 && lines.len() > 3 { " ..." } else { "" };
            let _ = writeln!(text, "{}{line}{more}", if at == 0 { "  " } else { "      " });
        }
    }
    let all = manifest.launches.len();
    let _ = writeln!(text, "\n{failed} of {all} launches failed; the report says which and why");
}

/// Lines of cells under their headings, the first column to the left and the others to the right.
pub fn columns(text: &mut String, headings: &[&str], lines: &[Vec<String>]) {
    let width = |column: usize| {
        let cells = lines.iter().filter_map(|line| line.get(column)).map(|cell| cell.chars().count());
        cells.max().unwrap_or(0).max(headings[column].chars().count())
    };
    let widths: Vec<usize> = (0..headings.len()).map(width).collect();
    let mut write = |cells: Vec<&str>, shown: &std::ops::Range<usize>| {
        let mut line = String::new();
        for (at, (cell, width)) in cells.iter().zip(&widths).enumerate() {
            let _ = match at {
                0 => write!(line, "  {cell:width$}"),
                _ if shown.contains(&at) => write!(line, "  {cell:>width$}"),
                _ => Ok(()),
            };
        }
        let _ = writeln!(text, "{}", line.trim_end());
    };
    for (part, shown) in parts(&widths).iter().enumerate() {
        if part > 0 {
            write(vec![""], shown);
        }
        write(headings.to_vec(), shown);
        lines.iter().for_each(|line| write(line.iter().map(String::as_str).collect(), shown));
    }
}

/// The columns after the first in parts that fit a terminal beside it.
fn parts(widths: &[usize]) -> Vec<std::ops::Range<usize>> {
    let (mut parts, mut begin) = (Vec::new(), 1);
    while begin < widths.len() {
        let mut taken = 2 + widths[0];
        let fits = widths[begin..].iter().take_while(|width| {
            taken += 2 + **width;
            taken <= WIDTH
        });
        let end = begin + fits.count().max(1);
        parts.push(begin..end);
        begin = end;
    }
    if parts.is_empty() {
        // The first column alone.
        parts.push(1..1);
    }
    parts
}

/// Columns of a terminal that everything fits into.
pub const WIDTH: usize = 80;

/// Lines of at most so many characters, as far as words are short enough.
pub(crate) fn wrapped(words: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in words.split_whitespace() {
        let last = lines.len() - 1;
        let taken = lines[last].chars().count();
        if taken > 0 && taken + 1 + word.chars().count() > width {
            lines.push(word.to_owned());
        } else {
            if taken > 0 {
                lines[last].push(' ');
            }
            lines[last].push_str(word);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::manifest;
    use crate::run::record::LaunchRecord;
    use crate::suites::main::SUITE;

    #[test]
    fn long_words_are_wrapped_between_words() {
        assert_eq!(wrapped("ring: 8 us of 9 us", 9), ["ring: 8", "us of 9", "us"]);
        assert_eq!(wrapped("unbreakable", 3), ["unbreakable"]);
    }

    #[test]
    fn wide_tables_continue_below() {
        let cells = |n: usize| (0..n).map(|at| format!("column {at:3}")).collect::<Vec<_>>();
        let headings = cells(12);
        let mut text = String::new();
        columns(&mut text, &headings.iter().map(String::as_str).collect::<Vec<_>>(), &[cells(12)]);
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        for at in 1..12 {
            assert_eq!(text.matches(&format!("column {at:3}")).count(), 2, "{text}");
        }
    }

    #[test]
    fn failed_jobs_are_named_and_single_failures_counted() {
        let mut manifest = manifest();
        for (launch, job, failure) in [
            (0, "ring: MPICH", Some("not finished after 15 s")),
            (1, "ring: Open MPI", Some("exit status: 1")),
            (2, "ring: Open MPI", None),
        ] {
            manifest.launches.push(LaunchRecord {
                launch,
                job: job.into(),
                program: "ring".into(),
                system: String::new(),
                tasks: 2,
                command: String::new(),
                elapsed_s: 1.0,
                load: String::new(),
                failure: failure.map(str::to_owned),
                ..LaunchRecord::default()
            });
        }
        let text = render(&SUITE, &[], &[], &manifest);
        assert!(text.contains("  ring: MPICH: not finished after 15 s\n"), "{text}");
        assert!(!text.contains("ring: Open MPI") && text.contains("2 of 3 launches failed"), "{text}");
        assert!(text.contains("MPICH: run `./x peers`"), "{text}");
        manifest.launches[1].failure = Some(disturbed::repeated_in(2));
        let text = render(&SUITE, &[], &[], &manifest);
        assert!(text.contains("1 of 3 launches failed"), "a launch that was repeated has not failed: {text}");
    }
}
