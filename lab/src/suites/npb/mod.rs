//! The npb suite: LU, SP and BT of the NAS benchmarks with the algorithms by which Fatoohi compared networks in 1995 (seed 004 of the
//! project), by one kernel over PVM's calls and MPI's. Every launch is verified by the benchmarks' official values.

mod formulas;
mod goals;
pub mod hosts;
mod report;
mod table;

use super::{Pages, Suite};
use crate::report::{headline::Question, tables};
use crate::run::experiment::{Cores, How, Job, Measure, of_each};
use crate::stats::summary::{Row, Rows};
use crate::systems::system::{Encoding, Extent, Family, OVER_HOSTS, System};

/// Ours, then those it is measured against; PVM's direct route and its default one, through daemons.
const SYSTEMS: [System; 6] = [
    System::new(Family::Parvum, "shm", Encoding::Raw),
    System::new(Family::Mpi, "shm", Encoding::None),
    System::new(Family::Pvm, "direct", Encoding::Raw),
    System::new(Family::Pvm, "daemon", Encoding::Raw),
    System::new(Family::OpenMpi, "", Encoding::None),
    System::new(Family::Mpich, "", Encoding::None),
];

const FAMILIES: [Family; 5] = [Family::Parvum, Family::Mpi, Family::Pvm, Family::OpenMpi, Family::Mpich];

/// Numbers of tasks.
pub const TASKS: [u32; 4] = [1, 2, 4, 8];

/// A class of a benchmark.
#[derive(Debug)]
struct Case {
    program: &'static str,
    words: &'static str,
    class: char,
    /// Points each way, which is what its rows have as size.
    size: &'static [u64],
    options: &'static str,
}

macro_rules! cases {
    ($($program:literal $words:literal $class:literal $size:literal)*) => {
        [$(Case {
            program: $program,
            words: $words,
            class: $class,
            size: &[$size],
            options: concat!("--benchmark ", $program, " --class ", $class),
        }),*]
    };
}

static CASES: [Case; 12] = cases! {
    "lu" "LU" 'S' 12  "lu" "LU" 'W' 33  "lu" "LU" 'A' 64  "lu" "LU" 'B' 102
    "sp" "SP" 'S' 12  "sp" "SP" 'W' 36  "sp" "SP" 'A' 64  "sp" "SP" 'B' 102
    "bt" "BT" 'S' 12  "bt" "BT" 'W' 24  "bt" "BT" 'A' 64  "bt" "BT" 'B' 102
};

/// `parvum compare --suite npb`.
pub static SUITE: Suite = Suite {
    name: "npb",
    about: "LU, SP and BT of the NAS benchmarks, verified",
    over_hosts: Some(&hosts::OVER),
    families: &FAMILIES,
    seconds: [180, 5400],
    systems: || SYSTEMS.to_vec(),
    jobs,
    goals: goals::on_one_host,
    table: table::render,
    pages: Pages {
        introduction: "Three simulated applications of the NAS Parallel Benchmarks with the algorithms of Fatoohi's study of 1995: LU sends many short messages \
             from hyper-plane to hyper-plane, SP fewer and longer ones between eliminations from both ends, BT long ones from all to all. One kernel in C runs over \
             PVM's calls and MPI's; each launch reproduces the official values to 1e-8.",
        cards: "",
        omitted: "classes S, A and B (--class, or --full); hosts (--hosts 2)",
        questions: &QUESTIONS,
        contents: &[("npb", "Time of an iteration"), ("npb-messages", "Messages and volume")],
        sections: &[report::times, report::messages],
        details,
    },
};

const QUESTIONS: [Question; 3] = [
    Question::small("LU, class W, an iteration on 4 tasks", "lu", "iteration", 33).on(4),
    Question::small("SP, class W, an iteration on 4 tasks", "sp", "iteration", 36).on(4),
    Question::small("BT, class W, an iteration on 4 tasks", "bt", "iteration", 24).on(4),
];

fn details(html: &mut String, rows: &[Row]) {
    tables::numbers(html, rows, &[], &[]);
}

/// Whether a run of this extent has a class; `--class` takes any.
fn is_planned(extent: Extent, class: char) -> bool {
    extent == Extent::Full || class == 'W'
}

fn jobs(extent: Extent) -> Vec<Job> {
    CASES
        .iter()
        .filter(|case| is_planned(extent, case.class))
        .flat_map(|case| TASKS.map(|tasks| case.measure(extent, tasks, "")))
        .flat_map(|measure| of_each(&measure, SYSTEMS).collect::<Vec<_>>())
        .collect()
}

/// The class of a job of this suite.
pub fn class_of(job: &Job) -> Option<char> {
    CASES.iter().find(|case| case.options == job.measure.options).map(|case| case.class)
}

impl Case {
    fn measure(&self, extent: Extent, tasks: u32, place: &str) -> Measure {
        Measure {
            how: How::Program("npb"),
            tasks,
            cores: Cores::Each,
            sizes: self.size,
            options: self.options,
            launches: 3,
            // What spins while it waits takes for ever with more tasks than cores; the quick run does not wait.
            patience: if extent == Extent::Full { 600 } else { 20 },
            ..Measure::program(
                format!("{}, class {}, {tasks} tasks{place}", self.words, self.class),
                self.program,
            )
        }
    }
}

/// What was measured of a system.
fn of(rows: &Rows, system: &System, case: &Case, metric: &str, tasks: u32) -> Option<f64> {
    rows.find(case.program, system, metric, tasks, case.size[0]).map(|row| row.median)
}

/// The classes that were measured, with any of these systems, and on how many tasks.
fn measured<'a>(
    rows: &'a Rows<'_>,
    systems: &'a [System],
) -> impl Iterator<Item = (&'static Case, u32)> + 'a {
    let all = CASES.iter().flat_map(|case| TASKS.map(|tasks| (case, tasks)));
    all.filter(|(case, tasks)| {
        systems.iter().any(|system| of(rows, system, case, "iteration", *tasks).is_some())
    })
}

/// The systems of any session: those of one host, of hosts that are named, and of several made of one.
fn all_systems() -> Vec<System> {
    let named = OVER_HOSTS.into_iter().filter(|system| !SYSTEMS.contains(system));
    SYSTEMS.into_iter().chain(named).chain(hosts::systems()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of one metric for a class of a benchmark.
    pub fn rows(system: &System, program: &str, size: u64, tasks: u32, metrics: &[(&str, f64)]) -> Vec<Row> {
        let one = |&(metric, median): &(&str, f64)| {
            let mut row = crate::stats::summary::tests::row(system, program, metric, size, &[median; 3]);
            row.tasks = tasks;
            row
        };
        metrics.iter().map(one).collect()
    }

    #[test]
    fn npb_jobs_cover_every_class_system_and_task_count() {
        let full = jobs(Extent::Full);
        assert_eq!(full.len(), CASES.len() * TASKS.len() * SYSTEMS.len());
        assert_eq!(jobs(Extent::Quick).len(), 3 * TASKS.len() * SYSTEMS.len());
        for job in &full {
            let case = CASES.iter().find(|case| case.options == job.measure.options).expect("a class");
            assert_eq!((class_of(job), job.measure.sizes), (Some(case.class), case.size));
            assert_eq!(job.files(), [("npb", job.system.map(|system| system.family))]);
        }
    }
}
