//! The pvmtime suite in a terminal.

use super::{EXPERIMENTS, LARGEST, routes, throughput};
use crate::run::record::Manifest;
use crate::stats::goals::digits;
use crate::stats::summary::Rows;
use crate::systems::system::Encoding;
use crate::table::columns;

/// Throughput of 1 KiB and of the largest message, for each experiment that packs as XDR, by route.
pub fn render(rows: &Rows, _: &Manifest) -> String {
    let mut text =
        String::from("Throughput at a master in Mbit/s, in and out. Messages of 1024 B and of 16 KiB.\n");
    let systems: Vec<_> = routes(Encoding::Xdr).collect();
    let headings: Vec<String> = std::iter::once(String::new())
        .chain(systems.iter().map(|system| format!("{} {}", system.family.name(), system.route)))
        .collect();
    let mut lines = Vec::new();
    for experiment in &EXPERIMENTS {
        let tasks = experiment.arrangement.tasks();
        let cell = |system| {
            let of = |size| {
                throughput(rows, experiment.program, system, tasks, size).map(|row| digits(row.median))
            };
            match (of(1024), of(LARGEST)) {
                (None, None) => "-".to_owned(),
                (None, Some(large)) => large,
                (small, large) => {
                    format!("{} {}", small.unwrap_or_default(), large.unwrap_or_else(|| "-".into()))
                }
            }
        };
        let cells: Vec<String> = systems.iter().map(cell).collect();
        if cells.iter().any(|cell| cell != "-") {
            lines.push(std::iter::once(experiment.program.to_owned()).chain(cells).collect());
        }
    }
    columns(&mut text, &headings.iter().map(String::as_str).collect::<Vec<_>>(), &lines);
    text
}

#[cfg(test)]
mod tests {
    use super::super::tests::example;
    use super::*;
    use crate::report::tests::manifest;
    use crate::table::WIDTH;

    #[test]
    fn table_has_line_per_measured_experiment() {
        let text = render(&Rows(&example()), &manifest());
        assert!(text.contains("blast, 4.1-4.1") && text.contains("2048 32768"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        assert!(!render(&Rows(&[]), &manifest()).contains("blast"));
    }
}
