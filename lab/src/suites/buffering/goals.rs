//! The bars: what an interface may cost over the engine, and what the ledger must have counted.

use super::{CMMD, CONTAINERS, ENGINE, LONG, NX, findings};
use crate::stats::goals::{Goal, Outcome, at_most, digits};
use crate::stats::summary::{Row, Rows};
use crate::systems::system::System;

/// Checks them all.
pub fn check(rows: &[Row]) -> Vec<Goal> {
    let rows = Rows(rows);
    let over_engine = |size, systems: &[System]| {
        systems.iter().map(|system| (*system, ratio(&rows, system, size))).collect::<Vec<_>>()
    };
    vec![
        at_most(
            "8 B half round trip over the engine's",
            "1.15",
            1.15,
            over_engine(8, &[NX, CMMD, CONTAINERS]),
        ),
        at_most("unbuffered 1 MiB over the engine's", "1.05", 1.05, over_engine(LONG, &[NX, CMMD])),
        calls(&rows),
        copies_once(&rows, "a posted csend of 1 MiB", &NX),
        copies_once(&rows, "a posted CMMD send of 1 MiB", &CMMD),
        buffers(&rows, "NX buffers at the receiver only", &NX, [0.0, 1.0]),
        buffers(&rows, "CMMD buffers at the sender only", &CMMD, [1.0, 0.0]),
    ]
}

/// A hop through a system in microseconds: of short messages by the calls that block; of long ones that find their receive
/// posted, so that neither buffers.
pub fn hop(rows: &Rows, system: &System, size: u64) -> Option<f64> {
    let (program, metric) = if size == LONG { ("token", "hop, posted") } else { ("ring", "half round trip") };
    rows.find(program, system, metric, 2, size).map(|row| row.median)
}

/// The ratio of an interface's hop to the engine's, if both were measured.
pub fn ratio(rows: &Rows, system: &System, size: u64) -> Option<f64> {
    Some(hop(rows, system, size)? / hop(rows, &ENGINE, size)?)
}

/// A call of a container, in one-way times: a round of the program `rpc` is one call, two hops.
pub fn call(rows: &Rows) -> Option<f64> {
    let hop = |program| rows.find(program, &CONTAINERS, "half round trip", 2, 8).map(|row| row.median);
    Some(2.0 * hop("rpc")? / hop("ring")?)
}

fn calls(rows: &Rows) -> Goal {
    let (outcome, found) = match call(rows) {
        Some(times) if times <= 2.3 => (Outcome::Reached, digits(times)),
        Some(times) => (Outcome::Missed, digits(times)),
        None => (Outcome::NoData, "not measured".to_owned()),
    };
    Goal { what: "a call of a container, in one-way times", bar: "2.3", outcome, found }
}

fn copies_once(rows: &Rows, what: &'static str, system: &System) -> Goal {
    let place = findings::place(rows, system, "token", "posted", 2, LONG);
    let (outcome, found) = match place {
        None => (Outcome::NoData, "not measured".to_owned()),
        Some(place) => {
            let once = (place.copies - 1.0).abs() < 0.02 && place.receiver + place.sender < 0.02;
            let outcome = if once { Outcome::Reached } else { Outcome::Missed };
            let buffered = digits(place.receiver + place.sender);
            (outcome, format!("{} copies, {buffered} of the data buffered", digits(place.copies)))
        }
    };
    Goal { what, bar: "copies once", outcome, found }
}

/// Shares of the data at sender and receiver when no receive is posted.
fn buffers(rows: &Rows, what: &'static str, system: &System, wanted: [f64; 2]) -> Goal {
    let place = findings::place(rows, system, "token", "unposted", 2, LONG);
    let (outcome, found) = match place {
        None => (Outcome::NoData, "not measured".to_owned()),
        Some(place) => {
            let near = |share: f64, wanted: f64| (share - wanted).abs() < 0.05;
            let as_said = near(place.sender, wanted[0]) && near(place.receiver, wanted[1]);
            let outcome = if as_said { Outcome::Reached } else { Outcome::Missed };
            (
                outcome,
                format!("{} at the sender, {} at the receiver", digits(place.sender), digits(place.receiver)),
            )
        }
    };
    Goal { what, bar: "all of it there", outcome, found }
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
    fn interface_is_compared_with_engine() {
        let rows = |nx: f64| {
            [(ENGINE, 0.2), (NX, nx), (CMMD, 0.2), (CONTAINERS, 0.21)]
                .map(|(system, us)| row(&system, "ring", "half round trip", 8, &[us; 6]))
        };
        assert_eq!(check(&rows(0.22))[0].outcome, Outcome::Reached);
        assert_eq!(check(&rows(0.24))[0].outcome, Outcome::Missed);
        assert_eq!(check(&rows(0.22)[..3])[0].outcome, Outcome::NoData);
    }

    #[test]
    fn copy_counters_must_agree_with_goal() {
        let rows = |copies: f64, sender: f64| {
            let form = |what: &str, form: &str, value: f64| {
                row(&CMMD, "token", &format!("{what}, {form}"), LONG, &[value; 6])
            };
            ["posted", "unposted"].map(|name| {
                let sender = if name == "posted" { 0.0 } else { sender };
                [
                    form("copies", name, copies),
                    form("buffered at the receiver", name, 0.0),
                    form("buffered at the sender", name, sender),
                    form("unexpected", name, 0.0),
                    form("dropped", name, 0.0),
                ]
            })
        };
        let outcomes = |copies, sender| {
            let goals = check(&rows(copies, sender).concat());
            [goals[4].outcome, goals[6].outcome]
        };
        assert_eq!(outcomes(1.0, 1.0), [Outcome::Reached; 2]);
        assert_eq!(outcomes(2.0, 0.5), [Outcome::Missed; 2]);
    }
}
