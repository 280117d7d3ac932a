//! The shared suite: shared memory beside messages, with the three programs of the paper that compared TreadMarks with PVM and MPI
//! (seed 002 of the project).
//!
//! Each program has one kernel, and a form for shared memory and one for messages. Under a protocol every task has memory of its own,
//! as tasks of different hosts do, so what is sent on one host is what hosts would send each other.

mod goals;
pub mod hosts;
mod nodes;
mod report;
mod table;

use super::{Pages, Suite};
use crate::report::{headline::Question, tables};
use crate::run::experiment::{Cores, Job, Measure, of_each};
use crate::stats::summary::Rows;
use crate::systems::system::{Encoding, Extent, Family, System};

const fn shared(family: Family) -> System {
    System::new(family, "shm", Encoding::None)
}

const ONE: System = shared(Family::Tmk);
const LAZY: System = shared(Family::TmkLazy);
const CLASSIC: System = shared(Family::TmkClassic);
const HOME: System = shared(Family::TmkHome);
const HYBRID: System = shared(Family::Hybrid);
const PVM: System = System::new(Family::Parvum, "shm", Encoding::Raw);
const MPI: System = shared(Family::Mpi);

/// Shared memory in each way, then messages.
const SYSTEMS: [System; 7] = [ONE, LAZY, HOME, CLASSIC, HYBRID, PVM, MPI];

/// The programs, what a size of each is, and what each is told and its sizes in the quick run and in the full one.
const PROGRAMS: [Program; 3] = [
    Program {
        name: "sort",
        words: "mergesort",
        of: "numbers",
        options: ["", ""],
        data: None,
        sizes: [&[1_000_000], &[5_000_000, 10_000_000]],
    },
    Program {
        name: "mandelbrot",
        words: "Mandelbrot's set",
        of: "points each way",
        options: ["", ""],
        data: None,
        sizes: [&[400], &[1000, 2000]],
    },
    Program {
        name: "network",
        words: "neural network",
        of: "weights",
        options: ["--in-a-row 5 --items 2000", "--in-a-row 5 --items 58000"],
        data: Some("shuttle.txt"),
        sizes: [&[400, 8800], &[400, 8800]],
    },
];

/// Numbers of tasks.
const TASKS: [u32; 4] = [1, 2, 4, 8];

/// One of the programs.
struct Program {
    name: &'static str,
    words: &'static str,
    of: &'static str,
    options: [&'static str; 2],
    data: Option<&'static str>,
    sizes: [&'static [u64]; 2],
}

/// `parvum compare --suite shared`.
pub static SUITE: Suite = Suite {
    name: "shared",
    about: "distributed shared memory (TreadMarks) beside messages",
    over_hosts: None,
    families: &[
        Family::Tmk,
        Family::TmkLazy,
        Family::TmkHome,
        Family::TmkClassic,
        Family::Hybrid,
        Family::Parvum,
        Family::Mpi,
    ],
    seconds: [120, 1200],
    systems: || SYSTEMS.to_vec(),
    jobs,
    goals: goals::check,
    table: table::render,
    pages: Pages {
        introduction: "In 2004 TreadMarks' shared memory was compared with PVM and MPI by three programs: mergesort, Mandelbrot's set, and a neural \
             network. Here are the same programs in today's ways of sharing memory, by the protocol of 1994, and by messages.",
        cards: "",
        omitted: "hosts (--hosts 2,4 compares on them): under lazy, home and classic each task has memory of its own, as tasks of different hosts do, and sends \
             what those would; the paper's forest cover data (that set is made from a seed; so is the other where tools/peers.sh could not fetch the Shuttle data)",
        questions: &QUESTIONS,
        contents: &[("traffic", "Traffic"), ("speedup", "Speed-up"), ("nodes", "32 nodes")],
        sections: &[report::traffic, report::speed_up_table, nodes::section],
        details,
    },
};

const QUESTIONS: [Question; 3] = [
    Question::small("Mergesort of a million numbers on 2 tasks", "sort", "run", 1_000_000),
    Question::small("Mandelbrot's set, 400 x 400, on 2 tasks", "mandelbrot", "run", 400),
    Question::small("Net of 54 x 160 x 1 on 2 tasks", "network", "run", 8800),
];

fn details(html: &mut String, rows: &[crate::stats::summary::Row]) {
    tables::numbers(html, rows, &[], &[]);
}

fn jobs(extent: Extent) -> Vec<Job> {
    let full = extent == Extent::Full;
    let mut jobs = Vec::new();
    for program in &PROGRAMS {
        for tasks in TASKS {
            let patience = if full { 110 } else { 30 };
            for measure in program.measures(full, &format!("on {tasks}"), tasks, patience) {
                jobs.extend(of_each(&measure, SYSTEMS));
            }
        }
    }
    jobs
}

impl Program {
    /// On so many tasks, each launch within so many seconds. A size for each: what shared memory has learnt of one is wrong for
    /// another at first.
    fn measures(&self, full: bool, where_: &str, tasks: u32, patience: u64) -> Vec<Measure> {
        let one = |size: &'static u64| Measure {
            tasks,
            cores: Cores::Each,
            sizes: std::slice::from_ref(size),
            options: self.options[usize::from(full)],
            data: self.data,
            launches: 3,
            patience,
            ..Measure::program(format!("{} of {size} {} {where_}", self.words, self.of), self.name)
        };
        self.sizes[usize::from(full)].iter().map(one).collect()
    }
}

/// What was measured of a system's run.
fn of(rows: &Rows, system: &System, program: &str, metric: &str, (tasks, size): (u32, u64)) -> Option<f64> {
    rows.find(program, system, metric, tasks, size).map(|row| row.median)
}

/// How many times as fast as one task of the same system.
fn speed_up(rows: &Rows, system: &System, program: &str, (tasks, size): (u32, u64)) -> Option<f64> {
    Some(of(rows, system, program, "run", (1, size))? / of(rows, system, program, "run", (tasks, size))?)
}

/// The sizes of a program that were measured.
fn sizes(rows: &Rows, program: &Program) -> Vec<u64> {
    let mut sizes: Vec<u64> =
        rows.0.iter().filter(|row| row.program == program.name).map(|row| row.size).collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A session in which `classic` sends with the square of the tasks, and the others with their number.
    pub fn example() -> Vec<crate::stats::summary::Row> {
        let mut rows = Vec::new();
        for system in SYSTEMS {
            for tasks in TASKS {
                let n = f64::from(tasks - 1);
                let traffic = match system.family {
                    Family::Tmk => 0.0,
                    Family::TmkClassic => n * n,
                    _ => n,
                };
                for (metric, unit, median) in
                    [("run", "ms", 80.0 / f64::from(tasks)), ("traffic", "MB", traffic)]
                {
                    rows.push(crate::stats::summary::Row {
                        program: "network".into(),
                        system: system.family.name().into(),
                        route: system.route.into(),
                        encoding: system.encoding.name().into(),
                        tasks,
                        size: 8800,
                        metric: metric.into(),
                        unit: unit.into(),
                        task: None,
                        median,
                        low: median,
                        high: median,
                        samples: 1,
                        spread: None,
                        launches: vec![median],
                        launch_numbers: vec![0],
                        blocks: Vec::new(),
                    });
                }
            }
        }
        rows
    }

    #[test]
    fn shared_jobs_cover_systems_programs_and_task_counts() {
        for extent in [Extent::Quick, Extent::Full] {
            let jobs = jobs(extent);
            let sizes: usize =
                PROGRAMS.iter().map(|program| program.sizes[usize::from(extent == Extent::Full)].len()).sum();
            assert_eq!(jobs.len(), SYSTEMS.len() * sizes * TASKS.len());
            for job in &jobs {
                assert_eq!(job.files(), [(job.measure.program, job.system.map(|system| system.family))]);
            }
        }
    }

    #[test]
    fn speed_up_is_relative_to_one_task() {
        let rows = example();
        assert_eq!(speed_up(&Rows(&rows), &LAZY, "network", (4, 8800)), Some(4.0));
        assert_eq!(speed_up(&Rows(&rows), &LAZY, "sort", (4, 8800)), None);
    }
}
