//! Ratios of pairs that were measured one right after the other.
//!
//! Wilcoxon's signed-rank test on the logarithms (two-sided, 5 %), exact without ties of size: what disturbs both of a pair alike does not
//! count.

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

/// With five pairs even five signs alike have p = 0.0625.
const FEWEST: usize = 6;

/// Judges ratios.
pub fn judge(ratios: &[f64]) -> Verdict {
    if ratios.len() < FEWEST {
        return Verdict::TooFew;
    }
    let logarithms: Vec<f64> = ratios.iter().map(|ratio| ratio.ln()).filter(|one| *one != 0.0).collect();
    let (above, p) = signed_rank(&logarithms);
    match p < 0.05 {
        true if above => Verdict::Slower,
        true => Verdict::Faster,
        false => Verdict::Same,
    }
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
        assert_eq!(judge(&[2.0; 5]), Verdict::TooFew);
        assert_eq!(judge(&[1.0; 8]), Verdict::Same);
    }

    /// A number about evenly spread from 0 to 1.
    fn share(random: &mut Random) -> f64 {
        random.below(1_000_000) as f64 / 1e6
    }

    #[test]
    fn equal_systems_are_told_apart_in_at_most_five_of_a_hundred() {
        let mut random = Random::new(11);
        let noise = |random: &mut Random| 1.0 + share(random) * if random.below(4) == 0 { 3.0 } else { 0.05 };
        let wrong = (0..1000)
            .filter(|_| {
                let ratios: Vec<f64> = (0..10).map(|_| noise(&mut random) / noise(&mut random)).collect();
                judge(&ratios) != Verdict::Same
            })
            .count();
        assert!(wrong < 60, "{wrong} of 1000");
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
