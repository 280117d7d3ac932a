//! The pvmtime suite: Lewis and Cline's study of PVM's routes, packing, fragments and cross traffic (seed 001 of the project),
//! by one source on PVM 3.4.6 and on Parvum.

mod goals;
mod report;
mod table;

use super::{Pages, Suite};
use crate::report::{headline::Question, tables};
use crate::run::experiment::{Arrangement, Cores, Job, Measure, of_each};
use crate::stats::summary::{Row, Rows};
use crate::systems::system::{Encoding, Extent, Family, System};

/// Message lengths of the quick run: of the paper's, 4 bytes to 16 KiB by 1 KiB, every fourth; and some below 1 KiB, which it left for later.
const SIZES: [u64; 7] = [4, 64, 256, 1024, 4096, 8192, 16384];
/// Those of the full run.
const ALL_SIZES: [u64; 20] = [
    4, 64, 256, 512, 1024, 2048, 3072, 4096, 5120, 6144, 7168, 8192, 9216, 10240, 11264, 12288, 13312, 14336,
    15360, 16384,
];
/// Where only long messages tell: fragments.
const LONG_SIZES: [u64; 3] = [4096, 12288, 16384];
/// Of the sixteen levels.
const LEVEL_SIZES: [u64; 2] = [1024, 8192];
/// The paper's largest message.
const LARGEST: u64 = 16384;

/// The route that the paper calls TCP, of which Parvum has two on one host.
const DIRECT: [(Family, &str); 3] =
    [(Family::Pvm, "direct"), (Family::Parvum, "tcp"), (Family::Parvum, "shm")];
/// The route through daemons.
const DAEMONS: [(Family, &str); 2] = [(Family::Pvm, "daemon"), (Family::Parvum, "routed")];
/// The ways of packing: the paper's two, and the one that it left for later.
const ENCODINGS: [Encoding; 3] = [Encoding::Xdr, Encoding::Raw, Encoding::InPlace];

const PAIR: Arrangement = Arrangement { masters: 1, slaves: 1, spread: true };
const FOUR_SLAVES: Arrangement = Arrangement { slaves: 4, ..PAIR };
/// 4.4-4.4: four pairs on eight machines.
const APART: Arrangement = Arrangement { masters: 4, ..PAIR };
/// 4.1-4.1: four pairs on two machines.
const TOGETHER: Arrangement = Arrangement { spread: false, ..APART };

/// Which systems.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Of {
    /// Every route, what is packed as XDR.
    Routes,
    /// Every route and every way of packing.
    Encodings,
    /// The quickest route of both.
    Levels,
}

/// One experiment.
#[derive(Debug)]
struct Experiment {
    /// The program of its rows.
    program: &'static str,
    options: &'static str,
    arrangement: Arrangement,
    of: Of,
    sizes: &'static [u64],
    only_full: bool,
}

const fn experiment(program: &'static str, options: &'static str, arrangement: Arrangement) -> Experiment {
    Experiment { program, options, arrangement, of: Of::Routes, sizes: &SIZES, only_full: false }
}

const fn packed(program: &'static str, options: &'static str) -> Experiment {
    Experiment { of: Of::Encodings, ..experiment(program, options, PAIR) }
}

const fn fragments(program: &'static str, options: &'static str) -> Experiment {
    Experiment { sizes: &LONG_SIZES, ..experiment(program, options, PAIR) }
}

const fn full(experiment: Experiment) -> Experiment {
    Experiment { only_full: true, ..experiment }
}

/// Experiments by their levels of packing.
macro_rules! levels {
    ($test:literal, $($level:literal)*) => {
        [$(full(Experiment {
            of: Of::Levels,
            sizes: &LEVEL_SIZES,
            ..experiment(concat!($test, ", level ", $level), concat!("--test ", $test, " --level ", $level), PAIR)
        })),*]
    };
}

const EXPERIMENTS: [Experiment; 14] = [
    experiment("ping-pong", "--test ping-pong", PAIR),
    experiment("ping-pong, 4 slaves", "--test ping-pong", FOUR_SLAVES),
    experiment("ping-pong, 4.4-4.4", "--test ping-pong", APART),
    experiment("ping-pong, 4.1-4.1", "--test ping-pong", TOGETHER),
    packed("ping-pong, packed", "--test ping-pong --level 15"),
    fragments("ping-pong, 8 KiB fragments", "--test ping-pong --fragment 8192"),
    fragments("ping-pong, 12 KiB fragments", "--test ping-pong --fragment 12288"),
    experiment("blast", "--test blast", PAIR),
    experiment("blast, 4 slaves", "--test blast", FOUR_SLAVES),
    experiment("blast, 4.4-4.4", "--test blast", APART),
    experiment("blast, 4.1-4.1", "--test blast", TOGETHER),
    packed("blast, packed", "--test blast --level 3"),
    fragments("blast, 8 KiB fragments", "--test blast --fragment 8192"),
    fragments("blast, 12 KiB fragments", "--test blast --fragment 12288"),
];

/// Local computation before each message, which the paper left for later.
const COMPUTING: [Experiment; 2] = [
    full(experiment("ping-pong, computing 50 us", "--test ping-pong --compute-us 50", PAIR)),
    full(experiment("blast, computing 50 us", "--test blast --compute-us 50", PAIR)),
];
/// All levels of packing, of which the paper reports two.
const PING_PONG_LEVELS: [Experiment; 16] = levels!("ping-pong", 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
/// In a blast only two of the four ends have anything to pack.
const BLAST_LEVELS: [Experiment; 4] = levels!("blast", 0 1 2 3);

/// `parvum compare --suite pvmtime`.
pub static SUITE: Suite = Suite {
    name: "pvmtime",
    about: "PVM's routes, packing, fragments and cross traffic",
    // Its programs are told who runs where.
    over_hosts: Some(&SUITE),
    families: &[Family::Parvum, Family::Pvm],
    seconds: [150, 1500],
    systems,
    jobs,
    goals: goals::check,
    table: table::render,
    pages: Pages {
        introduction: "Lewis and Cline asked in 1993 what PVM's messages cost in a network of workstations. Here is their program, written anew: <em>slaves</em> send \
             messages to <em>masters</em>, which echo each (<em>ping-pong</em>) or none (<em>blast</em>). The same source runs on PVM 3.4.6 and on Parvum. Throughput is that \
             of a master, over all its messages, in and out. PVM's <em>direct</em> is the paper's TCP, <em>daemon</em> its pvmd; Parvum's <em>routed</em> goes through its daemon, too.",
        cards: "",
        omitted: "the sixteen levels of packing, local computation, sizes between; four pairs on eight machines where there are not so many cores",
        questions: &QUESTIONS,
        contents: &[
            ("routes", "Routes and slaves"),
            ("packing", "Packing"),
            ("cross", "Cross traffic"),
            ("fragments", "Fragments"),
            ("levels", "Sixteen levels"),
        ],
        sections: &[
            report::routes,
            report::packing,
            report::cross_traffic,
            report::fragments,
            report::levels,
        ],
        details,
    },
};

const QUESTIONS: [Question; 4] = [
    Question::large("Ping-pong of 16 KiB, one slave", "ping-pong", "throughput", LARGEST),
    Question::large("Blast of 16 KiB, one slave", "blast", "throughput", LARGEST),
    Question::large("Blast of 16 KiB, four slaves", "blast, 4 slaves", "throughput", LARGEST).on(5),
    Question::large("Blast of 16 KiB, all packed", "blast, packed", "throughput", LARGEST),
];

fn details(html: &mut String, rows: &[Row]) {
    tables::numbers(html, rows, &[], &[]);
}

fn with(routes: &[(Family, &'static str)], encoding: Encoding) -> impl Iterator<Item = System> {
    routes.iter().map(move |(family, route)| System::new(*family, route, encoding))
}

/// Every route with this encoding.
fn routes(encoding: Encoding) -> impl Iterator<Item = System> {
    with(&DIRECT, encoding).chain(with(&DAEMONS, encoding))
}

fn systems() -> Vec<System> {
    ENCODINGS.into_iter().flat_map(routes).collect()
}

impl Of {
    fn systems(self) -> Vec<System> {
        match self {
            Of::Routes => routes(Encoding::Xdr).collect(),
            Of::Encodings => systems(),
            Of::Levels => vec![
                System::new(Family::Pvm, "direct", Encoding::Xdr),
                System::new(Family::Parvum, "shm", Encoding::Xdr),
            ],
        }
    }
}

fn all() -> impl Iterator<Item = &'static Experiment> {
    EXPERIMENTS.iter().chain(&COMPUTING).chain(&PING_PONG_LEVELS).chain(&BLAST_LEVELS)
}

fn jobs(extent: Extent) -> Vec<Job> {
    let full = extent == Extent::Full;
    let mut jobs = Vec::new();
    for experiment in all().filter(|experiment| full || !experiment.only_full) {
        let measure = Measure {
            program: experiment.program,
            tasks: experiment.arrangement.tasks(),
            cores: Cores::Each,
            sizes: if full && experiment.sizes == SIZES { &ALL_SIZES } else { experiment.sizes },
            options: experiment.options,
            arrangement: Some(experiment.arrangement),
            launches: if experiment.only_full { 2 } else { 6 },
            patience: if full { 110 } else { 40 },
            ..Measure::program(experiment.program, "pvmtime")
        };
        jobs.extend(of_each(&measure, experiment.of.systems()));
    }
    jobs
}

/// A master's throughput in Mbit/s.
fn throughput<'a>(rows: &Rows<'a>, program: &str, system: &System, tasks: u32, size: u64) -> Option<&'a Row> {
    rows.find(program, system, "throughput", tasks, size)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// A session in which a message of PVM's takes twice as long as one of Parvum's.
    pub fn example() -> Vec<Row> {
        let mut rows = Vec::new();
        for job in jobs(Extent::Full) {
            let system = job.system.expect("every job has a system");
            for size in job.measure.sizes {
                let quick = if system.family == Family::Pvm { 1.0 } else { 2.0 };
                let value = quick * *size as f64;
                let mut row = crate::stats::summary::tests::row(
                    &system,
                    job.measure.program,
                    "throughput",
                    *size,
                    &[value; 6],
                );
                (row.tasks, row.unit) = (job.measure.tasks, "Mbit/s".into());
                rows.push(row);
            }
        }
        rows
    }

    #[test]
    fn pvmtime_experiments_have_unique_names_and_all_routes() {
        let names: HashSet<&str> = all().map(|experiment| experiment.program).collect();
        assert_eq!(names.len(), all().count());
        for name in ["ping-pong", "blast", "blast, 4 slaves", "ping-pong, 4.1-4.1"] {
            let planned = jobs(Extent::Quick).iter().filter(|job| job.measure.program == name).count();
            assert_eq!(planned, DIRECT.len() + DAEMONS.len(), "{name}");
        }
        assert!(jobs(Extent::Quick).iter().all(|job| !job.measure.program.contains("level")));
    }

    #[test]
    fn full_run_contains_lengths_and_levels_of_paper() {
        let paper = (1..=16).map(|kib| kib * 1024).chain([4]);
        assert!(paper.into_iter().all(|size| ALL_SIZES.contains(&size)));
        assert!(ALL_SIZES.len() <= 64, "pvmtime takes no more");
        let levels: HashSet<&str> = PING_PONG_LEVELS.iter().map(|experiment| experiment.options).collect();
        assert_eq!(levels.len(), 16);
    }

    #[test]
    fn arrangement_counts_its_tasks_and_machines() {
        let of = |arrangement: Arrangement| (arrangement.tasks(), arrangement.machines());
        assert_eq!([PAIR, FOUR_SLAVES, APART, TOGETHER].map(of), [(2, 2), (5, 5), (8, 8), (8, 2)]);
    }
}
