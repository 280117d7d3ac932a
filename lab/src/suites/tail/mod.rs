//! The suite of slow messages: which latency one message in a hundred, in a thousand and in ten thousand exceeds. A mean hides these, and a
//! collective waits for the slowest message. A message is due each 100 us, and its time counts from then. The program is `apps/tail`.

use super::{Pages, Suite};
use crate::report::curve::{Axes, Point, Series, chart};
use crate::report::headline::{Question, class};
use crate::report::markup::{figure, table as html_table};
use crate::report::tables;
use crate::run::experiment::{How, Job, Measure, of_each};
use crate::run::record::Manifest;
use crate::stats::goals::digits;
use crate::stats::histogram::QUANTILES;
use crate::stats::summary::{Row, Rows};
use crate::systems::system::{Encoding, Extent, Family, System};
use crate::table::columns;

const OURS: System = System::new(Family::Mpi, "shm", Encoding::None);
const OPEN_MPI: System = System::new(Family::OpenMpi, "", Encoding::None);
const MPICH: System = System::new(Family::Mpich, "", Encoding::None);
const MPIS: [System; 3] = [OURS, OPEN_MPI, MPICH];
const SYSTEMS: [System; 7] = [
    OURS,
    OPEN_MPI,
    MPICH,
    System::new(Family::Engine, "shm", Encoding::None),
    System::new(Family::Nx, "shm", Encoding::None),
    System::new(Family::Parvum, "shm", Encoding::Raw),
    System::new(Family::Pvm, "direct", Encoding::Raw),
];

const SIZE: u64 = 8;
/// Programs of the rows, and what each of them shows.
const QUIET: &str = "tail";
const NEIGHBOUR: &str = "tail, neighbour";
const LOAD: &str = "tail, load";
const CONDITIONS: [(&str, &str); 3] = [
    (QUIET, "nothing else runs"),
    (NEIGHBOUR, "a busy neighbour on the core of the second task"),
    (LOAD, "64 KiB messages under way in both directions"),
];

/// `parvum compare --suite tail`.
pub static SUITE: Suite = Suite {
    name: "tail",
    about: "the slowest of many messages: p50 to p99.99, quiet, under load, beside a neighbour",
    over_hosts: None,
    families: super::rates::FAMILIES,
    seconds: [150, 900],
    systems: || SYSTEMS.to_vec(),
    jobs,
    goals: |_| Vec::new(),
    table,
    pages: Pages {
        introduction: "Two tasks exchange messages of 8 B. A message is due each 100 \u{b5}s. The program times its round trip from then, also if the message before was late, and counts all \
             round trips in a histogram. The neighbour is a program that \
             computes all the time on the core of the second task. The load is four messages of 64 KiB under way in each direction.",
        cards: "",
        omitted: "more than two tasks; load by other jobs; several hosts",
        questions: &QUESTIONS,
        contents: &[("tail", "The slow messages")],
        sections: &[section],
        details: |html, rows| tables::numbers(html, rows, &[], &[]),
    },
};

const QUESTIONS: [Question; 6] = [
    Question::small("8 B, quiet: p99", QUIET, "p99", SIZE),
    Question::small("8 B, quiet: p99.9", QUIET, "p99.9", SIZE),
    Question::small("8 B, neighbour: p50", NEIGHBOUR, "p50", SIZE),
    Question::small("8 B, neighbour: p99", NEIGHBOUR, "p99", SIZE),
    Question::small("8 B, load: p50", LOAD, "p50", SIZE),
    Question::small("8 B, load: p99", LOAD, "p99", SIZE),
];

fn jobs(extent: Extent) -> Vec<Job> {
    let options = match extent {
        Extent::Full => "--time-ms 40000 --least 200 --most 100500",
        Extent::Quick => "--time-ms 4000 --least 200 --most 10500",
    };
    let quiet = Measure {
        sizes: &[SIZE],
        options,
        launches: 5,
        patience: 60,
        ..Measure::program("slow messages", "tail")
    };
    let neighbour = Measure {
        name: "slow messages beside a neighbour".into(),
        program: NEIGHBOUR,
        neighbour: true,
        ..quiet.clone()
    };
    let load = Measure {
        name: "slow messages under load".into(),
        program: LOAD,
        how: How::Program("tail-load"),
        ..quiet.clone()
    };
    let mut jobs: Vec<Job> = of_each(&quiet, SYSTEMS).collect();
    jobs.extend(of_each(&neighbour, SYSTEMS));
    jobs.extend(of_each(&load, MPIS));
    jobs
}

/// One system's quantiles of one condition; a dash for a quantile for which there are too few messages.
fn line(rows: &Rows, program: &str, system: &System) -> Option<Vec<String>> {
    let cell = |name: &str| rows.find(program, system, name, 2, SIZE).map(|row| digits(row.median));
    let cells = QUANTILES.map(|(_, name)| cell(name));
    let shown = cells.iter().map(|cell| cell.clone().unwrap_or_else(|| "-".to_owned()));
    cells.iter().any(Option::is_some).then(|| std::iter::once(system.label()).chain(shown).collect())
}

fn headings(first: &'static str) -> Vec<&'static str> {
    std::iter::once(first).chain(QUANTILES.map(|(_, name)| name)).collect()
}

fn table(rows: &Rows, _: &Manifest) -> String {
    let mut text =
        String::from("Round trip of 8 B messages from when they are due, us. Median of launches.\n");
    for (program, condition) in CONDITIONS {
        let lines: Vec<Vec<String>> =
            SYSTEMS.iter().filter_map(|system| line(rows, program, system)).collect();
        if !lines.is_empty() {
            text.push_str(&format!("\n{condition}\n"));
            columns(&mut text, &headings(""), &lines);
        }
    }
    text
}

/// The axis of a tail: one message in so many is slower.
const AXES: Axes = Axes {
    title: "",
    x: |one_in| format!("{one_in}"),
    x_name: "one message in so many is slower",
    y_name: "\u{b5}s round trip, lower is better",
    break_even: false,
    width: 900.0,
};

fn section(html: &mut String, rows: &[Row]) {
    let rows = Rows(rows);
    html.push_str("<h2 id=\"tail\">The slow messages</h2>");
    for (program, condition) in CONDITIONS {
        let series = |system: &System| {
            let point = |(share, name): (f64, &str)| {
                let row = rows.find(program, system, name, 2, SIZE)?;
                Some(Point { x: 1.0 / (1.0 - share), y: row.median, low: row.low, high: row.high })
            };
            let points = QUANTILES.into_iter().filter_map(point).collect();
            Series { label: system.label(), class: class(system), dash: "", points }
        };
        let title = format!("{}{}", condition[..1].to_uppercase(), &condition[1..]);
        let axes = Axes { title: &title, ..AXES };
        figure(html, &chart(&SYSTEMS.iter().map(series).collect::<Vec<_>>(), &axes), "");
        let lines: Vec<Vec<String>> =
            SYSTEMS.iter().filter_map(|system| line(&rows, program, system)).collect();
        if !lines.is_empty() {
            html.push_str(&html_table(&headings("round trip, \u{b5}s"), &lines));
        }
    }
    html.push_str(
        "<p class=\"note\">p99 is the bound that 99 % of the messages keep. Each figure is the median over launches. A figure is missing if fewer than \
         ten messages of some launch were slower. <code>raw.jsonl</code> has the whole histograms.</p>",
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::page;
    use crate::report::tests::manifest;
    use crate::stats::summary::tests::row;

    fn example() -> Vec<Row> {
        let all = CONDITIONS.iter().flat_map(|(program, _)| SYSTEMS.map(|system| (*program, system)));
        all.flat_map(|(program, system)| {
            QUANTILES[..4]
                .iter()
                .map(move |(share, name)| row(&system, program, name, SIZE, &[1.0 / (1.0 - share); 8]))
        })
        .collect()
    }

    #[test]
    fn table_and_page_have_each_condition_and_no_invented_quantile() {
        let rows = example();
        let text = table(&Rows(&rows), &manifest());
        assert!(text.lines().all(|line| line.chars().count() <= crate::table::WIDTH), "{text}");
        let page = page(&SUITE, &rows, &[], &manifest());
        for (_, condition) in CONDITIONS {
            assert!(text.contains(condition), "{text}");
        }
        assert_eq!(page.matches("<svg").count(), CONDITIONS.len());
        let ours = line(&Rows(&rows), QUIET, &OURS).expect("measured");
        assert_eq!(ours[1..], ["2.00", "10.0", "100", "1000", "-"], "p99.99 was not measured");
        assert!(!page.contains("NaN"));
    }

    #[test]
    fn neighbour_and_load_are_conditions_of_the_same_message() {
        let jobs = jobs(Extent::Quick);
        assert!(jobs.iter().all(|job| job.measure.neighbour == (job.measure.program == NEIGHBOUR)));
        for system in MPIS {
            let programs: Vec<&str> =
                jobs.iter().filter(|job| job.system == Some(system)).map(|job| job.measure.program).collect();
            assert_eq!(programs, [QUIET, NEIGHBOUR, LOAD]);
        }
        for question in &QUESTIONS {
            assert!(jobs.iter().any(|job| question.is_answered_by(&job.measure)), "{question:?}");
        }
    }
}
