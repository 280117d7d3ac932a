//! The python suite's bars: so many times quicker than each peer, and some for ourselves alone.

use super::{DASK, DICTIONARY, MPICH, OPENMPI, PARVUM, RAY};
use crate::stats::goals::{Goal, Outcome, digits};
use crate::stats::summary::{Row, Rows};
use crate::systems::system::System;

/// A bar against peers: what, how much in words, of which program which metric at which size, whether more is better, and the peers with how many times.
struct Against {
    what: &'static str,
    bar: &'static str,
    at: (&'static str, &'static str, u64),
    more: bool,
    peers: &'static [(System, f64)],
}

const AGAINST: [Against; 6] = [
    Against {
        what: "NumPy array of 8 B",
        bar: "1.3x mpi4py, 50x Ray and Dask",
        at: ("python-array", "half round trip", 8),
        more: false,
        peers: &[(MPICH, 1.3), (OPENMPI, 1.3), (RAY, 50.0), (DASK, 50.0)],
    },
    Against {
        what: "NumPy array of 1 MiB",
        bar: "1.5x mpi4py, 3x Ray, 10x Dask",
        at: ("python-array", "half round trip", 1 << 20),
        more: false,
        peers: &[(MPICH, 1.5), (OPENMPI, 1.5), (RAY, 3.0), (DASK, 10.0)],
    },
    Against {
        what: "NumPy array of 64 MiB",
        bar: "1.5x mpi4py, 3x Ray, 10x Dask",
        at: ("python-array", "half round trip", 64 << 20),
        more: false,
        peers: &[(MPICH, 1.5), (OPENMPI, 1.5), (RAY, 3.0), (DASK, 10.0)],
    },
    Against {
        what: "a dictionary with ten arrays of 1 MiB",
        bar: "3x mpi4py's send",
        at: ("python-dictionary", "half round trip", DICTIONARY),
        more: false,
        peers: &[(MPICH, 3.0), (OPENMPI, 3.0)],
    },
    Against {
        what: "empty calls, one by one",
        bar: "10x Ray and Dask",
        at: ("python-single", "calls", 0),
        more: true,
        peers: &[(RAY, 10.0), (DASK, 10.0)],
    },
    Against {
        what: "empty calls in chunks",
        bar: "10x Ray and Dask",
        at: ("python-chunks", "calls", 0),
        more: true,
        peers: &[(RAY, 10.0), (DASK, 10.0)],
    },
];

/// A bar for ourselves: what, how much in words, of which program which metric, the limit, and whether more is better.
struct Alone {
    what: &'static str,
    bar: &'static str,
    at: (&'static str, &'static str),
    limit: f64,
    more: bool,
}

const ALONE: [Alone; 6] = [
    Alone {
        what: "empty calls a second, one by one",
        bar: "15 k/s",
        at: ("python-single", "calls"),
        limit: 15.0,
        more: true,
    },
    Alone {
        what: "empty calls a second, in chunks",
        bar: "100 k/s",
        at: ("python-chunks", "calls"),
        limit: 100.0,
        more: true,
    },
    Alone {
        what: "from import to the first result",
        bar: "250 ms",
        at: ("python-first", "first result"),
        limit: 250.0,
        more: false,
    },
    Alone {
        what: "memory of an idle machine with 2 workers",
        bar: "60 MiB",
        at: ("python-idle", "resident"),
        limit: 60.0,
        more: false,
    },
    Alone {
        what: "idle workers' processor time",
        bar: "0.5 % of a core",
        at: ("python-idle", "processor"),
        limit: 0.5,
        more: false,
    },
    Alone {
        what: "joblib: 10,000 calls of 1 ms",
        bar: "1.05x ideal",
        at: ("python-joblib", "time over the work"),
        limit: 1.05,
        more: false,
    },
];

/// All bars.
pub(super) fn goals(rows: &[Row]) -> Vec<Goal> {
    let rows = Rows(rows);
    AGAINST.iter().map(|bar| against(&rows, bar)).chain(ALONE.iter().map(|bar| alone(&rows, bar))).collect()
}

fn no_data(what: &'static str, bar: &'static str) -> Goal {
    Goal { what, bar, outcome: Outcome::NoData, found: "not measured in this session".into() }
}

fn against(rows: &Rows, bar: &Against) -> Goal {
    let (program, metric, size) = bar.at;
    let median = |system: &System| rows.find(program, system, metric, 2, size).map(|row| row.median);
    let Some(own) = median(&PARVUM) else { return no_data(bar.what, bar.bar) };
    let ratios: Vec<(System, f64, f64)> = bar
        .peers
        .iter()
        .filter_map(|&(peer, least)| {
            let theirs = median(&peer)?;
            Some((peer, if bar.more { own / theirs } else { theirs / own }, least))
        })
        .collect();
    if ratios.is_empty() {
        return no_data(bar.what, bar.bar);
    }
    let reached = ratios.iter().all(|(_, ratio, least)| ratio >= least);
    let words: Vec<String> =
        ratios.iter().map(|(peer, ratio, _)| format!("{} {}x", peer.family.name(), digits(*ratio))).collect();
    let outcome = if reached { Outcome::Reached } else { Outcome::Missed };
    Goal { what: bar.what, bar: bar.bar, outcome, found: words.join("; ") }
}

fn alone(rows: &Rows, bar: &Alone) -> Goal {
    let (program, metric) = bar.at;
    let Some(row) = rows.find(program, &PARVUM, metric, 2, 0) else { return no_data(bar.what, bar.bar) };
    let reached = if bar.more { row.median >= bar.limit } else { row.median <= bar.limit };
    let outcome = if reached { Outcome::Reached } else { Outcome::Missed };
    Goal { what: bar.what, bar: bar.bar, outcome, found: format!("{} {}", digits(row.median), row.unit) }
}

#[cfg(test)]
mod tests {
    use super::super::tests::example;
    use super::*;

    #[test]
    fn goals_are_judged_by_measurements() {
        let mut rows = example();
        let of = |rows: &[Row], what: &str| {
            goals(rows).into_iter().find(|goal| goal.what == what).expect("it is there")
        };
        assert_eq!(of(&rows, "NumPy array of 8 B").outcome, Outcome::Missed, "nobody is ahead");
        assert_eq!(of(&rows, "from import to the first result").outcome, Outcome::Reached);
        for row in rows.iter_mut().filter(|row| row.size == 8 && row.system != "Parvum for Python") {
            row.median = 60.0;
        }
        let met = of(&rows, "NumPy array of 8 B");
        assert_eq!(met.outcome, Outcome::Reached, "{}", met.found);
        assert!(met.found.contains("Ray 60.0x"), "{}", met.found);
        assert!(goals(&[]).iter().all(|goal| goal.outcome == Outcome::NoData));
    }
}
