//! The suite of growth: the start of a job and the memory of a process, by the number of processes. The programs are `apps/job` and
//! `apps/growth`.

use super::{Pages, Suite};
use crate::report::curve::{Axes, Point, Series, chart};
use crate::report::headline::{self, Question};
use crate::report::markup::{escape, figure, table as html_table};
use crate::report::tables;
use crate::run::experiment::{Cores, How, Job, Measure, of_each};
use crate::stats::goals::digits;
use crate::stats::summary::{Row, Rows};
use crate::systems::system::{Encoding, Extent, Family, System};
use crate::table::columns;

const OURS: System = System::new(Family::Mpi, "shm", Encoding::None);
const OPEN_MPI: System = System::new(Family::OpenMpi, "", Encoding::None);
const MPICH: System = System::new(Family::Mpich, "", Encoding::None);
const OUR_PVM: System = System::new(Family::Parvum, "shm", Encoding::Raw);
const PVM: System = System::new(Family::Pvm, "direct", Encoding::Raw);
const SYSTEMS: [System; 5] = [OURS, OPEN_MPI, MPICH, OUR_PVM, PVM];
/// The launchers of MPI start jobs. PVM's programs start each other.
const LAUNCHED: usize = 3;
const OVER_HOSTS: [System; 3] = [System::new(Family::Mpi, "tcp", Encoding::None), OPEN_MPI, MPICH];

/// Numbers of processes.
const TASKS: [u32; 4] = [2, 8, 16, 32];
const ALL_TASKS: [u32; 6] = [2, 4, 8, 16, 32, 64];

/// The figures: program, name in rows, name in tables.
const FIGURES: [(&str, &str, &str); 3] = [
    ("job", "start and end", "start and end ms"),
    ("growth", "memory, started", "started MiB"),
    ("growth", "memory, met all", "met all MiB"),
];

const ABOUT: &str = "the start of a job and the memory of a process, by the number of processes";

/// `parvum compare --suite growth`.
pub static SUITE: Suite = Suite {
    name: "growth",
    about: ABOUT,
    over_hosts: Some(&OVER),
    families: &[Family::Mpi, Family::OpenMpi, Family::Mpich, Family::Parvum, Family::Pvm],
    seconds: [120, 900],
    systems: || SYSTEMS.to_vec(),
    jobs: |extent| jobs(extent, &SYSTEMS),
    goals: |_| Vec::new(),
    table: |rows, _| table(rows, &SYSTEMS),
    pages: Pages {
        introduction: "A job of each number of processes starts and ends. In another program all processes start, and then each exchanges a message with each \
             other. The memory of a process counts its private pages, and its part of the pages that it shares. The mean of all processes, times their \
             number, is what the job takes. A daemon that runs before the job is not counted.",
        cards: "",
        omitted: "launchers and daemons in the memory; processes that use threads, files or windows",
        questions: &QUESTIONS,
        contents: &[("growth", "By number of processes")],
        sections: &[|html, rows| section(html, rows, &SYSTEMS)],
        details: |html, rows| tables::numbers(html, rows, &[], &[]),
    },
};

/// The suite when hosts are named.
pub static OVER: Suite = Suite {
    name: "growth",
    about: ABOUT,
    over_hosts: None,
    families: &[Family::Mpi, Family::OpenMpi, Family::Mpich],
    seconds: [150, 900],
    systems: || OVER_HOSTS.to_vec(),
    jobs: |extent| jobs(extent, &OVER_HOSTS),
    goals: |_| Vec::new(),
    table: |rows, _| table(rows, &OVER_HOSTS),
    pages: Pages {
        introduction: "A job of each number of processes starts on the hosts that were named, and ends. In another program each process then exchanges a message with \
             each other. The memory of a process counts its private pages, and its part of the pages that it shares.",
        cards: "",
        omitted: "launchers and daemons in the memory",
        questions: &[],
        contents: &[("growth", "By number of processes")],
        sections: &[|html, rows| section(html, rows, &OVER_HOSTS)],
        details: |html, rows| tables::numbers(html, rows, &[], &[]),
    },
};

const QUESTIONS: [Question; 4] = [
    Question::small("Start and end of 2", "job", "start and end", 0),
    Question::small("Start and end of 32", "job", "start and end", 0).on(32),
    Question::small("Memory of a process, 2 met", "growth", "memory, met all", 0),
    Question::small("Memory of a process, 32 met", "growth", "memory, met all", 0).on(32),
];

fn jobs(extent: Extent, systems: &[System]) -> Vec<Job> {
    let tasks = if extent == Extent::Full { &ALL_TASKS[..] } else { &TASKS };
    let mut jobs = Vec::new();
    for &tasks in tasks {
        let memory = Measure {
            tasks,
            cores: Cores::Each,
            launches: 3,
            patience: 60,
            ..Measure::program(format!("memory of {tasks}"), "growth")
        };
        let start = Measure {
            tasks,
            how: How::Job(Some("job")),
            launches: 8,
            patience: 60,
            ..Measure::program(format!("start and end of {tasks}"), "job")
        };
        jobs.extend(of_each(&start, systems.iter().copied().take(LAUNCHED)));
        jobs.extend(of_each(&memory, systems.iter().copied()));
    }
    jobs
}

/// The numbers of processes that have rows, in ascending order.
fn numbers(rows: &Rows) -> Vec<u32> {
    let is_ours = |row: &&Row| FIGURES.iter().any(|figure| row.program == figure.0);
    let mut numbers: Vec<u32> = rows.0.iter().filter(is_ours).map(|row| row.tasks).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

fn lines(rows: &Rows, systems: &[System]) -> Vec<Vec<String>> {
    let mut lines = Vec::new();
    for tasks in numbers(rows) {
        for system in systems {
            let found = FIGURES.map(|(program, metric, _)| rows.find(program, system, metric, tasks, 0));
            if found.iter().all(Option::is_none) {
                continue;
            }
            let cell = |row: Option<&Row>| row.map_or_else(|| "-".to_owned(), |row| digits(row.median));
            lines.push([tasks.to_string(), system.label()].into_iter().chain(found.map(cell)).collect());
        }
    }
    lines
}

fn headings() -> Vec<&'static str> {
    ["processes", "system"].into_iter().chain(FIGURES.map(|figure| figure.2)).collect()
}

fn table(rows: &Rows, systems: &[System]) -> String {
    let mut text = String::from(
        "Start of a job, and memory of each process, by the number of processes.\nMedians of launches.\n\n",
    );
    columns(&mut text, &headings(), &lines(rows, systems));
    text
}

fn drawing(rows: &Rows, systems: &[System], (program, metric, _): (&str, &str, &str), axes: &Axes) -> String {
    let of = |system: &System| {
        let point = |tasks: u32| {
            let row = rows.find(program, system, metric, tasks, 0)?;
            Some(Point { x: f64::from(tasks), y: row.median, low: row.low, high: row.high })
        };
        let points: Vec<Point> = numbers(rows).into_iter().filter_map(point).collect();
        let (label, class) = (system.label(), headline::class(system));
        (!points.is_empty()).then_some(Series { label, class, dash: "", points })
    };
    let series: Vec<Series> = systems.iter().filter_map(of).collect();
    chart(&series, axes)
}

fn section(html: &mut String, rows: &[Row], systems: &[System]) {
    let rows = &Rows(rows);
    html.push_str("<h2 id=\"growth\">By number of processes</h2>");
    let axes = Axes {
        title: "Start and end of a job",
        x: |tasks| format!("{tasks:.0}"),
        x_name: "processes",
        y_name: "ms, lower is better",
        break_even: false,
        width: 900.0,
    };
    figure(html, &drawing(rows, systems, FIGURES[0], &axes), "");
    let axes = Axes { title: "Memory of a process that has met all", y_name: "MiB, lower is better", ..axes };
    figure(
        html,
        &drawing(rows, systems, FIGURES[2], &axes),
        "The mean of all processes, after each has exchanged a message with each other.",
    );
    let lines: Vec<Vec<String>> =
        lines(rows, systems).into_iter().map(|line| line.iter().map(|cell| escape(cell)).collect()).collect();
    html.push_str(&html_table(&headings(), &lines));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::page;
    use crate::report::tests::manifest;
    use crate::stats::summary::tests::row;

    #[test]
    fn table_and_page_have_every_system() {
        for (suite, systems) in [(&SUITE, &SYSTEMS[..]), (&OVER, &OVER_HOSTS)] {
            let mut rows = Vec::new();
            for system in systems {
                for tasks in TASKS {
                    for (program, metric, _) in FIGURES {
                        let one = row(system, program, metric, 0, &[37.4; 3]);
                        rows.push(Row { tasks, ..one });
                    }
                }
            }
            let text = (suite.table)(&Rows(&rows), &manifest());
            assert!(text.lines().all(|line| line.chars().count() <= crate::table::WIDTH), "{text}");
            assert_eq!(text.matches(" 37").count(), systems.len() * TASKS.len() * FIGURES.len(), "{text}");
            let page = page(suite, &rows, &[], &manifest());
            assert!(systems.iter().all(|system| page.contains(&system.label())) && !page.contains("NaN"));
            assert!(page.matches("<svg").count() >= 2);
        }
    }

    #[test]
    fn question_is_answered_by_planned_job() {
        for question in &QUESTIONS {
            let planned = jobs(Extent::Quick, &SYSTEMS);
            assert!(planned.iter().any(|job| question.is_answered_by(&job.measure)), "{question:?}");
        }
    }
}
