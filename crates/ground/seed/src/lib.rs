//! Numbers from a seed (SplitMix64): the same on every platform and with every version of every library. For plans, faults on purpose and
//! tests that a seed repeats; not for secrets.

#![forbid(unsafe_code)]

/// The next number of the stream whose state is `state`. Every state is as good a beginning as another.
#[inline]
pub fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A stream of numbers decided by its seed.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// The stream that belongs to `seed`.
    pub fn new(seed: u64) -> Self {
        Random(seed)
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        next(&mut self.0)
    }

    /// A number below `bound`, which is not 0. The bias is below 2^-32 for bounds below 2^32.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.number() % bound as u64) as usize
    }

    /// A number from 0 to below 1.
    pub fn fraction(&mut self) -> f64 {
        (self.number() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Puts a list into random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first numbers of the reference implementation (Vigna, 2015) for the seed 1234567.
    #[test]
    fn stream_equals_reference_implementation() {
        let mut random = Random::new(1_234_567);
        let first: Vec<u64> = (0..3).map(|_| random.number()).collect();
        assert_eq!(first, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn shuffle_keeps_every_item() {
        let mut items: Vec<u32> = (0..50).collect();
        Random::new(3).shuffle(&mut items);
        items.sort_unstable();
        assert_eq!(items, (0..50).collect::<Vec<_>>());
    }
}
