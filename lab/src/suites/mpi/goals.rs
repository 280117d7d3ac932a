//! The bars of the MPI suite.

use super::{
    ENGINE, GROUP_SIZES, GROUP_TASKS, HALVES_TASKS, JOB_TASKS, MPICH, OPEN_MPI, OURS, RING_SIZES, VECTOR_SIZE,
};
use crate::report::markup::bytes;
use crate::stats::goals::{Goal, Outcome, digits, with_unit};
use crate::stats::summary::{Row, Rows};
use crate::systems::system::System;

/// Checks every bar.
pub fn check(rows: &[Row]) -> Vec<Goal> {
    let rows = Rows(rows);
    let ring = |system: &System, metric, size| rows.find("ring", system, metric, 2, size);
    let peers = |program: &str, metric: &str, tasks, size| {
        [OPEN_MPI, MPICH].map(|peer| rows.find(program, &peer, metric, tasks, size))
    };
    let both = |program: &str, metric: &str| peers(program, metric, 2, 8);
    let ours = |program: &str, metric: &str, tasks, size| rows.find(program, &OURS, metric, tasks, size);
    let vector = |what, metric| {
        let others = peers("vector", metric, 2, VECTOR_SIZE);
        large(what, "1.5x the best", 1.5, ours("vector", metric, 2, VECTOR_SIZE), others)
    };
    let window = |what, metric, size| {
        small(what, "ahead", 1.0, ours("window", metric, 2, size), peers("window", metric, 2, size))
    };
    let job = |what, tasks| {
        let others = peers("job", "start and end", tasks, 0);
        small(what, "10x faster", 0.1, ours("job", "start and end", tasks, 0), others)
    };
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
            "8 B message rate in windows of 64, against the best MPI",
            "ahead",
            1.0,
            ours("rate", "message rate", 2, 8),
            both("rate", "message rate"),
        ),
        large(
            "8 B message rate of blocking calls, against the best MPI",
            "ahead",
            1.0,
            ours("rate-blocking", "message rate", 2, 8),
            both("rate-blocking", "message rate"),
        ),
        every_size(&rows),
        small(
            "both processes on one core, 8 B, against the best MPI",
            "ahead",
            1.0,
            rows.find("ring-one-core", &OURS, "half round trip", 2, 8),
            both("ring-one-core", "half round trip"),
        ),
        idle(ours("blocked", "processor", 2, 0)),
        within_the_work(ours("halves", "time over the work", HALVES_TASKS, 0)),
        vector("every second double, 1 MiB of data, against the best MPI", "bandwidth, every second"),
        vector("every sixteenth double, 1 MiB of data, against the best MPI", "bandwidth, every sixteenth"),
        large(
            "8 B rate of four threads, against that of one",
            "at least that",
            1.0,
            ours("threads", "message rate, four threads", 2, 8),
            [ours("threads", "message rate, one thread", 2, 8), None],
        ),
        window("put of 8 B, against the best MPI", "put", 8),
        window("get of 8 B, against the best MPI", "get", 8),
        window("fetch and add of 8 B, against the best MPI", "fetch", 8),
        window("put of 1 MiB, against the best MPI", "put", 1 << 20),
        job("start and end of a job of 2, against the best MPI", JOB_TASKS[0]),
        job("start and end of a job of 16, against the best MPI", JOB_TASKS[1]),
        job("start and end of a job of 64, against the best MPI", JOB_TASKS[2]),
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

fn idle(own: Option<&Row>) -> Goal {
    below("processor time of a process blocked for 3 s", "under 1 %", 1.0, own)
}

fn within_the_work(own: Option<&Row>) -> Goal {
    let what = "8 processes on 2 cores, each blocked half of its time";
    below(what, "within 1.1x of the work", 1.1, own)
}

fn below(what: &'static str, bar: &'static str, limit: f64, own: Option<&Row>) -> Goal {
    let Some(own) = own else { return no_data(what, bar) };
    let outcome = if own.median < limit { Outcome::Reached } else { Outcome::Missed };
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
        .map(|(size, ratio)| format!("{} {}", bytes(*size as f64), digits(*ratio)))
        .collect();
    counted(what, bar, points.len(), &behind)
}

fn groups(rows: &Rows) -> Goal {
    let (what, bar) =
        ("operations of 2 to 16 processes on 2 cores, against the best MPI", "ahead at every point");
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
                    let of =
                        format!("{operation} {} of {tasks}: {}x", bytes(size as f64), digits(own / best));
                    behind.push((own / best, of));
                }
            }
        }
    }
    // What is worst is read first.
    behind.sort_by(|one, other| other.0.total_cmp(&one.0));
    let behind: Vec<String> = behind.into_iter().map(|(_, of)| of).collect();
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::summary::tests::row;

    fn outcome(rows: &[Row], what: &str) -> (Outcome, String) {
        let goal = check(rows).into_iter().find(|goal| goal.what.starts_with(what)).unwrap();
        (goal.outcome, goal.found)
    }

    /// Ours and one peer's, of so many processes.
    fn pair(program: &str, metric: &str, tasks: u32, size: u64, own: f64, peer: f64) -> Vec<Row> {
        [(OURS, own), (MPICH, peer)]
            .map(|(system, median)| Row { tasks, ..row(&system, program, metric, size, &[median]) })
            .into()
    }

    #[test]
    fn ratio_goals_are_reached_at_ratio_and_missed_beyond() {
        let vector = |own| pair("vector", "bandwidth, every second", 2, VECTOR_SIZE, own, 2.0);
        assert_eq!(outcome(&vector(3.0), "every second").0, Outcome::Reached);
        assert_eq!(outcome(&vector(2.9), "every second").0, Outcome::Missed);
        let job = |own| pair("job", "start and end", 64, 0, own, 1000.0);
        assert_eq!(outcome(&job(100.0), "start and end of a job of 64").0, Outcome::Reached);
        assert_eq!(outcome(&job(101.0), "start and end of a job of 64").0, Outcome::Missed);
        assert_eq!(outcome(&job(101.0), "start and end of a job of 16").0, Outcome::NoData);
    }

    #[test]
    fn four_thread_rate_is_compared_with_own_single_thread() {
        let rates = |four| {
            let mut rows = pair("threads", "message rate, one thread", 2, 8, 5.0, 1.0);
            rows.extend(pair("threads", "message rate, four threads", 2, 8, four, 0.1));
            rows
        };
        assert_eq!(outcome(&rates(5.0), "8 B rate of four").0, Outcome::Reached);
        let (missed, found) = outcome(&rates(4.0), "8 B rate of four");
        assert!(missed == Outcome::Missed && found.contains("0.8"), "{found}");
    }

    #[test]
    fn halves_goal_compares_time_with_work() {
        let halves = |own| pair("halves", "time over the work", HALVES_TASKS, 0, own, 9.0);
        assert_eq!(outcome(&halves(1.09), "8 processes").0, Outcome::Reached);
        assert_eq!(outcome(&halves(1.11), "8 processes").0, Outcome::Missed);
    }
}
