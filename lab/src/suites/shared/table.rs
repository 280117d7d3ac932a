//! The shared suite in a terminal.

use super::{PROGRAMS, SYSTEMS, TASKS, of, sizes, speed_up};
use crate::run::record::Manifest;
use crate::stats::goals::digits;
use crate::stats::summary::Rows;
use crate::systems::system::System;
use std::fmt::Write;

/// For each program and size a line of each system: how long, how fast against one task, and what was sent.
pub fn render(rows: &Rows, _: &Manifest) -> String {
    let mut text = String::from(
        "Median of launches. Speed-up is against one task of the same system. Traffic: all\ntasks together, as Parvum's ledger has it.\n",
    );
    for program in &PROGRAMS {
        for size in sizes(rows, program) {
            let _ = writeln!(text, "\n{}, {size} {}", program.words, program.of);
            let _ = writeln!(
                text,
                "{:<20}{:>9}{:>24}{:>25}",
                "", "1 task ms", "speed-up of 2  4  8", "MB sent by 2  4  8"
            );
            for system in &SYSTEMS {
                let _ = writeln!(text, "{}", line(rows, system, program.name, size));
            }
        }
    }
    text
}

fn line(rows: &Rows, system: &System, program: &str, size: u64) -> String {
    let cell = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), digits);
    let mut line =
        format!("{:<20}{:>9}", system.family.name(), cell(of(rows, system, program, "run", (1, size))));
    for tasks in &TASKS[1..] {
        let _ = write!(line, "{:>8}", cell(speed_up(rows, system, program, (*tasks, size))));
    }
    line.push(' ');
    for tasks in &TASKS[1..] {
        let _ = write!(line, "{:>8}", cell(of(rows, system, program, "traffic", (*tasks, size))));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::super::{CLASSIC, tests::example};
    use super::*;

    #[test]
    fn table_line_is_complete_and_fits_terminal() {
        let rows = example();
        let line = line(&Rows(&rows), &CLASSIC, "network", 8800);
        assert_eq!(
            line.split_whitespace().collect::<Vec<_>>(),
            ["TreadMarks", "classic", "80.0", "2.00", "4.00", "8.00", "1.00", "9.00", "49.0"]
        );
        assert!(line.len() <= 80, "{line}");
    }
}
