//! The speed suite in a terminal: one line for each thing that is asked.

use super::asked::{ASKED, Asked};
use super::judge::{self, Place};
use super::systems;
use crate::goals::{Outcome, digits};
use crate::record::Manifest;
use crate::summary::Rows;
use crate::systems::System;
use std::fmt::Write;

/// The columns' headings in two lines, in the order of the suite's systems; then the floor.
const HEADINGS: [(&str, &str); 9] = [
    ("PVM", "calls"),
    ("", "engine"),
    ("PVM", "3.4.6"),
    ("Open", "MPI"),
    ("", "MPICH"),
    ("Open", "MPI 4"),
    ("MPICH", "4"),
    ("", "UCX"),
    ("", "floor"),
];

/// The table.
pub fn render(rows: &Rows, manifest: &Manifest) -> String {
    let mut text = String::from(
        "Two cores. Median of launches. The first two columns are Parvum. A line that stands for several sizes or numbers\n\
         of tasks shows the one where Parvum comes out worst: at this size, and after a stroke on so many tasks.\n",
    );
    let first: String = HEADINGS.iter().map(|(above, _)| format!(" {above:>6}")).collect();
    let second: String = HEADINGS.iter().map(|(_, below)| format!(" {below:>6}")).collect();
    let _ = writeln!(text, "{:18}{first}", "");
    let _ = writeln!(text, "{:18}{second} {:9} {:19} verdict", "", "at", "goal");
    for asked in &ASKED {
        line(&mut text, asked, rows, manifest);
    }
    text
}

fn line(text: &mut String, asked: &Asked, rows: &Rows, manifest: &Manifest) {
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
    cells.push(judge::floor(asked, rows, place).map_or_else(|| "-".into(), |row| short(row.median)));
    let cells: String = cells.iter().map(|cell| format!(" {cell:>6}")).collect();
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
    let _ = writeln!(text, "{:18}{cells} {at:9} {:19} {verdict}", asked.what, asked.goal);
}

/// Whether every launch that should have measured it failed.
fn failed(asked: &Asked, manifest: &Manifest, system: &System, place: Place) -> bool {
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
    use super::super::{CALLS, PEERS};
    use super::*;
    use crate::record::LaunchRecord;
    use crate::report::tests::manifest;
    use crate::summary::tests::row;
    use crate::table::WIDTH;

    #[test]
    fn every_column_has_a_heading() {
        assert_eq!(HEADINGS.len(), systems().len() + 1);
        assert!(ASKED.iter().all(|asked| asked.what.len() <= 18 && asked.goal.len() <= 19));
    }

    #[test]
    fn a_line_shows_who_failed_and_fits_the_terminal() {
        let rows = [row(&CALLS, "ring-one-core", "half round trip", 8, &[1_234_567.0])];
        let mut manifest = manifest();
        manifest.launches.push(LaunchRecord {
            launch: 0,
            job: "ring on one core: MPICH".into(),
            program: "ring-one-core",
            system: PEERS[2].id(),
            tasks: 2,
            command: String::new(),
            elapsed_s: 15.0,
            load: String::new(),
            failure: Some("not finished after 15 s".into()),
        });
        let text = render(&Rows(&rows), &manifest);
        let line = text.lines().find(|line| line.starts_with("8 B, one core")).unwrap();
        assert!(line.contains("1.2e6") && line.contains("failed") && line.ends_with("MISSED"), "{line}");
        assert_eq!(line.matches("failed").count(), 1);
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        assert_eq!(text.lines().filter(|line| line.ends_with("no data")).count(), ASKED.len() - 1);
    }
}
