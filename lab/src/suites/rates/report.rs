//! The table and the page of the rates: a table for each unit, and a drawing for each number of pairs.

use super::TASKS;
use crate::report::curve::{Axes, Point, Series, chart};
use crate::report::headline::class;
use crate::report::markup::{bytes, figure};
use crate::stats::goals::digits;
use crate::stats::summary::{Row, Rows};
use crate::systems::system::System;
use crate::table::columns;

/// The cells of the terminal's table.
const SHOWN: [(&str, &str, u64); 3] = [
    ("message rate", "M/s, 8 B", 8),
    ("message rate", "M/s, 1 KiB", 1024),
    ("bandwidth", "GB/s, 1 MiB", 1 << 20),
];

/// A table for each metric and size, with a column for each number of pairs.
pub fn table(rows: &Rows, systems: &[System]) -> String {
    let mut text = String::from("All pairs together, by the number of pairs. Median of launches.\n");
    for (metric, heading, size) in SHOWN {
        let line = |system: &System| {
            let cell = |tasks: u32| {
                let row = rows.find("pairs", system, metric, tasks, size);
                row.map_or_else(|| "-".to_owned(), |row| digits(row.median))
            };
            let cells = TASKS.map(cell);
            let is_measured = cells.iter().any(|cell| cell != "-");
            is_measured.then(|| std::iter::once(system.label()).chain(cells).collect::<Vec<_>>())
        };
        let lines: Vec<Vec<String>> = systems.iter().filter_map(line).collect();
        if !lines.is_empty() {
            text.push('\n');
            columns(&mut text, &[heading, "1 pair", "2 pairs", "4 pairs"], &lines);
        }
    }
    text
}

/// Rates and bandwidths by the length of a message.
pub fn section(html: &mut String, rows: &[Row], systems: &[System]) {
    html.push_str(
        "<h2 id=\"rates\">Messages a second</h2><p>All pairs together, by the length of a message.</p>",
    );
    drawings(html, rows, systems, "message rate", "million messages a second, higher is better");
    html.push_str(
        "<h2 id=\"bandwidths\">Bytes a second</h2><p>The same runs, as data of all pairs together.</p>",
    );
    drawings(html, rows, systems, "bandwidth", "GB/s, higher is better");
    html.push_str(
        "<p class=\"note\">With more tasks than cores a pair waits until its tasks get cores. Then the figure shows who yields a core, not how \
         fast messages are. A dashed line is a system whose tasks use TCP although they share a host.</p>",
    );
}

fn drawings(html: &mut String, rows: &[Row], systems: &[System], metric: &str, y_name: &str) {
    for tasks in TASKS {
        let title = if tasks == 2 { "One pair".to_owned() } else { format!("{} pairs", tasks / 2) };
        let axes = Axes {
            title: &title,
            x: bytes,
            x_name: "message length",
            y_name,
            break_even: false,
            width: 900.0,
        };
        let series = |system: &System| {
            let is_wanted = |row: &&Row| row.metric == metric && row.tasks == tasks && row.median > 0.0;
            let point = |row: &Row| Point { x: row.size as f64, y: row.median, low: row.low, high: row.high };
            let mut points: Vec<Point> =
                Rows(rows).of("pairs", system).filter(is_wanted).map(point).collect();
            points.sort_by(|a, b| a.x.total_cmp(&b.x));
            let dash = if system.route == "tcp" { "dash1" } else { "" };
            Series { label: system.label(), class: class(system), dash, points }
        };
        figure(html, &chart(&systems.iter().map(series).collect::<Vec<_>>(), &axes), "");
    }
}
