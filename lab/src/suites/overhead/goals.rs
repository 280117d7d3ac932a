//! The bars: what an interface may add to an application's time, and that the parts of a message's time are all of it.

use super::{CMMD, CONTAINERS, ENGINE, NX, PVM, layers, spread};
use crate::stats::goals::{Goal, Outcome, at_most, digits};
use crate::stats::summary::{Row, Rows};
use crate::systems::system::System;

/// Checks them all.
pub fn check(rows: &[Row]) -> Vec<Goal> {
    let rows = Rows(rows);
    vec![parts(&rows), transform(&rows), steadier(&rows)]
}

/// Whether the parts of each way's null round trip are its whole.
fn parts(rows: &Rows) -> Goal {
    let ways: Vec<_> = layers::WAYS.iter().map(|way| (way.name, layers::peel(rows, way))).collect();
    let found: Vec<String> = ways
        .iter()
        .map(|(name, peeled)| match peeled {
            Some(peeled) => {
                let (off, least) = (100.0 * peeled.off(), 100.0 * peeled.least());
                format!("{name} {off:+.1} %, least part {least:.1} %")
            }
            None => format!("{name} not measured"),
        })
        .collect();
    let known: Option<Vec<_>> = ways.into_iter().map(|(_, peeled)| peeled).collect();
    // The parts are differences, and so their sum is always what they were taken from: that the sum is right says little
    // when two of them are wrong by the same, one upwards and one downwards.
    let is_right = |peeled: &layers::Peeled| {
        peeled.off().abs() <= layers::TOLERANCE && peeled.least() >= -layers::TOLERANCE
    };
    let outcome = match known {
        None => Outcome::NoData,
        Some(known) if known.iter().all(is_right) => Outcome::Reached,
        Some(_) => Outcome::Missed,
    };
    let what =
        "the parts of a null round trip add up to what other launches measured, and none is below nothing";
    Goal { what, bar: "within 5 % of the whole", outcome, found: found.join(", ") }
}

/// Whether a job beside a rival varies a third as much when both are gangs; else why not, as far as this run shows it.
fn steadier(rows: &Rows) -> Goal {
    let (what, bar) = ("a job beside a rival varies less as a gang", "3x less");
    let Some(found) = spread::steadier(rows) else {
        return Goal { what, bar, outcome: Outcome::NoData, found: "not measured".to_owned() };
    };
    let [without, with] = found.variations.map(digits);
    let [low, high] = found.interval.map(digits);
    let [fast, slow] = found.medians.map(digits);
    let mut words = format!(
        "{}x less (95 % interval {low} to {high}): standard deviation over mean {without} without ({} launches), {with} with ({})",
        digits(found.times),
        found.launches[0],
        found.launches[1],
    );
    let is_reached = found.times >= 3.0;
    if !is_reached {
        words.push_str(&format!(
            "; not 3x steadier: without gangs tasks sleep in Parvum's calls and leave their core to the rival, and the job takes {fast} ms in the median, {slow} as a gang"
        ));
    }
    Goal { what, bar, outcome: if is_reached { Outcome::Reached } else { Outcome::Missed }, found: words }
}

/// The transform through each interface, as a multiple of the engine's own.
fn transform(rows: &Rows) -> Goal {
    let time = |system: System| rows.find("fft", &system, "time", 2, 1024).map(|row| row.median);
    let ratios = [NX, CMMD, CONTAINERS, PVM]
        .map(|system| (system, time(system).zip(time(ENGINE)).map(|(ours, engine)| ours / engine)));
    at_most("FFT of 1024 points on 2 tasks over the engine's", "1.15", 1.15, ratios)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::summary::tests::row;

    #[test]
    fn goal_without_data_is_not_reached() {
        assert!(check(&[]).iter().all(|goal| goal.outcome == Outcome::NoData));
    }

    #[test]
    fn parts_that_miss_the_whole_miss_goal() {
        let outcome = |whole| check(&layers::tests::layers(whole))[0].outcome;
        assert_eq!(outcome(1.04), Outcome::Reached);
        assert_eq!(outcome(1.06), Outcome::Missed);
        assert_eq!(outcome(0.94), Outcome::Missed);
    }

    #[test]
    fn negative_part_misses_goal_despite_right_sum() {
        let mut rows = layers::tests::layers(1.0);
        // A layer that takes longer without what lies above it than with it.
        let link = rows.iter_mut().find(|row| row.route == "shm" && row.system == "link");
        let link = link.expect("there are layers");
        link.median *= 2.0;
        assert_eq!(check(&rows)[0].outcome, Outcome::Missed);
    }

    #[test]
    fn gang_times_must_vary_less_for_goal() {
        let rows = |gang: f64| {
            [
                row(&NX, spread::RIVAL, "job", spread::POINTS, &[10.0, 20.0, 30.0]),
                row(&NX, spread::GANG, "job", spread::POINTS, &[19.0, 20.0, gang]),
            ]
        };
        assert_eq!(check(&rows(21.0))[2].outcome, Outcome::Reached);
        let missed = &check(&rows(30.0))[2];
        assert_eq!(missed.outcome, Outcome::Missed);
        assert!(missed.found.contains("not 3x steadier"), "{}", missed.found);
    }

    #[test]
    fn fft_of_interface_is_compared_with_engine() {
        let rows = |nx: f64| {
            [(ENGINE, 10.0), (NX, nx), (CMMD, 10.0), (CONTAINERS, 10.0), (PVM, 11.0)]
                .map(|(system, us)| row(&system, "fft", "time", 1024, &[us; 6]))
        };
        assert_eq!(check(&rows(11.4))[1].outcome, Outcome::Reached);
        assert_eq!(check(&rows(11.6))[1].outcome, Outcome::Missed);
        assert_eq!(check(&rows(11.4)[..4])[1].outcome, Outcome::NoData);
    }
}
