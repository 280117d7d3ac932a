//! The suite of overlap: how much of a communication passes while its program computes. A program begins the communication, computes for as
//! long as the communication alone takes, and waits for its end. The program is `apps/overlap`.

use super::{Pages, Suite};
use crate::report::headline::Question;
use crate::report::markup::{bytes, escape, table as html_table};
use crate::report::tables;
use crate::run::experiment::{Job, Measure, of_each};
use crate::stats::goals::digits;
use crate::stats::summary::{Row, Rows};
use crate::systems::system::{Encoding, Extent, Family, System};
use crate::table::columns;

const OURS: System = System::new(Family::Mpi, "shm", Encoding::None);
/// All systems through whatever is the fastest on one host, then the MPIs over TCP.
const SYSTEMS: [System; 9] = [
    OURS,
    System::new(Family::OpenMpi, "", Encoding::None),
    System::new(Family::Mpich, "", Encoding::None),
    System::new(Family::Nx, "shm", Encoding::None),
    System::new(Family::Parvum, "shm", Encoding::Raw),
    System::new(Family::Pvm, "direct", Encoding::Raw),
    System::new(Family::Mpi, "tcp", Encoding::None),
    System::new(Family::OpenMpi, "tcp", Encoding::None),
    System::new(Family::Mpich, "tcp", Encoding::None),
];

/// The communication that a program begins, as `apps/overlap` names it.
const BEGUN: [&str; 4] = ["exchange", "broadcast", "allreduce", "alltoall"];
const SIZES: [u64; 4] = [1024, 65536, 1 << 20, 4 << 20];
const ALL_SIZES: [u64; 8] = [8, 1024, 8192, 65536, 262_144, 1 << 20, 4 << 20, 16 << 20];

/// `parvum compare --suite overlap`.
pub static SUITE: Suite = Suite {
    name: "overlap",
    about: "how much of a message or collective passes while the program computes",
    over_hosts: None,
    families: &[Family::Mpi, Family::OpenMpi, Family::Mpich, Family::Nx, Family::Parvum, Family::Pvm],
    seconds: [150, 900],
    systems: || SYSTEMS.to_vec(),
    jobs,
    goals: |_| Vec::new(),
    table: |rows, _| table(rows),
    pages: Pages {
        introduction: "Two tasks begin a communication, compute, and wait for its end. The computation takes as long as the communication alone. With full overlap \
             both together take as long as one of them; without overlap, as long as their sum. Turns with and without computation alternate. PVM begins a \
             send, which it buffers, and receives at the end.",
        cards: "",
        omitted: "more than two tasks; several hosts; the processor time that a thread of the library takes",
        questions: &QUESTIONS,
        contents: &[("overlap", "Overlap")],
        sections: &[section],
        details: |html, rows| tables::numbers(html, rows, &[], &[]),
    },
};

const QUESTIONS: [Question; 4] = [
    Question::large("Exchange of 64 KiB: overlap", "overlap", "exchange, overlap", 65536),
    Question::large("Exchange of 1 MiB: overlap", "overlap", "exchange, overlap", 1 << 20),
    Question::small("Exchange of 1 MiB and computing", "overlap", "exchange", 1 << 20),
    Question::small("Allreduce of 1 MiB and computing", "overlap", "allreduce", 1 << 20),
];

fn jobs(extent: Extent) -> Vec<Job> {
    let full = extent == Extent::Full;
    let measure = Measure {
        sizes: if full { &ALL_SIZES } else { &SIZES },
        options: if full { "--time-ms 60 --least 5 --most 300" } else { "--time-ms 12 --least 3 --most 100" },
        launches: 8,
        patience: if full { 120 } else { 15 },
        ..Measure::program("overlap", "overlap")
    };
    of_each(&measure, SYSTEMS).collect()
}

const HEADINGS: [&str; 6] = ["begun", "bytes", "system", "alone us", "with work us", "overlap %"];

fn lines(rows: &Rows) -> Vec<[String; 6]> {
    let mut lines = Vec::new();
    for begun in BEGUN {
        let mut sizes: Vec<u64> =
            rows.0.iter().filter(|row| row.metric == begun).map(|row| row.size).collect();
        sizes.sort_unstable();
        sizes.dedup();
        for size in sizes {
            for system in SYSTEMS {
                let median =
                    |metric: &str| rows.find("overlap", &system, metric, 2, size).map(|row| row.median);
                let (Some(both), Some(alone), Some(share)) =
                    (median(begun), median(&format!("{begun}, alone")), median(&format!("{begun}, overlap")))
                else {
                    continue;
                };
                let cells = [digits(alone), digits(both), format!("{share:.0}")];
                let [alone, both, share] = cells;
                lines.push([begun.to_owned(), bytes(size as f64), system.label(), alone, both, share]);
            }
        }
    }
    lines
}

fn table(rows: &Rows) -> String {
    let mut text = String::from(
        "Communication that is begun before a computation of the same length.\nMedians of launches.\n\n",
    );
    // A quick look needs one long message of each kind.
    let shown = lines(rows).into_iter().filter(|line| line[1] == bytes(f64::from(1 << 20)));
    let shown: Vec<Vec<String>> = shown.map(Vec::from).collect();
    columns(&mut text, &HEADINGS, &shown);
    text
}

fn section(html: &mut String, rows: &[Row]) {
    html.push_str(
        "<h2 id=\"overlap\">Overlap</h2><p>The overlap is the part of the shorter of the two, communication and computation, that passes during the longer. \
         The median of launches.</p>",
    );
    let lines: Vec<Vec<String>> =
        lines(&Rows(rows)).into_iter().map(|line| line.iter().map(|cell| escape(cell)).collect()).collect();
    html.push_str(&html_table(&HEADINGS, &lines));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::page;
    use crate::report::tests::manifest;
    use crate::stats::summary::tests::row;

    #[test]
    fn table_and_page_have_every_system() {
        let mut rows = Vec::new();
        for system in SYSTEMS {
            for size in SIZES {
                for (metric, value) in
                    [("exchange", 20.0), ("exchange, alone", 10.0), ("exchange, overlap", 37.4)]
                {
                    rows.push(row(&system, "overlap", metric, size, &[value; 8]));
                }
            }
        }
        let text = table(&Rows(&rows));
        assert!(text.lines().all(|line| line.chars().count() <= crate::table::WIDTH), "{text}");
        assert_eq!(text.matches(" 37").count(), SYSTEMS.len(), "{text}");
        let page = page(&SUITE, &rows, &[], &manifest());
        assert!(SYSTEMS.iter().all(|system| page.contains(&system.label())) && !page.contains("NaN"));
    }

    #[test]
    fn question_is_answered_by_planned_job() {
        for question in &QUESTIONS {
            assert!(
                jobs(Extent::Quick).iter().any(|job| question.is_answered_by(&job.measure)),
                "{question:?}"
            );
        }
    }
}
