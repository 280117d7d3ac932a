//! The exchange suite: the complete exchange of Fatoohi's study (seed 004 of the project, figure 4): each task has a message for every
//! other, all at once, over PVM's calls and MPI's.

pub mod hosts;

use super::{Pages, Suite};
use crate::report::curve::{Axes, Point, Series, chart};
use crate::report::headline::{Question, class};
use crate::report::markup::{bytes, figure, table_of_measured};
use crate::report::tables;
use crate::run::experiment::{Cores, Job, Measure, of_each};
use crate::run::record::Manifest;
use crate::stats::goals::{Goal, Outcome, digits};
use crate::stats::summary::{Row, Rows};
use crate::systems::system::{Encoding, Extent, Family, OVER_HOSTS, System};
use std::fmt::Write;

/// PVM's calls, ours first, then MPI's.
const SYSTEMS: [System; 7] = [
    System::new(Family::Parvum, "shm", Encoding::Raw),
    System::new(Family::Parvum, "tcp", Encoding::Raw),
    System::new(Family::Pvm, "direct", Encoding::Raw),
    System::new(Family::Pvm, "daemon", Encoding::Raw),
    System::new(Family::Mpi, "shm", Encoding::None),
    System::new(Family::OpenMpi, "", Encoding::None),
    System::new(Family::Mpich, "", Encoding::None),
];

/// The pairs of a bar: ours, and those by the same calls.
type Against = [(System, &'static [System]); 2];

const AGAINST: Against = [(SYSTEMS[0], &[SYSTEMS[2], SYSTEMS[3]]), (SYSTEMS[4], &[SYSTEMS[5], SYSTEMS[6]])];

/// Those of one host, and those of several.
fn all_systems() -> Vec<System> {
    let over = OVER_HOSTS.into_iter().filter(|system| !SYSTEMS.contains(system));
    SYSTEMS.into_iter().chain(over).collect()
}

/// Bytes to each of the others; the shortest is one number, the paper's empty message.
const SIZES: [u64; 6] = [8, 1024, 8192, 65536, 262_144, 1 << 20];
const ALL_SIZES: [u64; 12] = [8, 64, 512, 1024, 4096, 8192, 16384, 32768, 65536, 131_072, 262_144, 1 << 20];

/// Numbers of tasks: the paper's figure has four, and its text says the same of eight.
const TASKS: [u32; 2] = [4, 8];

/// `parvum compare --suite exchange`.
pub static SUITE: Suite = Suite {
    name: "exchange",
    about: "complete exchange: all processes to all at once",
    over_hosts: Some(&hosts::OVER),
    families: &[Family::Parvum, Family::Pvm, Family::Mpi, Family::OpenMpi, Family::Mpich],
    seconds: [90, 900],
    systems: || SYSTEMS.to_vec(),
    jobs,
    goals: |rows| ahead(rows, AGAINST),
    table,
    pages: Pages {
        introduction: "Fatoohi's complete exchange of 1995: a matrix of which each task has a column becomes one of which each has a row, so every task has a message for every other, \
             all at once. By PVM each task sends to its next neighbour first and receives from the one before; by MPI it is <code>MPI_Alltoall</code>.",
        cards: "",
        omitted: "half of the sizes (--full has them); hosts (--host LIST), and so networks (./x hosts 4 --network ...)",
        questions: &QUESTIONS,
        contents: &[("exchange", "All together")],
        sections: &[section],
        details,
    },
};

const QUESTIONS: [Question; 2] = [
    Question::small("Complete exchange of 4, 8 B to each", "group", "alltoall", 8).on(4),
    Question::small("Complete exchange of 4, 64 KiB to each", "group", "alltoall", 65536).on(4),
];

fn details(html: &mut String, rows: &[Row]) {
    tables::numbers(html, rows, &[], &[]);
}

fn jobs(extent: Extent) -> Vec<Job> {
    let full = extent == Extent::Full;
    let measure = |tasks| Measure {
        tasks,
        cores: Cores::Each,
        sizes: if full { &ALL_SIZES } else { &SIZES },
        options: if full {
            "--operations alltoall --time-ms 400 --least 3 --most 2000"
        } else {
            "--operations alltoall --time-ms 20 --least 2 --most 300"
        },
        launches: 3,
        // What spins while it waits takes for ever with more tasks than cores.
        patience: if full { 120 } else { 20 },
        ..Measure::program(format!("complete exchange of {tasks}"), "group")
    };
    TASKS.map(measure).iter().flat_map(|measure| of_each(measure, SYSTEMS).collect::<Vec<_>>()).collect()
}

fn of<'a>(rows: &Rows<'a>, system: &System, tasks: u32, size: u64) -> Option<&'a Row> {
    rows.find("group", system, "alltoall", tasks, size)
}

/// GB/s of all tasks together, of a time in us.
fn together(tasks: u32, size: u64, us: f64) -> f64 {
    f64::from(tasks * (tasks - 1)) * size as f64 / us / 1000.0
}

/// The bar of the issue, for the calls of PVM and of MPI: ahead of each peer, at each size.
fn ahead(rows: &[Row], against: Against) -> Vec<Goal> {
    let rows = Rows(rows);
    let whats =
        ["PVM's calls: ahead of PVM 3.4.6 at each size", "MPI's calls: ahead of both MPIs at each size"];
    let goal = |((own, peers), what): ((System, &[System]), &'static str)| {
        let mut worst: Option<(f64, String)> = None;
        let mut seen = 0;
        for tasks in TASKS {
            for size in ALL_SIZES {
                let Some(ours) = of(&rows, &own, tasks, size) else { continue };
                for peer in peers {
                    let Some(theirs) = of(&rows, peer, tasks, size) else { continue };
                    seen += 1;
                    let ratio = ours.median / theirs.median;
                    if worst.as_ref().is_none_or(|(most, _)| ratio > *most) {
                        let [ours, theirs, times] = [ours.median, theirs.median, ratio].map(digits);
                        let at = bytes(size as f64);
                        let words = format!(
                            "{times}x at worst: {ours} us against {} {theirs}, {at} of {tasks}",
                            peer.label()
                        );
                        worst = Some((ratio, words));
                    }
                }
            }
        }
        let bar = "at most 1x";
        match worst {
            None => {
                Goal { what, bar, outcome: Outcome::NoData, found: "not measured in this session".into() }
            }
            Some((ratio, words)) => {
                let outcome = if ratio <= 1.0 { Outcome::Reached } else { Outcome::Missed };
                Goal { what, bar, outcome, found: format!("{words}; {seen} points") }
            }
        }
    };
    against.into_iter().zip(whats).map(goal).collect()
}

fn table(rows: &Rows, _: &Manifest) -> String {
    let mut text =
        String::from("Complete exchange: GB/s of all tasks together, us at 8 B. Median of launches.\n");
    for tasks in TASKS {
        let sizes: Vec<u64> = measured(rows, tasks);
        if sizes.is_empty() {
            continue;
        }
        for some in sizes.chunks(6) {
            let _ = write!(text, "\n{:<22}", format!("{tasks} tasks"));
            some.iter().for_each(|&size| _ = write!(text, "{:>9}", bytes(size as f64)));
            text.push('\n');
            for system in all_systems() {
                let cells: Vec<String> = some.iter().map(|&size| cell(rows, &system, tasks, size)).collect();
                if cells.iter().any(|cell| cell != "-") {
                    let _ = write!(text, "{:<22}", system.label());
                    cells.iter().for_each(|cell| _ = write!(text, "{cell:>9}"));
                    text.push('\n');
                }
            }
        }
    }
    text
}

/// The sizes that were measured of so many tasks.
fn measured(rows: &Rows, tasks: u32) -> Vec<u64> {
    let systems = all_systems();
    let any = |&size: &u64| systems.iter().any(|system| of(rows, system, tasks, size).is_some());
    ALL_SIZES.into_iter().filter(any).collect()
}

fn cell(rows: &Rows, system: &System, tasks: u32, size: u64) -> String {
    of(rows, system, tasks, size).map_or_else(
        || "-".to_owned(),
        |row| digits(if size == 8 { row.median } else { together(tasks, size, row.median) }),
    )
}

/// Figure 4, and the times of the shortest.
fn section(html: &mut String, rows: &[Row]) {
    let rows = Rows(rows);
    html.push_str(
        "<h2 id=\"exchange\">All together</h2><p>What all tasks together send in a second, by the length of each message. On fewer cores than tasks they take turns, \
         and whoever spins while it waits takes others' time.</p>",
    );
    let systems = all_systems();
    for tasks in TASKS.into_iter().filter(|&tasks| !measured(&rows, tasks).is_empty()) {
        let series: Vec<Series> = systems
            .iter()
            .map(|system| {
                let points = measured(&rows, tasks).into_iter().filter_map(|size| {
                    let row = of(&rows, system, tasks, size)?;
                    let rate = |us| together(tasks, size, us);
                    Some(Point {
                        x: size as f64,
                        y: rate(row.median),
                        low: rate(row.high),
                        high: rate(row.low),
                    })
                });
                let dash = if system.family == Family::Mpi { "dash2" } else { "" };
                Series { label: system.label(), class: class(system), dash, points: points.collect() }
            })
            .collect();
        let title = format!("Complete exchange of {tasks} tasks (figure 4)");
        let axes = Axes {
            title: &title,
            x: bytes,
            x_name: "message to each of the others",
            y_name: "GB/s of all together, higher is better",
            break_even: false,
            width: 900.0,
        };
        figure(html, &chart(&series, &axes), "");
    }
    let lines: Vec<Vec<String>> = systems
        .iter()
        .map(|system| {
            let cells = TASKS.map(|tasks| cell(&rows, system, tasks, 8));
            std::iter::once(system.label()).chain(cells).collect::<Vec<String>>()
        })
        .filter(|line| line[1..].iter().any(|cell| cell != "-"))
        .collect();
    html.push_str("<h3>The shortest message, us</h3>");
    html.push_str(&table_of_measured(&["", "4 tasks", "8 tasks"], &lines));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::page;
    use crate::report::tests::manifest;

    /// A session in which everybody takes as long, and ours by PVM's calls half of that.
    fn example() -> Vec<Row> {
        let mut rows = Vec::new();
        for job in jobs(Extent::Quick) {
            let Some(system) = job.system else { continue };
            let us = if system == SYSTEMS[0] { 5.0 } else { 10.0 };
            for size in job.measure.sizes {
                let mut row =
                    crate::stats::summary::tests::row(&system, "group", "alltoall", *size, &[us; 3]);
                row.tasks = job.measure.tasks;
                rows.push(row);
            }
        }
        rows
    }

    #[test]
    fn exchange_jobs_cover_systems_with_four_and_eight_tasks() {
        for extent in [Extent::Quick, Extent::Full] {
            assert_eq!(jobs(extent).len(), SYSTEMS.len() * TASKS.len());
        }
        assert!(SIZES.iter().all(|size| ALL_SIZES.contains(size)));
    }

    #[test]
    fn exchange_table_and_page_show_total_rate() {
        let rows = example();
        let text = table(&Rows(&rows), &manifest());
        // 12 messages of 64 KiB in 10 us.
        assert!(text.contains("78.6") && text.contains("4 tasks"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= crate::table::WIDTH), "{text}");
        let page = page(&SUITE, &rows, &[], &manifest());
        assert_eq!(page.matches("<svg").count(), 2, "{page}");
        assert!(!page.contains("NaN"));
    }

    #[test]
    fn exchange_goal_is_to_lead_each_peer() {
        let mut rows = example();
        let found = ahead(&rows, AGAINST);
        assert_eq!((found[0].outcome, found[1].outcome), (Outcome::Reached, Outcome::Reached));
        let slow =
            rows.iter_mut().find(|row| row.system == "Parvum" && row.size == 8192).expect("it is there");
        slow.median = 30.0;
        let missed = &ahead(&rows, AGAINST)[0];
        assert_eq!(missed.outcome, Outcome::Missed);
        assert!(missed.found.starts_with("3.00x at worst: 30.0 us against"), "{}", missed.found);
        assert_eq!(ahead(&[], AGAINST)[0].outcome, Outcome::NoData);
    }
}
