//! The detector finds exactly the races of random programs. A reference that sees all clocks at once runs beside the
//! nodes.

use super::simulated::{Dice, Step, World};
use crate::{Homes, Setup, Start, WORD};
use std::collections::BTreeSet;

/// An access as the one who sees all has noted it.
#[derive(Clone)]
struct Access {
    word: usize,
    node: usize,
    writes: bool,
    clock: Vec<u64>,
    round: usize,
    site: u64,
}

struct Game {
    world: World,
    dice: Dice,
    setup: Setup,
    clocks: Vec<Vec<u64>>,
    locks: Vec<Vec<u64>>,
    holds: Vec<Vec<u32>>,
    /// A lock that was asked for.
    wants: Vec<Option<u32>>,
    steps: Vec<usize>,
    round: usize,
    accesses: Vec<Access>,
}

impl Game {
    fn new(seed: u64) -> Game {
        let mut dice = Dice(seed.wrapping_mul(0x9876_5432_1234_5677));
        let setup = Setup {
            nodes: 2 + dice.below(4),
            page_bytes: 16,
            pages: 1 + dice.below(3) as u32,
            locks: 1 + dice.below(3) as u32,
            barriers: 1,
            views: 0,
            start: Start::Everybody,
            homes: if dice.once_in(3) { Homes::InTurn } else { Homes::None },
            move_homes: false,
            fold: dice.once_in(2),
            room: u64::MAX,
            push: None,
            further: 0,
            races: true,
            replicas: false,
        };
        let nodes = setup.nodes;
        let start = |node: usize| (0..nodes).map(|other| u64::from(other == node)).collect();
        Game {
            world: World::new(setup),
            setup,
            clocks: (0..nodes).map(start).collect(),
            locks: vec![vec![0; nodes]; setup.locks as usize],
            holds: vec![Vec::new(); nodes],
            wants: vec![None; nodes],
            steps: vec![0; nodes],
            round: 0,
            accesses: Vec::new(),
            dice,
        }
    }

    /// The steps after a lock has come.
    fn got(&mut self, node: usize) {
        let Some(lock) = self.wants[node].take() else { return };
        self.holds[node].push(lock);
        for other in 0..self.setup.nodes {
            self.clocks[node][other] = self.clocks[node][other].max(self.locks[lock as usize][other]);
        }
    }

    fn step(&mut self, node: usize) {
        self.got(node);
        self.steps[node] -= 1;
        let release = self.steps[node] < self.holds[node].len();
        match self.dice.below(5) {
            kind if kind == 0 || release => {
                let Some(lock) = self.holds[node].pop() else { return };
                self.world.step(node, Step::Release(lock)).expect("it is held");
                self.locks[lock as usize] = self.clocks[node].clone();
                self.clocks[node][node] += 1;
            }
            1 => {
                // In ascending order, and so that each can be released within the round.
                let above = self.holds[node].last().map_or(0, |&lock| lock + 1);
                if above < self.setup.locks && self.steps[node] > self.holds[node].len() {
                    let lock = above + self.dice.below((self.setup.locks - above) as usize) as u32;
                    self.wants[node] = Some(lock);
                    self.world.step(node, Step::Acquire(lock)).expect("it is free of it");
                }
            }
            kind => {
                let word = self.dice.below(self.setup.pages as usize * self.setup.page_bytes / WORD);
                let (writes, site) = (kind == 2, self.world.accesses);
                let step = if writes { Step::Write(word, 1) } else { Step::Read(word) };
                if self.world.step(node, step).expect("it is there").is_some() {
                    let (clock, round) = (self.clocks[node].clone(), self.round);
                    self.accesses.push(Access { word, node, writes, clock, round, site });
                } else {
                    // The page comes first; another step may follow then.
                    self.steps[node] += 1;
                }
            }
        }
    }

    fn play(mut self) -> (usize, usize) {
        let nodes = self.setup.nodes;
        for round in 0..1 + self.dice.below(3) {
            self.round = round;
            for node in 0..nodes {
                self.steps[node] = self.dice.below(14);
            }
            loop {
                let free: Vec<usize> =
                    (0..nodes).filter(|&n| self.steps[n] > 0 && !self.world.is_waiting(n)).collect();
                if free.is_empty() || self.world.has_letters() && self.dice.once_in(2) {
                    if !self.world.deliver(&mut self.dice).expect("nodes make sense") {
                        break;
                    }
                } else {
                    let node = free[self.dice.below(free.len())];
                    self.step(node);
                }
            }
            for node in 0..nodes {
                self.got(node);
                while let Some(lock) = self.holds[node].pop() {
                    self.world.step(node, Step::Release(lock)).expect("it is held");
                    self.locks[lock as usize] = self.clocks[node].clone();
                    while self.world.deliver(&mut self.dice).expect("nodes make sense") {}
                    (0..nodes).for_each(|other| self.got(other));
                }
            }
            assert!((0..nodes).all(|node| self.steps[node] == 0 && self.holds[node].is_empty()));
            self.world.all_pass(0);
        }
        self.compare()
    }

    /// Compares the found races with the real races. Returns the number of races, and the number of words that were
    /// shared in order.
    fn compare(mut self) -> (usize, usize) {
        let concurrent = |one: &Access, other: &Access| {
            one.round == other.round
                && one.node != other.node
                && other.clock[one.node] < one.clock[one.node]
                && one.clock[other.node] < other.clock[other.node]
        };
        // Keeps only the first of several accesses of a node to a word with the same clock and the same kind.
        let mut kept: Vec<Access> = Vec::new();
        for access in &self.accesses {
            let same = |old: &Access| {
                (old.word, old.node, old.writes, old.round)
                    == (access.word, access.node, access.writes, access.round)
                    && old.clock == access.clock
            };
            if !kept.iter().any(same) {
                kept.push(access.clone());
            }
        }
        let (mut wanted, mut may, mut orderly) = (BTreeSet::new(), BTreeSet::new(), 0);
        let pairs = |list: &[Access], set: &mut BTreeSet<[u64; 2]>| {
            for (at, one) in list.iter().enumerate() {
                for other in &list[at + 1..] {
                    let meet = one.word == other.word && (one.writes || other.writes);
                    if meet && concurrent(one, other) {
                        let (first, second) = (one.site.min(other.site), one.site.max(other.site));
                        set.insert([first, second]);
                    }
                }
            }
        };
        pairs(&kept, &mut wanted);
        pairs(&self.accesses, &mut may);
        for word in 0..self.setup.pages as usize * self.setup.page_bytes / WORD {
            let of: Vec<&Access> = self.accesses.iter().filter(|access| access.word == word).collect();
            let races = of
                .iter()
                .any(|one| of.iter().any(|other| (one.writes || other.writes) && concurrent(one, other)));
            orderly += usize::from(of.len() > 1 && !races);
        }
        let found: BTreeSet<[u64; 2]> = self
            .world
            .races()
            .iter()
            .map(|race| {
                let [one, other] = [&race.sides[0], &race.sides[1]].map(|side| side.site.offset);
                [one.min(other), one.max(other)]
            })
            .collect();
        assert!(found.is_subset(&may), "found {found:?}, there are {may:?}");
        assert!(wanted.is_subset(&found), "found {found:?}, wanted {wanted:?}");
        (found.len(), orderly)
    }
}

#[test]
fn races_in_5000_programs_are_found_exactly() {
    let (mut races, mut orderly) = (0, 0);
    for seed in 0..5000 {
        let played = std::panic::catch_unwind(|| Game::new(seed).play());
        let (found, fine) = played.unwrap_or_else(|_| panic!("the program of seed {seed}"));
        races += found;
        orderly += fine;
    }
    assert!(races > 20_000 && orderly > 5_000, "{races} {orderly}");
}
