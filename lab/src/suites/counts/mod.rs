//! The suite of counts: what a message costs in instructions and system calls. Counts do not move with the load of the machine, so they
//! show a small change that times would hide.

use super::{Pages, Suite};
use crate::report::headline::Question;
use crate::report::markup::table as html_table;
use crate::report::tables;
use crate::run::experiment::{Job, Measure, of_each};
use crate::run::record::Manifest;
use crate::stats::goals::{Goal, at_most, digits};
use crate::stats::summary::{Row, Rows};
use crate::systems::system::{Encoding, Extent, Family, System};
use crate::table::columns;

const OURS: System = System::new(Family::Mpi, "shm", Encoding::None);
const ENGINE: System = System::new(Family::Engine, "shm", Encoding::None);
const PARVUM: System = System::new(Family::Parvum, "shm", Encoding::Raw);
const NX: System = System::new(Family::Nx, "shm", Encoding::None);
const PVM: System = System::new(Family::Pvm, "direct", Encoding::Raw);
const OPEN_MPI: System = System::new(Family::OpenMpi, "", Encoding::None);
const MPICH: System = System::new(Family::Mpich, "", Encoding::None);
const SYSTEMS: [System; 7] = [ENGINE, OURS, NX, PARVUM, OPEN_MPI, MPICH, PVM];

/// Open MPI sends longer messages only while their receiver is in a call, which nobody is here.
const SIZES: [u64; 2] = [8, 256];
const METRICS: [&str; 4] =
    ["instructions to send", "instructions to receive", "system calls to send", "system calls to receive"];

/// `parvum compare --suite counts`.
pub static SUITE: Suite = Suite {
    name: "counts",
    about: "instructions and system calls of a message; load does not change these counts",
    over_hosts: None,
    families: &[
        Family::Engine,
        Family::Mpi,
        Family::Nx,
        Family::Parvum,
        Family::OpenMpi,
        Family::Mpich,
        Family::Pvm,
    ],
    seconds: [45, 120],
    systems: || SYSTEMS.to_vec(),
    jobs,
    goals,
    table,
    pages: Pages {
        introduction: "A second process steps through the calls that send and receive, as a debugger does, and counts. The sender's messages find no receiver \
             in a call; the receiver's messages have been there for a while. So nobody waits within a count.",
        cards: "",
        omitted: "instructions of other threads and of the kernel; messages that are longer than a system buffers; cache misses, if the kernel has no counter",
        questions: &QUESTIONS,
        contents: &[("counts", "Counts of a message")],
        sections: &[section],
        details: |html, rows| tables::numbers(html, rows, &[], &[]),
    },
};

const QUESTIONS: [Question; 4] = [
    Question::small("Instructions to send 8 B", "counted", METRICS[0], 8),
    Question::small("Instructions to receive 8 B", "counted", METRICS[1], 8),
    Question::small("System calls to send 8 B", "counted", METRICS[2], 8),
    Question::small("System calls to receive 8 B", "counted", METRICS[3], 8),
];

fn jobs(_: Extent) -> Vec<Job> {
    let measure =
        Measure { sizes: &SIZES, launches: 8, ..Measure::program("counts of a message", "counted") };
    of_each(&measure, SYSTEMS).collect()
}

fn count(rows: &Rows, system: &System, metric: &str, size: u64) -> Option<f64> {
    Some(rows.find("counted", system, metric, 2, size)?.median)
}

/// Instructions of both ends.
fn both_ends(rows: &Rows, system: &System) -> Option<f64> {
    Some(count(rows, system, METRICS[0], 8)? + count(rows, system, METRICS[1], 8)?)
}

fn goals(rows: &[Row]) -> Vec<Goal> {
    let rows = Rows(rows);
    let least = [OPEN_MPI, MPICH].iter().filter_map(|peer| both_ends(&rows, peer)).reduce(f64::min);
    let share = |system: System| (system, share_of(&rows, &system, least));
    let calls = |system: System| {
        let sum = count(&rows, &system, METRICS[2], 8).zip(count(&rows, &system, METRICS[3], 8));
        (system, sum.map(|(send, receive)| send + receive))
    };
    vec![
        at_most(
            "instructions of an 8 B message at both ends, as a ratio to the best other MPI",
            "at most 1",
            1.0,
            [share(OURS)],
        ),
        at_most(
            "system calls of an 8 B message that need not wait",
            "none",
            0.0,
            [ENGINE, OURS, NX, PARVUM].map(calls),
        ),
    ]
}

fn share_of(rows: &Rows, system: &System, least: Option<f64>) -> Option<f64> {
    Some(both_ends(rows, system)? / least?)
}

fn lines(rows: &Rows) -> Vec<Vec<String>> {
    let line = |system: &System| {
        let cell = |metric| count(rows, system, metric, 8).map(digits);
        let cells: Vec<Option<String>> = METRICS.into_iter().map(cell).collect();
        let longer = [METRICS[0], METRICS[1]].map(|metric| count(rows, system, metric, 256).map(digits));
        let cells: Vec<Option<String>> = cells.into_iter().chain(longer).collect();
        cells.iter().any(Option::is_some).then(|| {
            let shown = cells.into_iter().map(|cell| cell.unwrap_or_else(|| "-".to_owned()));
            std::iter::once(system.label()).chain(shown).collect()
        })
    };
    SYSTEMS.iter().filter_map(line).collect()
}

const HEADINGS: [&str; 7] = ["", "send 8 B", "receive", "calls, send", "receive", "send 256 B", "receive"];

fn table(rows: &Rows, _: &Manifest) -> String {
    let mut text = String::from("Instructions and system calls of a message that nobody waits for\n\n");
    columns(&mut text, &HEADINGS, &lines(rows));
    text
}

fn section(html: &mut String, rows: &[Row]) {
    html.push_str("<h2 id=\"counts\">Counts of a message</h2>");
    html.push_str(&html_table(&HEADINGS, &lines(&Rows(rows))));
    html.push_str(
        "<p class=\"note\">Instructions of the calling thread outside of the kernel, and its system calls; the median of eight messages, and of all \
         launches. PVM's columns include packing and unpacking.</p>",
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::goals::Outcome;
    use crate::stats::summary::tests::row;

    fn rows(ours: f64, calls: f64) -> Vec<Row> {
        let of = |system: &System, metric: &str, value| row(system, "counted", metric, 8, &[value; 8]);
        let mut rows: Vec<Row> = [ENGINE, OURS, NX, PARVUM, OPEN_MPI, MPICH]
            .iter()
            .flat_map(|system| {
                let instructions = if *system == OURS { ours } else { 600.0 };
                [of(system, METRICS[0], instructions), of(system, METRICS[1], instructions)]
            })
            .collect();
        rows.extend(
            [ENGINE, OURS, NX, PARVUM]
                .iter()
                .flat_map(|system| [of(system, METRICS[2], 0.0), of(system, METRICS[3], calls)]),
        );
        rows
    }

    #[test]
    fn goals_compare_instructions_with_best_mpi_and_allow_no_system_call() {
        let outcomes = |rows: &[Row]| goals(rows).iter().map(|goal| goal.outcome).collect::<Vec<_>>();
        assert_eq!(outcomes(&rows(500.0, 0.0)), [Outcome::Reached, Outcome::Reached]);
        assert_eq!(outcomes(&rows(700.0, 1.0)), [Outcome::Missed, Outcome::Missed]);
        assert_eq!(outcomes(&[]), [Outcome::NoData, Outcome::NoData]);
    }

    #[test]
    fn table_has_a_line_for_each_counted_system() {
        let text = lines(&Rows(&rows(500.0, 0.0)));
        assert_eq!(text.len(), 6);
        assert_eq!(text[1][1..], ["500", "500", "0", "0", "-", "-"]);
    }
}
