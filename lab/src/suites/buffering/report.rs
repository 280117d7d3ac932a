//! The buffering suite's part of the report.

use super::{CMMD, CONTAINERS, ENGINE, LONG, NX, SYSTEMS, findings, goals, table};
use crate::papers::printed;
use crate::report::markup::{bytes, escape, table as html_table};
use crate::report::tables;
use crate::stats::goals::digits;
use crate::stats::summary::{Row, Rows};
use std::fmt::Write;

/// Saphir's Table 1: ours, then his.
pub fn table_1(html: &mut String, rows: &[Row]) {
    let rows = Rows(rows);
    html.push_str(
        "<h2 id=\"table1\">Latency, bandwidth, copies</h2>\
         <p>A token goes round two tasks. <em>Posted</em>: every receive waits before its message is sent, so nothing need be buffered. \
         <em>Copy</em>: the call alone that copies a message out of its buffer (in CMMD: into it). <em>Buffered</em>: no message is received \
         before it has come. Saphir computed the last from the first two, as the harmonic mean of their rates; here it is computed and measured. \
         Where the computed value is far off, the two steps were not one after the other, or not equal to the steps measured alone.</p>",
    );
    let mut lines = vec![vec!["!head".to_owned(), "here, GB/s of 1 MiB".to_owned()]];
    lines.extend(escaped(table::table_1(&rows)));
    lines.push(vec!["!head".into(), format!("{}, Table 1, MB/s", escape(printed::SAPHIR))]);
    for line in printed::BUFFERED.iter() {
        let rate = |value: Option<f64>| value.map_or_else(|| "&ndash;".to_owned(), digits);
        lines.push(vec![
            escape(line.system),
            format!("{} us", digits(line.latency)),
            rate(line.network),
            rate(line.copy),
            rate(line.buffered),
            "&ndash;".into(),
            "&ndash;".into(),
        ]);
    }
    html.push_str(&html_table(
        &[
            "",
            "latency us",
            "posted",
            "copy",
            "buffered, computed",
            "buffered, measured",
            "computed is off by",
        ],
        &lines,
    ));
}

/// Where messages lay, at every length and number of tasks.
pub fn places(html: &mut String, rows: &[Row]) {
    let found = Rows(rows);
    html.push_str(
        "<h2 id=\"where\">Where it was buffered</h2>\
         <p>What the engine's ledger counted of each point, over all tasks: which part of the data was buffered and where, and in brackets how often it \
         was copied on its way from memory to memory. Up to 16 KiB a message passes through the ring that both tasks share: in and out, two copies, \
         and none of them a buffer of its own; longer ones are copied once, by the receiver from the sender's memory, or twice, both ends copying at a time.</p>",
    );
    for tasks in [2, 4, 8] {
        for form in ["posted", "unposted"] {
            let mut sizes: Vec<u64> = rows
                .iter()
                .filter(|row| row.program == "token" && row.tasks == tasks && row.size > 0)
                .map(|row| row.size)
                .collect();
            sizes.sort_unstable();
            sizes.dedup();
            if sizes.is_empty() {
                continue;
            }
            let headings: Vec<String> =
                std::iter::once(String::new()).chain(sizes.iter().map(|size| bytes(*size as f64))).collect();
            let cells = |system: &crate::systems::system::System| {
                let cells =
                    sizes.iter().map(|size| findings::place(&found, system, "token", form, tasks, *size));
                let words = cells.map(|cell| {
                    cell.map_or_else(|| "&ndash;".into(), |place| escape(&table::place_words(&place)))
                });
                std::iter::once(escape(&system.label())).chain(words).collect::<Vec<_>>()
            };
            let lines: Vec<Vec<String>> = SYSTEMS
                .iter()
                .map(cells)
                .filter(|line| line[1..].iter().any(|cell| cell != "&ndash;"))
                .collect();
            let words =
                if form == "posted" { "receives always posted first" } else { "receives never posted first" };
            let _ = write!(
                html,
                "<h3>{tasks} tasks, {words}</h3>{}",
                html_table(&headings.iter().map(String::as_str).collect::<Vec<_>>(), &lines)
            );
        }
    }
}

/// The four forms of the exchange.
pub fn exchanges(html: &mut String, rows: &[Row]) {
    let rows = Rows(rows);
    html.push_str(
        "<h2 id=\"exchange\">Exchange</h2>\
         <p>Two tasks give each other a message and compute, again and again, in four forms. <em>Blocking</em>: compute, send, receive. \
         <em>Overlapped</em>: post the receive, begin to send, compute, wait for both. <em>Synchronised</em>: the same, but both meet after posting, so that no \
         message comes before its receive. <em>Forced</em>: the same with messages that are dropped rather than buffered. <em>Overlapped by</em> says how much of \
         the exchange's own time vanished behind computation that takes twice as long; memory is copied by a processor here, as Saphir's buffers were, and a processor \
         that computes copies nothing, so little can vanish but waiting.</p>",
    );
    let mut lines = Vec::new();
    for form in table::EXCHANGES {
        lines.push(vec!["!head".to_owned(), form.name().to_owned()]);
        for system in &SYSTEMS {
            for size in super::FEW_SIZES {
                let Some(found) = findings::exchange(&rows, system, form.name(), size) else { continue };
                let place = findings::place(&rows, system, "exchange", form.name(), 2, size);
                lines.push(vec![
                    escape(&system.label()),
                    bytes(size as f64),
                    digits(found.alone),
                    digits(found.work),
                    digits(found.both),
                    format!("{:.0} %", 100.0 * found.overlapped()),
                    place.map_or_else(|| "&ndash;".into(), |place| escape(&table::place_words(&place))),
                    place.map_or_else(
                        || "&ndash;".into(),
                        |place| format!("{:.0} %", 100.0 * place.unexpected),
                    ),
                ]);
            }
        }
    }
    let headings = [
        "",
        "message",
        "alone us",
        "computation us",
        "both us",
        "overlapped by",
        "buffered (copies)",
        "came before its receive",
    ];
    html.push_str(&html_table(&headings, &lines));
}

/// What the interfaces add to the engine.
pub fn over_engine(html: &mut String, rows: &[Row]) {
    let rows = Rows(rows);
    html.push_str(
        "<h2 id=\"over\">Interface over engine</h2>\
         <p>One hop as a multiple of the engine's own time in the same session. 8 bytes: the ring of two tasks through calls that block. NX: csend and crecv. \
         CMMD: send_noblock and receive_block. 1 MiB: the token ring, receives posted first, so that neither buffers.</p>",
    );
    let lines: Vec<Vec<String>> = [ENGINE, NX, CMMD, CONTAINERS]
        .iter()
        .map(|system| {
            let mut line = vec![escape(system.family.name())];
            for size in [8, LONG] {
                line.push(goals::hop(&rows, system, size).map_or_else(|| "&ndash;".into(), digits));
                line.push(goals::ratio(&rows, system, size).map_or_else(|| "&ndash;".into(), digits));
            }
            line
        })
        .collect();
    html.push_str(&html_table(&["", "8 B us", "over engine", "1 MiB us", "over engine"], &lines));
    if let Some(times) = goals::call(&rows) {
        let _ =
            write!(html, "<p>A call of a container and its answer take {} one-way times.</p>", digits(times));
    }
}

/// All numbers.
pub fn numbers(html: &mut String, rows: &[Row]) {
    tables::numbers(html, rows, &SYSTEMS, &[]);
}

fn escaped(lines: Vec<Vec<String>>) -> Vec<Vec<String>> {
    lines.into_iter().map(|line| line.iter().map(|cell| escape(cell)).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::SUITE;
    use super::*;
    use crate::report::page;
    use crate::report::tests::manifest;
    use crate::stats::summary::tests::row;

    #[test]
    fn page_is_complete_for_session() {
        let mut rows = Vec::new();
        for system in SYSTEMS {
            let mut add = |program: &str, metric: &str, size, value: f64| {
                rows.push(row(&system, program, metric, size, &[value; 6]))
            };
            for (size, us) in [(8, 0.25), (65536, 12.0), (LONG, 100.0)] {
                for form in ["posted", "unposted", "copy"] {
                    add("token", &format!("hop, {form}"), size, us);
                    for what in [
                        "copies",
                        "buffered at the receiver",
                        "buffered at the sender",
                        "unexpected",
                        "dropped",
                    ] {
                        add("token", &format!("{what}, {form}"), size, 1.0);
                    }
                }
                for (what, value) in [("exchange", us), ("work", 2.0 * us), ("exchange with work", 2.5 * us)]
                {
                    add("exchange", &format!("{what}, overlapped"), size, value);
                }
                add("ring", "half round trip", size, us);
            }
        }
        let page = page(&SUITE, &rows, &(SUITE.goals)(&rows), &manifest());
        for part in [
            "Parvum NX",
            "sender 100 %, receiver 100 %, dropped 100 % (1.00)",
            "50 %",
            "Paragon",
            "id=\"over\"",
            "-50 %",
        ] {
            assert!(page.contains(part), "{part} is missing");
        }
        assert!(!page.contains("NaN") && !page.contains("http"));
    }
}
