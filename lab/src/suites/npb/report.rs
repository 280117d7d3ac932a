//! The npb suite's part of the report.

use super::{CASES, Case, TASKS, all_systems, formulas, of};
use crate::report::curve::{Axes, Point, Series, chart};
use crate::report::headline::class;
use crate::report::markup::{escape, figure, table, table_of_measured};
use crate::stats::goals::digits;
use crate::stats::summary::{Row, Rows};
use std::fmt::Write;

const AXES: Axes = Axes {
    title: "",
    x: |tasks| format!("{tasks:.0}"),
    x_name: "tasks",
    y_name: "ms of an iteration, lower is better",
    break_even: false,
    width: 780.0,
};

/// A class by the number of tasks, a line for each system; nothing where there is one number only.
fn drawing(rows: &Rows, case: &Case) -> String {
    let lines: Vec<Series> = all_systems()
        .iter()
        .filter_map(|system| {
            let at = |tasks| rows.find(case.program, system, "iteration", tasks, case.size[0]);
            let points: Vec<Point> = TASKS
                .iter()
                .filter_map(|tasks| at(*tasks).map(|row| (*tasks, row)))
                .map(|(tasks, row)| Point {
                    x: f64::from(tasks),
                    y: row.median,
                    low: row.low,
                    high: row.high,
                })
                .collect();
            // PVM by its default route, wherever it runs.
            let dash = if system.route.starts_with("daemon") { "dash1" } else { "" };
            (points.len() > 1).then(|| Series { label: system.label(), class: class(system), dash, points })
        })
        .collect();
    if lines.is_empty() { String::new() } else { chart(&lines, &AXES) }
}

/// Figures 7 to 9.
pub fn times(html: &mut String, rows: &[Row]) {
    let rows = Rows(rows);
    html.push_str(
        "<h2 id=\"npb\">Time of an iteration</h2>\
         <p>Milliseconds by the number of tasks; in brackets what the task that was longest in calls spent there: sending, receiving, and waiting for others, also for \
         their computing where tasks share a core; and behind the stroke by how much the iteration took longer than all computing does, shared evenly by the cores. Every launch was verified by the official values.</p>",
    );
    let headings: Vec<String> = std::iter::once(String::new())
        .chain(TASKS.iter().map(|tasks| format!("{tasks} task{}", if *tasks == 1 { "" } else { "s" })))
        .collect();
    let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
    for case in &CASES {
        let mut lines = Vec::new();
        for system in all_systems() {
            let cells = TASKS.map(|tasks| {
                let at = |metric| of(&rows, &system, case, metric, tasks);
                let time = at("iteration").map(digits);
                time.map(|time| match at("communication") {
                    Some(calls) => {
                        let beyond = at("beyond computing")
                            .map_or_else(String::new, |ms| format!(" / {}", digits(ms)));
                        format!("{time} ({}{beyond})", digits(calls))
                    }
                    None => time,
                })
            });
            if cells.iter().any(Option::is_some) {
                let cells = cells.into_iter().map(|cell| cell.unwrap_or_else(|| "&ndash;".into()));
                lines.push(std::iter::once(escape(&system.label())).chain(cells).collect());
            }
        }
        if !lines.is_empty() {
            let _ = write!(
                html,
                "<h3>{}, class {}, {} points each way</h3>",
                case.words, case.class, case.size[0]
            );
            figure(html, &drawing(&rows, case), "");
            html.push_str(&table_of_measured(&headings, &lines));
        }
    }
}

/// Figures 5 and 6.
pub fn messages(html: &mut String, rows: &[Row]) {
    let rows = Rows(rows);
    html.push_str(
        "<h2 id=\"npb-messages\">Messages and volume</h2>\
         <p>Of all tasks in an iteration, as they were counted where they were sent, and by the algorithm's formula. The same for every system, which only carries \
         them.</p>",
    );
    let headings =
        ["", "tasks", "blocks", "messages", "by formula", "MB", "by formula", "bytes of a message"];
    let mut lines: Vec<Vec<String>> = Vec::new();
    for case in &CASES {
        for tasks in TASKS.into_iter().filter(|tasks| *tasks > 1) {
            let counted = all_systems().iter().find_map(|system| {
                of(&rows, system, case, "messages", tasks).zip(of(&rows, system, case, "traffic", tasks))
            });
            let Some((messages, traffic)) = counted else { continue };
            let sent = formulas::sent(case.program, case.size[0], tasks);
            let [x, y, z] = formulas::blocks(case.program, tasks);
            let dash = || "&ndash;".to_owned();
            lines.push(vec![
                format!("{}, class {}", case.words, case.class),
                tasks.to_string(),
                format!("{x} &times; {y} &times; {z}"),
                format!("{messages:.0}"),
                sent.map_or_else(dash, |sent| sent.messages.to_string()),
                digits(traffic),
                sent.map_or_else(dash, |sent| digits(sent.bytes as f64 / 1e6)),
                format!("{:.0}", traffic * 1e6 / messages.max(1.0)),
            ]);
        }
    }
    if !lines.is_empty() {
        html.push_str(&table(&headings, &lines));
    }
}

#[cfg(test)]
mod tests {
    use super::super::{SYSTEMS, tests::rows};
    use super::*;

    #[test]
    fn sections_show_measurements_beside_formulas() {
        let metrics =
            [("iteration", 20.0), ("communication", 4.0), ("messages", 744.0), ("traffic", 1.92576)];
        let mut session = rows(&SYSTEMS[0], "lu", 64, 4, &metrics);
        let mut one = String::new();
        times(&mut one, &session);
        assert!(!one.contains("<svg"), "one number of tasks makes no line: {one}");
        session.extend(rows(&SYSTEMS[0], "lu", 64, 1, &[("iteration", 40.0)]));
        let mut html = String::new();
        times(&mut html, &session);
        messages(&mut html, &session);
        assert!(html.contains("LU, class A, 64 points each way") && html.contains("20.0 (4.00)"), "{html}");
        assert!(html.contains("2 &times; 2 &times; 1") && html.matches("744").count() == 2, "{html}");
        assert!(!html.contains("SP, class") && !html.contains("NaN"), "{html}");
        assert_eq!(html.matches("<svg").count(), 1, "{html}");
    }
}
