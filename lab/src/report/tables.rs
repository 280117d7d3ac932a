//! The tables: link numbers, the papers beside ours, and all numbers.

use super::figures::groups;
use super::markup::{bytes, escape, points, table};
use crate::papers::printed;
use crate::stats::goals::digits;
use crate::stats::summary::{Row, Rows};
use crate::systems::system::{Extent, System, fft_systems, ring_systems};
use std::fmt::Write;

fn range(row: &Row) -> String {
    range_in(row, digits)
}

/// The median and its interval. One launch has none.
fn range_in(row: &Row, write: fn(f64) -> String) -> String {
    let median = write(row.median);
    match row.launches.len() {
        0 | 1 => median,
        _ => {
            format!("{median} <span class=\"range\">[{} &ndash; {}]</span>", write(row.low), write(row.high))
        }
    }
}

fn or_dash(row: Option<&Row>) -> String {
    row.map_or_else(|| "&ndash;".into(), range)
}

/// r_max, n_1/2 and t_0 of each system, and Fatoohi's own.
pub fn links(html: &mut String, rows: &[Row]) {
    links_of(html, rows, &ring_systems(Extent::Full));
}

/// The same of these systems.
pub fn links_of(html: &mut String, rows: &[Row], systems: &[System]) {
    let found = Rows(rows);
    html.push_str(
        "<h2 id=\"link\">r_max, n_1/2, t_0</h2>\
         <p>Fatoohi's three numbers of a link. r_max: the highest bandwidth reached. n_1/2: the message length that reaches half of it \
         (a small one means that short messages already travel well). t_0: the time of an empty message. The last column says how far \
         a straight line through all lengths is off at worst; where that is large, no single line describes the system.</p>",
    );
    let mut lines = vec![vec!["!head".into(), "here".into()]];
    for system in systems {
        let row = |metric| found.find("ring", system, metric, 2, 0);
        if row("r_max").is_none() {
            continue;
        }
        let length = row("n_1/2").map_or_else(|| "&ndash;".to_owned(), |r| range_in(r, bytes));
        lines.push(vec![
            escape(&system.label()),
            or_dash(row("r_max")),
            length,
            or_dash(row("t_0")),
            row("line: worst residual")
                .map_or_else(|| "&ndash;".into(), |r| format!("{} %", digits(r.median))),
        ]);
    }
    lines.push(vec!["!head".into(), "Fatoohi, 1995, Tables 1 and 3".into()]);
    for link in printed::LINKS.iter() {
        lines.push(vec![
            "!paper".into(),
            format!("{}, {}", link.network, link.software),
            digits(link.r_max / 1000.0),
            bytes(link.n_half),
            digits(link.t_zero),
            String::new(),
        ]);
    }
    lines.push(vec!["!head".into(), "Saphir, 1994, Table 1".into()]);
    for line in printed::BUFFERED.iter() {
        lines.push(vec![
            "!paper".into(),
            line.system.into(),
            line.rate().map(|rate| digits(rate / 1000.0)).unwrap_or_default(),
            String::new(),
            digits(line.latency),
            String::new(),
        ]);
    }
    html.push_str(&table(&["system", "r_max, GB/s", "n_1/2", "t_0, \u{b5}s", "line off by"], &lines));
    let _ = write!(
        html,
        "<p class=\"note\">Intervals: bootstrap over launches, 95 %. Sources: {}; {}. Saphir's are latency and asymptotic bandwidth.</p>",
        escape(printed::FATOOHI),
        escape(printed::SAPHIR)
    );
}

/// The transform in the paper's tables and here, under the systems of the main suite.
pub fn papers(html: &mut String, rows: &[Row]) {
    papers_of(html, rows, &fft_systems(Extent::Full));
}

/// The same under these systems.
pub fn papers_of(html: &mut String, rows: &[Row], systems: &[System]) {
    let found = Rows(rows);
    let _ = write!(
        html,
        "<h2 id=\"papers\">The papers' figures beside ours</h2><p class=\"note\">{}. Their times are in milliseconds; ours are in \
         milliseconds too, to be read down the column.</p>",
        escape(printed::ISLAM)
    );
    for (tasks, name) in [(2u32, "Table 6: FFT on 2 nodes, ms"), (4, "Table 7: FFT on 4 nodes, ms")] {
        let _ = write!(html, "<h3>{name}</h3>");
        let mut lines = Vec::new();
        for system in systems {
            let cells: Option<Vec<String>> = [128, 256, 512, 1024]
                .iter()
                .map(|n| {
                    found.find("fft", system, "time", tasks, *n).map(|r| format!("{:.4}", r.median / 1000.0))
                })
                .collect();
            if let Some(cells) = cells {
                lines.push(std::iter::once(escape(&system.label())).chain(cells).collect());
            }
        }
        for times in printed::FFT_TIMES.iter() {
            let figures = if tasks == 2 { times.two } else { times.four };
            let mut line = vec!["!paper".to_owned(), times.system.to_owned()];
            line.extend(figures.iter().map(|ms| digits(*ms)));
            lines.push(line);
        }
        html.push_str(&table(&["system", "128 points", "256", "512", "1024"], &lines));
    }
    html.push_str("<h3>Table 8: wait, communication, computation of one of 4 nodes, ms</h3>");
    let mut lines = Vec::new();
    let (small, large) = (groups(&found, systems, 4, 128), groups(&found, systems, 4, 1024));
    for (small, large) in small.iter().zip(&large) {
        let mut line = vec![format!("{}, task 0", escape(&small.label))];
        for task in [&small.tasks[0], &large.tasks[0]] {
            line.extend(
                [task.wait, task.communication, task.computation].map(|us| format!("{:.4}", us / 1000.0)),
            );
        }
        lines.push(line);
    }
    for split in printed::SPLITS.iter() {
        let mut line = vec!["!paper".to_owned(), split.system.to_owned()];
        line.extend(split.small.iter().chain(&split.large).map(|ms| digits(*ms)));
        lines.push(line);
    }
    let headings = ["system", "128: wait", "comm", "comp", "1024: wait", "comm", "comp"];
    html.push_str(&table(&headings, &lines));
    html.push_str("<h3>Table 9: speed-up of 512 points</h3>");
    let mut lines = Vec::new();
    for system in systems {
        let time = |tasks| found.find("fft", system, "time", tasks, 512).map(|r| r.median);
        if let (Some(one), Some(two), Some(four)) = (time(1), time(2), time(4)) {
            lines.push(vec![escape(&system.label()), digits(one / two), digits(one / four)]);
        }
    }
    for speed_up in printed::SPEED_UPS.iter() {
        lines.push(vec![
            "!paper".into(),
            speed_up.system.into(),
            digits(speed_up.on[0]),
            digits(speed_up.on[1]),
        ]);
    }
    html.push_str(&table(&["system", "2 tasks", "4 tasks"], &lines));
    html.push_str(
        "<p class=\"note\">On a 1993 workstation 512 points were tens of milliseconds of arithmetic; here they are a few microseconds, so \
         the message is a far larger part of the whole, and a speed-up at these sizes says more about the messages than about the \
         transform. The null round trip of the paper's Table 4 took 640 to 2170 \u{b5}s.</p>",
    );
}

/// Every row of the main suite.
pub fn details(html: &mut String, rows: &[Row]) {
    numbers(html, rows, &ring_systems(Extent::Full), &fft_systems(Extent::Full));
}

/// Every row: the rings and transforms of these systems, the floors, and the rest.
pub fn numbers(html: &mut String, rows: &[Row], rings: &[System], transforms: &[System]) {
    let found = Rows(rows);
    html.push_str("<h2 id=\"numbers\">All numbers</h2><p class=\"note\">Median of launches with its interval; then the spread of single samples over all launches.</p>");
    for system in rings {
        ring_details(html, &found, system);
    }
    let floors: Vec<Vec<String>> = rows
        .iter()
        .filter(|r| r.program == "floors" && r.metric == "time")
        .map(|r| {
            let rate =
                found.floor(&r.system, "bandwidth").find(|b| b.size == r.size).map(|b| digits(b.median));
            vec![
                escape(&r.system),
                bytes(r.size as f64),
                range(r),
                rate.unwrap_or_default(),
                r.samples.to_string(),
            ]
        })
        .collect();
    section(html, "Floors", &["floor", "size", "\u{b5}s", "GB/s", "launches"], &floors);
    for system in transforms {
        let lines: Vec<Vec<String>> = found
            .of("fft", system)
            .filter(|r| r.metric == "time")
            .map(|r| {
                vec![r.tasks.to_string(), points(r.size as f64), range(r), spread(r), r.samples.to_string()]
            })
            .collect();
        let name = format!("FFT: {}", system.label());
        section(html, &name, &["tasks", "points", "\u{b5}s", "p99 / p99.9 / max", "launches"], &lines);
    }
    let others: Vec<Vec<String>> = rows
        .iter()
        .filter(|r| {
            r.program != "fft" && r.program != "floors" && !RINGS.iter().any(|(ring, _)| r.program == *ring)
        })
        .map(|r| {
            let name = format!("{} {} {}", r.system, r.route, r.encoding);
            vec![
                escape(&r.program),
                escape(name.trim()),
                escape(&r.metric),
                r.tasks.to_string(),
                bytes(r.size as f64),
                format!("{} {}", range(r), escape(&r.unit)),
                spread(r),
                r.samples.to_string(),
            ]
        })
        .collect();
    let headings = ["program", "system", "metric", "tasks", "size", "value", "p99 / p99.9 / max", "launches"];
    section(html, "The rest", &headings, &others);
}

/// The ring's arrangements, and how they are noted.
const RINGS: [(&str, &str); 3] =
    [("ring", ""), ("ring-one-core", ", one core"), ("ring-refused", ", single copy refused")];

fn spread(row: &Row) -> String {
    row.spread.map_or_else(String::new, |s| {
        format!("{} / {} / {}", digits(s.p99), digits(s.p999), digits(s.maximum))
    })
}

fn ring_details(html: &mut String, found: &Rows, system: &System) {
    let mut lines = Vec::new();
    for (program, note) in RINGS {
        for row in found.of(program, system).filter(|r| r.metric == "half round trip") {
            let other =
                |metric| found.find(program, system, metric, row.tasks, row.size).map(|r| digits(r.median));
            lines.push(vec![
                format!("{}{note}", bytes(row.size as f64)),
                range(row),
                row.spread.map_or_else(String::new, |s| digits(s.minimum)),
                spread(row),
                other("bandwidth").unwrap_or_default(),
                other("first message").unwrap_or_default(),
                row.samples.to_string(),
            ]);
        }
    }
    let name = format!("Ring: {}", system.label());
    let headings = [
        "size",
        "hop, \u{b5}s",
        "min",
        "p99 / p99.9 / max",
        "GB/s",
        "first message, \u{b5}s a hop",
        "launches",
    ];
    section(html, &name, &headings, &lines);
}

fn section(html: &mut String, name: &str, headings: &[&str], lines: &[Vec<String>]) {
    if !lines.is_empty() {
        let _ =
            write!(html, "<details><summary>{}</summary>{}</details>", escape(name), table(headings, lines));
    }
}
