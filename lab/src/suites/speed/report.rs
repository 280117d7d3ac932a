//! The speed suite's part of the report.

use super::asked::{ASKED, Requirement};
use super::judge::{self, TasksAndSize};
use super::systems;
use crate::report::curve::{Axes, Point, Series, chart};
use crate::report::headline::class;
use crate::report::markup::{bytes, escape, figure, table};
use crate::report::{figures, tables};
use crate::stats::goals::{Outcome, digits};
use crate::stats::summary::{Row, Rows};
use std::fmt::Write;

/// One line for each thing that is asked, with its verdict.
pub fn asked(html: &mut String, rows: &[Row]) {
    let rows = Rows(rows);
    html.push_str(
        "<h2 id=\"asked\">What is asked, and how it came out</h2>\
         <p>Small values are better, except for rates and bandwidths. A line that stands for several sizes or numbers of tasks shows \
         the one where Parvum comes out worst; its verdict is about all of them. The best peer is the one with the best median \
         at that size in this session. <em>Refused</em>: the kernel is made to refuse every copy from task to task, as it \
         does in many containers, and the goal is what peers reach with that permission.</p>\
         <p class=\"note\">To be fair: a job of Parvum or PVM starts where a daemon is running already, one of MPI with a launcher that starts cold. Open MPI is \
         told when there are more tasks than cores (<code>--oversubscribe</code>), and then gives the core away while it waits; MPICH has no such option in its \
         launcher, spins, and is measured so. Group operations are each library's own; where an interface has none \
         (PVM no all-to-all, NX neither that nor a broadcast), what its programs write instead.</p>",
    );
    let lines: Vec<Vec<String>> = ASKED
        .iter()
        .map(|asked| {
            let judged = judge::judge(asked, &rows);
            let (class, word) = match judged.goal.outcome {
                Outcome::Reached => ("reached", "reached"),
                Outcome::Missed => ("missed", "missed"),
                Outcome::NoData => ("nodata", "no data"),
            };
            // The verdict stands first: a page is not as wide as all systems.
            let mut line = vec![escape(asked.what), format!("<span class=\"{class}\">{word}</span>")];
            line.push(escape(asked.goal));
            line.push(if several(asked) { judge::place_words(asked, judged.place) } else { String::new() });
            line.extend(cells(asked, &rows, judged.place));
            line
        })
        .collect();
    let names = names();
    let mut headings: Vec<&str> = vec!["what", "verdict", "goal", "at"];
    headings.extend(names.iter().map(String::as_str));
    html.push_str(&table(&headings, &lines));
}

/// What stands for several sizes or numbers of tasks, at each of them.
pub fn places(html: &mut String, rows: &[Row]) {
    let rows = Rows(rows);
    html.push_str("<h2 id=\"places\">At every size and number of tasks</h2>");
    let names = names();
    let mut headings: Vec<&str> = vec!["at"];
    headings.extend(names.iter().map(String::as_str));
    for asked in ASKED.iter().filter(|asked| several(asked)) {
        let lines: Vec<Vec<String>> = judge::places(asked)
            .into_iter()
            .map(|place| {
                let mut line = vec![judge::place_words(asked, place)];
                line.extend(cells(asked, &rows, place));
                line
            })
            .collect();
        let _ = write!(html, "<h3>{}</h3>", escape(asked.what));
        if asked.program == "group" {
            html.push_str("<div class=\"pair\">");
            asked.tasks.iter().for_each(|tasks| plot(html, asked, &rows, *tasks));
            html.push_str("</div>");
        }
        html.push_str(&table(&headings, &lines));
    }
}

/// An operation of so many tasks at each size.
fn plot(html: &mut String, asked: &Requirement, rows: &Rows, tasks: u32) {
    let title = format!("{} of {tasks} tasks", asked.metric);
    let point = |row: &Row| Point { x: row.size as f64, y: row.median, low: row.low, high: row.high };
    let series: Vec<Series> = systems()
        .iter()
        .map(|system| Series {
            label: system.family.name().to_owned(),
            class: class(system),
            dash: "",
            points: asked
                .sizes
                .iter()
                .filter_map(|size| judge::measured(asked, rows, system, (tasks, *size)))
                .filter(|row| row.median > 0.0)
                .map(point)
                .collect(),
        })
        .collect();
    let axes = Axes {
        title: &title,
        x: bytes,
        x_name: "bytes of each task",
        y_name: "\u{b5}s, lower is better",
        break_even: false,
        width: 560.0,
    };
    figure(html, &chart(&series, &axes), "");
}

/// Latency and bandwidth of the ring.
pub fn curves(html: &mut String, rows: &[Row]) {
    figures::curves(html, rows, &systems());
}

/// All numbers.
pub fn numbers(html: &mut String, rows: &[Row]) {
    tables::numbers(html, rows, &systems(), &[]);
}

fn several(asked: &Requirement) -> bool {
    asked.tasks.len() * asked.sizes.len() > 1
}

fn names() -> Vec<String> {
    let mut names: Vec<String> = systems().iter().map(|system| system.family.name().to_owned()).collect();
    names.push("floor or limit".into());
    names
}

/// Each system's median with its interval, and the floor.
fn cells(asked: &Requirement, rows: &Rows, place: TasksAndSize) -> Vec<String> {
    let range = |row: &Row| {
        format!(
            "<span title=\"{} to {}, {} launches\">{}</span>",
            digits(row.low),
            digits(row.high),
            row.samples,
            digits(row.median)
        )
    };
    let systems = systems();
    let found = systems.iter().map(|system| judge::measured(asked, rows, system, place));
    found
        .chain([judge::floor(asked, rows, place)])
        .map(|row| row.map_or_else(|| "&ndash;".to_owned(), range))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::{CALLS, ENGINE, PEERS, SUITE};
    use crate::report::page;
    use crate::report::tests::manifest;
    use crate::stats::summary::tests::row;

    #[test]
    fn page_is_complete_for_session() {
        let mut rows = Vec::new();
        for (system, us) in [(CALLS, 0.5), (ENGINE, 0.25), (PEERS[1], 0.75)] {
            for size in [8u64, 4096, 65536] {
                let time = us + size as f64 / 8000.0;
                rows.push(row(&system, "ring", "half round trip", size, &[time; 6]));
                rows.push(row(&system, "ring", "bandwidth", size, &[size as f64 / time / 1000.0; 6]));
            }
            for size in [8, 1024] {
                rows.push(row(&system, "group", "reduce", size, &[7.0 * us; 6]));
            }
        }
        let page = page(&SUITE, &rows, &(SUITE.goals)(&rows), &manifest());
        for part in ["<svg", "Parvum engine", "1 KiB on 8", "id=\"asked\"", "The rest", "5.25", "no data"] {
            assert!(page.contains(part), "{part} is missing");
        }
        let (verdict, systems) = (page.find("<th>verdict</th>"), page.find("<th>Parvum engine</th>"));
        assert!(verdict.is_some() && verdict < systems, "the verdict stands where the page has room");
        assert!(page.contains("reduce of 2 tasks") && !page.contains("reduce of 8 tasks"));
        assert!(page.contains("daemon is running already") && page.contains("limit"));
        assert!(!page.contains("NaN") && !page.contains("http"));
    }
}
