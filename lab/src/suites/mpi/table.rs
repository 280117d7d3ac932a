//! The MPI suite in a terminal.

use super::SYSTEMS;
use crate::goals::digits;
use crate::record::Manifest;
use crate::summary::Rows;
use std::fmt::Write;

/// What each column shows: heading, program, metric, size.
const COLUMNS: [(&str, &str, &str, u64); 7] = [
    ("8 B hop us", "ring", "half round trip", 8),
    ("8 B M/s", "rate", "message rate", 8),
    ("64 KiB GB/s", "ring", "bandwidth", 65536),
    ("1 MiB GB/s", "ring", "bandwidth", 1 << 20),
    ("1 core 8 B us", "ring-one-core", "half round trip", 8),
    ("blocked CPU %", "blocked", "processor", 0),
    ("start-end ms", "job", "start and end", 0),
];

/// One row for each system.
pub fn render(rows: &Rows, _: &Manifest) -> String {
    let mut text = String::from("Two processes. Median of launches.\n");
    let _ = write!(text, "{:<12}", "");
    for (heading, ..) in COLUMNS {
        let _ = write!(text, " {heading:>13}");
    }
    text.push('\n');
    for system in SYSTEMS {
        let _ = write!(text, "{:<12}", system.family.name());
        for (_, program, metric, size) in COLUMNS {
            let cell =
                rows.find(program, &system, metric, 2, size).map_or("-".to_owned(), |row| digits(row.median));
            let _ = write!(text, " {cell:>13}");
        }
        text.push('\n');
    }
    text
}
