//! The table and the page of the guidelines: the number that each system keeps, and every broken guideline.

use super::judged::{Judged, Outcome, all_of};
use crate::report::markup::{bytes, escape, table as html_table, word_table};
use crate::stats::goals::digits;
use crate::stats::summary::{Row, Rows};
use crate::systems::system::System;
use crate::table::columns;
use std::collections::BTreeSet;
use std::fmt::Write;

/// The number of broken guidelines that fit a terminal.
const SHOWN: usize = 6;

/// The broken guidelines of a system, the worst first, and how many were judged.
fn broken<'a>(rows: &'a [Row], system: &System) -> (Vec<Judged<'a>>, usize) {
    let judged: Vec<Judged<'a>> =
        all_of(rows, system).into_iter().filter(|one| one.outcome != Outcome::TooFew).collect();
    let count = judged.len();
    let mut broken: Vec<Judged<'a>> =
        judged.into_iter().filter(|one| one.outcome == Outcome::Broken).collect();
    broken.sort_by(|a, b| b.row.median.total_cmp(&a.row.median));
    (broken, count)
}

/// For each system how many guidelines it breaks, and the worst of them.
pub fn table(rows: &Rows, systems: &[System]) -> String {
    let mut text = String::from(
        "A collective must not be slower than the same made from other collectives.\n\
         Ratio: its time over the other's. Broken: more than 1.05 in the launches' test.\n",
    );
    for system in systems {
        let (broken, count) = broken(rows.0, system);
        if count == 0 {
            continue;
        }
        let _ = writeln!(text, "\n{}: breaks {} of {count}", system.label(), broken.len());
        let line = |one: &Judged| {
            vec![one.guideline.to_owned(), one.where_measured(), format!("{}x", digits(one.row.median))]
        };
        let lines: Vec<Vec<String>> = broken.iter().take(SHOWN).map(line).collect();
        if !lines.is_empty() {
            columns(&mut text, &["broken", "at", "ratio"], &lines);
        }
        if broken.len() > SHOWN {
            let _ = writeln!(text, "  and {} more; the report has all", broken.len() - SHOWN);
        }
    }
    text
}

/// The broken guidelines, then a table of ratios for each number of processes.
pub fn section(html: &mut String, rows: &[Row], systems: &[System]) {
    breaches(html, rows, systems);
    html.push_str(
        "<h2 id=\"guidelines\">Guidelines</h2><p>Each cell is the time of the collective divided by the time of its mock-up, for each size: the median of \
         launches. A bold ratio breaks the guideline: the launches' signed-rank test (1 %) shows that it is above 1.05.</p>",
    );
    let of_systems: Vec<(&System, Vec<Judged>)> =
        systems.iter().map(|system| (system, all_of(rows, system))).collect();
    let all = || of_systems.iter().flat_map(|(_, judged)| judged);
    let tasks: BTreeSet<u32> = all().map(|one| one.row.tasks).collect();
    for tasks in tasks {
        let sizes: BTreeSet<u64> =
            all().filter(|one| one.row.tasks == tasks).map(|one| one.row.size).collect();
        let names: BTreeSet<&str> =
            all().filter(|one| one.row.tasks == tasks).map(|one| one.guideline).collect();
        let _ = write!(html, "<h3>{tasks} processes</h3>");
        let mut lines = Vec::new();
        for (system, judged) in &of_systems {
            let of_these = |one: &&Judged| one.row.tasks == tasks;
            if !judged.iter().any(|one| of_these(&one)) {
                continue;
            }
            lines.push(vec!["!head".to_owned(), escape(&system.label())]);
            for name in &names {
                let cell = |size: &u64| {
                    let found = judged
                        .iter()
                        .filter(of_these)
                        .find(|one| one.guideline == *name && one.row.size == *size);
                    found.map_or_else(String::new, ratio)
                };
                lines.push(std::iter::once(escape(name)).chain(sizes.iter().map(cell)).collect());
            }
        }
        let headings: Vec<String> =
            sizes.iter().map(|size| if *size == 0 { "-".to_owned() } else { bytes(*size as f64) }).collect();
        let headings: Vec<&str> =
            std::iter::once("guideline").chain(headings.iter().map(String::as_str)).collect();
        html.push_str(&html_table(&headings, &lines));
    }
}

fn ratio(one: &Judged) -> String {
    let words = digits(one.row.median);
    match one.outcome {
        Outcome::Broken => format!("<b class=\"missed\">{words}</b>"),
        Outcome::TooFew => format!("<span class=\"soft\">{words}</span>"),
        Outcome::Kept => words,
    }
}

fn breaches(html: &mut String, rows: &[Row], systems: &[System]) {
    let mut lines = Vec::new();
    let mut counts = Vec::new();
    for system in systems {
        let (broken, count) = broken(rows, system);
        if count > 0 {
            counts.push(format!("{} breaks {} of {count}", escape(&system.label()), broken.len()));
        }
        for one in broken {
            let time = |metric: String| {
                let found = Rows(rows).find("guidelines", system, &metric, one.row.tasks, one.row.size);
                found.map_or_else(String::new, |row| format!("{} \u{b5}s", digits(row.median)))
            };
            lines.push(vec![
                escape(&system.label()),
                escape(one.guideline),
                one.where_measured(),
                time(one.guideline.to_owned()),
                time(format!("{}, mock-up", one.guideline)),
                format!("{} ({} to {})", digits(one.row.median), digits(one.row.low), digits(one.row.high)),
            ]);
        }
    }
    html.push_str("<h2 id=\"broken\">Broken guidelines</h2>");
    if !counts.is_empty() {
        let _ = write!(html, "<p>{}.</p>", counts.join("; "));
    }
    match lines.is_empty() {
        true => html.push_str("<p>No system breaks a guideline, as far as this run shows.</p>"),
        false => html.push_str(&word_table(
            &["system", "guideline", "at", "collective", "mock-up", "ratio, with its 95 % interval"],
            &lines,
        )),
    }
}
