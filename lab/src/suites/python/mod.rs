//! The python suite: what the package for Python costs, beside what else Python has: executors of Ray, Dask, loky and multiprocessing, messages of
//! mpi4py, joblib's calls.

mod goals;

use super::{Pages, Suite};
use crate::report::headline::Question;
use crate::report::markup::table as html_table;
use crate::report::tables;
use crate::run::experiment::{Cores, How, Job, Measure, of_each};
use crate::run::record::Manifest;
use crate::stats::goals::digits;
use crate::stats::summary::{Row, Rows};
use crate::systems::system::{Encoding, Extent, Family, System};
use std::fmt::Write;

const fn system(family: Family) -> System {
    System::new(family, "", Encoding::None)
}

const PARVUM: System = System::new(Family::Python, "shm", Encoding::None);
const MULTIPROCESSING: System = system(Family::Multiprocessing);
const LOKY: System = system(Family::Loky);
const DASK: System = system(Family::Dask);
const RAY: System = system(Family::Ray);
const MPICH: System = system(Family::PyMpich);
const OPENMPI: System = system(Family::PyOpenMpi);

const SYSTEMS: [System; 7] = [PARVUM, MULTIPROCESSING, LOKY, DASK, RAY, MPICH, OPENMPI];
/// Those that send messages.
const SENDING: [System; 6] = [PARVUM, MULTIPROCESSING, DASK, RAY, MPICH, OPENMPI];
/// Those that have executors.
const EXECUTORS: [System; 5] = [PARVUM, MULTIPROCESSING, LOKY, DASK, RAY];
/// Those that joblib runs on.
const JOBLIB: [System; 4] = [PARVUM, LOKY, DASK, RAY];

/// Bytes of an array.
const SIZES: [u64; 3] = [8, 1 << 20, 64 << 20];
/// Ten arrays of 1 MiB.
const DICTIONARY: u64 = 10 << 20;

/// `parvum compare --suite python`.
pub static SUITE: Suite = Suite {
    name: "python",
    about: "executors, joblib and messages of Python beside mpi4py, Ray, Dask, loky, multiprocessing",
    over_hosts: None,
    families: &[
        Family::Python,
        Family::Multiprocessing,
        Family::Loky,
        Family::Dask,
        Family::Ray,
        Family::PyMpich,
        Family::PyOpenMpi,
    ],
    seconds: [400, 1800],
    systems: || SYSTEMS.to_vec(),
    jobs,
    goals: goals::goals,
    table,
    pages: Pages {
        introduction: "Programs in Python, two processes on this host, each system as its users write it (<code>apps/python</code>): NumPy arrays and a dictionary of ten of them to \
             another process and back; empty calls through an executor of two workers; 10,000 calls of 1 ms by joblib; what two workers cost that have nothing to do.",
        cards: "",
        omitted: "repetitions (--full has more)",
        questions: &QUESTIONS,
        contents: &[("arrays", "Arrays and objects"), ("calls", "Calls")],
        sections: &[section],
        details,
    },
};

const QUESTIONS: [Question; 3] = [
    Question::small("NumPy array of 1 MiB, one way", "python-array", "half round trip", 1 << 20),
    Question::large("Empty calls, one by one", "python-single", "calls", 0),
    Question::small("From import to the first result", "python-first", "first result", 0),
];

fn details(html: &mut String, rows: &[Row]) {
    tables::numbers(html, rows, &[], &[]);
}

fn jobs(extent: Extent) -> Vec<Job> {
    let launches = if extent == Extent::Full { 10 } else { 3 };
    let measure = |name: &str, program, file, sizes, options| Measure {
        how: How::Program(file),
        cores: Cores::Each,
        sizes,
        options,
        launches,
        // Ray takes seconds to begin.
        patience: 120,
        ..Measure::program(name, program)
    };
    let sending = [
        measure("arrays", "python-array", "pyring", &SIZES, "--lab array --seconds 0.5"),
        measure("dictionary", "python-dictionary", "pyring", &[], "--lab dictionary --seconds 0.5"),
    ];
    let calls = [
        measure("first result", "python-first", "pytasks", &[], "--lab first"),
        measure("idle", "python-idle", "pytasks", &[], "--lab idle"),
        measure("calls one by one", "python-single", "pytasks", &[], "--lab single"),
        measure("calls in chunks", "python-chunks", "pytasks", &[], "--lab chunks"),
    ];
    let joblib = [measure("joblib", "python-joblib", "pyjoblib", &[], "--lab joblib")];
    let of = |measures: &[Measure], systems: &[System]| {
        measures.iter().flat_map(|m| of_each(m, systems.to_vec()).collect::<Vec<_>>()).collect::<Vec<_>>()
    };
    [of(&sending, &SENDING), of(&calls, &EXECUTORS), of(&joblib, &JOBLIB)].concat()
}

/// What is shown: a title, and of which program which metric at which size.
const SHOWN: [(&str, &str, &str, u64); 10] = [
    ("8 B, us", "python-array", "half round trip", 8),
    ("1 MiB, us", "python-array", "half round trip", 1 << 20),
    ("64 MiB, us", "python-array", "half round trip", 64 << 20),
    ("dictionary, us", "python-dictionary", "half round trip", DICTIONARY),
    ("first result, ms", "python-first", "first result", 0),
    ("one by one, k/s", "python-single", "calls", 0),
    ("in chunks, k/s", "python-chunks", "calls", 0),
    ("idle, MiB", "python-idle", "resident", 0),
    ("idle, % of a core", "python-idle", "processor", 0),
    ("joblib / ideal", "python-joblib", "time over the work", 0),
];

fn cell(rows: &Rows, system: &System, (_, program, metric, size): (&str, &str, &str, u64)) -> String {
    rows.find(program, system, metric, 2, size).map_or_else(|| "-".to_owned(), |row| digits(row.median))
}

fn table(rows: &Rows, _: &Manifest) -> String {
    let mut text = String::from("Two processes in Python; the MPIs by mpi4py. Median of launches.\n\n");
    let _ = write!(text, "{:<18}", "");
    for name in ["Parvum", "mproc", "loky", "Dask", "Ray", "MPICH", "OpenMPI"] {
        let _ = write!(text, "{name:>8}");
    }
    text.push('\n');
    for shown in SHOWN {
        let _ = write!(text, "{:<18}", shown.0);
        SYSTEMS.iter().for_each(|system| _ = write!(text, "{:>8}", cell(rows, system, shown)));
        text.push('\n');
    }
    text
}

fn section(html: &mut String, rows: &[Row]) {
    let rows = Rows(rows);
    for (anchor, title, shown) in
        [("arrays", "Arrays and objects, half a round trip", &SHOWN[..4]), ("calls", "Calls", &SHOWN[4..])]
    {
        let _ = write!(html, "<h2 id=\"{anchor}\">{title}</h2>");
        let heads: Vec<&str> = std::iter::once("").chain(shown.iter().map(|shown| shown.0)).collect();
        let lines: Vec<Vec<String>> = SYSTEMS
            .iter()
            .map(|system| {
                let cells = shown.iter().map(|shown| cell(&rows, system, *shown));
                std::iter::once(system.family.name().to_owned()).chain(cells).collect::<Vec<String>>()
            })
            .filter(|line| line[1..].iter().any(|cell| cell != "-"))
            .collect();
        html.push_str(&html_table(&heads, &lines));
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::report::page;
    use crate::report::tests::manifest;

    /// A session in which everybody measures the same.
    pub fn example() -> Vec<Row> {
        let metric = |program| SHOWN.iter().find(|shown| shown.1 == program).map_or("", |shown| shown.2);
        let mut rows = Vec::new();
        for job in jobs(Extent::Quick) {
            let Some(system) = job.system else { continue };
            let sizes: &[u64] = match job.measure.program {
                "python-dictionary" => &[DICTIONARY],
                _ if job.measure.sizes.is_empty() => &[0],
                _ => job.measure.sizes,
            };
            for size in sizes {
                let program = job.measure.program;
                rows.push(crate::stats::summary::tests::row(
                    &system,
                    program,
                    metric(program),
                    *size,
                    &[1.0; 3],
                ));
            }
        }
        rows
    }

    #[test]
    fn python_jobs_match_abilities_of_each_system() {
        let jobs = jobs(Extent::Quick);
        assert_eq!(jobs.len(), 2 * SENDING.len() + 4 * EXECUTORS.len() + JOBLIB.len());
    }

    #[test]
    fn python_table_and_page_show_measurements() {
        let rows = example();
        let text = table(&Rows(&rows), &manifest());
        assert!(text.contains("64 MiB, us") && text.contains("1.00"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= crate::table::WIDTH), "{text}");
        let page = page(&SUITE, &rows, &[], &manifest());
        assert!(page.contains("mpi4py, Open MPI") && !page.contains("NaN"));
    }
}
