//! The bars of the main suite, checked against this session's data only.

use super::PAPER_POINTS;
use crate::stats::goals::{Goal, Outcome, digits, with_unit};
use crate::stats::paired::compare_rows;
use crate::stats::statistics::Verdict;
use crate::stats::summary::{Row, Rows};
use crate::systems::system::{Encoding, Family, System};

const OURS: System = System { family: Family::Parvum, route: "shm", encoding: Encoding::Raw };
const PVM: System = System { family: Family::Pvm, route: "direct", encoding: Encoding::Raw };

/// Checks every bar.
pub fn check(rows: &[Row]) -> Vec<Goal> {
    let rows = Rows(rows);
    vec![
        ratio(
            "PVM calls over shm, 8 B half round trip, against PVM 3.4.6 direct",
            "at least 12x faster",
            12.0,
            rows.find("ring", &PVM, "half round trip", 2, 8),
            rows.find("ring", &OURS, "half round trip", 2, 8),
        ),
        ratio(
            "PVM calls over shm, 1 MiB bandwidth, against PVM 3.4.6 direct, raw",
            "at least 5x",
            5.0,
            rows.find("ring", &OURS, "bandwidth", 2, 1 << 20),
            rows.find("ring", &PVM, "bandwidth", 2, 1 << 20),
        ),
        one_core(&rows),
        below(
            "processor time of a task blocked in a receive",
            "under 1 %",
            1.0,
            rows.find("blocked", &OURS, "processor", 2, 0),
        ),
        below(
            "parvum run -n 2 /bin/true on a running machine",
            "at most 30 ms",
            30.0,
            rows.find("start", &OURS, "start and end", 2, 0),
        ),
        transforms(&rows),
        below(
            "resident memory of a task that talked to one peer",
            "at most 8.25 MiB",
            8.25,
            rows.find("blocked", &OURS, "resident", 2, 0),
        ),
    ]
}

fn no_data(what: &'static str, bar: &'static str) -> Goal {
    Goal { what, bar, outcome: Outcome::NoData, found: "not measured in this session".into() }
}

/// `over / under` must be at least `least`.
fn ratio(what: &'static str, bar: &'static str, least: f64, over: Option<&Row>, under: Option<&Row>) -> Goal {
    let (Some(over), Some(under)) = (over, under) else { return no_data(what, bar) };
    let ratio = over.median / under.median;
    let values = format!("{} against {}: {}x", with_unit(over), with_unit(under), digits(ratio));
    if ratio >= least {
        return Goal { what, bar, outcome: Outcome::Reached, found: values };
    }
    let found = format!("{values}, {} % of the bar", digits(100.0 * ratio / least));
    Goal { what, bar, outcome: Outcome::Missed, found }
}

/// `row` must not exceed `most`.
fn below(what: &'static str, bar: &'static str, most: f64, row: Option<&Row>) -> Goal {
    let Some(row) = row else { return no_data(what, bar) };
    if row.median <= most {
        return Goal { what, bar, outcome: Outcome::Reached, found: with_unit(row) };
    }
    let found = format!("{}, {}x the bar", with_unit(row), digits(row.median / most));
    Goal { what, bar, outcome: Outcome::Missed, found }
}

fn one_core(rows: &Rows) -> Goal {
    let (what, bar) = ("both tasks on one core, 8 B half round trip, against PVM 3.4.6", "no slower");
    let best = [PVM, System { route: "daemon", ..PVM }]
        .iter()
        .filter_map(|system| rows.find("ring-one-core", system, "half round trip", 2, 8))
        .min_by(|a, b| a.median.total_cmp(&b.median));
    let (Some(ours), Some(theirs)) = (rows.find("ring-one-core", &OURS, "half round trip", 2, 8), best)
    else {
        return no_data(what, bar);
    };
    let values = format!("{} against {}", with_unit(ours), with_unit(theirs));
    match compare_rows(ours, theirs) {
        Verdict::Larger => Goal {
            what,
            bar,
            outcome: Outcome::Missed,
            found: format!("{values}: {}x slower", digits(ours.median / theirs.median)),
        },
        Verdict::NoDifferenceShown => {
            Goal { what, bar, outcome: Outcome::Reached, found: format!("{values}, no difference shown") }
        }
        _ if ours.median <= theirs.median => Goal { what, bar, outcome: Outcome::Reached, found: values },
        _ => Goal {
            what,
            bar,
            outcome: Outcome::Missed,
            found: format!("{values} (too few launches to test)"),
        },
    }
}

fn transforms(rows: &Rows) -> Goal {
    let (what, bar) = ("FFT on 2 tasks, each size of the paper, against PVM 3.4.6", "faster");
    let mut ratios = Vec::new();
    for points in PAPER_POINTS {
        let (Some(ours), Some(theirs)) =
            (rows.find("fft", &OURS, "time", 2, points), rows.find("fft", &PVM, "time", 2, points))
        else {
            return no_data(what, bar);
        };
        let sure = matches!(compare_rows(ours, theirs), Verdict::Smaller | Verdict::TooFew);
        ratios.push((points, theirs.median / ours.median, sure));
    }
    let words: Vec<String> = ratios.iter().map(|(n, ratio, _)| format!("{n}: {}x", digits(*ratio))).collect();
    let reached = ratios.iter().all(|(_, ratio, sure)| *ratio > 1.0 && *sure);
    let outcome = if reached { Outcome::Reached } else { Outcome::Missed };
    Goal { what, bar, outcome, found: words.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::summary::tests::row;

    #[test]
    fn goals_without_data_are_not_claimed() {
        assert!(check(&[]).iter().all(|goal| goal.outcome == Outcome::NoData));
    }

    #[test]
    fn ratio_goal_is_judged_and_miss_is_measured() {
        let rows = [
            row(&PVM, "ring", "half round trip", 8, &[12.0; 6]),
            row(&OURS, "ring", "half round trip", 8, &[2.0; 6]),
        ];
        let goal = &check(&rows)[0];
        assert_eq!(goal.outcome, Outcome::Missed);
        assert!(goal.found.contains("6.00x") && goal.found.contains("50.0 %"), "{}", goal.found);
    }

    #[test]
    fn equal_speed_counts_as_no_slower() {
        let rows = [
            row(&PVM, "ring-one-core", "half round trip", 8, &[6.0, 7.0, 8.0, 9.0, 10.0]),
            row(&OURS, "ring-one-core", "half round trip", 8, &[6.5, 7.5, 8.5, 9.5, 10.5]),
        ];
        let goal = &check(&rows)[2];
        assert_eq!(goal.outcome, Outcome::Reached);
        assert!(goal.found.contains("no difference shown"));
    }

    #[test]
    fn fft_goal_requires_every_size_faster() {
        let mut rows = Vec::new();
        for (points, ours) in PAPER_POINTS.into_iter().zip([1.0, 1.0, 1.0, 20.0]) {
            rows.push(row(&PVM, "fft", "time", points, &[9.0, 9.1, 9.2, 9.3, 9.4]));
            rows.push(row(&OURS, "fft", "time", points, &[ours; 5]));
        }
        assert_eq!(check(&rows)[5].outcome, Outcome::Missed);
    }
}
