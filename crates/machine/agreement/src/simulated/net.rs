//! The mesh as it is: what it carries arrives in order, or both ends hear that the link is lost.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

/// Numbers from a seed.
pub struct Dice(u64, u64);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1, 0)
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.1 += 1;
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % bound
    }
}

#[derive(Default)]
pub struct Link {
    /// Grows when the link breaks: what was on its way is lost.
    pub epoch: u64,
    pub queue: VecDeque<bytes::Bytes>,
}

pub struct Net {
    pub dice: Dice,
    pub slowest: u64,
    pub links: BTreeMap<(u32, u32), Link>,
    /// All that was ever sent.
    pub bytes: usize,
    /// Pairs that cannot talk, the lower first.
    pub broken: BTreeSet<(u32, u32)>,
}

pub fn pair(a: u32, b: u32) -> (u32, u32) {
    (a.min(b), a.max(b))
}

impl Net {
    pub fn new(seed: u64, slowest: u64) -> Net {
        Net { dice: Dice::new(seed), slowest, links: BTreeMap::new(), bytes: 0, broken: BTreeSet::new() }
    }

    /// How often chance has decided: once for each message at least.
    pub fn dice_thrown(&self) -> u64 {
        self.dice.1
    }

    pub fn talks(&self, a: u32, b: u32) -> bool {
        !self.broken.contains(&pair(a, b))
    }

    /// Puts a message on its way: after how long one arrives, and in which epoch. It may be an earlier one.
    pub fn deliver(&mut self, from: u32, to: u32, bytes: bytes::Bytes) -> Option<(Duration, u64)> {
        if !self.talks(from, to) {
            return None;
        }
        let delay = Duration::from_millis(1 + self.dice.below(self.slowest));
        self.bytes += bytes.len();
        let link = self.links.entry((from, to)).or_default();
        link.queue.push_back(bytes);
        Some((delay, link.epoch))
    }

    pub fn arrive(&mut self, from: u32, to: u32, epoch: u64) -> Option<bytes::Bytes> {
        let link = self.links.get_mut(&(from, to)).filter(|link| link.epoch == epoch)?;
        link.queue.pop_front()
    }

    /// True when they could talk before.
    pub fn cut(&mut self, a: u32, b: u32) -> bool {
        for way in [(a, b), (b, a)] {
            let link = self.links.entry(way).or_default();
            link.epoch += 1;
            link.queue.clear();
        }
        self.broken.insert(pair(a, b))
    }
}
