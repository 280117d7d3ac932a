//! A network that loses, repeats and swaps packets: for tests, and for whoever wants to see what protocols cost.

/// How often what goes wrong, in thousandths, and the seed of chance.
#[derive(Clone, Copy, Debug, Default)]
pub struct Faults {
    /// Packets that do not arrive.
    pub lost: u32,
    /// Packets that arrive twice.
    pub repeated: u32,
    /// Packets that arrive before one that was sent earlier.
    pub swapped: u32,
    /// The same seed, the same faults.
    pub seed: u64,
}

/// What becomes of one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fate {
    pub(super) copies: usize,
    /// How many packets it overtakes.
    pub(super) overtakes: usize,
}

impl Faults {
    pub(super) fn next(&mut self) -> Fate {
        let lost = self.chance(self.lost);
        let copies = if lost { 0 } else { 1 + usize::from(self.chance(self.repeated)) };
        let overtakes = if self.chance(self.swapped) { 1 + (self.number() % 3) as usize } else { 0 };
        Fate { copies, overtakes }
    }

    fn chance(&mut self, thousandths: u32) -> bool {
        self.number() % 1000 < u64::from(thousandths)
    }

    fn number(&mut self) -> u64 {
        parvum_seed::next(&mut self.seed)
    }
}
