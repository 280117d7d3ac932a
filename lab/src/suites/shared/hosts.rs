//! `parvum compare --suite shared --hosts 2,4`: the same programs, whose tasks are on several hosts.

use super::{PROGRAMS, of, sizes};
use crate::host::hosts::COUNTS;
use crate::report::markup::{escape, table as html_table};
use crate::report::{headline::Question, tables};
use crate::run::experiment::{Job, of_each};
use crate::run::record::Manifest;
use crate::stats::goals::{Goal, Outcome, digits};
use crate::stats::summary::{Row, Rows};
use crate::suites::{Pages, Suite};
use crate::systems::system::{Encoding, Extent, Family, System};
use std::fmt::Write;

/// The ways of sharing, the one between hosts that nobody has to choose first; then messages.
const FAMILIES: [Family; 6] =
    [Family::Tmk, Family::TmkHome, Family::TmkClassic, Family::Hybrid, Family::Parvum, Family::Mpi];

/// Where they run: so many hosts.
const ROUTES: [&str; 3] = ["2-hosts", "4-hosts", "8-hosts"];

const fn on(family: Family, route: &'static str) -> System {
    let encoding = if matches!(family, Family::Parvum) { Encoding::Raw } else { Encoding::None };
    System::new(family, route, encoding)
}

fn systems() -> Vec<System> {
    ROUTES.iter().flat_map(|route| FAMILIES.map(|family| on(family, route))).collect()
}

/// One task on each host, and two.
fn tasks(hosts: u32) -> [u32; 2] {
    [hosts, 2 * hosts]
}

/// The suite when hosts are asked for.
pub static SUITE: Suite = Suite {
    name: "shared",
    about: "distributed shared memory (TreadMarks) beside messages",
    over_hosts: None,
    families: &FAMILIES,
    seconds: [300, 2400],
    systems,
    jobs,
    goals: check,
    table: render,
    pages: Pages {
        introduction: "The three programs by which TreadMarks' shared memory was compared with PVM and MPI in 2004, on several hosts: in today's ways of \
             sharing memory between hosts, by the protocol of 1994, and by messages. The hosts are network namespaces of this one, so times have no \
             network in them but the kernel's; what is sent is what real hosts would send.",
        cards: "",
        omitted: "a network: the hosts are namespaces of one, and share its processors; the paper's forest cover data (that set is made from a seed; so is the other where tools/peers.sh could not fetch the Shuttle data)",
        questions: &QUESTIONS,
        contents: &[("hosts", "On hosts")],
        sections: &[section],
        details,
    },
};

const QUESTIONS: [Question; 1] = [Question::small("Net of 54 x 160 x 1 on 2 hosts", "network", "run", 8800)];

fn details(html: &mut String, rows: &[Row]) {
    tables::numbers(html, rows, &[], &[]);
}

fn jobs(extent: Extent) -> Vec<Job> {
    let full = extent == Extent::Full;
    let mut jobs = Vec::new();
    for program in &PROGRAMS {
        for (hosts, route) in COUNTS.into_iter().zip(ROUTES) {
            for tasks in tasks(hosts) {
                let place = format!("by {tasks} on {hosts} hosts");
                for measure in program.measures(full, &place, tasks, if full { 170 } else { 60 }) {
                    jobs.extend(of_each(&measure, FAMILIES.map(|family| on(family, route))));
                }
            }
        }
    }
    jobs
}

/// What was measured of a family on so many hosts.
fn cell(
    rows: &Rows,
    family: Family,
    program: &str,
    metric: &str,
    at: (&'static str, u32, u64),
) -> Option<f64> {
    let (route, tasks, size) = at;
    of(rows, &on(family, route), program, metric, (tasks, size))
}

/// Where a program of a size was measured: route, tasks.
fn places(rows: &Rows, program: &str, size: u64) -> Vec<(&'static str, u32)> {
    let all =
        COUNTS.into_iter().zip(ROUTES).flat_map(|(hosts, route)| tasks(hosts).map(|tasks| (route, tasks)));
    let measured = |&(route, tasks): &(&str, u32)| {
        FAMILIES
            .iter()
            .any(|&family| of(rows, &on_any(family, route), program, "run", (tasks, size)).is_some())
    };
    all.filter(measured).collect()
}

fn on_any(family: Family, route: &str) -> System {
    on(family, ROUTES.iter().find(|known| **known == route).copied().unwrap_or_default())
}

/// Where a bar is looked at: on so many hosts with so many tasks.
type Where = fn(u32, u32) -> bool;

const ONE_EACH: Where = |hosts, tasks| tasks == hosts;
const EIGHT: Where = |_, tasks| tasks == 8;

/// The bars: traffic of what nobody has to choose against MPI's, wherever both were measured.
fn check(rows: &[Row]) -> Vec<Goal> {
    let rows = Rows(rows);
    vec![
        against_mpi(&rows, "network", "traffic of the network, 8 tasks on hosts, against MPI", (1.3, EIGHT)),
        against_mpi(
            &rows,
            "sort",
            "traffic of mergesort, one task on each host, against MPI",
            (1.2, ONE_EACH),
        ),
        against_mpi(
            &rows,
            "mandelbrot",
            "traffic of Mandelbrot's set, one task on each host, against MPI",
            (1.2, ONE_EACH),
        ),
    ]
}

fn against_mpi(rows: &Rows, program: &'static str, what: &'static str, (most, counts): (f64, Where)) -> Goal {
    let bar = if most > 1.25 { "at most 1.3x" } else { "at most 1.2x" };
    let sizes = PROGRAMS.iter().filter(|known| known.name == program).flat_map(|known| sizes(rows, known));
    let mut worst: Option<(f64, String)> = None;
    for size in sizes {
        for (hosts, route) in COUNTS.into_iter().zip(ROUTES) {
            for tasks in tasks(hosts).into_iter().filter(|&tasks| counts(hosts, tasks)) {
                let sent = |family| cell(rows, family, program, "traffic", (route, tasks, size));
                let Some((own, mpi)) = sent(Family::Tmk).zip(sent(Family::Mpi).filter(|mpi| *mpi > 0.0))
                else {
                    continue;
                };
                if worst.as_ref().is_none_or(|(ratio, _)| own / mpi > *ratio) {
                    let [ratio, own, mpi] = [own / mpi, own, mpi].map(|number| (number, digits(number)));
                    let found = format!(
                        "{}x at worst: {} MB against {} MB, {size} by {tasks} tasks on {hosts} hosts",
                        ratio.1, own.1, mpi.1
                    );
                    worst = Some((ratio.0, found));
                }
            }
        }
    }
    match worst {
        None => Goal { what, bar, outcome: Outcome::NoData, found: "not measured in this session".into() },
        Some((ratio, found)) => {
            let outcome = if ratio <= most { Outcome::Reached } else { Outcome::Missed };
            Goal { what, bar, outcome, found }
        }
    }
}

/// A block for each program and size: milliseconds, megabytes and messages of each system, where it was measured.
fn render(rows: &Rows, _: &Manifest) -> String {
    let mut text = String::from(
        "Median of launches: milliseconds, and what all tasks together sent, as Parvum's ledger has it.\n",
    );
    for program in &PROGRAMS {
        for size in sizes(rows, program) {
            for (route, tasks) in places(rows, program.name, size) {
                let hosts = route.replace('-', " ");
                let _ =
                    writeln!(text, "\n{}, {size} {}, {tasks} tasks on {hosts}", program.words, program.of);
                let _ = writeln!(text, "{:<22}{:>12}{:>12}{:>12}", "", "ms", "MB", "messages");
                for family in FAMILIES {
                    let at = |metric| cell(rows, family, program.name, metric, (route, tasks, size));
                    // One that was not asked for has no line.
                    if at("run").is_none() {
                        continue;
                    }
                    let word = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), digits);
                    let messages =
                        at("messages").map_or_else(|| "-".to_owned(), |count| format!("{count:.0}"));
                    let _ = writeln!(
                        text,
                        "{:<22}{:>12}{:>12}{messages:>12}",
                        family.name(),
                        word(at("run")),
                        word(at("traffic"))
                    );
                }
            }
        }
    }
    text
}

fn section(html: &mut String, rows: &[Row]) {
    let rows = Rows(rows);
    html.push_str(
        "<h2 id=\"hosts\">On hosts</h2><p>Milliseconds; then megabytes and, in brackets, messages of all tasks together. <em>TreadMarks</em> is what \
         nobody has to choose: tasks of a host map the same pages, and hosts share them lazily.</p>",
    );
    for program in &PROGRAMS {
        for size in sizes(&rows, program) {
            let places = places(&rows, program.name, size);
            let _ = write!(html, "<h3>{}, {size} {}</h3>", escape(program.words), program.of);
            let mut headings = vec![String::new()];
            headings.extend(
                places.iter().map(|(route, tasks)| format!("{tasks} on {}", route.replace('-', " "))),
            );
            let is_measured = |family: &&Family| {
                let run = |&(route, tasks): &(&'static str, u32)| {
                    cell(&rows, **family, program.name, "run", (route, tasks, size))
                };
                places.iter().any(|place| run(place).is_some())
            };
            let lines: Vec<Vec<String>> = FAMILIES
                .iter()
                .filter(is_measured)
                .map(|&family| {
                    let one = |&(route, tasks): &(&'static str, u32)| {
                        let at = |metric| cell(&rows, family, program.name, metric, (route, tasks, size));
                        let sent = at("traffic").zip(at("messages"));
                        let sent = sent.map(|(bytes, count)| format!("; {} ({count:.0})", digits(bytes)));
                        at("run").map_or_else(
                            || "&ndash;".to_owned(),
                            |run| digits(run) + &sent.unwrap_or_default(),
                        )
                    };
                    std::iter::once(escape(family.name())).chain(places.iter().map(one)).collect()
                })
                .collect();
            html.push_str(&html_table(&headings.iter().map(String::as_str).collect::<Vec<_>>(), &lines));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On hosts, a network by messages and by shared memory that sends half as much again.
    fn example() -> Vec<Row> {
        let mut rows = super::super::tests::example();
        rows.retain(|row| row.tasks == 4 && ["TreadMarks", "Parvum MPI"].contains(&row.system.as_str()));
        for row in &mut rows {
            row.route = "4-hosts".into();
            if row.metric == "traffic" {
                row.median = if row.system == "TreadMarks" { 3.0 } else { 2.0 };
            }
        }
        rows
    }

    #[test]
    fn shared_jobs_over_hosts_use_only_hosts() {
        let jobs = jobs(Extent::Quick);
        let sizes: usize = PROGRAMS.iter().map(|program| program.sizes[0].len()).sum();
        assert_eq!(jobs.len(), sizes * COUNTS.len() * 2 * FAMILIES.len());
        for job in jobs {
            let hosts =
                job.system.and_then(|system| crate::host::hosts::of_route(system.route)).expect("hosts");
            assert!(COUNTS.contains(&hosts) && job.measure.tasks.is_multiple_of(hosts));
        }
    }

    #[test]
    fn hosts_table_shows_measurements_by_place() {
        let rows = example();
        let manifest = crate::report::tests::manifest();
        let text = render(&Rows(&rows), &manifest);
        assert!(text.contains("neural network, 8800 weights, 4 tasks on 4 hosts\n"), "{text}");
        assert!(!text.contains("2 hosts") && text.contains("20.0        3.00"), "{text}");
        assert!(!text.contains("classic"), "what was not measured has no line: {text}");
        let mut html = String::new();
        section(&mut html, &rows);
        assert!(html.contains("<th>4 on 4 hosts</th>"), "{html}");
    }

    #[test]
    fn traffic_goal_compares_with_mpi() {
        let mut rows = example();
        rows.iter_mut().for_each(|row| row.tasks = 8);
        let goal = &check(&rows)[0];
        assert_eq!(goal.outcome, Outcome::Missed);
        let found = "1.50x at worst: 3.00 MB against 2.00 MB, 8800 by 8 tasks on 4 hosts";
        assert!(goal.found.starts_with(found), "{}", goal.found);
        rows.iter_mut().for_each(|row| row.median = 2.0);
        assert_eq!(check(&rows)[0].outcome, Outcome::Reached);
        assert_eq!(check(&rows)[1].outcome, Outcome::NoData);
    }
}
