//! Statistics without assumptions about the distribution: latencies are not normal.
//!
//! The launch is the unit: each launch yields one median, and systems are compared by their launches' medians.

use parvum_seed::Random;

/// A middle value with its 95% interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The median.
    pub median: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// How many values it rests on. Below six, no 95% interval exists and `low..high` is the whole range.
    pub count: usize,
}

/// Values in ascending order, NaN-free by construction of the callers (times are counted in integers).
pub fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

/// The value below which a share `q` of ascending `values` lies, interpolated; `None` for no values.
pub fn quantile(values: &[f64], q: f64) -> Option<f64> {
    let last = values.len().checked_sub(1)?;
    let place = q.clamp(0.0, 1.0) * last as f64;
    let (below, share) = (place.floor() as usize, place.fract());
    if share == 0.0 {
        // The next one may be infinite: the logarithm of nothing.
        return Some(values[below]);
    }
    let above = (below + 1).min(last);
    Some(values[below] * (1.0 - share) + values[above] * share)
}

/// The middle of values in any order.
pub fn median(values: &[f64]) -> Option<f64> {
    quantile(&sorted(values), 0.5)
}

/// The median with its non-parametric interval: the order statistics that enclose the true median with at least 95%,
/// whatever the distribution.
pub fn estimate(values: &[f64]) -> Option<Estimate> {
    let values = sorted(values);
    let count = values.len();
    let outer = interval_rank(count).unwrap_or(0);
    Some(Estimate {
        median: quantile(&values, 0.5)?,
        low: values[outer],
        high: values[count - 1 - outer],
        count,
    })
}

/// How many values lie outside a 95% interval of the median at each end; `None` when there are too few values.
pub fn interval_rank(count: usize) -> Option<usize> {
    // P(at most k of `count` fair coins) <= 2.5%.
    let mut term = 0.5f64.powi(count as i32);
    let mut below = 0.0;
    let mut rank = None;
    for k in 0..count {
        below += term;
        if below > 0.025 {
            break;
        }
        rank = Some(k);
        term *= (count - k) as f64 / (k + 1) as f64;
    }
    rank
}

/// The mean of rates: the rate at which the sum of the work is done.
pub fn harmonic_mean(rates: &[f64]) -> Option<f64> {
    if rates.is_empty() || rates.iter().any(|rate| *rate <= 0.0) {
        return None;
    }
    Some(rates.len() as f64 / rates.iter().map(|rate| 1.0 / rate).sum::<f64>())
}

/// The verdict on two sets of launches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The first is smaller.
    Smaller,
    /// The first is larger.
    Larger,
    /// The data do not tell them apart.
    NoDifferenceShown,
    /// So few launches that no test could tell them apart.
    TooFew,
}

/// Compares two systems by the Mann-Whitney rank test (two-sided, 5%).
pub fn compare(first: &[f64], second: &[f64]) -> Verdict {
    // With three against three, even complete separation has p = 0.1.
    if first.len() < 4 || second.len() < 4 {
        return Verdict::TooFew;
    }
    if rank_test(first, second) >= 0.05 {
        return Verdict::NoDifferenceShown;
    }
    match median(first).partial_cmp(&median(second)) {
        Some(std::cmp::Ordering::Less) => Verdict::Smaller,
        Some(std::cmp::Ordering::Greater) => Verdict::Larger,
        _ => Verdict::NoDifferenceShown,
    }
}

/// The two-sided p value of the Mann-Whitney test: exact without ties and for up to 25 values a side, else by the
/// normal approximation with its tie correction.
pub fn rank_test(first: &[f64], second: &[f64]) -> f64 {
    let (n, m) = (first.len(), second.len());
    if n == 0 || m == 0 {
        return 1.0;
    }
    let mut all: Vec<(f64, bool)> =
        first.iter().map(|v| (*v, true)).chain(second.iter().map(|v| (*v, false))).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut rank_sum, mut ties, mut at) = (0.0, 0.0, 0);
    while at < all.len() {
        let end = at + all[at..].iter().take_while(|v| v.0 == all[at].0).count();
        let (size, rank) = ((end - at) as f64, (at + 1 + end) as f64 / 2.0);
        rank_sum += rank * all[at..end].iter().filter(|v| v.1).count() as f64;
        ties += size * size * size - size;
        at = end;
    }
    let u = rank_sum - (n * (n + 1)) as f64 / 2.0;
    let u = u.min((n * m) as f64 - u);
    if ties == 0.0 && n <= 25 && m <= 25 {
        let counts = rank_sums(n, m);
        let total: f64 = counts.iter().sum();
        let tail: f64 = counts[..=u.round() as usize].iter().sum();
        return (2.0 * tail / total).min(1.0);
    }
    let total = (n + m) as f64;
    let variance = (n * m) as f64 / 12.0 * (total + 1.0 - ties / (total * (total - 1.0)));
    if variance <= 0.0 {
        return 1.0;
    }
    let z = ((u - (n * m) as f64 / 2.0).abs() - 0.5).max(0.0) / variance.sqrt();
    2.0 * upper_tail(z)
}

/// In how many ways each value of U arises: `counts[u]`, for samples of `n` and `m`.
fn rank_sums(n: usize, m: usize) -> Vec<f64> {
    // Recurrence on the largest value: it comes from the first sample (adding m to U) or from the second.
    let mut table = vec![vec![vec![1.0]; m + 1]; n + 1];
    for i in 1..=n {
        for j in 1..=m {
            let mut counts = vec![0.0; i * j + 1];
            for (u, ways) in table[i - 1][j].iter().enumerate() {
                counts[u + j] += ways;
            }
            for (u, ways) in table[i][j - 1].iter().enumerate() {
                counts[u] += ways;
            }
            table[i][j] = counts;
        }
    }
    table[n][m].clone()
}

/// The share of a standard normal above `z >= 0` (Abramowitz and Stegun 26.2.17, error below 1e-7).
fn upper_tail(z: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.231_641_9 * z);
    let series = t
        * (0.319_381_530
            + t * (-0.356_563_782 + t * (1.781_477_937 + t * (-1.821_255_978 + t * 1.330_274_429))));
    series * (-z * z / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt()
}

/// A bootstrap interval: `statistic` of `rounds` resamplings of `launches`, its middle 95%. `statistic` may decline.
pub fn bootstrap<T: Clone>(
    launches: &[T],
    rounds: usize,
    seed: u64,
    statistic: impl Fn(&[T]) -> Option<f64>,
) -> Option<Estimate> {
    let median = statistic(launches)?;
    let mut random = Random::new(seed);
    let mut values = Vec::with_capacity(rounds);
    for _ in 0..rounds {
        let resample: Vec<T> =
            (0..launches.len()).map(|_| launches[random.below(launches.len())].clone()).collect();
        values.extend(statistic(&resample));
    }
    let values = sorted(&values);
    Some(Estimate {
        median,
        low: quantile(&values, 0.025)?.min(median),
        high: quantile(&values, 0.975)?.max(median),
        count: launches.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn quantiles_interpolate() {
        let values = [1.0, 2.0, 3.0, 10.0];
        assert_eq!(quantile(&values, 0.5), Some(2.5));
        assert_eq!(quantile(&values, 1.0), Some(10.0));
        assert_eq!(quantile(&[], 0.5), None);
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
    }

    #[test]
    fn interval_ranks_equal_published_ones() {
        // The sign-test table: 6 -> the extremes, 10 -> 2nd and 9th, 20 -> 6th and 15th, 30 -> 10th and 21st.
        assert_eq!(interval_rank(5), None);
        assert_eq!(interval_rank(6), Some(0));
        assert_eq!(interval_rank(10), Some(1));
        assert_eq!(interval_rank(20), Some(5));
        assert_eq!(interval_rank(30), Some(9));
    }

    #[test]
    fn rank_test_matches_published_tables() {
        // Complete separation of 5 and 5: p = 2 / C(10,5).
        let p = rank_test(&[1.0, 2.0, 3.0, 4.0, 5.0], &[6.0, 7.0, 8.0, 9.0, 10.0]);
        assert!((p - 2.0 / 252.0).abs() < 1e-12, "{p}");
        // U = 2 for 4 and 4: tail counts 1, 1, 2 of 70.
        let p = rank_test(&[1.0, 2.0, 4.0, 5.0], &[3.0, 6.0, 7.0, 8.0]);
        assert!((p - 8.0 / 70.0).abs() < 1e-12, "{p}");
        assert_eq!(rank_test(&[1.0; 6], &[1.0; 6]), 1.0);
    }

    #[test]
    fn comparison_gives_expected_verdict() {
        let low = [1.0, 1.1, 1.2, 1.3, 1.4];
        let high = [2.0, 2.1, 2.2, 2.3, 2.4];
        assert_eq!(compare(&low, &high), Verdict::Smaller);
        assert_eq!(compare(&high, &low), Verdict::Larger);
        assert_eq!(compare(&low, &low), Verdict::NoDifferenceShown);
        assert_eq!(compare(&low[..3], &high), Verdict::TooFew);
    }

    #[test]
    fn harmonic_mean_is_total_work_over_total_time() {
        assert!((harmonic_mean(&[40.0, 60.0]).unwrap() - 48.0).abs() < 1e-12);
        assert_eq!(harmonic_mean(&[]), None);
        assert_eq!(harmonic_mean(&[1.0, 0.0]), None);
    }

    #[test]
    fn bootstrap_is_repeatable() {
        let launches: Vec<f64> = (0..12).map(f64::from).collect();
        let once = bootstrap(&launches, 200, 7, median).unwrap();
        assert_eq!(once, bootstrap(&launches, 200, 7, median).unwrap());
        assert!(once.low < once.median && once.median < once.high);
    }

    proptest! {
        #[test]
        fn interval_encloses_the_median(values in prop::collection::vec(0.0f64..1e9, 1..60)) {
            let e = estimate(&values).unwrap();
            prop_assert!(e.low <= e.median && e.median <= e.high);
        }

        #[test]
        fn rank_test_is_symmetric(a in prop::collection::vec(0u32..50, 1..12), b in prop::collection::vec(0u32..50, 1..12)) {
            let a: Vec<f64> = a.into_iter().map(f64::from).collect();
            let b: Vec<f64> = b.into_iter().map(f64::from).collect();
            let (there, back) = (rank_test(&a, &b), rank_test(&b, &a));
            prop_assert!((there - back).abs() < 1e-9);
            prop_assert!((0.0..=1.0).contains(&there));
        }
    }
}
