//! The suite of arrival patterns: how long a collective takes if its processes do not enter together. A clock that all processes share
//! decides when each enters; what counts is the time from the last entry to the last exit. The program is `apps/arrival`.

use super::{Pages, Suite};
use crate::host::cores;
use crate::report::headline::Question;
use crate::report::markup::{bytes, escape, table as html_table};
use crate::report::tables;
use crate::run::experiment::{Cores, Job, Measure, of_each};
use crate::stats::goals::digits;
use crate::stats::paired::compare_rows;
use crate::stats::samples::{Form, Operation};
use crate::stats::statistics::Verdict;
use crate::stats::summary::{Row, Rows};
use crate::systems::system::{Encoding, Extent, Family, System};
use crate::table::columns;
use std::fmt::Write;

const OURS: System = System::new(Family::Mpi, "shm", Encoding::None);
const OPEN_MPI: System = System::new(Family::OpenMpi, "", Encoding::None);
const MPICH: System = System::new(Family::Mpich, "", Encoding::None);
const SYSTEMS: [System; 3] = [OURS, OPEN_MPI, MPICH];
const OVER_HOSTS: [System; 3] = [System::new(Family::Mpi, "tcp", Encoding::None), OPEN_MPI, MPICH];

const OPERATIONS: [Operation; 6] = [
    Operation::Barrier,
    Operation::Broadcast,
    Operation::Reduce,
    Operation::AllReduce,
    Operation::AllGather,
    Operation::AllToAll,
];
const PATTERNS: [Form; 4] = [Form::Together, Form::Last, Form::Ramp, Form::Half];
const SIZES: [u64; 2] = [8, 16384];
const ALL_SIZES: [u64; 4] = [8, 1024, 16384, 262_144];
/// Numbers of processes, up to one for each core.
const TASKS: [u32; 3] = [2, 4, 8];

const ABOUT: &str = "collectives whose processes enter late, by a clock that all share";

/// `parvum compare --suite arrival`.
pub static SUITE: Suite = Suite {
    name: "arrival",
    about: ABOUT,
    over_hosts: Some(&OVER),
    families: &[Family::Mpi, Family::OpenMpi, Family::Mpich],
    seconds: [60, 600],
    systems: || SYSTEMS.to_vec(),
    jobs: |extent| jobs(extent, &SYSTEMS, cores::physical(TASKS[2] as usize).len()),
    goals: |_| Vec::new(),
    table: |rows, _| table(rows, &SYSTEMS),
    pages: Pages {
        introduction: "All processes of a collective enter at a moment that process 0 names, each at its own distance from the moment. In <em>together</em> the distance is 0. \
             In <em>last</em> one process is late, in <em>half</em> half of them, and in <em>ramp</em> each a little later than the one before. The latest \
             is late by as long as the collective takes together, at least 5 \u{b5}s. The time counts from the last entry to the last exit.",
        cards: "",
        omitted: "more processes than cores: these cannot enter together",
        questions: &QUESTIONS,
        contents: &[("arrival", "By arrival pattern")],
        sections: &[|html, rows| section(html, rows, &SYSTEMS)],
        details: |html, rows| tables::numbers(html, rows, &[], &[]),
    },
};

/// The suite when hosts are named: half of the quickest round trip bounds by how much their clocks may differ.
pub static OVER: Suite = Suite {
    name: "arrival",
    about: ABOUT,
    over_hosts: None,
    families: &[Family::Mpi, Family::OpenMpi, Family::Mpich],
    seconds: [90, 600],
    systems: || OVER_HOSTS.to_vec(),
    jobs: |extent| jobs(extent, &OVER_HOSTS, cores::of_all_hosts().unwrap_or(TASKS[2] as usize)),
    goals: |_| Vec::new(),
    table: |rows, _| table(rows, &OVER_HOSTS),
    pages: Pages {
        introduction: "All processes of a collective, on the hosts that were named, enter at a moment that process 0 names, each at its own distance from the moment. The time \
             counts from the last entry to the last exit. Before each series process 0 compares all clocks with its own. Half of the quickest round trip \
             bounds the error, and <code>raw.jsonl</code> has the error of each series.",
        cards: "",
        omitted: "more processes than cores: these cannot enter together",
        questions: &[],
        contents: &[("arrival", "By arrival pattern")],
        sections: &[|html, rows| section(html, rows, &OVER_HOSTS)],
        details: |html, rows| tables::numbers(html, rows, &[], &[]),
    },
};

const QUESTIONS: [Question; 4] = [
    Question::small("Barrier, both enter together", "arrival", "barrier, together", 0),
    Question::small("Barrier, the last is late", "arrival", "barrier, last", 0),
    Question::small("Allreduce 8 B, together", "arrival", "allreduce, together", 8),
    Question::small("Allreduce 8 B, the last is late", "arrival", "allreduce, last", 8),
];

fn jobs(extent: Extent, systems: &[System], cores: usize) -> Vec<Job> {
    let full = extent == Extent::Full;
    let of = |tasks: u32| Measure {
        tasks,
        cores: Cores::Each,
        sizes: if full { &ALL_SIZES } else { &SIZES },
        options: if full { "--time-ms 60 --least 5 --most 500" } else { "--time-ms 12 --least 3 --most 200" },
        launches: 8,
        patience: if full { 120 } else { 15 },
        ..Measure::program(format!("arrival of {tasks}"), "arrival")
    };
    // Two are measured on any machine: it says itself if they come late each time.
    let fitting = TASKS.into_iter().filter(|tasks| *tasks == TASKS[0] || *tasks as usize <= cores);
    fitting.flat_map(|tasks| of_each(&of(tasks), systems.iter().copied()).collect::<Vec<_>>()).collect()
}

/// A system's line for one operation: each pattern's time.
fn line(rows: &Rows, system: &System, operation: Operation, tasks: u32, size: u64) -> Option<[String; 4]> {
    let row = |pattern: Form| {
        rows.find("arrival", system, &format!("{}, {}", operation.name(), pattern.name()), tasks, size)
    };
    let together = row(Form::Together)?;
    Some(PATTERNS.map(|pattern| match row(pattern) {
        None => "-".to_owned(),
        Some(row) => {
            // A pattern that takes longer than entering together keeps the late ones waiting for nothing.
            let slower = pattern != Form::Together && compare_rows(row, together) == Verdict::Larger;
            format!("{}{}", digits(row.median), if slower { " !" } else { "" })
        }
    }))
}

fn sizes_of(rows: &Rows, systems: &[System], tasks: u32, operation: Operation) -> Vec<u64> {
    let name = format!("{}, together", operation.name());
    let of = |system: &System| {
        let wanted = |row: &&Row| row.metric == name && row.tasks == tasks;
        rows.of("arrival", system).filter(wanted).map(|row| row.size).collect::<Vec<_>>()
    };
    let mut sizes: Vec<u64> = systems.iter().flat_map(of).collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

const HEADINGS: [&str; 6] = ["collective", "system", "together", "last late", "ramp", "half late"];

fn lines(rows: &Rows, systems: &[System], tasks: u32) -> Vec<Vec<String>> {
    let mut lines = Vec::new();
    for operation in OPERATIONS {
        for size in sizes_of(rows, systems, tasks, operation) {
            let name = match operation {
                Operation::Barrier => operation.name().to_owned(),
                _ => format!("{} {}", operation.name(), bytes(size as f64)),
            };
            for system in systems {
                if let Some(cells) = line(rows, system, operation, tasks, size) {
                    lines.push(
                        [name.clone(), system.family.name().to_owned()].into_iter().chain(cells).collect(),
                    );
                }
            }
        }
    }
    lines
}

fn table(rows: &Rows, systems: &[System]) -> String {
    let mut text =
        String::from("From the last entry to the last exit, us. Median; ! slower than together.\n");
    for tasks in TASKS {
        let lines = lines(rows, systems, tasks);
        if !lines.is_empty() {
            let _ = writeln!(text, "\n{tasks} processes");
            columns(&mut text, &HEADINGS, &lines);
        }
    }
    text
}

fn section(html: &mut String, rows: &[Row], systems: &[System]) {
    html.push_str("<h2 id=\"arrival\">By arrival pattern</h2><p>From the last entry to the last exit, in microseconds: the median of launches.</p>");
    for tasks in TASKS {
        let lines: Vec<Vec<String>> = lines(&Rows(rows), systems, tasks)
            .into_iter()
            .map(|line| line.iter().map(|cell| escape(cell)).collect())
            .collect();
        if !lines.is_empty() {
            let _ = write!(html, "<h3>{tasks} processes</h3>");
            html.push_str(&html_table(&HEADINGS, &lines));
        }
    }
    html.push_str(
        "<p class=\"note\">An exclamation mark: slower than together, by the signed-rank test over launches. Who enters last has less to wait for, so a late entry \
         should not cost more. A sample in which a process entered more than a microsecond after its time does not count.</p>",
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::page;
    use crate::report::tests::manifest;
    use crate::stats::summary::tests::row;

    fn example() -> Vec<Row> {
        let mut rows = Vec::new();
        for (system, operation, pattern) in SYSTEMS
            .into_iter()
            .flat_map(|system| OPERATIONS.map(|operation| (system, operation)))
            .flat_map(|(system, operation)| PATTERNS.map(|pattern| (system, operation, pattern)))
        {
            let late = if pattern == Form::Ramp && system == MPICH { 3.0 } else { 1.0 };
            let metric = format!("{}, {}", operation.name(), pattern.name());
            let size = if operation == Operation::Barrier { 0 } else { 8 };
            rows.push(row(
                &system,
                "arrival",
                &metric,
                size,
                &[1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7].map(|us| us * late),
            ));
        }
        rows
    }

    #[test]
    fn slow_pattern_is_marked_and_others_are_not() {
        let rows = example();
        let text = table(&Rows(&rows), &SYSTEMS);
        assert!(text.lines().all(|line| line.chars().count() <= crate::table::WIDTH), "{text}");
        assert_eq!(text.matches('!').count(), 1 + OPERATIONS.len(), "{text}");
        let page = page(&SUITE, &rows, &[], &manifest());
        assert!(page.contains("allreduce 8 B") && page.contains("4.05 !") && !page.contains("NaN"));
    }

    #[test]
    fn only_processes_with_a_core_each_are_planned() {
        let tasks = |cores| {
            let mut tasks: Vec<u32> =
                jobs(Extent::Quick, &SYSTEMS, cores).iter().map(|job| job.measure.tasks).collect();
            tasks.dedup();
            tasks
        };
        assert_eq!((tasks(1), tasks(2), tasks(4), tasks(64)), (vec![2], vec![2], vec![2, 4], vec![2, 4, 8]));
    }
}
