//! The bars of the shared suite.

use super::{CLASSIC, HOME, HYBRID, LAZY, MPI, ONE, PROGRAMS, TASKS, of, sizes, speed_up};
use crate::stats::goals::{Goal, Outcome, digits};
use crate::stats::summary::{Row, Rows};
use crate::systems::system::System;

/// The net whose weights fill several pages, on the most tasks.
const GATHER: (u32, u64) = (8, 8800);

/// Checks every bar.
pub fn check(rows: &[Row]) -> Vec<Goal> {
    let rows = Rows(rows);
    vec![
        nothing_moves(&rows),
        disease(&rows),
        cure("traffic of the network on 8, lazy against MPI", "at most 1.3x", 1.3, &rows, LAZY),
        cure("traffic of the network on 8, with PVM against MPI", "at most 1.6x", 1.6, &rows, HYBRID),
        fixed(&rows),
        speed(&rows),
    ]
}

fn goal(what: &'static str, bar: &'static str, found: Option<(bool, String)>) -> Goal {
    match found {
        None => Goal { what, bar, outcome: Outcome::NoData, found: "not measured in this session".into() },
        Some((reached, found)) => {
            Goal { what, bar, outcome: if reached { Outcome::Reached } else { Outcome::Missed }, found }
        }
    }
}

fn traffic(rows: &Rows, system: &System, (tasks, size): (u32, u64)) -> Option<f64> {
    of(rows, system, "network", "traffic", (tasks, size))
}

/// One memory: no page is sent.
fn nothing_moves(rows: &Rows) -> Goal {
    let all = PROGRAMS.iter().flat_map(|program| {
        let sizes = sizes(rows, program);
        sizes.into_iter().flat_map(move |size| TASKS.map(|tasks| (program.name, (tasks, size))))
    });
    let sent: Vec<f64> = all.filter_map(|(program, at)| of(rows, &ONE, program, "traffic", at)).collect();
    let most = sent.iter().copied().reduce(f64::max);
    goal(
        "traffic of one memory, all programs",
        "none",
        most.map(|most| (most < 0.001, format!("{} MB at most", digits(most)))),
    )
}

/// How much faster than the number of tasks the paper's protocol sends.
fn disease(rows: &Rows) -> Goal {
    let found = traffic(rows, &CLASSIC, GATHER).zip(traffic(rows, &MPI, GATHER)).map(|(classic, mpi)| {
        (
            classic >= 3.0 * mpi,
            format!("{} MB against {} MB: {}x", digits(classic), digits(mpi), digits(classic / mpi)),
        )
    });
    goal("what the paper found: traffic of the network on 8, classic against MPI", "3x or more", found)
}

fn cure(what: &'static str, bar: &'static str, most: f64, rows: &Rows, system: System) -> Goal {
    let found = traffic(rows, &system, GATHER).zip(traffic(rows, &MPI, GATHER)).map(|(own, mpi)| {
        (own <= most * mpi, format!("{} MB against {} MB: {}x", digits(own), digits(mpi), digits(own / mpi)))
    });
    goal(what, bar, found)
}

/// The way that is taken when nobody chooses, between hosts, against the best of the ways.
fn fixed(rows: &Rows) -> Goal {
    let mut worst: Option<(f64, String)> = None;
    for program in &PROGRAMS {
        for (tasks, size) in
            sizes(rows, program).into_iter().flat_map(|size| TASKS.map(|tasks| (tasks, size)))
        {
            let sent = |system: &System| of(rows, system, program.name, "traffic", (tasks, size));
            let best = [LAZY, HOME, CLASSIC].iter().filter_map(sent).reduce(f64::min);
            if let (Some(own), Some(best)) = (sent(&LAZY), best.filter(|best| *best > 0.0))
                && worst.as_ref().is_none_or(|(ratio, _)| own / best > *ratio)
            {
                worst = Some((own / best, format!("{} of {size} on {tasks}", program.words)));
            }
        }
    }
    let found = worst.map(|(ratio, at)| (ratio <= 1.2, format!("{}x at worst: {at}", digits(ratio))));
    goal("traffic of lazy, the default between hosts, against the best way", "at most 1.2x", found)
}

fn speed(rows: &Rows) -> Goal {
    let at = (2, 400);
    let own = speed_up(rows, &ONE, "network", at);
    let found = own
        .zip(speed_up(rows, &MPI, "network", at))
        .map(|(own, mpi)| (own >= 0.9 * mpi, format!("{} against {}", digits(own), digits(mpi))));
    goal("speed-up of the network of 400 weights on 2, one memory against MPI", "90 % or more", found)
}

#[cfg(test)]
mod tests {
    use super::super::tests::example;
    use super::*;

    fn outcomes(rows: &[Row]) -> Vec<Outcome> {
        check(rows).into_iter().map(|goal| goal.outcome).collect()
    }

    #[test]
    fn goals_are_judged_by_traffic() {
        use Outcome::{Missed, NoData, Reached};
        let mut rows = example();
        assert_eq!(outcomes(&rows), [Reached, Reached, Reached, Reached, Reached, NoData]);
        for row in rows.iter_mut().filter(|row| row.metric == "traffic") {
            // All send as the paper's protocol does.
            row.median =
                f64::from(row.tasks - 1).powi(2) * if row.system == "Parvum MPI" { 0.1 } else { 1.0 };
        }
        assert_eq!(outcomes(&rows), [Missed, Reached, Missed, Missed, Reached, NoData]);
        assert!(outcomes(&[]).iter().all(|outcome| *outcome == NoData));
    }

    #[test]
    fn default_with_more_traffic_misses_goal() {
        let mut rows = example();
        for row in rows.iter_mut().filter(|row| row.system == "TreadMarks lazy" && row.metric == "traffic") {
            row.median *= 1.25;
        }
        let found = check(&rows);
        assert_eq!(found[4].outcome, Outcome::Missed);
        assert!(
            found[4].found.starts_with("1.25x at worst: neural network of 8800 on "),
            "{}",
            found[4].found
        );
    }
}
