//! The buffering suite in a terminal.

use super::{CMMD, CONTAINERS, ENGINE, FEW_SIZES, LONG, NX, SYSTEMS, findings, goals};
use crate::report::markup::bytes;
use crate::run::record::Manifest;
use crate::stats::goals::digits;
use crate::stats::samples::Form;
use crate::stats::summary::Rows;
use crate::table::columns;
use std::fmt::Write;

/// The forms of the exchange, as they stand in tables.
pub const EXCHANGES: [Form; 4] = [Form::Blocking, Form::Overlapped, Form::Synchronised, Form::Forced];

/// Three tables and the ratios.
pub fn render(rows: &Rows, _: &Manifest) -> String {
    let mut text = String::new();
    text.push_str("Saphir's Table 1, today. Latency: 8 B, receive posted. Rates of 1 MiB in GB/s: posted; the copy alone; never posted,\n\
         computed as the harmonic mean of the two, and measured.\n");
    columns(&mut text, &["", "latency us", "posted", "copy", "computed", "measured", "off"], &table_1(rows));
    text.push_str("\nWhere messages were buffered, as shares of their data (token ring of two); in brackets how often it was copied.\n");
    columns(
        &mut text,
        &["", "8 B posted", "8 B not", "64 KiB posted", "64 KiB not", "1 MiB posted", "1 MiB not"],
        &places(rows),
    );
    text.push_str("\nExchange: us without computation, and how much of it went on while the tasks computed twice as long.\n");
    let headings: Vec<String> = std::iter::once(String::new())
        .chain(EXCHANGES.iter().flat_map(|form| {
            [FEW_SIZES[1], LONG].map(|size| format!("{} {}", bytes(size as f64), form.name()))
        }))
        .collect();
    let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
    columns(&mut text, &headings, &exchanges(rows));
    text.push('\n');
    for (size, name) in [(8, "8 B"), (LONG, "1 MiB")] {
        let ratios: Vec<String> = [NX, CMMD, CONTAINERS]
            .iter()
            .filter_map(|system| Some((system, goals::ratio(rows, system, size)?)))
            .map(|(system, ratio)| format!("{} {}", system.family.name(), digits(ratio)))
            .collect();
        if !ratios.is_empty() {
            let _ = writeln!(text, "{name} over {}: {}", ENGINE.family.name(), ratios.join(", "));
        }
    }
    if let Some(times) = goals::call(rows) {
        let _ = writeln!(text, "a call of a container, in one-way times: {}", digits(times));
    }
    text
}

/// A line of cells for each system that has any; the first cell is its name.
pub fn table_1(rows: &Rows) -> Vec<Vec<String>> {
    let line = |found: findings::Line| {
        let or_dash = |value: Option<f64>| value.map_or_else(|| "-".into(), digits);
        let off = found.error().map_or_else(|| "-".into(), |error| format!("{:+.0} %", 100.0 * error));
        vec![
            digits(found.latency),
            digits(found.posted),
            or_dash(found.copy),
            or_dash(found.computed()),
            digits(found.buffered),
            off,
        ]
    };
    each(|system| findings::line(rows, system).map(line))
}

/// Where messages lay at three lengths, posted and not.
pub fn places(rows: &Rows) -> Vec<Vec<String>> {
    each(|system| {
        let cells: Vec<Option<findings::DataShares>> = [8, 65536, LONG]
            .into_iter()
            .flat_map(|size| {
                ["posted", "unposted"].map(|form| findings::place(rows, system, "token", form, 2, size))
            })
            .collect();
        cells
            .iter()
            .any(Option::is_some)
            .then(|| cells.iter().map(|cell| cell.as_ref().map_or_else(|| "-".into(), place_words)).collect())
    })
}

/// Where messages lay, in a cell.
pub fn place_words(place: &findings::DataShares) -> String {
    let share = |value: f64| format!("{:.0} %", 100.0 * value);
    let buffered = match (place.sender >= 0.005, place.receiver >= 0.005) {
        (false, false) => "nowhere".to_owned(),
        (true, false) => format!("sender {}", share(place.sender)),
        (false, true) => format!("receiver {}", share(place.receiver)),
        (true, true) => format!("sender {}, receiver {}", share(place.sender), share(place.receiver)),
    };
    let dropped =
        if place.dropped > 0.0 { format!(", dropped {}", share(place.dropped)) } else { String::new() };
    format!("{buffered}{dropped} ({})", digits((100.0 * place.copies).round() / 100.0))
}

/// Each form of the exchange at two lengths.
pub fn exchanges(rows: &Rows) -> Vec<Vec<String>> {
    each(|system| {
        let cells: Vec<Option<findings::Exchange>> = EXCHANGES
            .iter()
            .flat_map(|form| {
                [FEW_SIZES[1], LONG].map(|size| findings::exchange(rows, system, form.name(), size))
            })
            .collect();
        let words = |found: &findings::Exchange| {
            format!("{} {:.0} %", digits(found.alone), 100.0 * found.overlapped())
        };
        cells
            .iter()
            .any(Option::is_some)
            .then(|| cells.iter().map(|cell| cell.as_ref().map_or_else(|| "-".into(), words)).collect())
    })
}

fn each(cells: impl Fn(&crate::systems::system::System) -> Option<Vec<String>>) -> Vec<Vec<String>> {
    let line = |system: &crate::systems::system::System| {
        let mut line = vec![system.label()];
        line.extend(cells(system)?);
        Some(line)
    };
    SYSTEMS.iter().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cell_shows_buffering_place_and_copies() {
        let place = |sender, receiver, dropped, copies| {
            place_words(&findings::DataShares { copies, receiver, sender, unexpected: 0.0, dropped })
        };
        assert_eq!(place(0.0, 0.0, 0.0, 1.0), "nowhere (1.00)");
        assert_eq!(place(1.0, 0.0, 0.0, 2.0), "sender 100 % (2.00)");
        assert_eq!(place(0.25, 0.5, 0.1, 3.0), "sender 25 %, receiver 50 %, dropped 10 % (3.00)");
    }
}
