//! The shared suite's part of the report.

use super::{PROGRAMS, SYSTEMS, TASKS, of, sizes, speed_up};
use crate::report::markup::{escape, table as html_table};
use crate::stats::goals::digits;
use crate::stats::summary::{Row, Rows};
use std::fmt::Write;

/// A table for each program and size: systems by numbers of tasks.
fn tables(
    html: &mut String,
    rows: &Rows,
    cell: impl Fn(&crate::systems::system::System, &str, (u32, u64)) -> Option<String>,
) {
    for program in &PROGRAMS {
        for size in sizes(rows, program) {
            let _ = write!(html, "<h3>{}, {size} {}</h3>", escape(program.words), program.of);
            let headings: Vec<String> =
                std::iter::once(String::new()).chain(TASKS.iter().map(|tasks| format!("{tasks}"))).collect();
            let lines: Vec<Vec<String>> = SYSTEMS
                .iter()
                .map(|system| {
                    let cells = TASKS.iter().map(|tasks| {
                        cell(system, program.name, (*tasks, size)).unwrap_or_else(|| "&ndash;".into())
                    });
                    std::iter::once(escape(&system.label())).chain(cells).collect()
                })
                .collect();
            html.push_str(&html_table(&headings.iter().map(String::as_str).collect::<Vec<_>>(), &lines));
        }
    }
}

/// What was sent.
pub fn traffic(html: &mut String, rows: &[Row]) {
    let rows = Rows(rows);
    html.push_str(
        "<h2 id=\"traffic\">Traffic</h2>\
         <p>Megabytes and, in brackets, messages, of all tasks together, by their number. The paper's finding is in the network: all tasks add to one matrix, and by the \
         protocol of 1994 (<em>classic</em>) whoever reads a page of it is sent what each of them has changed, so the bytes grow with the square of the tasks. <em>lazy</em> sends what was \
         changed several times once; <em>home</em> sends changes to one place at once; the hybrid of the paper sends them by PVM. In <em>one memory</em> nothing is sent.</p>",
    );
    tables(html, &rows, |system, program, at| {
        let bytes = of(&rows, system, program, "traffic", at)?;
        Some(format!("{} ({:.0})", digits(bytes), of(&rows, system, program, "messages", at)?))
    });
}

/// How much faster.
pub fn speed_up_table(html: &mut String, rows: &[Row]) {
    let rows = Rows(rows);
    html.push_str(
        "<h2 id=\"speedup\">Speed-up</h2>\
         <p>Against one task of the same system, and in brackets milliseconds. More tasks than cores take turns.</p>",
    );
    tables(html, &rows, |system, program, at| {
        let run = of(&rows, system, program, "run", at)?;
        let speed = speed_up(&rows, system, program, at).map_or_else(|| "&ndash;".into(), digits);
        Some(format!("{speed} ({})", digits(run)))
    });
}

#[cfg(test)]
mod tests {
    use super::super::tests::example;
    use super::*;

    #[test]
    fn sections_show_measurements_and_dash_for_missing() {
        let mut rows = example();
        let messages: Vec<Row> = rows
            .iter()
            .filter(|row| row.metric == "traffic")
            .map(|row| Row { metric: "messages".into(), median: 1000.0, ..row.clone() })
            .collect();
        rows.extend(messages);
        let mut html = String::new();
        traffic(&mut html, &rows);
        speed_up_table(&mut html, &rows);
        assert!(html.contains("neural network, 8800 weights") && html.contains("49.0 (1000)"), "{html}");
        assert!(html.contains("8.00 (10.0)") && !html.contains("mergesort"), "{html}");
    }
}
