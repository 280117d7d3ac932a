//! The npb suite in a terminal.

use super::{all_systems, measured, of};
use crate::run::record::Manifest;
use crate::stats::goals::digits;
use crate::stats::summary::Rows;
use crate::table::columns;

/// A block for each class, a line for each system and number of tasks, with ratios to the first system there, which is ours where it was
/// measured.
pub fn render(rows: &Rows, _: &Manifest) -> String {
    let mut text = String::from(
        "Every launch was verified. Milliseconds of an iteration, and of these in calls\nthat send or receive (the longest task), which waits there for others' computing\ntoo; beyond: longer than all computing takes, shared evenly by the cores.\n",
    );
    let systems = all_systems();
    let mut last = None;
    let mut lines: Vec<Vec<String>> = Vec::new();
    let headings = ["", "tasks", "ms", "over ours", "in calls", "over ours", "beyond"];
    for (case, tasks) in measured(rows, &systems) {
        if last.is_some_and(|last: &super::Case| last.options != case.options) {
            columns(&mut text, &headings, &lines);
            lines.clear();
        }
        if last.is_none_or(|last| last.options != case.options) {
            text.push_str(&format!(
                "\n{}, class {}, {} points each way\n",
                case.words, case.class, case.size[0]
            ));
        }
        last = Some(case);
        // What the ratios are to: Parvum where its tasks were in the same place.
        let place = |route: &str| crate::host::hosts::of_route(route);
        for system in &systems {
            let Some(time) = of(rows, system, case, "iteration", tasks) else { continue };
            let ours = systems
                .iter()
                .filter(|own| {
                    own.family == crate::systems::system::Family::Parvum
                        && place(own.route) == place(system.route)
                })
                .find(|own| of(rows, own, case, "iteration", tasks).is_some());
            let at = |metric| of(rows, system, case, metric, tasks);
            let over = |metric: &str, value: f64| {
                let own = ours.and_then(|own| of(rows, own, case, metric, tasks)).filter(|own| *own > 0.0);
                own.map_or_else(|| "-".to_owned(), |own| digits(value / own))
            };
            let calls = at("communication");
            lines.push(vec![
                format!("{} {}", system.family.name(), system.route).trim_end().to_owned(),
                tasks.to_string(),
                digits(time),
                over("iteration", time),
                calls.map_or_else(|| "-".to_owned(), digits),
                calls.map_or_else(|| "-".to_owned(), |calls| over("communication", calls)),
                at("beyond computing").map_or_else(|| "-".to_owned(), digits),
            ]);
        }
    }
    if !lines.is_empty() {
        columns(&mut text, &headings, &lines);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::{SYSTEMS, hosts, tests::rows};
    use super::*;
    use crate::report::tests::manifest;
    use crate::table::WIDTH;

    #[test]
    fn table_line_shows_ratio_of_system_to_parvum() {
        let (own, direct) = (&SYSTEMS[0], &SYSTEMS[2]);
        let session = [
            rows(
                own,
                "lu",
                64,
                4,
                &[("iteration", 20.0), ("communication", 4.0), ("beyond computing", 1.92)],
            ),
            rows(
                direct,
                "lu",
                64,
                4,
                &[("iteration", 30.0), ("communication", 16.0), ("beyond computing", 9.5)],
            ),
            rows(&hosts::TWO[3], "bt", 64, 4, &[("iteration", 99.0)]),
        ]
        .concat();
        let text = render(&Rows(&session), &manifest());
        assert!(text.contains("LU, class A, 64 points each way"), "{text}");
        let line =
            text.lines().find(|line| line.trim_start().starts_with("PVM 3.4.6 direct")).expect("a line");
        let words: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(words[3..], ["4", "30.0", "1.50", "16.0", "4.00", "9.50"]);
        assert!(text.contains("PVM 3.4.6 daemon-2-hosts") && !text.contains("SP"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
    }
}
