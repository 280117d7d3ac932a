//! The suite of rates: messages and bytes a second of one pair of tasks and of several pairs
//! at once. The program is `apps/rate/pairs.c`.

mod hosts;
mod report;

use super::{Pages, Suite};
use crate::report::{headline::Question, tables};
use crate::run::experiment::{Cores, Job, Measure, of_each};
use crate::systems::system::{Encoding, Extent, Family, System};

const OURS: System = System::new(Family::Mpi, "shm", Encoding::None);
const OPEN_MPI: System = System::new(Family::OpenMpi, "", Encoding::None);
const MPICH: System = System::new(Family::Mpich, "", Encoding::None);
const ENGINE: System = System::new(Family::Engine, "shm", Encoding::None);
const NX: System = System::new(Family::Nx, "shm", Encoding::None);
const OUR_PVM: System = System::new(Family::Parvum, "shm", Encoding::Raw);
const PVM: System = System::new(Family::Pvm, "direct", Encoding::Raw);

/// All systems through whatever is the fastest on one host, then the MPIs over TCP.
const SYSTEMS: [System; 10] = [
    OURS,
    OPEN_MPI,
    MPICH,
    ENGINE,
    NX,
    OUR_PVM,
    PVM,
    System::new(Family::Mpi, "tcp", Encoding::None),
    System::new(Family::OpenMpi, "tcp", Encoding::None),
    System::new(Family::Mpich, "tcp", Encoding::None),
];

/// Bytes of a message.
const SIZES: [u64; 4] = [8, 1024, 16384, 1 << 20];
const ALL_SIZES: [u64; 9] = [8, 64, 256, 1024, 4096, 16384, 65536, 262_144, 1 << 20];
/// Tasks: twice the pairs.
const TASKS: [u32; 3] = [2, 4, 8];

/// Systems that exchange messages through memory; the suite `tail` has the same.
pub(super) const FAMILIES: &[Family] =
    &[Family::Mpi, Family::OpenMpi, Family::Mpich, Family::Engine, Family::Nx, Family::Parvum, Family::Pvm];

/// `parvum compare --suite rates`.
pub static SUITE: Suite = Suite {
    name: "rates",
    about: "messages and bytes a second of several pairs at once, over memory, TCP and hosts",
    over_hosts: Some(&hosts::OVER),
    families: FAMILIES,
    seconds: [150, 900],
    systems: || SYSTEMS.to_vec(),
    jobs,
    goals: |_| Vec::new(),
    table: |rows, _| report::table(rows, &SYSTEMS),
    pages: Pages {
        introduction: "Pairs of tasks work at once. In each pair one task sends a window of messages, and the other answers the window with one message. A window has \
             64 messages, or fewer if these would be more than 4 MiB. The sum of all pairs counts, from the common start to the end of the last pair.",
        cards: "",
        omitted: "messages in both directions at once; receives from any task",
        questions: &QUESTIONS,
        contents: &[("rates", "Messages a second"), ("bandwidths", "Bytes a second")],
        sections: &[|html, rows| report::section(html, rows, &SYSTEMS)],
        details: |html, rows| tables::numbers(html, rows, &[], &[]),
    },
};

const QUESTIONS: [Question; 5] = [
    Question::large("8 B messages of one pair", "pairs", "message rate", 8),
    Question::large("1 MiB messages of one pair", "pairs", "bandwidth", 1 << 20),
    Question::large("8 B messages of two pairs", "pairs", "message rate", 8).on(4),
    Question::large("8 B messages of four pairs", "pairs", "message rate", 8).on(8),
    Question::large("1 MiB messages of four pairs", "pairs", "bandwidth", 1 << 20).on(8),
];

fn jobs(extent: Extent) -> Vec<Job> {
    let of = |tasks| pairs(extent, tasks, "--operations near --time-ms 15 --least 3 --most 200");
    TASKS.into_iter().flat_map(|tasks| of_each(&of(tasks), SYSTEMS).collect::<Vec<_>>()).collect()
}

/// One launch. Tasks that spin take minutes if they are more than the cores; the quick run does not wait so long.
fn pairs(extent: Extent, tasks: u32, options: &'static str) -> Measure {
    let full = extent == Extent::Full;
    Measure {
        tasks,
        cores: Cores::Each,
        sizes: if full { &ALL_SIZES } else { &SIZES },
        options,
        launches: 8,
        patience: if full { 120 } else { 12 },
        ..Measure::program(format!("{} pairs", tasks / 2), "pairs")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::page;
    use crate::report::tests::manifest;
    use crate::stats::summary::tests::row;
    use crate::stats::summary::{Row, Rows};

    /// Rates of all systems, with these numbers of tasks.
    pub fn example(systems: &[System]) -> Vec<Row> {
        let mut rows = Vec::new();
        for system in systems {
            for (tasks, size) in TASKS.into_iter().flat_map(|tasks| SIZES.map(|size| (tasks, size))) {
                let ns = 100.0 + size as f64 / 10.0;
                for (metric, value) in [("message rate", 1e3 / ns), ("bandwidth", size as f64 / ns)] {
                    rows.push(Row { tasks, ..row(system, "pairs", metric, size, &[value; 8]) });
                }
            }
        }
        rows
    }

    #[test]
    fn table_and_page_have_every_system_and_number_of_pairs() {
        let rows = example(&SYSTEMS);
        let text = report::table(&Rows(&rows), &SYSTEMS);
        assert!(text.lines().all(|line| line.chars().count() <= crate::table::WIDTH), "{text}");
        let page = page(&SUITE, &rows, &[], &manifest());
        for system in SYSTEMS {
            assert!(text.contains(&system.label()) && page.contains(&system.label()), "{}", system.label());
        }
        assert_eq!(
            page.matches("<svg").count(),
            2 * TASKS.len(),
            "a drawing for each number of pairs and each unit"
        );
        assert!(!page.contains("NaN"));
    }

    #[test]
    fn question_is_answered_by_planned_job() {
        for question in &QUESTIONS {
            for system in SYSTEMS {
                let answers = |job: &Job| job.system == Some(system) && question.is_answered_by(&job.measure);
                assert!(jobs(Extent::Quick).iter().any(answers), "{question:?}: {}", system.label());
            }
        }
    }

    #[test]
    fn sizes_fill_whole_doubles() {
        assert!(SIZES.into_iter().chain(ALL_SIZES).all(|size| size > 0 && size % 8 == 0));
    }
}
