//! Which faults there are, and in what order: the same ones for the same seed.

/// What is done to the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// kill -9 of a task.
    Task,
    /// kill -9 of a daemon, not the first.
    Daemon,
    /// kill -9 of the daemon that has been there longest.
    First,
    /// A host is switched off, and on again.
    Crash,
    /// A host is cut off for less time than it takes to notice.
    Blink,
    /// A host is cut off until the others have gone on without it.
    Cut,
    /// Two hosts do not hear each other for a while; the others hear both.
    Split,
    /// `parvum remove`.
    Remove,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 8] = [
        Kind::Task,
        Kind::Daemon,
        Kind::First,
        Kind::Crash,
        Kind::Blink,
        Kind::Cut,
        Kind::Split,
        Kind::Remove,
    ];

    /// For people.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Task => "kill -9 of a task",
            Kind::Daemon => "kill -9 of a daemon",
            Kind::First => "kill -9 of the first daemon",
            Kind::Crash => "host switched off",
            Kind::Blink => "cut, too short to notice",
            Kind::Cut => "cut off until it is lost",
            Kind::Split => "two hosts cut from each other",
            Kind::Remove => "host removed",
        }
    }

    /// How many of it are in one deck.
    fn share(self) -> usize {
        match self {
            Kind::Task => 4,
            Kind::Blink => 2,
            _ => 1,
        }
    }
}

/// One fault.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fault {
    /// What is done.
    pub kind: Kind,
    /// To whom: the one at this place among those it can be done to, counted round.
    pub victim: usize,
    /// How long it lasts, from 0 to 1: of what its kind makes sense for.
    pub length: f64,
    /// Milliseconds of peace before it.
    pub peace: u64,
}

/// Faults without end. They are dealt like cards, so that each kind comes early and often.
pub struct Plan {
    state: u64,
    deck: Vec<Kind>,
}

impl Plan {
    /// The plan of a seed.
    pub fn new(seed: u64) -> Plan {
        Plan { state: seed, deck: Vec::new() }
    }

    /// The next number.
    fn draw(&mut self) -> u64 {
        parvum_seed::next(&mut self.state)
    }

    /// A number below the bound.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.draw() % bound.max(1) as u64) as usize
    }

    fn deal(&mut self) -> Kind {
        if self.deck.is_empty() {
            self.deck = Kind::ALL.iter().flat_map(|kind| std::iter::repeat_n(*kind, kind.share())).collect();
            for at in (1..self.deck.len()).rev() {
                let other = self.below(at + 1);
                self.deck.swap(at, other);
            }
        }
        self.deck.pop().expect("it was filled")
    }
}

impl Iterator for Plan {
    type Item = Fault;

    fn next(&mut self) -> Option<Fault> {
        let kind = self.deal();
        let victim = self.below(1 << 20);
        let length = self.below(1000) as f64 / 1000.0;
        let peace = 100 + self.below(900) as u64;
        Some(Fault { kind, victim, length, peace })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plan_repeats_for_same_seed_only() {
        let plan = |seed| Plan::new(seed).take(40).collect::<Vec<_>>();
        assert_eq!(plan(7), plan(7));
        assert_ne!(plan(7), plan(8));
    }

    #[test]
    fn plan_deals_every_kind_in_first_deck() {
        let deck: usize = Kind::ALL.iter().map(|kind| kind.share()).sum();
        for seed in 0..20 {
            let dealt: Vec<_> = Plan::new(seed).take(deck).map(|fault| fault.kind).collect();
            assert!(Kind::ALL.iter().all(|kind| dealt.contains(kind)), "{dealt:?}");
        }
    }
}
