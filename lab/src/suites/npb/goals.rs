//! The bars of the npb suite.

use super::{CASES, Case, SYSTEMS, TASKS, all_systems, formulas, hosts, of};
use crate::host::cores;
use crate::stats::goals::{Goal, Outcome, digits};
use crate::stats::summary::{Row, Rows};
use crate::systems::system::{Family, System};

/// Those of one host.
pub fn on_one_host(rows: &[Row]) -> Vec<Goal> {
    let rows = Rows(rows);
    vec![
        ahead_when_crowded(
            &rows,
            &SYSTEMS,
            "time of an iteration on one host, more tasks than cores, against both MPIs",
        ),
        by_formula(&rows),
    ]
}

/// Those of several hosts.
pub fn on_hosts(rows: &[Row]) -> Vec<Goal> {
    let rows = Rows(rows);
    vec![
        communication(&rows),
        ahead_when_crowded(
            &rows,
            &hosts::TWO,
            "time of an iteration on two hosts, more tasks than cores, against both MPIs",
        ),
        by_formula(&rows),
    ]
}

/// Those over named hosts, of whose network nothing is known.
pub fn over_named(rows: &[Row]) -> Vec<Goal> {
    vec![by_formula(&Rows(rows))]
}

fn goal(what: &'static str, bar: &'static str, found: Option<(bool, String)>) -> Goal {
    let (outcome, found) = match found {
        None => (Outcome::NoData, "not measured in this session".to_owned()),
        Some((true, found)) => (Outcome::Reached, found),
        Some((false, found)) => (Outcome::Missed, found),
    };
    Goal { what, bar, outcome, found }
}

fn class_a_of_lu() -> &'static Case {
    CASES.iter().find(|case| case.program == "lu" && case.class == 'A').unwrap_or(&CASES[0])
}

/// The time in the calls, against each route of PVM's; the bar is its default one's, and the other stands beside it.
fn communication(rows: &Rows) -> Goal {
    let [own, _, direct, daemon, ..] = hosts::TWO;
    let at = |system: &System| of(rows, system, class_a_of_lu(), "communication", 4);
    let found = at(&own).zip(at(&daemon)).map(|(own, theirs)| {
        let beside = at(&direct).map_or_else(
            || "its direct route was not measured".to_owned(),
            |direct| format!("direct {} ms, {}x", digits(direct), digits(direct / own)),
        );
        // Most of it is waiting for the core that computes for another task; what is left is the messages' own.
        let left = |system: &System| of(rows, system, class_a_of_lu(), "beyond computing", 4);
        let apart = [hosts::TWO[0], daemon, direct].map(|system| left(&system).map_or_else(|| "-".to_owned(), digits));
        let words = format!(
            "Parvum {} ms an iteration; PVM 3.4.6 by its default route {} ms, {}x, {beside}. Beyond what the computing takes by itself on \
             these cores: {} ms, {} and direct {}",
            digits(own),
            digits(theirs),
            digits(theirs / own),
            apart[0],
            apart[1],
            apart[2]
        );
        (theirs >= 3.0 * own, words)
    });
    goal(
        "time in calls, LU class A, 4 tasks on two hosts, against PVM 3.4.6's default route",
        "3x less",
        found,
    )
}

/// Wherever there were more tasks than cores: the worse of Parvum's two interfaces against the better MPI.
fn ahead_when_crowded(rows: &Rows, systems: &[System], what: &'static str) -> Goal {
    let cores = cores::physical(64).len();
    let mut worst: Option<(f64, String)> = None;
    for case in &CASES {
        for tasks in TASKS.into_iter().filter(|tasks| *tasks as usize > cores) {
            let best = |families: &[Family]| {
                let times = systems.iter().filter(|system| families.contains(&system.family));
                times
                    .filter_map(|system| Some((of(rows, system, case, "iteration", tasks)?, system.family)))
                    .min_by(|a, b| a.0.total_cmp(&b.0))
            };
            let Some((own, _)) = best(&[Family::Parvum, Family::Mpi]) else { continue };
            let Some((theirs, family)) = best(&[Family::OpenMpi, Family::Mpich]) else { continue };
            if worst.as_ref().is_none_or(|(ratio, _)| theirs / own < *ratio) {
                let words = format!(
                    "{}x at worst: {} against {} ms of {}, {} class {} on {tasks} tasks",
                    digits(theirs / own),
                    digits(own),
                    digits(theirs),
                    family.name(),
                    case.words,
                    case.class
                );
                worst = Some((theirs / own, words));
            }
        }
    }
    goal(what, "ahead", worst.map(|(ratio, words)| (ratio > 1.0, words)))
}

/// Every count of every system.
fn by_formula(rows: &Rows) -> Goal {
    let (mut equal, mut other) = (0, None);
    for (case, system, tasks) in CASES.iter().flat_map(|case| {
        all_systems().into_iter().flat_map(move |system| TASKS.map(move |tasks| (case, system, tasks)))
    }) {
        let Some(sent) = formulas::sent(case.program, case.size[0], tasks) else { continue };
        let at = |metric| of(rows, &system, case, metric, tasks);
        let Some((messages, traffic)) = at("messages").zip(at("traffic")) else { continue };
        let expected = sent.bytes as f64 / 1e6;
        if messages == sent.messages as f64 && (traffic - expected).abs() < 1e-6 {
            equal += 1;
        } else {
            let words = format!(
                "{} class {}, {tasks} tasks, {}: {messages} messages and {traffic} MB, by formula {} and {expected}",
                case.words,
                case.class,
                system.label(),
                sent.messages
            );
            other = Some(words);
        }
    }
    let found = match other {
        Some(words) => Some((false, words)),
        None => (equal > 0).then(|| (true, format!("{equal} of {equal} counts equal"))),
    };
    goal("messages and bytes of an iteration against the algorithms' formulas", "equal", found)
}

#[cfg(test)]
mod tests {
    use super::super::tests::rows;
    use super::*;

    #[test]
    fn goals_without_data_are_not_judged() {
        let all = on_one_host(&[]).into_iter().chain(on_hosts(&[])).chain(over_named(&[]));
        assert!(all.into_iter().all(|goal| goal.outcome == Outcome::NoData));
    }

    #[test]
    fn communication_goal_compares_with_pvm_default_route() {
        let [own, _, direct, daemon, ..] = hosts::TWO;
        let at = |system: &System, ms: f64| rows(system, "lu", 64, 4, &[("communication", ms)]);
        let session = |theirs: f64| [at(&own, 10.0), at(&direct, 12.0), at(&daemon, theirs)].concat();
        let goal = on_hosts(&session(31.0)).remove(0);
        assert_eq!(goal.outcome, Outcome::Reached);
        assert!(goal.found.contains("3.10x, direct 12.0 ms, 1.20x"), "{}", goal.found);
        assert_eq!(on_hosts(&session(29.0))[0].outcome, Outcome::Missed);
    }

    #[test]
    fn message_counts_must_equal_the_formulas() {
        let of =
            |messages: f64| rows(&SYSTEMS[0], "lu", 64, 4, &[("messages", messages), ("traffic", 1.92576)]);
        assert_eq!(on_one_host(&of(744.0))[1].outcome, Outcome::Reached);
        let missed = &on_one_host(&of(743.0))[1];
        assert!(
            missed.outcome == Outcome::Missed && missed.found.contains("by formula 744"),
            "{}",
            missed.found
        );
    }

    #[test]
    fn worst_slot_is_reported_with_more_tasks_than_cores() {
        let many = 8;
        if cores::physical(64).len() >= many as usize {
            eprintln!(
                "skipped: worst_slot_is_reported_with_more_tasks_than_cores: eight cores are not fewer than eight tasks"
            );
            return;
        }
        let (own, open, mpich) = (SYSTEMS[0], SYSTEMS[4], SYSTEMS[5]);
        let at = |system: &System, ms: f64| rows(system, "sp", 36, many, &[("iteration", ms)]);
        let goal = on_one_host(&[at(&own, 4.0), at(&open, 6.0), at(&mpich, 90.0)].concat()).remove(0);
        assert!(goal.outcome == Outcome::Reached && goal.found.starts_with("1.50x"), "{}", goal.found);
        assert_eq!(on_one_host(&[at(&own, 7.0), at(&open, 6.0)].concat())[0].outcome, Outcome::Missed);
    }
}
