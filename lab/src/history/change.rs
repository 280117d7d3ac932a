//! Change points of a series: E-divisive, a permutation test, and a rank test.
//!
//! The split follows Matteson and James, A Nonparametric Approach for Multiple Change Point Analysis of Multivariate Data, 2014. A series is
//! split into the neighbouring segments with the largest energy distance, if random orders of the values seldom reach that distance. The second
//! test is an idea of Hunter (Fleming et al., 2023; now Apache Otava): a change counts only if its two whole segments differ. Hunter uses the
//! t-test. Times of messages are not normal, so this module uses a rank test.

use crate::stats::statistics::{median, rank_test};
use parvum_seed::Random;

/// A segment has at least 5 values: fewer are outliers.
pub const SEGMENT: usize = 5;
/// A change counts if chance makes it less often.
pub const LEVEL: f64 = 0.05;
/// The rank test is stricter, because it tests the very place where the values differ most. Five values against five can still pass.
const STRICT: f64 = 0.01;
/// Random orders of a segment, at most. With hundreds of figures a change needs a small p.
const ORDERS: usize = 9_999;
/// The test ends after 20 random orders with a larger distance: p is then known well enough (Besag and Clifford, 1991).
const ENOUGH: usize = 20;

/// A place in a series from which the values are others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// The first value after the change.
    pub at: usize,
    /// The median of the values since the change before.
    pub before: f64,
    /// The median of the values up to the next change.
    pub after: f64,
    /// How often chance alone splits the segment as clearly.
    pub p: f64,
}

/// The changes of a series, in its order. The seed decides the random orders of the test.
pub fn changes(values: &[f64], seed: u64) -> Vec<Change> {
    by_orders(values, seed, ORDERS)
}

/// The same with a limit of random orders.
fn by_orders(values: &[f64], seed: u64, orders: usize) -> Vec<Change> {
    let mut found = Vec::new();
    if values.iter().all(|value| value.is_finite()) {
        let mut test = Test { random: Random::new(seed), orders, sums: Vec::new() };
        test.split(values, 0..values.len(), &mut found);
    }
    found.sort_unstable_by_key(|change: &(usize, f64)| change.0);
    drop_weak(values, &mut found);
    (0..found.len())
        .filter_map(|number| {
            let (left, right) = beside(values, &found, number);
            let (at, p) = found[number];
            Some(Change { at, before: median(left)?, after: median(right)?, p })
        })
        .collect()
}

/// The permutation test of splits.
struct Test {
    random: Random,
    orders: usize,
    /// Kept, so that an order allocates no memory.
    sums: Vec<f64>,
}

impl Test {
    /// Splits a segment where its parts differ most, and then each part.
    fn split(&mut self, values: &[f64], of: std::ops::Range<usize>, found: &mut Vec<(usize, f64)>) {
        let Some((at, distance)) = best(&values[of.clone()], &mut self.sums) else { return };
        let p = self.chance(values[of.clone()].to_vec(), distance);
        if p < LEVEL {
            found.push((of.start + at, p));
            self.split(values, of.start..of.start + at, found);
            self.split(values, of.start + at..of.end, found);
        }
    }

    /// How often values in random order have such a distance somewhere.
    fn chance(&mut self, mut values: Vec<f64>, distance: f64) -> f64 {
        let mut reached = 0;
        for order in 1..=self.orders {
            self.random.shuffle(&mut values);
            reached += usize::from(best(&values, &mut self.sums).is_some_and(|(_, other)| other >= distance));
            if reached == ENOUGH {
                return ENOUGH as f64 / order as f64;
            }
        }
        (reached + 1) as f64 / (self.orders + 1) as f64
    }
}

/// The place with the largest energy distance between the values before it and some values after it, and that distance. The values after it
/// may end early: otherwise a second change would hide the first.
fn best(values: &[f64], sums: &mut Vec<f64>) -> Option<(usize, f64)> {
    let count = values.len();
    // `sums[from * side + to]`: distances of all pairs of values from `from` to before `to`.
    let side = count + 1;
    sums.clear();
    sums.resize(side * side, 0.0);
    for to in 1..=count {
        let mut column = 0.0;
        for from in (0..to).rev() {
            column += (values[from] - values[to - 1]).abs();
            sums[from * side + to] = sums[from * side + to - 1] + column;
        }
    }
    let mut best = None;
    for at in SEGMENT..=count.saturating_sub(SEGMENT) {
        let left = sums[at];
        let n = at as f64;
        for end in at + SEGMENT..=count {
            let right = sums[at * side + end];
            let between = sums[end] - left - right;
            let m = (end - at) as f64;
            let distance = 2.0 * (between - left * m / (n - 1.0) - right * n / (m - 1.0)) / (n + m);
            // Equal values have distance 0, which is not a change.
            if distance > 0.0 && best.is_none_or(|(_, most)| distance > most) {
                best = Some((at, distance));
            }
        }
    }
    best
}

/// The values before a change since the one before it, and those after it up to the next.
fn beside<'a>(values: &'a [f64], found: &[(usize, f64)], number: usize) -> (&'a [f64], &'a [f64]) {
    let begin = number.checked_sub(1).map_or(0, |before| found[before].0);
    let end = found.get(number + 1).map_or(values.len(), |next| next.0);
    let at = found[number].0;
    (&values[begin..at], &values[at..end])
}

/// Removes changes whose segments a rank test cannot tell apart, the weakest first: its neighbours then have longer segments.
fn drop_weak(values: &[f64], found: &mut Vec<(usize, f64)>) {
    loop {
        let tested = (0..found.len()).map(|number| {
            let (left, right) = beside(values, found, number);
            (number, rank_test(left, right))
        });
        match tested.max_by(|a, b| a.1.total_cmp(&b.1)) {
            Some((weakest, p)) if p >= STRICT => drop(found.remove(weakest)),
            _ => return,
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
