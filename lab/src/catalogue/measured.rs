//! A value of today and its interval, from rows.
//!
//! The launch is the unit. What rows of the same launches say together (the mean over sizes, the ratio of two sizes) each launch
//! says once, so that what slowed it as a whole is counted once and what slowed one size is averaged; the interval is that of the
//! launches' values. Other programs and systems ran in launches of their own, and their intervals are joined as those of independent
//! values are: the distances from the value to its ends, in logarithms, by the root of the sum of their squares (MOVER; Zou and
//! Donner, Statistics in Medicine 27, 2008).

use super::claim::{Claimed, Today};
use crate::stats::statistics::{Estimate, estimate};
use crate::stats::summary::Row;
use std::collections::{BTreeMap, BTreeSet};

/// A value of today with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured {
    /// The value; over several sizes the geometric mean.
    pub value: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end of its interval.
    pub high: f64,
    /// Launches of the row that has the fewest.
    pub launches: usize,
    /// How many sizes it stands for.
    pub sizes: usize,
}

/// At each size that all ranges have a row for: the factors' product over the divisors'.
pub(super) fn measure(today: &Today, rows: &[Row]) -> Option<Measured> {
    let asked = || today.over.iter().chain(&today.under);
    let sizes = |one: &Claimed| {
        rows.iter().filter(|row| one.takes(row)).map(|row| row.size).collect::<BTreeSet<u64>>()
    };
    let common = asked().filter(|one| one.is_ranged()).map(sizes).reduce(|all, these| &all & &these);
    // Where no size is a range there is one point, of whatever sizes are named.
    let places: Vec<Option<u64>> =
        common.map_or_else(|| vec![None], |common| common.into_iter().map(Some).collect());
    let found = |one: &Claimed, place: Option<u64>| {
        let at = place.filter(|_| one.is_ranged()).unwrap_or(one.first_size());
        rows.iter().find(|row| one.takes(row) && row.size == at)
    };
    let (mut joint, mut launches) = (BTreeMap::<Key, Vec<Term>>::new(), usize::MAX);
    for place in &places {
        for (sign, all) in [(1.0, &today.over), (-1.0, &today.under)] {
            for one in all {
                let row = found(one, *place)?;
                launches = launches.min(row.samples);
                joint.entry(key(row)).or_default().push((sign / places.len() as f64, row));
            }
        }
    }
    let parts: Option<Vec<Estimate>> = joint.values().map(|terms| of_same_launches(terms)).collect();
    let [value, low, high] = joined(&parts?).map(|log| log.exp() * today.times);
    let sound = !places.is_empty() && [value, low, high].iter().all(|value| value.is_finite());
    sound.then_some(Measured { value, low, high, launches, sizes: places.len() })
}

/// The sum of independent values, and the ends of its interval.
fn joined(parts: &[Estimate]) -> [f64; 3] {
    let sum = |of: fn(&Estimate) -> f64| parts.iter().map(of).sum::<f64>();
    let value = sum(|part| part.median);
    if value.is_infinite() {
        // A value of nothing, such as a share that is zero, has no distance to its ends.
        return [value, sum(|part| part.low), sum(|part| part.high)];
    }
    let below = sum(|part| (part.median - part.low).powi(2)).sqrt();
    let above = sum(|part| (part.high - part.median).powi(2)).sqrt();
    [value, value - below, value + above]
}

/// A row, and by how much its logarithm counts.
type Term<'a> = (f64, &'a Row);

/// Whose launches; a row that keeps none stands alone.
type Key<'a> = (&'a str, &'a str, &'a str, &'a str, u32, &'a [usize], Option<(u64, &'a str)>);

fn key(row: &Row) -> Key<'_> {
    let alone = row.launch_numbers.is_empty().then_some((row.size, row.metric.as_str()));
    (&row.program, &row.system, &row.route, &row.encoding, row.tasks, &row.launch_numbers, alone)
}

/// The logarithm of what rows of the same launches say together.
fn of_same_launches(terms: &[Term]) -> Option<Estimate> {
    let (_, first) = terms.first()?;
    let sum = |of: &dyn Fn(&Row) -> f64| terms.iter().map(|(by, row)| by * of(row).ln()).sum::<f64>();
    if !first.launches.is_empty() {
        let each: Vec<f64> = (0..first.launches.len()).map(|at| sum(&|row| row.launches[at])).collect();
        // Nothing over nothing is no value.
        return estimate(&each).filter(|_| !each.iter().any(|one| one.is_nan()));
    }
    let ends = [sum(&|row| row.low), sum(&|row| row.high)];
    Some(Estimate {
        median: sum(&|row| row.median),
        low: ends[0].min(ends[1]),
        high: ends[0].max(ends[1]),
        count: first.samples,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::summary::tests::row;
    use crate::systems::system::{Encoding, Family, System};

    const PVM: System = System::new(Family::Pvm, "direct", Encoding::Raw);
    const OURS: System = System::new(Family::Parvum, "shm", Encoding::Raw);

    fn value(over: &str, under: &str, rows: &[Row]) -> Measured {
        let asked = |text: &str| vec![Claimed::try_from(text.to_owned()).expect("well made")];
        let today = Today { by: String::new(), over: asked(over), under: asked(under), times: 1.0 };
        measure(&today, rows).expect("there are rows")
    }

    #[test]
    fn ratio_of_sizes_is_independent_of_slow_launches() {
        let slow = [1.0, 2.0, 4.0, 1.0, 3.0, 1.5];
        let longer = slow.map(|time| 10.0 * time);
        let rows = [row(&PVM, "ring", "hop", 8, &slow), row(&PVM, "ring", "hop", 4096, &longer)];
        let found = value("ring|PVM 3.4.6|direct|raw|2|4096|hop", "ring|PVM 3.4.6|direct|raw|2|8|hop", &rows);
        for end in [found.low, found.value, found.high] {
            assert!((end - 10.0).abs() < 1e-9, "{found:?}");
        }
    }

    #[test]
    fn noise_of_independent_sizes_is_averaged() {
        // One size of each launch was slow, another each time.
        let rows: Vec<Row> = (0..6u64)
            .map(|size| {
                let times: Vec<f64> = (0..6).map(|launch| if launch == size { 4.0 } else { 1.0 }).collect();
                row(&PVM, "ring", "hop", size + 1, &times)
            })
            .collect();
        let one = row(&OURS, "ring", "hop", 1, &[1.0; 6]);
        let under = "ring|Parvum|shm|raw|2|1|hop";
        let found = value("ring|PVM 3.4.6|direct|raw|2|1..6|hop", under, &[rows, vec![one]].concat());
        assert!((found.high / found.low - 1.0).abs() < 1e-9 && found.sizes == 6, "{found:?}");
    }

    #[test]
    fn launches_of_two_systems_count_as_independent() {
        let (mut theirs, mut ours) =
            (row(&PVM, "ring", "hop", 8, &[8.0; 6]), row(&OURS, "ring", "hop", 8, &[2.0; 6]));
        let spread = |row: &mut Row, by: f64| {
            let middle = row.median;
            row.launches = vec![middle / by, middle, middle, middle, middle, middle * by];
        };
        spread(&mut theirs, 8.0);
        spread(&mut ours, 64.0);
        let found =
            value("ring|PVM 3.4.6|direct|raw|2|8|hop", "ring|Parvum|shm|raw|2|8|hop", &[theirs, ours]);
        // ln 8 and ln 64 = 2 ln 8 give ln 8 times the root of five.
        let by = 8f64.powf(5f64.sqrt());
        assert!(
            (found.high / 4.0 / by - 1.0).abs() < 1e-9 && (found.low * by / 4.0 - 1.0).abs() < 1e-9,
            "{found:?}"
        );
    }

    #[test]
    fn zero_share_counts_as_value() {
        let rows = [row(&PVM, "ring", "copies", 8, &[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.01])];
        let today = Today {
            by: String::new(),
            over: vec![
                Claimed::try_from("ring|PVM 3.4.6|direct|raw|2|8|copies".to_owned()).expect("well made"),
            ],
            under: Vec::new(),
            times: 1.0,
        };
        let Measured { value, low, high, .. } = measure(&today, &rows).expect("there are rows");
        assert!(value == 0.0 && low == 0.0 && (high - 0.01).abs() < 1e-12);
        let over_nothing = Today { under: today.over.clone(), ..today };
        assert_eq!(measure(&over_nothing, &rows), None);
    }

    #[test]
    fn fitted_row_keeps_its_own_interval() {
        let mut fitted = row(&PVM, "ring", "r_max", 8, &[3.0; 6]);
        (fitted.low, fitted.high) = (2.0, 4.0);
        (fitted.launches, fitted.launch_numbers) = (Vec::new(), Vec::new());
        let mut other = Row { system: "Parvum".into(), route: "shm".into(), ..fitted.clone() };
        other.launches = Vec::new();
        let found =
            value("ring|PVM 3.4.6|direct|raw|2|8|r_max", "ring|Parvum|shm|raw|2|8|r_max", &[fitted, other]);
        assert!((found.value - 1.0).abs() < 1e-9 && found.low < 0.7 && found.high > 1.4, "{found:?}");
    }
}
