//! The bars of the MPI suite.

use super::{ENGINE, GROUP_SIZES, GROUP_TASKS, MPICH, OPEN_MPI, OURS, RING_SIZES};
use crate::goals::{Goal, Outcome, digits, with_unit};
use crate::summary::{Row, Rows};
use crate::systems::System;

/// Checks every bar.
pub fn check(rows: &[Row]) -> Vec<Goal> {
    let rows = Rows(rows);
    let ring = |system: &System, metric, size| rows.find("ring", system, metric, 2, size);
    let both =
        |program: &str, metric: &str| [OPEN_MPI, MPICH].map(|peer| rows.find(program, &peer, metric, 2, 8));
    vec![
        small(
            "8 B half round trip, against the engine's own",
            "at most 1.25x",
            1.25,
            ring(&OURS, "half round trip", 8),
            [ring(&ENGINE, "half round trip", 8), None],
        ),
        small(
            "8 B half round trip, against the best MPI",
            "ahead",
            1.0,
            ring(&OURS, "half round trip", 8),
            both("ring", "half round trip"),
        ),
        large(
            "8 B message rate, against the best MPI",
            "ahead",
            1.0,
            rows.find("rate", &OURS, "message rate", 2, 8),
            both("rate", "message rate"),
        ),
        every_size(&rows),
        small(
            "both processes on one core, 8 B, against the best MPI",
            "ahead",
            1.0,
            rows.find("ring-one-core", &OURS, "half round trip", 2, 8),
            both("ring-one-core", "half round trip"),
        ),
        below(rows.find("blocked", &OURS, "processor", 2, 0)),
        small(
            "start and end of a job of 2, against the best MPI",
            "10x faster",
            0.1,
            rows.find("job", &OURS, "start and end", 2, 0),
            [OPEN_MPI, MPICH].map(|peer| rows.find("job", &peer, "start and end", 2, 0)),
        ),
        groups(&rows),
    ]
}

fn no_data(what: &'static str, bar: &'static str) -> Goal {
    Goal { what, bar, outcome: Outcome::NoData, found: "not measured in this session".into() }
}

/// Ours must be at most so many times the smallest of the others'.
fn small(
    what: &'static str,
    bar: &'static str,
    most: f64,
    own: Option<&Row>,
    others: [Option<&Row>; 2],
) -> Goal {
    let best = others.into_iter().flatten().min_by(|a, b| a.median.total_cmp(&b.median));
    let (Some(own), Some(best)) = (own, best) else { return no_data(what, bar) };
    told(what, bar, own, best, own.median <= most * best.median)
}

/// Ours must be at least so many times the largest of the others'.
fn large(
    what: &'static str,
    bar: &'static str,
    least: f64,
    own: Option<&Row>,
    others: [Option<&Row>; 2],
) -> Goal {
    let best = others.into_iter().flatten().max_by(|a, b| a.median.total_cmp(&b.median));
    let (Some(own), Some(best)) = (own, best) else { return no_data(what, bar) };
    told(what, bar, own, best, own.median >= least * best.median)
}

fn told(what: &'static str, bar: &'static str, own: &Row, best: &Row, reached: bool) -> Goal {
    let ratio = digits(own.median / best.median);
    let found = format!("{} against {}: {ratio} of it", with_unit(own), with_unit(best));
    let outcome = if reached { Outcome::Reached } else { Outcome::Missed };
    Goal { what, bar, outcome, found }
}

fn below(own: Option<&Row>) -> Goal {
    let (what, bar) = ("processor time of a process blocked for 3 s", "under 1 %");
    let Some(own) = own else { return no_data(what, bar) };
    let outcome = if own.median < 1.0 { Outcome::Reached } else { Outcome::Missed };
    Goal { what, bar, outcome, found: with_unit(own) }
}

fn every_size(rows: &Rows) -> Goal {
    let (what, bar) = ("bandwidth from 4 KiB to 4 MiB, against the best MPI", "ahead at every size");
    let sizes: Vec<u64> = RING_SIZES.into_iter().filter(|&size| size >= 4096).collect();
    let point = |&size: &u64| {
        let of = |system: &System| rows.find("ring", system, "bandwidth", 2, size).map(|row| row.median);
        let best = [OPEN_MPI, MPICH].iter().filter_map(of).max_by(f64::total_cmp)?;
        Some((size, of(&OURS)? / best))
    };
    let points: Vec<(u64, f64)> = sizes.iter().filter_map(point).collect();
    if points.len() < sizes.len() {
        return no_data(what, bar);
    }
    let behind: Vec<String> = points
        .iter()
        .filter(|(_, ratio)| *ratio < 1.0)
        .map(|(size, ratio)| format!("{size} B {}", digits(*ratio)))
        .collect();
    counted(what, bar, points.len(), &behind)
}

fn groups(rows: &Rows) -> Goal {
    let (what, bar) =
        ("operations of 2, 4 and 8 processes on 2 cores, against the best MPI", "ahead at every point");
    let (mut known, mut behind) = (0, Vec::new());
    for operation in ["barrier", "broadcast", "reduce", "allreduce", "allgather", "alltoall"] {
        for tasks in GROUP_TASKS {
            let sizes: &[u64] = if operation == "barrier" { &[0] } else { &GROUP_SIZES };
            for &size in sizes {
                let of = |system: &System| {
                    rows.find("group", system, operation, tasks, size).map(|row| row.median)
                };
                let best = [OPEN_MPI, MPICH].iter().filter_map(of).min_by(f64::total_cmp);
                let (Some(own), Some(best)) = (of(&OURS), best) else { continue };
                known += 1;
                if own > best {
                    behind.push(format!("{operation} {size} B of {tasks}: {}x", digits(own / best)));
                }
            }
        }
    }
    if known == 0 { no_data(what, bar) } else { counted(what, bar, known, &behind) }
}

fn counted(what: &'static str, bar: &'static str, known: usize, behind: &[String]) -> Goal {
    let outcome = if behind.is_empty() { Outcome::Reached } else { Outcome::Missed };
    let mut found = format!("ahead at {} of {known}", known - behind.len());
    if !behind.is_empty() {
        found.push_str(&format!("; behind: {}", behind.join(", ")));
    }
    Goal { what, bar, outcome, found }
}
