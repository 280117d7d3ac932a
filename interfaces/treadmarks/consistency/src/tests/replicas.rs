//! Nodes die at any moment, and the survivors go on with the memory of the last whole barrier.
//!
//! Beside the nodes there is one memory, and what it was at each barrier. Programs are free of races as in
//! [`programs`](super::programs), but simpler. After a death the test compares nothing until the survivors come to a
//! barrier that reports the recovery. Then every node has the memory of the last barrier that any node has left, and
//! the program continues.

use super::simulated::{Dice, Step, World};
use crate::{Fault, Homes, Setup, Start, WORD};

fn setup(nodes: usize) -> Setup {
    Setup {
        nodes,
        page_bytes: 16,
        pages: 12,
        locks: 3,
        barriers: 1,
        views: 0,
        start: Start::Everybody,
        homes: Homes::InTurn,
        move_homes: false,
        fold: true,
        room: u64::MAX,
        push: None,
        further: 0,
        races: false,
        replicas: true,
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Rule {
    OfLock(u32),
    OfNode(usize),
    Frozen,
}

#[derive(Clone)]
struct Player {
    steps: usize,
    holds: Vec<u32>,
    step: Option<Step>,
    /// The last chosen word.
    last: usize,
    /// How often it has come to a barrier, and how often it has left one.
    calls: usize,
    left: usize,
}

/// The result of a game.
#[derive(Clone, Copy, Default)]
struct Outcome {
    compared: u64,
    deaths: u64,
    recoveries: u64,
    /// A home and its keeper have died, and the survivors got an error.
    lost: u64,
}

struct Game {
    world: World,
    dice: Dice,
    setup: Setup,
    memory: Vec<u32>,
    /// The memory when all had come to the barrier of that call.
    at_call: Vec<Vec<u32>>,
    /// For each call: whether it ended with a recovery, and the nodes that have left it.
    outcomes: Vec<(bool, Vec<usize>)>,
    /// The memory behind each call.
    behind: Vec<Vec<u32>>,
    rules: Vec<Rule>,
    players: Vec<Player>,
    /// Whether there are deaths that no barrier has reported yet.
    undone: bool,
    rounds: usize,
    written: u32,
    out: Outcome,
}

impl Game {
    fn new(seed: u64) -> Game {
        let mut dice = Dice(seed.wrapping_mul(0x9876_5432_1fed_cba7));
        let most_pages = [3, 12][dice.below(2)];
        let setup = Setup {
            nodes: 2 + dice.below(5),
            page_bytes: [16, 32][dice.below(2)],
            pages: 1 + dice.below(most_pages) as u32,
            further: [0, 4][dice.below(2)],
            ..setup(2)
        };
        let words = setup.pages as usize * setup.page_bytes / WORD;
        let player = Player { steps: 0, holds: Vec::new(), step: None, last: 0, calls: 0, left: 0 };
        let mut world = World::new(setup);
        if dice.once_in(3) {
            world.give_home(0, 1 + dice.below(setup.pages as usize) as u32);
        }
        let mut game = Game {
            world,
            setup,
            memory: vec![0; words],
            at_call: Vec::new(),
            outcomes: Vec::new(),
            behind: vec![vec![0; words]],
            rules: vec![Rule::Frozen; words],
            players: vec![player; setup.nodes],
            undone: false,
            rounds: 2 + dice.below(7),
            written: 0,
            out: Outcome::default(),
            dice,
        };
        game.new_rules();
        game
    }

    fn new_rules(&mut self) {
        let living: Vec<usize> = self.living().collect();
        for rule in &mut self.rules {
            *rule = match self.dice.below(6) {
                0..=1 => Rule::OfLock(self.dice.below(self.setup.locks as usize) as u32),
                2..=4 => Rule::OfNode(living[self.dice.below(living.len())]),
                _ => Rule::Frozen,
            };
        }
    }

    fn living(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.setup.nodes).filter(|&node| self.world.lives(node))
    }

    fn new_steps(&mut self, node: usize) {
        let steps = self.dice.below(16);
        let player = &mut self.players[node];
        (player.steps, player.step) = (steps, None);
        player.holds.clear();
    }

    fn choose(&mut self, node: usize) -> Option<Step> {
        let player = &mut self.players[node];
        if player.steps == 0 {
            if let Some(&lock) = player.holds.last() {
                return Some(Step::Release(lock));
            }
            return Some(Step::Barrier(0));
        }
        player.steps -= 1;
        match self.dice.below(6) {
            0 => {
                let above = player.holds.last().map_or(0, |&lock| lock + 1);
                let lock = above + self.dice.below(self.setup.locks as usize) as u32;
                (lock < self.setup.locks).then_some(Step::Acquire(lock))
            }
            1 => player.holds.last().copied().map(Step::Release),
            kind => {
                // Some accesses go on to the next page, as a program does that walks through an array.
                let next = player.last + self.setup.page_bytes / WORD;
                let goes_on = next < self.rules.len() && self.dice.once_in(2);
                let word = if goes_on { next } else { self.dice.below(self.rules.len()) };
                player.last = word;
                let may = match self.rules[word] {
                    Rule::OfLock(lock) => player.holds.contains(&lock),
                    Rule::OfNode(owner) => owner == node,
                    Rule::Frozen => kind == 2,
                };
                self.written += 1;
                let write = if self.dice.once_in(5) { 0 } else { self.written };
                may.then_some(if kind == 2 { Step::Read(word) } else { Step::Write(word, write) })
            }
        }
    }

    /// A step of a node that waits for nothing.
    fn take_step(&mut self, node: usize) -> Result<(), Fault> {
        let Some(step) = self.players[node].step.take().or_else(|| self.choose(node)) else { return Ok(()) };
        if matches!(step, Step::Barrier(_)) {
            self.players[node].calls += 1;
            let call = self.players[node].calls;
            if !self.undone && self.living().all(|node| self.players[node].calls == call) {
                self.at_call.resize(call + 1, Vec::new());
                self.at_call[call] = self.memory.clone();
            }
        }
        let Some(value) = self.world.step(node, step)? else {
            self.players[node].step = Some(step);
            return Ok(());
        };
        let player = &mut self.players[node];
        match step {
            Step::Read(word) if !self.undone => {
                assert_eq!(value, self.memory[word], "node {node} reads word {word}");
                self.out.compared += 1;
            }
            Step::Write(word, value) => self.memory[word] = value,
            Step::Acquire(lock) => player.holds.push(lock),
            Step::Release(lock) => player.holds.retain(|&held| held != lock),
            _ => {}
        }
        Ok(())
    }

    /// The nodes that have left a barrier by now.
    fn look_who_left(&mut self) {
        for node in 0..self.setup.nodes {
            let (calls, left) = (self.players[node].calls, self.players[node].left);
            if calls == left || !self.world.lives(node) || self.world.is_waiting(node) {
                continue;
            }
            self.players[node].left = calls;
            let recovered = self.world.node(node).has_recovered();
            self.outcomes.resize(self.outcomes.len().max(calls + 1), (false, Vec::new()));
            self.behind.resize(self.behind.len().max(calls + 1), Vec::new());
            let (other, who) = &mut self.outcomes[calls];
            // Only living nodes count: the dead may have seen other values.
            if who.iter().any(|&node| self.world.lives(node)) {
                assert_eq!(*other, recovered, "all see the same of barrier call {calls}");
                who.push(node);
            } else {
                (*other, *who) = (recovered, vec![node]);
                self.is_behind(node, calls, recovered);
            }
            self.new_steps(node);
        }
    }

    /// The first has left a barrier.
    fn is_behind(&mut self, node: usize, call: usize, recovered: bool) {
        if recovered {
            self.out.recoveries += 1;
            self.memory = self.behind[call - 1].clone();
            self.behind[call] = self.memory.clone();
            // More nodes may have died, and this node does not know of them yet.
            let dead = (0..self.setup.nodes).filter(|&other| self.world.node(node).is_gone(other));
            self.undone = dead.count() + self.living().count() < self.setup.nodes
                || self.world.node(node).is_stranded();
        } else {
            self.behind[call] = self.at_call[call].clone();
        }
        self.new_rules();
    }

    fn play(mut self) -> Outcome {
        let deaths = self.dice.below(3).min(self.setup.nodes - 1);
        let mut doomed: Vec<usize> = (0..deaths).map(|_| self.dice.below(400)).collect();
        doomed.sort_unstable();
        match self.play_with(&doomed) {
            Ok(()) => {}
            Err(Fault::Unkept { node, keeper }) => {
                assert!(!self.world.lives(node) && !self.world.lives(keeper));
                self.out.lost += 1;
            }
            Err(why) => panic!("{why}"),
        }
        self.out
    }

    fn play_with(&mut self, doomed: &[usize]) -> Result<(), Fault> {
        let (mut doomed, mut turn) = (doomed.iter().peekable(), 0);
        let mut hunts = self.dice.once_in(2);
        (0..self.setup.nodes).for_each(|node| self.new_steps(node));
        loop {
            turn += 1;
            assert!(turn < 200_000, "it does not end");
            if doomed.next_if(|&&at| at <= turn).is_some() {
                let living: Vec<usize> = self.living().collect();
                self.kill_one_of(&living);
            }
            if hunts && self.dice.once_in(6) {
                // Who alone knows that a barrier is over, and has told others what it has done since.
                let least = self.living().map(|node| self.players[node].left).min().unwrap_or(0);
                let ahead: Vec<usize> =
                    self.living().filter(|&node| self.players[node].left > least).collect();
                if ahead.len() == 1 && self.players[ahead[0]].steps < 4 {
                    self.kill_one_of(&ahead);
                    hunts = false;
                }
            }
            self.look_who_left();
            let free: Vec<usize> = self
                .living()
                .filter(|&node| !self.world.is_waiting(node) && self.players[node].left < self.rounds)
                .collect();
            match self.dice.below(8) {
                0 if self.world.notify_death(&mut self.dice)? => {}
                0..=3 if self.world.has_letters() => _ = self.world.deliver(&mut self.dice)?,
                _ if !free.is_empty() => {
                    let node = free[self.dice.below(free.len())];
                    self.take_step(node)?;
                }
                _ if self.world.deliver(&mut self.dice)? => {}
                _ if self.world.notify_death(&mut self.dice)? => {}
                _ if self.living().all(|node| self.players[node].left >= self.rounds) => break,
                _ => panic!("all wait, and nothing is under way"),
            }
        }
        if !self.undone {
            self.look_at_all()?;
        }
        Ok(())
    }

    fn kill_one_of(&mut self, nodes: &[usize]) {
        if self.living().count() > 1 {
            let dead = nodes[self.dice.below(nodes.len())];
            self.world.kill(dead, &mut self.dice);
            self.undone = true;
            self.out.deaths += 1;
        }
    }

    fn look_at_all(&mut self) -> Result<(), Fault> {
        let nodes: Vec<usize> = self.living().collect();
        for node in nodes {
            for word in 0..self.memory.len() {
                let value = self.world.whole(node, Step::Read(word));
                assert_eq!(value, self.memory[word], "node {node} reads word {word} in the end");
                self.out.compared += 1;
            }
        }
        Ok(())
    }
}

/// Half as many again as a barrier without replicas, and one to each that keeps.
#[test]
fn replicated_barrier_costs_one_more_message_per_node() {
    for nodes in [1, 2, 5, 16] {
        let mut world = World::new(Setup { page_bytes: 4096, ..setup(nodes) });
        world.all_pass(0);
        let others = nodes as u64 - 1;
        let letters = if nodes == 1 { 0 } else { nodes as u64 };
        assert_eq!(world.total(|counts| counts.messages), 4 * others + letters);
        // The replica gets only the changes: here two words of one page.
        let before = world.total(|counts| counts.bytes);
        world.whole(0, Step::Write(0, 1));
        world.whole(0, Step::Write(9, 1));
        world.all_pass(0);
        assert!(world.total(|counts| counts.bytes) - before < 300 * nodes as u64);
    }
}

/// A node dies after a barrier. All nodes have written to its pages, to the pages of its keeper, and to the pages of
/// the node before it.
#[test]
fn pages_survive_death_of_any_node() {
    for dead in 0..4 {
        let mut world = World::new(setup(4));
        let words = 12 * 16 / WORD;
        for word in 0..words {
            world.whole((word * 7 + 1) % 4, Step::Write(word, word as u32 + 1));
        }
        world.all_pass(0);
        for word in 0..words {
            world.whole(word % 4, Step::Write(word, 77));
        }
        let mut dice = Dice(3);
        world.kill(dead, &mut dice);
        while world.notify_death(&mut dice).expect("nodes make sense") {}
        let living: Vec<usize> = (0..4).filter(|&node| node != dead).collect();
        // Reductions do not wait for the dead, and contributions are repeated.
        for &node in &living {
            world.whole(node, Step::Acquire(2));
        }
        for &node in &living {
            world.step(node, Step::Barrier(0)).expect("it is legal");
        }
        while world.deliver(&mut dice).expect("nodes make sense") {}
        for &node in &living {
            assert!(
                !world.is_waiting(node) && world.node(node).has_recovered() && world.node(node).is_gone(dead)
            );
            // The count includes the barrier that recovers, but not the undone barrier.
            assert_eq!(world.node(node).whole(), 2);
            for word in 0..words {
                assert_eq!(world.whole(node, Step::Read(word)), word as u32 + 1);
            }
            world.whole(node, Step::Acquire(2));
            world.whole(node, Step::Release(2));
        }
    }
}

fn play(seeds: std::ops::Range<u64>) -> Outcome {
    let mut all = Outcome::default();
    for seed in seeds {
        let played = std::panic::catch_unwind(|| Game::new(seed).play());
        let one = played.unwrap_or_else(|_| panic!("the program of seed {seed}"));
        all.compared += one.compared;
        all.deaths += one.deaths;
        all.recoveries += one.recoveries;
        all.lost += one.lost;
    }
    all
}

/// The variable `CONSISTENCY_PROGRAMS` sets the number of programs, and `CONSISTENCY_FROM` sets the first seed.
#[test]
fn survivors_of_40_000_programs_restore_last_complete_barrier() {
    let number = |name: &str| std::env::var(name).ok().and_then(|number| number.parse::<u64>().ok());
    let (count, from) =
        (number("CONSISTENCY_PROGRAMS").unwrap_or(40_000), number("CONSISTENCY_FROM").unwrap_or(0));
    let all = play(from..from + count);
    assert!(all.compared > count * 20 && all.deaths > count / 2, "{}, {}", all.compared, all.deaths);
    assert!(all.recoveries > count / 4 && all.lost > 0, "{}, {}", all.recoveries, all.lost);
}
