//! The bars of the pvmtime suite.

use super::{DAEMONS, LARGEST, throughput};
use crate::stats::goals::{Goal, Outcome, digits};
use crate::stats::summary::{Row, Rows};
use crate::systems::system::{Encoding, Family, System};

/// A daemon that holds so many MiB more for a blast holds a bounded part of its 64 MiB.
const BOUNDED: f64 = 32.0;

const fn xdr(family: Family, route: &'static str) -> System {
    System::new(family, route, Encoding::Xdr)
}

/// Checks them all.
pub fn check(rows: &[Row]) -> Vec<Goal> {
    let rows = Rows(rows);
    vec![
        survives(&rows),
        bounded(&rows),
        ahead(&rows, "ping-pong", "ping-pong of 16 KiB over TCP against PVM's direct route"),
        ahead(&rows, "blast", "blast of 16 KiB over TCP against PVM's direct route"),
        old_goal(&rows),
    ]
}

fn goal(what: &'static str, bar: &'static str, found: Option<(bool, String)>) -> Goal {
    let (outcome, found) = match found {
        None => (Outcome::NoData, "not measured in this session".to_owned()),
        Some((true, found)) => (Outcome::Reached, found),
        Some((false, found)) => (Outcome::Missed, found),
    };
    Goal { what, bar, outcome, found }
}

/// What PVM's daemon died of in 1993.
fn survives(rows: &Rows) -> Goal {
    let of = |family: Family| {
        let (_, route) = DAEMONS.into_iter().find(|(known, _)| *known == family)?;
        throughput(rows, "blast, 4 slaves", &xdr(family, route), 5, LARGEST)
    };
    let found = of(Family::Parvum).map(|own| {
        let words = |row: Option<&Row>| {
            row.map_or("did not complete, or was not measured".to_owned(), |row| {
                format!("{} Mbit/s", digits(row.median))
            })
        };
        (true, format!("Parvum {}, PVM 3.4.6 {}", words(Some(own)), words(of(Family::Pvm))))
    });
    goal("a blast of 1024 messages of 16 KiB from each of 4 slaves, through the daemon", "completes", found)
}

fn bounded(rows: &Rows) -> Goal {
    let memory = |system: &System| {
        rows.find("blast, 4 slaves", system, "daemon's memory", 5, LARGEST).map(|row| row.median)
    };
    let found = memory(&xdr(Family::Parvum, "routed")).map(|own| {
        let theirs = memory(&xdr(Family::Pvm, "daemon")).map_or("not measured".to_owned(), digits);
        (own <= BOUNDED, format!("Parvum {} MiB more at most, PVM 3.4.6 {theirs}", digits(own)))
    });
    goal("what the daemon holds more for that blast than before it", "32 MiB of 64", found)
}

fn ahead(rows: &Rows, program: &str, what: &'static str) -> Goal {
    let of = |system: &System| throughput(rows, program, system, 2, LARGEST).map(|row| row.median);
    let found = of(&xdr(Family::Parvum, "tcp"))
        .zip(of(&xdr(Family::Pvm, "direct")))
        .map(|(own, theirs)| (own > theirs, format!("{} against {} Mbit/s", digits(own), digits(theirs))));
    goal(what, "ahead", found)
}

/// What the authors wanted for the applications of 1993.
fn old_goal(rows: &Rows) -> Goal {
    let found =
        throughput(rows, "blast, packed", &System::new(Family::Parvum, "tcp", Encoding::Raw), 2, LARGEST)
            .map(|row| (row.median >= 500.0, format!("{} Mbit/s", digits(row.median))));
    goal("from memory to memory over TCP, packed raw and unpacked", "500 Mbit/s", found)
}

#[cfg(test)]
mod tests {
    use super::super::tests::example;
    use super::*;
    use crate::stats::summary::tests::row;

    #[test]
    fn goals_without_data_are_not_judged() {
        assert!(check(&[]).iter().all(|goal| goal.outcome == Outcome::NoData));
    }

    #[test]
    fn goals_are_judged_by_throughput_and_memory() {
        use Outcome::{Missed, NoData, Reached};
        let outcomes = |rows: &[Row]| check(rows).into_iter().map(|goal| goal.outcome).collect::<Vec<_>>();
        let mut rows = example();
        assert_eq!(outcomes(&rows), [Reached, NoData, Reached, Reached, Reached]);
        let mut memory =
            row(&xdr(Family::Parvum, "routed"), "blast, 4 slaves", "daemon's memory", LARGEST, &[64.0; 6]);
        memory.tasks = 5;
        rows.push(memory);
        for row in rows.iter_mut().filter(|row| row.system == "PVM 3.4.6") {
            row.median *= 10.0;
        }
        assert_eq!(outcomes(&rows), [Reached, Missed, Missed, Missed, Reached]);
    }
}
