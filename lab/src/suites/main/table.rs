//! The main suite in a terminal.

use super::{FFT_TASKS, PAPER_POINTS};
use crate::run::record::Manifest;
use crate::stats::goals::digits;
use crate::stats::paired::compare_rows;
use crate::stats::statistics::Verdict;
use crate::stats::summary::{Row, Rows};
use crate::systems::system::{self, Extent, System};
use std::fmt::Write;

/// Whether small or large values win.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Better {
    Small,
    Large,
}

/// One column: its heading and the row each system has for it.
struct Column<'a> {
    heading: &'static str,
    better: Better,
    cells: Vec<Option<&'a Row>>,
}

const MARKS: &str = "Median of launches; * marks the best and what no test tells from it.\n\
     In brackets: how many times better than the best peer; = where no difference\n\
     is shown, ? where there were too few launches to test.\n";

/// One table of points, one of transforms.
pub fn render(rows: &Rows, _: &Manifest) -> String {
    let mut text = String::new();
    points(&mut text, rows);
    transforms(&mut text, rows);
    text
}

/// The ring over hosts.
pub fn over_hosts(rows: &Rows, _: &Manifest) -> String {
    let systems = system::OVER_HOSTS;
    let column = |heading, better, metric: &str, size| Column {
        heading,
        better,
        cells: systems.iter().map(|system| rows.find("ring", system, metric, 2, size)).collect(),
    };
    let columns = [
        column("8 B hop us", Better::Small, "half round trip", 8),
        column("1 KiB hop us", Better::Small, "half round trip", 1024),
        column("16 KiB hop us", Better::Small, "half round trip", 16384),
        column("1 MiB hop us", Better::Small, "half round trip", 1 << 20),
        column("r_max GB/s", Better::Large, "r_max", 0),
        column("t_0 us", Better::Small, "t_0", 0),
    ];
    let mut text = format!("Two tasks, each on a host of its own.\n{MARKS}");
    grid(&mut text, &systems, &columns);
    text
}

fn points(text: &mut String, rows: &Rows) {
    let systems = system::ring_systems(Extent::Full);
    let column = |heading, better, program: &str, metric: &str, size| Column {
        heading,
        better,
        cells: systems.iter().map(|s| rows.find(program, s, metric, 2, size)).collect(),
    };
    let columns = [
        column("8 B hop us", Better::Small, "ring", "half round trip", 8),
        column("64 KiB hop us", Better::Small, "ring", "half round trip", 65536),
        column("1 MiB GB/s", Better::Large, "ring", "bandwidth", 1 << 20),
        column("4 MiB GB/s", Better::Large, "ring", "bandwidth", 4 << 20),
        column("1 core 8 B us", Better::Small, "ring-one-core", "half round trip", 8),
        column("blocked CPU %", Better::Small, "blocked", "processor", 0),
        column("start-end ms", Better::Small, "start", "start and end", 0),
        column("from cold ms", Better::Small, "start, cold", "start and end", 0),
    ];
    text.push_str("Two tasks. ");
    text.push_str(MARKS);
    grid(text, &systems, &columns);
}

fn transforms(text: &mut String, rows: &Rows) {
    let systems = system::fft_systems(Extent::Full);
    for tasks in FFT_TASKS {
        let headings = ["128 us", "256 us", "512 us", "1024 us"];
        let mut columns: Vec<Column> = PAPER_POINTS
            .iter()
            .zip(headings)
            .map(|(points, heading)| Column {
                heading,
                better: Better::Small,
                cells: systems.iter().map(|s| rows.find("fft", s, "time", tasks, *points)).collect(),
            })
            .collect();
        columns.push(Column {
            heading: "2^20 us",
            better: Better::Small,
            cells: systems.iter().map(|s| rows.find("fft", s, "time", tasks, 1 << 20)).collect(),
        });
        if columns.iter().all(|column| column.cells.iter().all(Option::is_none)) {
            continue;
        }
        let plural = if tasks == 1 { "" } else { "s" };
        let _ = writeln!(text, "\nFFT on {tasks} task{plural}, points:");
        grid(text, &systems, &columns);
    }
}

/// Lays out the systems that have any cell.
fn grid(text: &mut String, systems: &[System], columns: &[Column]) {
    let present: Vec<usize> =
        (0..systems.len()).filter(|i| columns.iter().any(|c| c.cells[*i].is_some())).collect();
    let cells: Vec<Vec<String>> = columns
        .iter()
        .map(|column| {
            let best = best(column, &present, |_| true);
            let peer = best_peer(column, &present, systems);
            present.iter().map(|&i| cell(column, i, best, peer, systems)).collect()
        })
        .collect();
    let headings: Vec<&str> =
        std::iter::once("").chain(columns.iter().map(|column| column.heading)).collect();
    let line = |(line, i): (usize, &usize)| {
        let values = cells.iter().map(|cells| cells[line].clone());
        std::iter::once(systems[*i].label()).chain(values).collect()
    };
    let lines: Vec<Vec<String>> = present.iter().enumerate().map(line).collect();
    crate::table::columns(text, &headings, &lines);
}

fn better(column: &Column, a: f64, b: f64) -> bool {
    if column.better == Better::Small { a < b } else { a > b }
}

fn best(column: &Column, present: &[usize], keep: impl Fn(usize) -> bool) -> Option<usize> {
    let mut best: Option<(usize, f64)> = None;
    for &i in present.iter().filter(|i| keep(**i)) {
        if let Some(row) = column.cells[i]
            && best.is_none_or(|(_, value)| better(column, row.median, value))
        {
            best = Some((i, row.median));
        }
    }
    best.map(|(i, _)| i)
}

fn best_peer(column: &Column, present: &[usize], systems: &[System]) -> Option<usize> {
    best(column, present, |i| !systems[i].family.is_ours())
}

fn cell(column: &Column, i: usize, best: Option<usize>, peer: Option<usize>, systems: &[System]) -> String {
    let Some(row) = column.cells[i] else { return "-".into() };
    let mut text = digits(row.median);
    // Whatever the test cannot tell from the best shares its mark.
    let shares = |best: usize| {
        column.cells[best].is_some_and(|other| compare_rows(row, other) == Verdict::NoDifferenceShown)
    };
    if best.is_some_and(|best| best == i || shares(best)) {
        text.push('*');
    }
    if systems[i].family.is_ours()
        && let Some(other) = peer.and_then(|peer| column.cells[peer])
        && row.median > 0.0
        && other.median > 0.0
    {
        let ratio = if column.better == Better::Small {
            other.median / row.median
        } else {
            row.median / other.median
        };
        let _ = match compare_rows(row, other) {
            Verdict::NoDifferenceShown => write!(text, " (=)"),
            Verdict::TooFew => write!(text, " ({}x?)", digits(ratio)),
            _ => write!(text, " ({}x)", digits(ratio)),
        };
    }
    text
}
