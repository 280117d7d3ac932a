//! Histograms as the programs write them: the least value of each bucket, and how many samples fell into the bucket.

/// The share that a bucket is wide at most: `apps/common/histogram.c` has 32 buckets for each doubling.
const WIDTH: f64 = 1.0 / 32.0;

/// The shares of samples whose bound is reported.
pub const QUANTILES: [(f64, &str); 5] =
    [(0.5, "p50"), (0.9, "p90"), (0.99, "p99"), (0.999, "p99.9"), (0.9999, "p99.99")];

/// The least number of samples beyond a quantile; with fewer, one sample decides.
const BEYOND: f64 = 10.0;

/// Whether the buckets are in order, and none is empty.
pub fn check(buckets: &[[u64; 2]]) -> Result<(), String> {
    if buckets.iter().any(|[_, count]| *count == 0) {
        return Err("a histogram has an empty bucket".into());
    }
    if buckets.windows(2).any(|pair| pair[0][0] >= pair[1][0]) {
        return Err("the buckets of a histogram are not in order".into());
    }
    Ok(())
}

/// All samples.
pub fn total(buckets: &[[u64; 2]]) -> u64 {
    buckets.iter().fold(0, |sum, [_, count]| sum.saturating_add(*count))
}

/// The value that this share of the samples does not exceed: the middle of its bucket. None if too few samples lie beyond.
pub fn quantile(buckets: &[[u64; 2]], share: f64) -> Option<f64> {
    let all = total(buckets) as f64;
    if all * (1.0 - share) < BEYOND * (1.0 - 1e-9) {
        return None;
    }
    let mut below = 0.0;
    for [least, count] in buckets {
        below += *count as f64;
        if below >= all * share {
            let least = *least as f64;
            // Short durations have a bucket for each nanosecond.
            return Some(if least < 64.0 { least } else { least * (1.0 + WIDTH / 2.0) });
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn quantile_needs_ten_samples_beyond() {
        let even: Vec<[u64; 2]> = (1..=50).map(|ns| [ns, 20]).collect();
        assert_eq!((quantile(&even, 0.5), quantile(&even, 0.99)), (Some(25.0), Some(50.0)));
        assert_eq!(quantile(&even, 0.999), None, "one sample of 1,000 lies beyond");
        assert_eq!(quantile(&[], 0.5), None);
    }

    #[test]
    fn unordered_and_empty_buckets_are_refused() {
        assert!(check(&[[1, 1], [2, 5]]).is_ok());
        for (bad, reason) in [
            (&[[1, 1], [1, 1]][..], "not in order"),
            (&[[2, 1], [1, 1]], "not in order"),
            (&[[1, 0]], "empty"),
        ] {
            assert!(check(bad).unwrap_err().contains(reason), "{bad:?}");
        }
    }

    proptest! {
        #[test]
        fn quantiles_never_decrease(counts in prop::collection::vec(1u64..100_000, 1..60)) {
            let buckets: Vec<[u64; 2]> = (0..).map(|at: u64| 100 + 9 * at).zip(counts).map(|(least, n)| [least, n]).collect();
            let found: Vec<f64> = QUANTILES.iter().filter_map(|(share, _)| quantile(&buckets, *share)).collect();
            prop_assert!(found.windows(2).all(|pair| pair[0] <= pair[1]));
        }
    }
}
