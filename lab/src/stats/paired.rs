//! Ratios of pairs that were measured one right after the other.
//!
//! Wilcoxon's signed-rank test on the logarithms (two-sided, 1 %), exact with ties: what disturbs both of a pair alike does not count. At
//! most one of a hundred verdicts about equal systems is false.

use crate::stats::statistics::{self, compare, median};
use crate::stats::summary::Row;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// What ratios show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The ratio is below one.
    Faster,
    /// The ratio is above one.
    Slower,
    /// No significant difference.
    Same,
    /// No number of pairs as small could show a difference.
    TooFew,
}

/// With fewer pairs nothing is said.
pub const FEWEST: usize = 3;
/// With seven pairs even seven signs alike have p = 0.016, so fewer pairs are judged by the t test.
const FEWEST_RANKS: usize = 8;
/// Critical values of Student's t for 3 to 7 pairs (two-sided, 0.5 %).
const STUDENT: [f64; 5] = [14.089, 7.453, 5.598, 4.773, 4.317];
/// Few pairs show large differences only.
const LARGE: f64 = 0.05;
/// The share of false verdicts about equal systems. A little less than one in a hundred, so that chance does not reach it.
const SIGNIFICANT: f64 = 0.008;

/// Judges ratios.
pub fn judge(ratios: &[f64]) -> Verdict {
    let logarithms: Vec<f64> = ratios.iter().map(|ratio| ratio.ln()).collect();
    judge_differences(&logarithms)
}

/// Judges differences, of logarithms for instance.
fn judge_differences(differences: &[f64]) -> Verdict {
    if differences.len() < FEWEST {
        return Verdict::TooFew;
    }
    if differences.len() < FEWEST_RANKS {
        return judge_few(differences);
    }
    let unequal: Vec<f64> = differences.iter().copied().filter(|one| *one != 0.0).collect();
    let (above, p) = signed_rank(&unequal);
    match p < SIGNIFICANT {
        true if above => Verdict::Slower,
        true => Verdict::Faster,
        false => Verdict::Same,
    }
}

/// Judges three to seven differences by Student's t test: all must have one sign and be large.
fn judge_few(differences: &[f64]) -> Verdict {
    let count = differences.len() as f64;
    let mean = differences.iter().sum::<f64>() / count;
    let deviation = (differences.iter().map(|one| (one - mean).powi(2)).sum::<f64>() / (count - 1.0)).sqrt();
    let is_one_sided = differences.iter().all(|one| *one > 0.0) || differences.iter().all(|one| *one < 0.0);
    // The infinite logarithm of a zero has no deviation.
    let is_clear =
        mean.is_infinite() || mean.abs() > STUDENT[differences.len() - FEWEST] * deviation / count.sqrt();
    match is_one_sided && is_clear && mean.abs() > LARGE {
        true if mean > 0.0 => Verdict::Slower,
        true => Verdict::Faster,
        false => Verdict::Same,
    }
}

/// What two rows show. Rows of one measurement are compared by their ratios within blocks; other rows, and rows of sessions without
/// blocks, are compared by ranks.
pub fn compare_rows(first: &Row, second: &Row) -> statistics::Verdict {
    let is_one_measurement = first.program == second.program && first.tasks == second.tasks;
    let has_blocks = !first.blocks.is_empty() && !second.blocks.is_empty();
    if !is_one_measurement || !has_blocks {
        return compare(&first.launches, &second.launches);
    }
    match judge_differences(&differences(first, second)) {
        Verdict::Faster => statistics::Verdict::Smaller,
        Verdict::Slower => statistics::Verdict::Larger,
        Verdict::Same => statistics::Verdict::NoDifferenceShown,
        Verdict::TooFew => statistics::Verdict::TooFew,
    }
}

/// The logarithm of the ratio of each block that has both rows.
fn differences(first: &Row, second: &Row) -> Vec<f64> {
    let by_block = |row: &Row| {
        let mut values: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        for (block, value) in row.blocks.iter().zip(&row.launches) {
            values.entry(*block).or_default().push(*value);
        }
        values
    };
    let others = by_block(second);
    let pairs = by_block(first)
        .into_iter()
        .filter_map(|(block, values)| Some((median(&values)?, median(others.get(&block)?)?)));
    // Two zeros are equal. The logarithm of one zero is infinite, and the largest difference of all.
    pairs
        .map(
            |(one, two)| {
                if one.partial_cmp(&two) == Some(Ordering::Equal) { 0.0 } else { one.ln() - two.ln() }
            },
        )
        .collect()
}

/// Whether the positive values weigh more, and the two-sided p value.
fn signed_rank(values: &[f64]) -> (bool, f64) {
    let count = values.len();
    if count == 0 {
        return (false, 1.0);
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
    // Ranks are doubled, so that ties have whole ones.
    let mut ranks = vec![0usize; count];
    let mut at = 0;
    while at < count {
        let end = at + sorted[at..].iter().take_while(|one| one.abs() == sorted[at].abs()).count();
        ranks[at..end].fill(at + 1 + end);
        at = end;
    }
    let total: usize = ranks.iter().sum();
    let positive: usize =
        ranks.iter().zip(&sorted).filter(|(_, value)| **value > 0.0).map(|(rank, _)| rank).sum();
    // In how many of all choices of signs the positive ranks have each sum.
    let mut ways = vec![0.0; total + 1];
    ways[0] = 1.0;
    for rank in &ranks {
        for sum in (*rank..=total).rev() {
            ways[sum] += ways[sum - rank];
        }
    }
    let least = positive.min(total - positive);
    let tail: f64 = ways[..=least].iter().sum();
    (2 * positive > total, (2.0 * tail / 2.0f64.powi(count as i32)).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::summary::tests::row;
    use crate::systems::system::{Encoding, Family, System};
    use parvum_seed::Random;

    #[test]
    fn signed_rank_has_the_p_values_of_the_tables() {
        // One-sided 2.5 %: n = 6 has the critical value 0, n = 10 has 8.
        let (above, p) = signed_rank(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert!(above && (p - 0.03125).abs() < 1e-12, "{p}");
        let ten = [-1.0, -2.0, -5.0, 3.0, 4.0, 6.0, 7.0, 8.0, 9.0, 10.0];
        let (above, p) = signed_rank(&ten);
        assert!(above && (p - 0.048_828_125).abs() < 1e-12, "{p}");
    }

    #[test]
    fn few_pairs_show_nothing() {
        assert_eq!(judge(&[2.0; FEWEST - 1]), Verdict::TooFew);
        assert_eq!(judge(&[2.0, 2.1, 1.9]), Verdict::Slower);
        assert_eq!(judge(&[1.04, 1.04, 1.04]), Verdict::Same, "few pairs show large differences only");
        assert_eq!(judge(&[2.0, 1.1, 4.0]), Verdict::Same, "the pairs differ too much");
        assert_eq!(judge(&[2.0; FEWEST_RANKS]), Verdict::Slower);
        assert_eq!(judge(&[1.0; FEWEST]), Verdict::Same);
    }

    #[test]
    fn rows_are_paired_by_block() {
        let system = |family| System { family, route: "", encoding: Encoding::None };
        let of = |family, values: &[f64]| Row {
            blocks: (0..values.len()).collect(),
            ..row(&system(family), "ring", "half round trip", 8, values)
        };
        // The host is three times as slow in half of the blocks; the second system takes a tenth more.
        let state = |block: usize| if block.is_multiple_of(2) { 1.0 } else { 3.0 };
        let (first, second): (Vec<f64>, Vec<f64>) =
            (0..10).map(|block| (state(block), 1.1 * state(block))).unzip();
        let (mut ours, theirs) = (of(Family::Mpi, &first), of(Family::Mpich, &second));
        assert_eq!(compare_rows(&ours, &theirs), statistics::Verdict::Smaller);
        assert_eq!(compare_rows(&theirs, &ours), statistics::Verdict::Larger);
        assert_eq!(compare(&first, &second), statistics::Verdict::NoDifferenceShown, "ranks do not see it");
        ours.blocks.iter_mut().for_each(|block| *block += 4);
        assert_eq!(
            (differences(&ours, &theirs).len(), compare_rows(&ours, &theirs)),
            (6, statistics::Verdict::Smaller)
        );
        ours.blocks.iter_mut().for_each(|block| *block += 4);
        assert_eq!(
            (differences(&ours, &theirs).len(), compare_rows(&ours, &theirs)),
            (2, statistics::Verdict::TooFew)
        );
        ours.blocks.clear();
        assert_eq!(
            compare_rows(&ours, &theirs),
            statistics::Verdict::NoDifferenceShown,
            "a session without blocks"
        );
    }

    #[test]
    fn nothing_is_less_than_something() {
        let system = |family| System { family, route: "", encoding: Encoding::None };
        let of = |family, value| Row {
            blocks: (0..10).collect(),
            ..row(&system(family), "blocked", "processor", 0, &[value; 10])
        };
        let (none, some) = (of(Family::Mpi, 0.0), of(Family::Mpich, 100.0));
        assert_eq!(compare_rows(&none, &some), statistics::Verdict::Smaller);
        assert_eq!(compare_rows(&none, &none), statistics::Verdict::NoDifferenceShown);
    }

    /// A number about evenly spread from 0 to 1.
    fn share(random: &mut Random) -> f64 {
        random.below(1_000_000) as f64 / 1e6
    }

    #[test]
    fn equal_systems_are_told_apart_in_at_most_one_of_a_hundred() {
        let mut random = Random::new(11);
        let noise = |random: &mut Random| 1.0 + share(random) * if random.below(4) == 0 { 3.0 } else { 0.05 };
        let wrong = (0..1000)
            .filter(|_| {
                let ratios: Vec<f64> = (0..10).map(|_| noise(&mut random) / noise(&mut random)).collect();
                judge(&ratios) != Verdict::Same
            })
            .count();
        assert!(wrong <= 10, "{wrong} of 1000");
        for pairs in FEWEST..FEWEST_RANKS {
            let noise =
                |random: &mut Random| 1.0 + share(random) * if random.below(4) == 0 { 3.0 } else { 0.05 };
            let wrong = (0..1000)
                .filter(|_| {
                    let ratios: Vec<f64> =
                        (0..pairs).map(|_| noise(&mut random) / noise(&mut random)).collect();
                    judge(&ratios) != Verdict::Same
                })
                .count();
            assert!(wrong <= 10, "{wrong} of 1000 with {pairs} pairs");
        }
    }

    #[test]
    fn slow_state_of_host_never_inverts_a_verdict() {
        let mut random = Random::new(12);
        for _ in 0..1000 {
            // The host is twice as slow in whole blocks; one system takes a tenth more.
            let ratios: Vec<f64> = (0..10)
                .map(|_| {
                    let state = if random.below(2) == 0 { 1.0 } else { 2.0 };
                    let noise = |random: &mut Random| 1.0 + 0.04 * share(random);
                    1.1 * state * noise(&mut random) / (state * noise(&mut random))
                })
                .collect();
            assert_eq!(judge(&ratios), Verdict::Slower, "{ratios:?}");
        }
    }
}
