//! Random programs without data races see what they would see in one memory, in any interleaving of steps and messages.
//!
//! Beside the nodes there is one plain memory, written when a node writes. Rules make every program free of races: a
//! word belongs to a lock, or to one node, or all nodes may read it until the next barrier. A node passes its own word
//! on by putting it into a lock's *bag* while it holds the lock. A later holder of the lock may take the word out, and
//! keeps it without the lock. Changes therefore travel over chains of different locks and nodes.

use super::simulated::{Dice, Step, World};
use crate::{Homes, Setup, Start, WORD};

/// The nodes that may access a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    OfLock(u32),
    OfNode(usize),
    InBag(u32),
    /// No node writes the word.
    Frozen,
}

struct Player {
    steps: usize,
    holds: Vec<u32>,
    /// The step that the node has begun and not completed.
    step: Option<Step>,
    /// Depends on all that it has read.
    seen: u32,
    /// The last chosen word.
    last: usize,
    at_barrier: bool,
}

struct Game {
    world: World,
    dice: Dice,
    setup: Setup,
    memory: Vec<u32>,
    rules: Vec<Rule>,
    /// The nodes: each with its locks, and the step that it has begun.
    players: Vec<Player>,
    rounds: usize,
    round: usize,
    reads: u64,
    by_page: bool,
}

impl Game {
    fn new(seed: u64) -> Game {
        let mut dice = Dice(seed.wrapping_mul(0x1234_5678_9abc_def1));
        let setup = Setup {
            nodes: 1 + dice.below(5),
            page_bytes: [16, 32, 64][dice.below(3)],
            pages: 1 + dice.below(9) as u32,
            locks: 1 + dice.below(4) as u32,
            barriers: 3,
            views: 0,
            start: [Start::Everybody, Start::First][dice.below(2)],
            homes: if dice.once_in(4) { Homes::InTurn } else { Homes::None },
            move_homes: dice.once_in(2),
            fold: dice.once_in(2),
            room: [0, 300, 1500, u64::MAX][dice.below(4)],
            push: [None, Some(1), Some(2)][dice.below(3)],
            further: [0, 1, 4][dice.below(3)],
            races: dice.once_in(2),
            replicas: false,
        };
        let mut world = World::new(setup);
        if dice.once_in(3) {
            let first = dice.below(setup.pages as usize) as u32;
            world.give_home(first, 1 + dice.below((setup.pages - first) as usize) as u32);
        }
        let words = setup.pages as usize * setup.page_bytes / WORD;
        let players = (0..setup.nodes).map(|node| Player {
            steps: 0,
            holds: Vec::new(),
            step: None,
            seen: node as u32,
            last: 0,
            at_barrier: false,
        });
        let (players, rounds) = (players.collect(), 1 + dice.below(5));
        let mut game = Game {
            world,
            setup,
            memory: vec![0; words],
            rules: vec![Rule::Frozen; words],
            players,
            rounds,
            round: 0,
            reads: 0,
            by_page: dice.once_in(3),
            dice,
        };
        game.new_round();
        game
    }

    fn new_round(&mut self) {
        // In some programs whole pages follow one rule, so that they can be overwritten.
        let by_page = self.by_page.then_some(self.setup.page_bytes / WORD);
        for word in 0..self.rules.len() {
            if let Some(words) = by_page.filter(|words| word % words != 0) {
                self.rules[word] = self.rules[word - word % words];
                continue;
            }
            // Some go on as they were.
            if self.dice.once_in(3) {
                continue;
            }
            self.rules[word] = match self.dice.below(7) {
                0..=2 => Rule::OfLock(self.dice.below(self.setup.locks as usize) as u32),
                3..=5 => Rule::OfNode(self.dice.below(self.setup.nodes)),
                _ => Rule::Frozen,
            };
        }
        for player in &mut self.players {
            player.steps = self.dice.below(30);
            player.at_barrier = false;
        }
        self.round += 1;
    }

    fn touchable(&self, node: usize, word: usize, write: bool) -> bool {
        match self.rules[word] {
            Rule::OfLock(lock) => self.players[node].holds.contains(&lock),
            Rule::OfNode(owner) => owner == node,
            Rule::InBag(_) => false,
            Rule::Frozen => !write,
        }
    }

    /// Chooses what a node does next.
    fn choose(&mut self, node: usize) -> Option<Step> {
        let player = &mut self.players[node];
        if player.steps == 0 {
            // Others may wait for it before they come to the barrier.
            if let Some(&lock) = player.holds.last() {
                return Some(Step::Release(lock));
            }
            player.at_barrier = true;
            return (self.round < self.rounds).then_some(Step::Barrier((self.round % 3) as u32));
        }
        player.steps -= 1;
        match self.dice.below(8) {
            0 => {
                // In ascending order, so that waits form no cycle.
                let above = player.holds.last().map_or(0, |&lock| lock + 1);
                if above < self.setup.locks {
                    let lock = above + self.dice.below((self.setup.locks - above) as usize) as u32;
                    return Some(Step::Acquire(lock));
                }
                None
            }
            1 => player.holds.last().copied().map(Step::Release),
            2 => {
                self.pass_on(node);
                None
            }
            3 if self.dice.once_in(2) => {
                let page = self.dice.below(self.setup.pages as usize);
                let words = self.setup.page_bytes / WORD;
                let mut all = page * words..(page + 1) * words;
                let may = all.all(|word| self.touchable(node, word, true));
                may.then(|| Step::Overwrite(page as u32, self.players[node].seen))
            }
            kind => {
                // Some accesses go on to the next page, as a program does that walks through an array.
                let next = self.players[node].last + self.setup.page_bytes / WORD;
                let goes_on = next < self.rules.len() && self.dice.once_in(2);
                let word = if goes_on { next } else { self.dice.below(self.rules.len()) };
                self.players[node].last = word;
                if kind < 5 && self.touchable(node, word, false) {
                    Some(Step::Read(word))
                } else if self.touchable(node, word, true) {
                    // Some writes put back what was there before.
                    let value = if self.dice.once_in(4) { 0 } else { self.players[node].seen };
                    Some(Step::Write(word, value))
                } else {
                    None
                }
            }
        }
    }

    /// Puts words into the bag of a lock that the node holds, or takes them out.
    fn pass_on(&mut self, node: usize) {
        let Some(&lock) = self.players[node].holds.last() else { return };
        for word in 0..self.rules.len() {
            match self.rules[word] {
                Rule::OfNode(owner) if owner == node && self.dice.once_in(2) => {
                    self.rules[word] = Rule::InBag(lock);
                }
                Rule::InBag(bag) if bag == lock && self.dice.once_in(2) => {
                    self.rules[word] = Rule::OfNode(node)
                }
                _ => {}
            }
        }
    }

    fn take_step(&mut self, node: usize) {
        let Some(step) = self.players[node].step.take().or_else(|| self.choose(node)) else { return };
        let done = self.world.step(node, step).unwrap_or_else(|why| panic!("node {node}, {step:?}: {why}"));
        let Some(value) = done else {
            self.players[node].step = Some(step);
            return;
        };
        let player = &mut self.players[node];
        match step {
            Step::Read(word) => {
                assert_eq!(value, self.memory[word], "node {node} reads word {word}");
                self.reads += 1;
                player.seen = player.seen.wrapping_mul(31).wrapping_add(value).wrapping_add(node as u32 + 1);
            }
            Step::Write(word, value) => {
                self.memory[word] = value;
                player.seen = player.seen.wrapping_mul(17).wrapping_add(5);
            }
            Step::Acquire(lock) => player.holds.push(lock),
            Step::Release(lock) => player.holds.retain(|&held| held != lock),
            Step::Barrier(_) => {}
            Step::Overwrite(page, value) => {
                let words = self.setup.page_bytes / WORD;
                for word in 0..words {
                    self.memory[page as usize * words + word] = value.wrapping_add(word as u32);
                }
            }
            Step::AcquireView(..) | Step::ReleaseView(..) => unreachable!("there are none"),
        }
    }

    /// Plays to the end; how many reads were compared.
    fn play(mut self) -> u64 {
        loop {
            let nodes = self.setup.nodes;
            let at_barrier = |player: &Player| player.at_barrier;
            if self.players.iter().all(at_barrier) && (0..nodes).all(|node| !self.world.is_waiting(node)) {
                if self.round == self.rounds {
                    break;
                }
                self.new_round();
            }
            let free: Vec<usize> =
                (0..nodes).filter(|&n| !self.world.is_waiting(n) && !self.players[n].at_barrier).collect();
            let letters = self.world.has_letters();
            if free.is_empty() || letters && self.dice.once_in(2) {
                let went = self.world.deliver(&mut self.dice).unwrap_or_else(|why| panic!("{why}"));
                assert!(went, "all wait, and nothing is under way");
            } else {
                let node = free[self.dice.below(free.len())];
                self.take_step(node);
            }
        }
        while self.world.deliver(&mut self.dice).expect("nodes make sense") {}
        if self.setup.races {
            assert_eq!(self.world.races(), []);
        }
        self.reads + self.look_at_all()
    }

    /// At the end, after one more barrier, every node sees all of it.
    fn look_at_all(mut self) -> u64 {
        self.world.all_pass(0);
        for node in 0..self.setup.nodes {
            for word in 0..self.memory.len() {
                let value = self.world.whole(node, Step::Read(word));
                assert_eq!(value, self.memory[word], "node {node} reads word {word} in the end");
            }
        }
        (self.setup.nodes * self.memory.len()) as u64
    }
}

fn play(seeds: std::ops::Range<u64>) -> u64 {
    seeds
        .map(|seed| {
            let played = std::panic::catch_unwind(|| Game::new(seed).play());
            played.unwrap_or_else(|_| panic!("the program of seed {seed}"))
        })
        .sum()
}

/// The variable `CONSISTENCY_PROGRAMS` sets the number of programs, and `CONSISTENCY_FROM` sets the first seed.
#[test]
fn nodes_see_one_memory_in_30_000_programs() {
    let count: u64 =
        std::env::var("CONSISTENCY_PROGRAMS").ok().and_then(|n| n.parse().ok()).unwrap_or(30_000);
    let from: u64 = std::env::var("CONSISTENCY_FROM").ok().and_then(|n| n.parse().ok()).unwrap_or(0);
    let reads = play(from..from + count);
    assert!(reads > count * 20, "{reads}");
}
