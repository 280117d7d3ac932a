//! The sockets suite's part of the report.

use super::{CHOSEN, SOCKETS, of};
use crate::report::curve::{Axes, Point, Series, chart};
use crate::report::markup::{bytes, figure, table};
use crate::stats::goals::with_unit;
use crate::stats::summary::{Row, Rows};

const AXES: Axes = Axes {
    title: "",
    x: bytes,
    x_name: "",
    y_name: "GB/s, higher is better",
    break_even: false,
    width: 900.0,
};

/// Figures 1 and 2.
pub fn streams(html: &mut String, rows: &[Row]) {
    html.push_str("<h2 id=\"streams\">Streams of TCP</h2><p>A block of messages ends when the other end has received all of it.</p>");
    let draw = |program: &str, title, x_name| {
        let mut points: Vec<Point> = Rows(rows)
            .of(program, &SOCKETS)
            .filter(|row| row.metric == "bandwidth")
            .map(|row| Point { x: row.size as f64, y: row.median, low: row.low, high: row.high })
            .collect();
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        let series = Series { label: "sockets".into(), class: "s-parvum", dash: "", points };
        chart(&[series], &Axes { title, x_name, ..AXES })
    };
    let by_buffer =
        draw("sockets, by buffer", "By the socket's buffer, messages of 32 KiB (EXP_1, figure 1)", "buffer");
    figure(html, &by_buffer, "");
    let by_message = draw("sockets", "By the message, the system's buffers (EXP_2, figure 2)", "message");
    figure(
        html,
        &by_message,
        "Buffers are those that the system chooses, which it lets grow; in 1995 they were what one asked for.",
    );
}

/// Table 2, and the echo.
pub fn at_once(html: &mut String, rows: &[Row]) {
    html.push_str("<h2 id=\"pairs\">At once</h2><p>Messages of 32 KiB: of each stream. Two pairs on fewer than four cores share them.</p>");
    let rows = Rows(rows);
    let lines: Vec<Vec<String>> = [
        ("one way", of(&rows, "sockets, one way", 2, "bandwidth", CHOSEN)),
        ("both ways (EXP_3)", of(&rows, "sockets, both ways", 2, "bandwidth", CHOSEN)),
        ("four machines (EXP_4)", of(&rows, "sockets, four machines", 4, "bandwidth", CHOSEN)),
        ("echo of 8 bytes, one way (EXP_5)", of(&rows, "sockets, echo", 2, "half round trip", 8)),
    ]
    .into_iter()
    .filter_map(|(name, row)| Some(vec![name.to_owned(), with_unit(row?)]))
    .collect();
    html.push_str(&table(&["", "today"], &lines));
}
