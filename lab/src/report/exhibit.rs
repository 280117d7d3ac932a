//! The curves of a table or figure: what the paper printed, where it printed values, and what this session measured.

use super::curve::{Axes, Point, Series, chart};
use super::headline;
use super::markup::{bytes, figure};
use crate::catalogue::{Against, Curves, Exhibit, Law, Paper, Printed};
use crate::stats::summary::Row;
use crate::suites;
use crate::systems::system::{Extent, System};
use std::collections::{BTreeMap, BTreeSet};

/// More lines than these nobody tells apart: then only those are drawn of which the paper claims something.
const MANY: usize = 9;
/// Colours of the lines of systems that no suite names.
const REST: [&str; 4] = ["s-engine", "s-openmpi", "s-mpich", "s-nx"];

/// A line of today: its program, system, route and encoding, and what stays the same along it (tasks, or the size).
type Line<'a> = (&'a str, &'a str, &'a str, &'a str, u64);

/// An exhibit's curves; nothing where it has none, or nothing was measured of them.
pub fn drawing(paper: &Paper, exhibit: &Exhibit, rows: &[Row]) -> String {
    drawn(paper, exhibit, rows).unwrap_or_default()
}

fn drawn(paper: &Paper, exhibit: &Exhibit, rows: &[Row]) -> Option<String> {
    let curves = exhibit.curves.as_ref()?;
    let (today, unit) = today(exhibit, curves, rows)?;
    let y = if curves.is_speed_up { curves.y.clone() } else { format!("{unit}, {}", curves.y) };
    let axes = Axes {
        title: if curves.then.is_some() { "Then, and today" } else { "Today" },
        x: match curves.against {
            Against::Size if curves.is_bytes => bytes,
            _ => |x| format!("{x:.0}"),
        },
        x_name: match curves.against {
            Against::Size if curves.is_bytes => "length",
            Against::Size => "points",
            Against::Tasks => "tasks",
        },
        y_name: &y,
        break_even: false,
        width: 1030.0,
    };
    let (then, words) = match &curves.then {
        Some(law) => (then(paper, law), law.words()),
        None => {
            (Vec::new(), "The paper draws its curves without values: what its text says of them is below.")
        }
    };
    let series: Vec<Series> = then.into_iter().chain(today).collect();
    let mut html = String::new();
    figure(&mut html, &chart(&series, &axes), words);
    Some(html)
}

impl Law {
    fn words(&self) -> &'static str {
        match self {
            Law::Columns { .. } => {
                "Grey, dashed: what the paper printed. Both axes are logarithmic; lines that run side by side grow alike."
            }
            Law::Bandwidth { .. } => {
                "Grey, dashed: the curves that belong to the paper's own r_max and n_1/2, r(n) = r_max / (1 + n_1/2 / n), which is how it describes them."
            }
        }
    }
}

/// The paper's curves.
fn then(paper: &Paper, law: &Law) -> Vec<Series> {
    let table = match law {
        Law::Columns { table, .. } | Law::Bandwidth { table, .. } => *table,
    };
    let Some(printed) = paper.printed(table) else { return Vec::new() };
    let lines = printed.rows.iter().enumerate().map(|(row, cells)| {
        let names: Vec<&str> = cells.iter().filter_map(|cell| cell.word()).collect();
        let points = match law {
            Law::Columns { at, times, .. } => at
                .iter()
                .zip(&cells[1..])
                .filter_map(|(x, cell)| Some(exact(*x, cell.number()? * times)))
                .collect(),
            Law::Bandwidth { r_max, n_half, from, to, times, .. } => {
                by_law(printed, row, (*r_max, *n_half), (*from, *to), *times)
            }
        };
        Series { label: names.join(", "), class: "s-floor", dash: "dash1", points }
    });
    lines.filter(|line| line.points.len() > 1).collect()
}

/// Points of r(n) = r_max / (1 + n_1/2 / n) at each power of two between two lengths.
fn by_law(
    printed: &Printed,
    row: usize,
    (r_max, n_half): (usize, usize),
    (from, to): (f64, f64),
    times: f64,
) -> Vec<Point> {
    let number = |column: usize| printed.rows[row].get(column).and_then(|cell| cell.number());
    let (Some(r_max), Some(n_half)) = (number(r_max), number(n_half)) else { return Vec::new() };
    let lengths = std::iter::successors(Some(from), |n| Some(n * 2.0)).take_while(|n| *n <= to);
    lengths.map(|n| exact(n, times * r_max / (1.0 + n_half / n))).collect()
}

fn exact(x: f64, y: f64) -> Point {
    Point { x, y, low: y, high: y }
}

/// This session's curves, and their unit.
fn today(exhibit: &Exhibit, curves: &Curves, rows: &[Row]) -> Option<(Vec<Series>, String)> {
    let again = exhibit.again.as_ref()?;
    let is_asked = |row: &&Row| {
        row.metric == curves.metric
            && (row.task, row.median > 0.0) == (None, true)
            && again.programs.contains(&row.program)
            && (again.tasks.is_empty() || again.tasks.contains(&row.tasks))
            && (curves.sizes.is_empty() || curves.sizes.contains(&row.size))
    };
    let unit = rows.iter().find(is_asked)?.unit.clone();
    let mut lines: BTreeMap<Line<'_>, Vec<&Row>> = BTreeMap::new();
    for row in rows.iter().filter(is_asked) {
        let same = if curves.against == Against::Size { u64::from(row.tasks) } else { row.size };
        let line = (&*row.program, &*row.system, &*row.route, &*row.encoding, same);
        lines.entry(line).or_default().push(row);
    }
    let is_claimed = |line: &Vec<&Row>| {
        let values = exhibit.claims.iter().flat_map(|claim| &claim.today);
        let mut asked = values.flat_map(|value| value.over.iter().chain(&value.under));
        asked.any(|asked| asked.is_of_line(line[0]))
    };
    lines.retain(|_, rows| rows.len() > 1);
    if lines.len() > MANY && lines.values().any(is_claimed) {
        lines.retain(|_, rows| is_claimed(rows));
    }
    let names: [fn(&Line<'_>) -> String; 3] =
        [|line| line.0.to_owned(), |line| line.3.to_owned(), |line| line.4.to_string()];
    let differs = names.map(|of| lines.keys().map(of).collect::<BTreeSet<String>>().len() > 1);
    let known: Vec<System> = suites::find(&again.suite)
        .map(|suite| (suite.jobs)(Extent::Full).iter().filter_map(|job| job.system).collect())
        .unwrap_or_default();
    let mut drawn: Vec<Series> = Vec::new();
    for (line, rows) in &lines {
        let found = known.iter().find(|one| (one.family.name(), one.route) == (line.1, line.2));
        let class = found.map_or(REST[drawn.len() % REST.len()], headline::class);
        // Lines of one system differ in their program, or in what stays the same along them.
        let alike = drawn.iter().filter(|other| other.class == class).count();
        drawn.push(Series {
            label: label(*line, differs, curves.against),
            class,
            dash: ["", "dash2", "dash1"][alike % 3],
            points: points(rows, curves),
        });
    }
    drawn.retain(|line| line.points.len() > 1);
    (!drawn.is_empty()).then_some((drawn, unit))
}

fn points(rows: &[&Row], curves: &Curves) -> Vec<Point> {
    let alone = rows.iter().find(|row| row.tasks == 1).map(|row| row.median);
    let mut points: Vec<Point> = Vec::new();
    for row in rows {
        let x = if curves.against == Against::Size { row.size } else { u64::from(row.tasks) } as f64;
        match (curves.is_speed_up, alone) {
            _ if x == 0.0 => {}
            (false, _) => points.push(Point { x, y: row.median, low: row.low, high: row.high }),
            (true, Some(one)) => {
                points.push(Point { x, y: one / row.median, low: one / row.high, high: one / row.low });
            }
            (true, None) => {}
        }
    }
    points.sort_by(|a, b| a.x.total_cmp(&b.x));
    points
}

/// Names a line by what tells it from the others.
fn label((program, system, route, encoding, rest): Line<'_>, by: [bool; 3], against: Against) -> String {
    let mut words = vec![if route.is_empty() { system.to_owned() } else { format!("{system} {route}") }];
    if by[1] && !encoding.is_empty() {
        words.push(encoding.to_owned());
    }
    if by[0] {
        words.push(program.to_owned());
    }
    if by[2] {
        words.push(match against {
            Against::Size => format!("{rest} tasks"),
            Against::Tasks => format!("size {rest}"),
        });
    }
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{Kind, PAPERS};
    use crate::stats::summary::tests::row;
    use crate::systems::system::{Encoding, Family};

    fn exhibit(paper: &str, kind: Kind, number: u32) -> (&'static Paper, &'static Exhibit) {
        let paper = PAPERS.iter().find(|one| one.number == paper).expect("it is one of the five");
        let mut exhibits = paper.exhibits.iter();
        (paper, exhibits.find(|one| (one.kind, one.number) == (kind, number)).expect("it has such a one"))
    }

    fn drawn(paper: &str, kind: Kind, number: u32, rows: &[Row]) -> String {
        let (paper, exhibit) = exhibit(paper, kind, number);
        drawing(paper, exhibit, rows)
    }

    fn times() -> Vec<Row> {
        let system = System::new(Family::Parvum, "shm", Encoding::Raw);
        [128, 256, 512, 1024].map(|size| row(&system, "fft", "time", size, &[size as f64 / 100.0; 6])).into()
    }

    #[test]
    fn exhibit_shows_printed_values_beside_measured() {
        let html = drawn("000", Kind::Table, 6, &times());
        assert!(html.contains("PVM on SPARCstation II") && html.contains("Parvum shm"), "{html}");
        assert!(html.contains("Grey, dashed: what the paper printed"));
        // Table 7 is of 4 tasks, which these rows are not.
        assert!(drawn("000", Kind::Table, 7, &times()).is_empty());
    }

    #[test]
    fn exhibit_draws_curve_from_formula_of_paper() {
        let system = System::new(Family::Pvm, "direct", Encoding::Raw);
        let rows = [1024, 65536].map(|size| row(&system, "ring", "bandwidth", size, &[0.5; 6]));
        let html = drawn("004", Kind::Figure, 3, &rows);
        assert!(html.contains("DaV/Ethernet") && html.contains("r(n) = r_max"), "{html}");
        let (paper, exhibit) = exhibit("004", Kind::Figure, 3);
        let law = exhibit.curves.as_ref().and_then(|curves| curves.then.as_ref()).expect("it has a law");
        let ethernet = &then(paper, law)[0];
        // 1.0 MB/s, and half of it at 848 bytes.
        let at = |n: f64| ethernet.points.iter().find(|point| point.x == n).expect("a power of two").y;
        assert!((at(1024.0) - 0.001 / (1.0 + 848.0 / 1024.0)).abs() < 1e-9);
    }

    #[test]
    fn exhibit_curves_name_existing_rows_and_tables() {
        for paper in PAPERS.iter() {
            for exhibit in &paper.exhibits {
                let Some(curves) = &exhibit.curves else { continue };
                let name = format!("{} {}", paper.number, exhibit.name());
                assert!(exhibit.again.is_some(), "{name}: only what is run again has curves");
                if let Some(law) = &curves.then {
                    assert!(!then(paper, law).is_empty(), "{name}: nothing of then");
                }
            }
        }
    }
}
