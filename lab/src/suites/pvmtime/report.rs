//! The pvmtime suite's part of the report: the paper's figures, drawn anew.

use super::{DAEMONS, DIRECT, ENCODINGS, LEVEL_SIZES, Of, PING_PONG_LEVELS, throughput, with};
use crate::report::curve::{Axes, Point, Series, chart};
use crate::report::headline::class;
use crate::report::markup::{bytes, escape, figure, table};
use crate::stats::goals::digits;
use crate::stats::summary::{Row, Rows};
use crate::systems::system::{Encoding, System};

const AXES: Axes = Axes {
    title: "",
    x: bytes,
    x_name: "message length",
    y_name: "Mbit/s at a master, higher is better",
    break_even: false,
    width: 1030.0,
};

/// One line: a program under a system.
fn series(rows: &Rows, program: &str, system: &System, label: String, dash: &'static str) -> Series {
    let mut points: Vec<Point> = rows
        .of(program, system)
        .filter(|row| row.metric == "throughput")
        .map(|row| Point { x: row.size as f64, y: row.median, low: row.low, high: row.high })
        .collect();
    points.sort_by(|a, b| a.x.total_cmp(&b.x));
    Series { label, class: class(system), dash, points }
}

/// A chart of some variants of a test: each a program's name, what its lines are called, and how they are drawn.
fn variants(
    html: &mut String,
    rows: &[Row],
    title: &str,
    systems: &[System],
    variants: &[(&str, &str, &'static str)],
    caption: &str,
) {
    let rows = Rows(rows);
    let short = |system: &System| format!("{} {}", system.family.name(), system.route);
    let lines: Vec<Series> = systems
        .iter()
        .flat_map(|system| {
            let rows = &rows;
            variants.iter().map(move |(program, words, dash)| {
                let label =
                    if words.is_empty() { short(system) } else { format!("{}, {words}", short(system)) };
                series(rows, program, system, label, dash)
            })
        })
        .collect();
    figure(html, &chart(&lines, &Axes { title, ..AXES }), caption);
}

/// Figures 2 and 3.
pub fn routes(html: &mut String, rows: &[Row]) {
    html.push_str(
        "<h2 id=\"routes\">Routes, and one slave or four</h2>\
         <p>Nothing is packed or unpacked for each message: one message is packed and sent again and again, as in the paper. Both axes are logarithmic.</p>",
    );
    let all: Vec<System> = super::routes(Encoding::Xdr).collect();
    variants(
        html,
        rows,
        "Ping-pong, by route and number of slaves (figure 2)",
        &all,
        &[("ping-pong", "1 slave", ""), ("ping-pong, 4 slaves", "4 slaves", "dash1")],
        "Solid: one slave; dashed: four slaves of one master. In the paper four slaves got three to four times the throughput over TCP, and 25 to 40 % more through the daemons.",
    );
    variants(
        html,
        rows,
        "Blast, by route and number of slaves (figure 3, and what the paper could not show: daemons)",
        &all,
        &[("blast", "1 slave", ""), ("blast, 4 slaves", "4 slaves", "dash1")],
        "Slaves send 1,024 messages each as fast as they can. In the paper PVM's daemon often died of this, so it shows TCP alone.",
    );
}

/// Figures 4, 5 and 11 to 16.
pub fn packing(html: &mut String, rows: &[Row]) {
    html.push_str(
        "<h2 id=\"packing\">Packing</h2>\
         <p>Each message is packed by who sends it and unpacked by who receives it: solid lines are those of messages that nobody packs. The names tell the ways of packing apart where the dashes do not.</p>",
    );
    for (test, title) in [
        ("ping-pong", "Ping-pong, packed (figures 4, 11 to 13)"),
        ("blast", "Blast, packed (figures 5, 14 to 16)"),
    ] {
        let rows_of = Rows(rows);
        let packed = format!("{test}, packed");
        for (routes, what) in [(&DIRECT[..], "direct"), (&DAEMONS[..], "through daemons")] {
            let mut lines = Vec::new();
            for system in with(routes, Encoding::Xdr) {
                let name = format!("{} {}", system.family.name(), system.route);
                lines.push(series(&rows_of, test, &system, format!("{name}, not packed"), ""));
                for (encoding, dash) in ENCODINGS.into_iter().zip(["dash1", "dash2", "dash1"]) {
                    let system = System { encoding, ..system };
                    lines.push(series(
                        &rows_of,
                        &packed,
                        &system,
                        format!("{name}, {}", encoding.name()),
                        dash,
                    ));
                }
            }
            let title = format!("{title}, {what}");
            figure(html, &chart(&lines, &Axes { title: &title, ..AXES }), "");
        }
    }
}

/// Figures 6 to 8.
pub fn cross_traffic(html: &mut String, rows: &[Row]) {
    html.push_str(
        "<h2 id=\"cross\">Cross traffic</h2>\
         <p>One pair; four pairs whose masters share a machine and whose slaves share another (4.1-4.1); four pairs on eight machines (4.4-4.4), where there are so many. \
         The mean of the masters. On one host a machine is a core.</p>",
    );
    let ways = [
        ("ping-pong", "Ping-pong through daemons (figure 6)", &DAEMONS[..]),
        ("ping-pong", "Ping-pong over TCP (figure 7)", &DIRECT[..]),
        ("blast", "Blast over TCP (figure 8)", &DIRECT[..]),
    ];
    for (test, title, of) in ways {
        let systems: Vec<System> = with(of, Encoding::Xdr).collect();
        let names = [test.to_owned(), format!("{test}, 4.1-4.1"), format!("{test}, 4.4-4.4")];
        let drawn = [
            (names[0].as_str(), "1-1", ""),
            (names[1].as_str(), "4.1-4.1", "dash1"),
            (names[2].as_str(), "4.4-4.4", "dash2"),
        ];
        variants(html, rows, title, &systems, &drawn, "");
    }
}

/// Figures 9 and 10: a table, since the lines lie close to each other.
pub fn fragments(html: &mut String, rows: &[Row]) {
    html.push_str(
        "<h2 id=\"fragments\">Fragments</h2>\
         <p>Mbit/s in fragments of 4 KiB (PVM's own), 8 and 12 KiB (figures 9 and 10). Parvum takes the option and has no fragments of that kind.</p>",
    );
    let rows = Rows(rows);
    let mut lines = Vec::new();
    for test in ["ping-pong", "blast"] {
        for system in super::routes(Encoding::Xdr) {
            for size in super::LONG_SIZES {
                let of = |more: &str| {
                    throughput(&rows, &format!("{test}{more}"), &system, 2, size)
                        .map(|row| digits(row.median))
                };
                if let Some(largest) = of(", 12 KiB fragments") {
                    let dash = || "&ndash;".to_owned();
                    lines.push(vec![
                        escape(&format!("{test}, {} {}", system.family.name(), system.route)),
                        bytes(size as f64),
                        of("").unwrap_or_else(dash),
                        of(", 8 KiB fragments").unwrap_or_else(dash),
                        largest,
                    ]);
                }
            }
        }
    }
    html.push_str(&table(&["", "message", "4 KiB", "8 KiB", "12 KiB"], &lines));
}

/// The sixteen levels, as far as they were measured.
pub fn levels(html: &mut String, rows: &[Row]) {
    html.push_str(
        "<h2 id=\"levels\">Sixteen levels of packing</h2>\
         <p>Which of the four ends packs or unpacks each message of a ping-pong (Mbit/s; XDR; <code>--full</code> measures them). The paper reports the first and the last.</p>",
    );
    let rows = Rows(rows);
    let ends = ["slave packs", "master unpacks", "master packs", "slave unpacks"];
    let mut lines = Vec::new();
    for (level, experiment) in PING_PONG_LEVELS.iter().enumerate() {
        let mut line = vec![level.to_string()];
        line.extend(
            (0..ends.len()).map(|end| if level >> end & 1 == 1 { "yes".to_owned() } else { String::new() }),
        );
        let mut found = false;
        for system in Of::Levels.systems() {
            for size in LEVEL_SIZES {
                let row = throughput(&rows, experiment.program, &system, 2, size);
                found |= row.is_some();
                line.push(row.map_or_else(|| "&ndash;".to_owned(), |row| digits(row.median)));
            }
        }
        if found {
            lines.push(line);
        }
    }
    if lines.is_empty() {
        return;
    }
    let of = |system: &System, size: u64| {
        format!("{} {}, {}", system.family.name(), system.route, bytes(size as f64))
    };
    let headings: Vec<String> = std::iter::once("level".to_owned())
        .chain(ends.map(str::to_owned))
        .chain(Of::Levels.systems().iter().flat_map(|system| LEVEL_SIZES.map(|size| of(system, size))))
        .collect();
    html.push_str(&table(&headings.iter().map(String::as_str).collect::<Vec<_>>(), &lines));
}

#[cfg(test)]
mod tests {
    use super::super::SUITE;
    use super::super::tests::example;
    use crate::report::page;
    use crate::report::tests::manifest;

    #[test]
    fn pvmtime_page_draws_figures_and_judges_claims() {
        let rows = example();
        let page = page(&SUITE, &rows, &(SUITE.goals)(&rows), &manifest());
        for part in [
            "(figure 2)",
            "(figure 8)",
            "PVM 3.4.6 daemon, 4 slaves",
            "Parvum shm, in place",
            "12 KiB",
            "master unpacks",
            "Does it still hold?",
            "001 Lewis, Cline, figure 3",
        ] {
            assert!(page.contains(part), "{part} is missing");
        }
        assert_eq!(page.matches("<svg").count(), 9);
        assert!(!page.contains("NaN") && !page.contains("http"));
    }

    #[test]
    fn page_exists_for_empty_session() {
        assert!(page(&SUITE, &[], &(SUITE.goals)(&[]), &manifest()).contains("no data"));
    }
}
