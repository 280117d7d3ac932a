//! `parvum compare --suite loggp --host LIST`: the costs between two of the hosts, what they say of group operations of a task on each
//! host, and what those take.

use super::{SUITE as ON_ONE, costs, curves, details, line, measure};
use crate::report::markup::{bytes, table as html_table};
use crate::run::experiment::{Cores, Job, Measure, of_each};
use crate::run::record::Manifest;
use crate::stats::goals::{Goal, Outcome, digits};
use crate::stats::summary::{Row, Rows};
use crate::suites::{Pages, Suite};
use crate::systems::system::{Encoding, Extent, Family, System};
use replay::group::Operation;
use replay::{FRAME, Machine, Route, play};
use std::fmt::Write;

/// Plans are Parvum's: so are the operations.
pub(super) const OURS: System = System::new(Family::Mpi, "tcp", Encoding::None);

/// Peers, whose messages cost what they cost.
const SYSTEMS: [System; 3] =
    [OURS, System::new(Family::OpenMpi, "", Encoding::None), System::new(Family::Mpich, "", Encoding::None)];

/// Tasks of an operation, each on a host of its own.
const TASKS: u32 = 8;

/// Bytes of one task's data.
const DATA: [u64; 3] = [8, 1024, 16384];

/// Operations one after the other in what is played.
const TIMES: usize = 16;

/// Says that the hosts' network is one medium: `./x hosts --network` sets it.
const MEDIUM: &str = "PARVUM_LAB_MEDIUM";

/// The suite when hosts are named.
pub static OVER: Suite = Suite {
    families: &[Family::Mpi, Family::OpenMpi, Family::Mpich],
    seconds: [60, 400],
    systems: || SYSTEMS.to_vec(),
    jobs,
    goals,
    table,
    pages: Pages {
        introduction: "What a message between two hosts costs (L, o, g, G of LogGP); what group operations of a task on each of eight hosts should take by these costs, \
             played step by step by the plans that Parvum's library runs; what they take; and what they should take of many more.",
        cards: "",
        omitted: "hosts with several tasks each; operations of the peers, whose plans are their own",
        questions: &[],
        contents: &[
            ("costs", "Costs of a message"),
            ("predicted", "Predicted and measured"),
            ("many", "Up to 10,000"),
        ],
        sections: &[section, curves::section],
        details,
    },
    ..ON_ONE
};

fn jobs(extent: Extent) -> Vec<Job> {
    let full = extent == Extent::Full;
    let two = Measure { patience: 120, launches: 3, cores: Cores::Each, ..measure(extent) };
    let group = Measure {
        tasks: TASKS,
        sizes: &DATA,
        options: if full {
            "--operations barrier,broadcast,allreduce,allgather,alltoall --time-ms 500 --least 5 --most 200"
        } else {
            "--operations barrier,broadcast,allreduce,allgather,alltoall --time-ms 100 --least 3 --most 40"
        },
        launches: 3,
        patience: 170,
        ..Measure::program("group operations of 8", "group")
    };
    let mut jobs: Vec<Job> = of_each(&two, SYSTEMS).collect();
    jobs.extend(of_each(&group, [OURS]));
    jobs
}

/// Hosts as these are, one for each task.
pub(super) fn machine(between: Route, tasks: usize) -> Machine {
    let shared_medium = std::env::var(MEDIUM).is_ok_and(|medium| medium == "shared");
    Machine { shared_medium, ..Machine::of(tasks, between.with_frame(FRAME)) }
}

/// The hosts that are here.
fn these(between: Route) -> Machine {
    let machine = machine(between, TASKS as usize);
    match crate::host::cores::of_all_hosts() {
        Some(processors) => Machine { processors, shared_processors: true, ..machine },
        None => machine,
    }
}

/// Microseconds of one operation of a task on each host.
pub(super) fn predicted(operation: Operation, data: u64, machine: &Machine) -> f64 {
    let trace = operation.trace_on(machine, data as usize, TIMES);
    play(&trace, machine).time / TIMES as f64 / 1000.0
}

/// An operation, its bytes, what was predicted and what was measured.
struct Check<'a> {
    operation: Operation,
    data: u64,
    predicted: f64,
    measured: &'a Row,
}

fn checks<'a>(rows: &Rows<'a>) -> Vec<Check<'a>> {
    let Some(between) = costs(rows, &OURS) else { return Vec::new() };
    let machine = these(between);
    let mut checks = Vec::new();
    for operation in Operation::ALL {
        // A barrier has no data.
        let data: &[u64] = if operation == Operation::Barrier { &[0] } else { &DATA };
        for &data in data {
            if let Some(measured) = rows.find("group", &OURS, operation.name(), TASKS, data) {
                let predicted = predicted(operation, data, &machine);
                checks.push(Check { operation, data, predicted, measured });
            }
        }
    }
    checks
}

fn goals(rows: &[Row]) -> Vec<Goal> {
    let (what, bar) = ("predictions for eight hosts", "within 20 % of what was measured");
    let checks = checks(&Rows(rows));
    let ratio = |check: &Check| check.predicted / check.measured.median;
    let off = |check: &Check| (ratio(check) - 1.0).abs();
    let Some(worst) = checks.iter().max_by(|a, b| off(a).total_cmp(&off(b))) else {
        return vec![Goal {
            what,
            bar,
            outcome: Outcome::NoData,
            found: "not measured in this session".into(),
        }];
    };
    let within = checks.iter().filter(|check| off(check) <= 0.2).count();
    let outcome = if within == checks.len() { Outcome::Reached } else { Outcome::Missed };
    let found = format!(
        "{within} of {} are; {}x at worst: {} of {}",
        checks.len(),
        digits(ratio(worst)),
        worst.operation.name(),
        bytes(worst.data as f64)
    );
    vec![Goal { what, bar, outcome, found }]
}

fn cells(check: &Check) -> [String; 5] {
    let name = check.operation.name().to_owned();
    let data = if check.operation == Operation::Barrier { "-".into() } else { bytes(check.data as f64) };
    let row = check.measured;
    let measured = format!("{} ({} to {})", digits(row.median), digits(row.low), digits(row.high));
    [name, data, digits(check.predicted), measured, digits(check.predicted / row.median)]
}

fn table(rows: &Rows, _: &Manifest) -> String {
    let mut text = String::from("What a message costs between two of the hosts.\n\n");
    text.push_str(super::HEAD);
    for system in SYSTEMS {
        if let Some(route) = costs(rows, &system) {
            text.push_str(&super::row(system.label(), &route));
        }
    }
    text.push_str("\nGroup operations of eight, a task on each host, us: predicted, measured.\n\n");
    for check in checks(rows) {
        let [name, data, predicted, measured, ratio] = cells(&check);
        let _ = writeln!(text, "{name:<12}{data:>8}{predicted:>11}  {measured:<36}{ratio:>7}x");
    }
    text
}

fn section(html: &mut String, rows: &[Row]) {
    let rows = Rows(rows);
    let mut lines = Vec::new();
    for system in SYSTEMS {
        if let Some(route) = costs(&rows, &system) {
            lines.push(std::iter::once(system.label()).chain(line(&route)).collect::<Vec<String>>());
        }
    }
    html.push_str("<h2 id=\"costs\">Costs of a message</h2><p>Between two of the hosts, each a straight line through what was measured of five lengths.</p>");
    html.push_str(&html_table(&super::HEADINGS, &lines));
    html.push_str("<h2 id=\"predicted\">Predicted and measured</h2><p>Operations of eight tasks, each on a host of its own, in microseconds. What is predicted follows from the costs above and from who sends what to whom; nothing is fitted to what was measured here.</p>");
    let lines: Vec<Vec<String>> = checks(&rows).iter().map(|check| cells(check).to_vec()).collect();
    html.push_str(&html_table(
        &["operation", "data", "predicted", "measured", "predicted / measured"],
        &lines,
    ));
}

#[cfg(test)]
mod tests {
    use super::super::tests::example;
    use super::*;
    use crate::report::page;
    use crate::report::tests::manifest;

    fn measured() -> Vec<Row> {
        let mut rows = example(&SYSTEMS);
        let machine = these(costs(&Rows(&rows), &OURS).expect("costs"));
        for operation in Operation::ALL {
            let data: &[u64] = if operation == Operation::Barrier { &[0] } else { &DATA };
            for &data in data {
                let us = predicted(operation, data, &machine) * 1.1;
                let mut row =
                    crate::stats::summary::tests::row(&OURS, "group", operation.name(), data, &[us; 3]);
                row.tasks = TASKS;
                rows.push(row);
            }
        }
        rows
    }

    #[test]
    fn prediction_within_a_fifth_reaches_goal() {
        let mut rows = measured();
        assert_eq!(goals(&rows)[0].outcome, Outcome::Reached, "{}", goals(&rows)[0].found);
        let one =
            rows.iter_mut().find(|row| row.metric == "allreduce" && row.size == 1024).expect("it is there");
        one.median *= 2.0;
        let goal = &goals(&rows)[0];
        assert_eq!(goal.outcome, Outcome::Missed);
        assert!(
            goal.found.starts_with("12 of 13") && goal.found.contains("allreduce of 1 KiB"),
            "{}",
            goal.found
        );
        assert_eq!(goals(&[])[0].outcome, Outcome::NoData);
    }

    #[test]
    fn loggp_page_over_hosts_is_complete() {
        let rows = measured();
        let page = page(&OVER, &rows, &[], &manifest());
        assert_eq!(page.matches("<svg").count(), 1);
        assert!(page.contains("Up to 10,000") && !page.contains("NaN"));
        let text = table(&Rows(&rows), &manifest());
        assert!(text.lines().all(|line| line.chars().count() <= crate::table::WIDTH), "{text}");
        assert!(text.contains("0.909x"), "{text}");
    }
}
