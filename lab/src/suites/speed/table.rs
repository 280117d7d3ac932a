//! The speed suite in a terminal: one line for each thing that is asked.

use super::asked::{ASKED, Requirement};
use super::judge::{self, TasksAndSize};
use super::systems;
use crate::run::record::Manifest;
use crate::stats::goals::{Outcome, digits};
use crate::stats::summary::Rows;
use crate::systems::system::System;
use std::fmt::Write;

/// The columns' headings in two lines, in the order of the suite's systems; then the floor.
const HEADINGS: [(&str, &str); 10] = [
    ("PVM", "calls"),
    ("engine", "or NX"),
    ("", ""),
    ("PVM", "3.4.6"),
    ("Open", "MPI"),
    ("", "MPICH"),
    ("Open", "MPI 4"),
    ("MPICH", "4"),
    ("", "UCX"),
    ("", "limit"),
];
/// Parvum's own columns and the machine's limit stand beside the verdict; the peers below, for a terminal is not wider. For the
/// same reason engine and NX share a column: no line has both.
const OURS: [usize; 3] = [0, 1, 9];
const PEERS: [usize; 6] = [3, 4, 5, 6, 7, 8];
const SHARED: (usize, usize) = (1, 2);

/// The table.
pub fn render(rows: &Rows, manifest: &Manifest) -> String {
    let mut text = String::from(
        "Two cores. Median of launches. A line that stands for several sizes or numbers\n\
         of tasks shows the one where Parvum comes out worst: at this size, and after a\n\
         stroke on so many tasks. Limit: what this machine does without a library.\n\n",
    );
    block(&mut text, &OURS, true, rows, manifest);
    text.push_str("\nThe same under the other systems\n");
    block(&mut text, &PEERS, false, rows, manifest);
    text
}

fn block(text: &mut String, columns: &[usize], judged: bool, rows: &Rows, manifest: &Manifest) {
    let first: String = columns.iter().map(|at| format!(" {:>6}", HEADINGS[*at].0)).collect();
    let second: String = columns.iter().map(|at| format!(" {:>6}", HEADINGS[*at].1)).collect();
    let end = if judged { format!(" {:18} verdict", "goal") } else { String::new() };
    let _ = writeln!(text, "{:18} {:9}{first}", "", "");
    let _ = writeln!(text, "{:18} {:9}{second}{end}", "", "at");
    for asked in &ASKED {
        line(text, asked, columns, judged, rows, manifest);
    }
}

fn line(
    text: &mut String,
    asked: &Requirement,
    columns: &[usize],
    with_verdict: bool,
    rows: &Rows,
    manifest: &Manifest,
) {
    let judged = judge::judge(asked, rows);
    let place = judged.place;
    let mut cells: Vec<String> = systems()
        .iter()
        .map(|system| match judge::measured(asked, rows, system, place) {
            Some(row) => short(row.median),
            None if failed(asked, manifest, system, place) => "failed".into(),
            None => "-".into(),
        })
        .collect();
    let (engine, nx) = SHARED;
    if cells[engine] == "-" {
        cells.swap(engine, nx);
    }
    cells.push(judge::floor(asked, rows, place).map_or_else(|| "-".into(), |row| short(row.median)));
    let cells: String = columns.iter().map(|column| format!(" {:>6}", cells[*column])).collect();
    let at = match (asked.tasks.len(), asked.sizes.len()) {
        (1, 1) => String::new(),
        (1, _) => crate::report::markup::bytes(place.1 as f64),
        _ => format!("{}/{}", crate::report::markup::bytes(place.1 as f64), place.0),
    };
    let verdict = match judged.goal.outcome {
        Outcome::Reached => "reached",
        Outcome::Missed => "MISSED",
        Outcome::NoData => "no data",
    };
    let end = if with_verdict { format!(" {:18} {verdict}", asked.goal) } else { String::new() };
    let _ = writeln!(text, "{:18} {at:9}{cells}{end}", asked.what);
}

/// Whether every launch that should have measured it failed.
fn failed(asked: &Requirement, manifest: &Manifest, system: &System, place: TasksAndSize) -> bool {
    let id = system.id();
    manifest.launches.iter().any(|launch| {
        launch.failure.is_some()
            && launch.program == asked.program
            && launch.system == id
            && launch.tasks == place.0
    })
}

/// At most six characters.
fn short(value: f64) -> String {
    if value >= 999_999.5 { format!("{value:.1e}") } else { digits(value) }
}

#[cfg(test)]
mod tests {
    use super::super::{CALLS, ENGINE, NX, PEERS};
    use super::*;
    use crate::report::tests::manifest;
    use crate::run::record::LaunchRecord;
    use crate::stats::summary::tests::row;
    use crate::table::WIDTH;

    #[test]
    fn table_column_has_heading() {
        assert_eq!(HEADINGS.len(), systems().len() + 1);
        assert!(ASKED.iter().all(|asked| asked.what.len() <= 18 && asked.goal.len() <= 19));
        let has_both = |asked: &Requirement| asked.faces.contains(&ENGINE) && asked.faces.contains(&NX);
        assert!(!ASKED.iter().any(has_both), "they share a column");
        let mut all: Vec<usize> = OURS.into_iter().chain(super::PEERS).chain([SHARED.1]).collect();
        all.sort_unstable();
        assert_eq!(all, (0..HEADINGS.len()).collect::<Vec<_>>(), "each column once");
    }

    #[test]
    fn table_line_shows_failures_and_fits_terminal() {
        let mut floor = row(&PEERS[2], "floors", "time", 8, &[1.0]);
        floor.system = "one-core hand-over".into();
        let rows = [row(&CALLS, "ring-one-core", "half round trip", 8, &[1_234_567.0]), floor];
        let mut manifest = manifest();
        manifest.launches.push(LaunchRecord {
            launch: 0,
            job: "ring on one core: MPICH".into(),
            program: "ring-one-core".into(),
            system: PEERS[2].id(),
            tasks: 2,
            command: String::new(),
            elapsed_s: 15.0,
            load: String::new(),
            failure: Some("not finished after 15 s".into()),
            ..LaunchRecord::default()
        });
        let text = render(&Rows(&rows), &manifest);
        let mut lines = text.lines().filter(|line| line.starts_with("8 B, one core"));
        let (ours, peers) = (lines.next().unwrap(), lines.next().unwrap());
        assert!(ours.contains("1.2e6") && ours.ends_with("MISSED"), "{ours}");
        assert_eq!(peers.matches("failed").count(), 1, "{peers}");
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        assert_eq!(text.lines().filter(|line| line.ends_with("no data")).count(), ASKED.len() - 1);
    }
}
