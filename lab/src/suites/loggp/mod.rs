//! The loggp suite: what a message costs each end, its way and its link (L, o, g, G), of each system; and, over named hosts, whether
//! those costs, measured between two, tell how long group operations of eight take.

mod curves;
pub mod hosts;

use super::{Pages, Suite};
use crate::report::headline::Question;
use crate::report::markup::table as html_table;
use crate::report::tables;
use crate::run::experiment::{Job, Measure, of_each};
use crate::run::record::Manifest;
use crate::stats::goals::{Goal, digits};
use crate::stats::summary::{Row, Rows};
use crate::systems::system::{Encoding, Extent, Family, System};
use replay::Route;
use replay::fit::{self, Measured};

const SYSTEMS: [System; 8] = [
    System::new(Family::Engine, "shm", Encoding::None),
    System::new(Family::Parvum, "shm", Encoding::Raw),
    System::new(Family::Parvum, "tcp", Encoding::Raw),
    System::new(Family::Mpi, "shm", Encoding::None),
    System::new(Family::Pvm, "direct", Encoding::Raw),
    System::new(Family::Pvm, "daemon", Encoding::Raw),
    System::new(Family::OpenMpi, "", Encoding::None),
    System::new(Family::Mpich, "", Encoding::None),
];

/// Bytes of a message: lines through them have a start and a slope.
const SIZES: [u64; 5] = [8, 1024, 4096, 16384, 65536];

/// `parvum compare --suite loggp`.
pub static SUITE: Suite = Suite {
    name: "loggp",
    about: "the LogGP parameters: what a message costs its ends and its link",
    over_hosts: Some(&hosts::OVER),
    families: &[Family::Engine, Family::Parvum, Family::Mpi, Family::Pvm, Family::OpenMpi, Family::Mpich],
    seconds: [40, 300],
    systems: || SYSTEMS.to_vec(),
    jobs,
    goals: |_| Vec::<Goal>::new(),
    table,
    pages: Pages {
        introduction: "What a message costs, in the words of LogGP: <b>o</b>, the processor's time at either end; <b>L</b>, what its way takes besides; <b>g</b>, the time \
             between two messages on a link; <b>G</b>, that of a byte. Two tasks send each other messages of five lengths by each system's own calls.",
        cards: "",
        omitted: "tasks that share a core; messages that nobody may buffer",
        questions: &QUESTIONS,
        contents: &[("costs", "Costs of a message")],
        sections: &[section],
        details,
    },
};

const QUESTIONS: [Question; 2] = [
    Question::small("The call that sends 8 B", "loggp", "send", 8),
    Question::small("The call that receives 8 B that are there", "loggp", "receive", 8),
];

fn details(html: &mut String, rows: &[Row]) {
    tables::numbers(html, rows, &[], &[]);
}

fn measure(extent: Extent) -> Measure {
    let full = extent == Extent::Full;
    Measure {
        sizes: &SIZES,
        options: if full {
            "--time-ms 100 --least 5 --most 1000"
        } else {
            "--time-ms 15 --least 3 --most 300"
        },
        launches: 5,
        patience: if full { 60 } else { 20 },
        ..Measure::program("costs of a message", "loggp")
    }
}

fn jobs(extent: Extent) -> Vec<Job> {
    of_each(&measure(extent), SYSTEMS).collect()
}

/// The costs of a system's messages, from the medians of what was measured.
fn costs(rows: &Rows, system: &System) -> Option<Route> {
    let measured = SIZES.into_iter().filter_map(|size| {
        let ns = |metric| Some(rows.find("loggp", system, metric, 2, size)?.median * 1000.0);
        let (half, send, receive, gap) = (ns("half")?, ns("send")?, ns("receive")?, ns("gap")?);
        Some(Measured { bytes: size as f64, half, send, receive, gap })
    });
    fit::route(&measured.collect::<Vec<_>>())
}

const HEADINGS: [&str; 7] = [
    "",
    "L, us",
    "o of sending, us",
    "o of receiving, us",
    "g, us",
    "G, ns a byte",
    "its ends, ns a byte besides",
];

fn line(route: &Route) -> [String; 6] {
    let us = |ns: f64| digits(ns / 1000.0);
    [
        us(route.latency),
        us(route.send.message),
        us(route.receive.message),
        us(route.gap),
        digits(route.byte),
        format!("{} + {}", digits(route.send.byte), digits(route.receive.byte)),
    ]
}

const HEAD: &str = "                        L us    o us    o us    g us  G ns/B     ends, ns/B\n                                send receive\n";

/// A system's line for a terminal.
fn row(label: String, route: &Route) -> String {
    let [latency, send, receive, gap, byte, ends] = line(route).map(|cell| cell.replace(' ', ""));
    format!("{label:<20}{latency:>8}{send:>8}{receive:>8}{gap:>8}{byte:>8}{ends:>15}\n")
}

fn table(rows: &Rows, _: &Manifest) -> String {
    let mut text = String::from("What a message costs, of the lines through five lengths.\n\n");
    text.push_str(HEAD);
    for system in SYSTEMS {
        if let Some(route) = costs(rows, &system) {
            text.push_str(&row(system.label(), &route));
        }
    }
    text
}

fn section(html: &mut String, rows: &[Row]) {
    let rows = Rows(rows);
    let lines: Vec<Vec<String>> = SYSTEMS
        .iter()
        .filter_map(|system| {
            let cells = line(&costs(&rows, system)?);
            Some(std::iter::once(system.label()).chain(cells).collect())
        })
        .collect();
    html.push_str("<h2 id=\"costs\">Costs of a message</h2><p>Each a straight line through what was measured of five lengths, its start and its slope. ");
    html.push_str("Where nothing is left for L or G the ends do it all: one copies in, the other out.</p>");
    html.push_str(&html_table(&HEADINGS, &lines));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::page;
    use crate::report::tests::manifest;

    /// A session in which a message of n bytes takes 10 us and n/100, of which its ends take 1 us each.
    pub fn example(systems: &[System]) -> Vec<Row> {
        let mut rows = Vec::new();
        for system in systems {
            for size in SIZES {
                let whole = 10.0 + size as f64 / 100.0;
                for (metric, us) in [("half", whole), ("send", 1.0), ("receive", 1.0), ("gap", whole / 3.0)] {
                    rows.push(crate::stats::summary::tests::row(system, "loggp", metric, size, &[us; 3]));
                }
            }
        }
        rows
    }

    #[test]
    fn loggp_costs_are_in_table_and_page() {
        let rows = example(&SYSTEMS);
        let route = costs(&Rows(&rows), &SYSTEMS[0]).expect("five lengths");
        assert!((route.latency - 8000.0).abs() < 1.0 && (route.byte - 10.0).abs() < 0.01, "{route:?}");
        let text = table(&Rows(&rows), &manifest());
        assert!(text.contains("8.00") && text.contains("PVM 3.4.6 daemon"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= crate::table::WIDTH), "{text}");
        let page = page(&SUITE, &rows, &[], &manifest());
        assert!(page.contains("Costs of a message") && !page.contains("NaN"));
    }

    #[test]
    fn costs_are_none_without_measurements() {
        assert_eq!(costs(&Rows(&[]), &SYSTEMS[0]), None);
    }
}
