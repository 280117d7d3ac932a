//! Several tasks on each node. Random programs without data races see the same values as with one memory, for all
//! placements of tasks. The messages between hosts do not depend on the number of tasks.
//!
//! The rules that make a program free of races are the same as in [`programs`](super::programs), for tasks instead of
//! nodes.

use super::neighbours::{Step, World};
use super::simulated::Dice;
use crate::{Fault, Homes, Setup, Start, WORD};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Rule {
    OfLock(u32),
    OfTask(usize),
    InBag(u32),
    Frozen,
}

#[derive(Clone, Default)]
struct Player {
    steps: usize,
    holds: Vec<u32>,
    step: Option<Step>,
    /// The last chosen word.
    last: usize,
    at_barrier: bool,
}

struct Game {
    world: World,
    dice: Dice,
    locks: usize,
    memory: Vec<u32>,
    rules: Vec<Rule>,
    players: Vec<Player>,
    rounds: usize,
    compared: u64,
    words_of_page: usize,
    by_page: bool,
}

impl Game {
    fn new(seed: u64) -> Game {
        let mut dice = Dice(seed.wrapping_mul(0xabcd_ef01_2345_6789));
        let setup = Setup {
            nodes: 1 + dice.below(4),
            page_bytes: [16, 32, 64][dice.below(3)],
            pages: 1 + dice.below(9) as u32,
            locks: 1 + dice.below(4) as u32,
            barriers: 1,
            views: 0,
            start: [Start::Everybody, Start::First][dice.below(2)],
            homes: if dice.once_in(3) { Homes::InTurn } else { Homes::None },
            move_homes: dice.once_in(2),
            fold: dice.once_in(2),
            room: [0, 300, 1500, u64::MAX][dice.below(4)],
            push: [None, Some(1), Some(2)][dice.below(3)],
            further: [0, 1, 4][dice.below(3)],
            races: false,
            replicas: false,
        };
        let (tasks, has_keys) = (1 + dice.below(4), dice.once_in(2));
        let mut game = Game {
            world: World::new(setup, tasks, has_keys),
            locks: setup.locks as usize,
            memory: vec![0; setup.pages as usize * setup.page_bytes / WORD],
            rules: vec![Rule::Frozen; setup.pages as usize * setup.page_bytes / WORD],
            players: vec![Player::default(); setup.nodes * tasks],
            rounds: 1 + dice.below(5),
            compared: 0,
            words_of_page: setup.page_bytes / WORD,
            by_page: dice.once_in(3),
            dice,
        };
        game.new_round();
        game
    }

    fn new_round(&mut self) {
        let (locks, players) = (self.locks, self.players.len());
        for word in 0..self.rules.len() {
            // In some programs whole pages follow one rule, so that they can be overwritten.
            if self.by_page && word % self.words_of_page != 0 {
                self.rules[word] = self.rules[word - word % self.words_of_page];
                continue;
            }
            if !self.dice.once_in(3) {
                self.rules[word] = match self.dice.below(7) {
                    0..=2 => Rule::OfLock(self.dice.below(locks) as u32),
                    3..=5 => Rule::OfTask(self.dice.below(players)),
                    _ => Rule::Frozen,
                };
            }
        }
        for player in &mut self.players {
            (player.steps, player.at_barrier) = (self.dice.below(25), false);
        }
    }

    fn may(&self, task: usize, word: usize, write: bool) -> bool {
        match self.rules[word] {
            Rule::OfLock(lock) => self.players[task].holds.contains(&lock),
            Rule::OfTask(owner) => owner == task,
            Rule::InBag(_) => false,
            Rule::Frozen => !write,
        }
    }

    fn choose(&mut self, task: usize) -> Option<Step> {
        let player = &mut self.players[task];
        let last = player.holds.last().copied();
        if player.steps == 0 {
            player.at_barrier = last.is_none();
            return Some(last.map_or(Step::Barrier, Step::Release));
        }
        player.steps -= 1;
        match self.dice.below(8) {
            0 => {
                // In ascending order, so that waits form no cycle.
                let lock = last.map_or(0, |lock| lock + 1) + self.dice.below(self.locks) as u32;
                ((lock as usize) < self.locks).then_some(Step::Acquire(lock))
            }
            1 => last.map(Step::Release),
            2 => {
                self.pass_on(task);
                None
            }
            3 if self.dice.once_in(2) => {
                let words = self.words_of_page;
                let page = self.dice.below(self.rules.len() / words);
                let value = self.dice.below(1000) as u32;
                let mut all = page * words..(page + 1) * words;
                all.all(|word| self.may(task, word, true)).then_some(Step::Overwrite(page as u32, value))
            }
            kind => {
                // Some accesses go on to the next page, as a program does that walks through an array.
                let next = self.players[task].last + self.words_of_page;
                let goes_on = next < self.rules.len() && self.dice.once_in(2);
                let word = if goes_on { next } else { self.dice.below(self.rules.len()) };
                self.players[task].last = word;
                if kind < 5 && self.may(task, word, false) {
                    return Some(Step::Read(word));
                }
                let value = self.dice.below(1000) as u32;
                self.may(task, word, true).then_some(Step::Write(word, value))
            }
        }
    }

    /// Puts words into the bag of a lock that the task holds, or takes them out.
    fn pass_on(&mut self, task: usize) {
        let Some(&lock) = self.players[task].holds.last() else { return };
        for rule in &mut self.rules {
            match *rule {
                Rule::OfTask(owner) if owner == task && self.dice.once_in(2) => *rule = Rule::InBag(lock),
                Rule::InBag(bag) if bag == lock && self.dice.once_in(2) => *rule = Rule::OfTask(task),
                _ => {}
            }
        }
    }

    fn take_step(&mut self, task: usize) {
        let Some(step) = self.players[task].step.take().or_else(|| self.choose(task)) else { return };
        let done = self.world.step(task, step).unwrap_or_else(|why| panic!("task {task}, {step:?}: {why}"));
        let Some(value) = done else {
            self.players[task].step = Some(step);
            return;
        };
        match step {
            Step::Read(word) => {
                assert_eq!(value, self.memory[word], "task {task} reads word {word}");
                self.compared += 1;
            }
            Step::Write(word, value) => self.memory[word] = value,
            Step::Acquire(lock) => self.players[task].holds.push(lock),
            Step::Release(lock) => self.players[task].holds.retain(|&held| held != lock),
            Step::Overwrite(page, value) => {
                let words = self.words_of_page;
                for word in 0..words {
                    self.memory[page as usize * words + word] = value.wrapping_add(word as u32);
                }
            }
            Step::AcquireView(..) | Step::ReleaseView(..) | Step::Barrier => {}
        }
    }

    fn play(mut self) -> u64 {
        loop {
            let waits = |task: usize| self.world.is_waiting(task);
            let all = 0..self.players.len();
            if all.clone().all(|task| self.players[task].at_barrier && !waits(task)) {
                self.rounds -= 1;
                if self.rounds == 0 {
                    break;
                }
                self.new_round();
            }
            let free: Vec<usize> =
                all.filter(|&task| !self.world.is_waiting(task) && !self.players[task].at_barrier).collect();
            if free.is_empty() || self.dice.once_in(2) {
                let went = self.world.deliver(&mut self.dice).unwrap_or_else(|why| panic!("{why}"));
                assert!(went || !free.is_empty(), "all wait, and nothing is under way");
                // Two tasks never have one lock.
                let mut held: Vec<u32> = (0..self.players.len())
                    .filter(|&task| !self.world.is_waiting(task))
                    .flat_map(|task| self.players[task].holds.clone())
                    .collect();
                held.sort_unstable();
                assert!(held.windows(2).all(|pair| pair[0] != pair[1]), "{held:?}");
            } else {
                let task = free[self.dice.below(free.len())];
                self.take_step(task);
            }
        }
        for task in 0..self.players.len() {
            for word in 0..self.memory.len() {
                let value = self.world.whole(task, Step::Read(word));
                assert_eq!(value, self.memory[word], "task {task} reads word {word} in the end");
                self.compared += 1;
            }
        }
        self.compared
    }
}

/// The variable `CONSISTENCY_PROGRAMS` sets the number of programs, and `CONSISTENCY_FROM` sets the first seed.
#[test]
fn tasks_of_node_see_one_memory_in_20_000_programs() {
    let number = |name: &str| std::env::var(name).ok().and_then(|number| number.parse::<u64>().ok());
    let (count, from) =
        (number("CONSISTENCY_PROGRAMS").unwrap_or(20_000), number("CONSISTENCY_FROM").unwrap_or(0));
    let compared: u64 = (from..from + count)
        .map(|seed| {
            let played = std::panic::catch_unwind(|| Game::new(seed).play());
            played.unwrap_or_else(|_| panic!("the program of seed {seed}"))
        })
        .sum();
    assert!(compared > count * 40, "{compared}");
}

fn hosts(nodes: usize) -> Setup {
    Setup {
        nodes,
        page_bytes: 4096,
        pages: 32,
        locks: 4,
        barriers: 1,
        views: 0,
        start: Start::Everybody,
        homes: Homes::None,
        move_homes: false,
        fold: true,
        room: u64::MAX,
        push: None,
        further: 0,
        races: false,
        replicas: false,
    }
}

/// Each task writes a part of eight pages, and then reads all: messages and bytes of all hosts.
fn exchange(nodes: usize, tasks: usize) -> (u64, u64) {
    let mut world = World::new(hosts(nodes), tasks, true);
    let (all, words) = (nodes * tasks, 8 * 4096 / WORD);
    for task in 0..all {
        for word in words * task / all..words * (task + 1) / all {
            world.whole(task, Step::Write(word, word as u32 + 1));
        }
    }
    world.all_pass();
    for task in 0..all {
        for word in (0..words).step_by(100) {
            assert_eq!(world.whole(task, Step::Read(word)), word as u32 + 1);
        }
    }
    (world.total(|counts| counts.messages), world.total(|counts| counts.bytes))
}

#[test]
fn hosts_exchange_diffs_and_their_tasks_do_not() {
    assert_eq!(exchange(1, 4), (0, 0), "on one host no page moves");
    let (messages, bytes) = exchange(2, 1);
    for tasks in [2, 4] {
        assert_eq!(exchange(2, tasks), (messages, bytes));
        // The same with each task as a node.
        let (apart, more) = exchange(2 * tasks, 1);
        assert!(apart > 2 * messages && more > 2 * bytes, "{apart}, {more}");
    }
}

/// The second time that a program writes a row of pages, the first fault opens the row. If it writes only half of the
/// row, only this half counts as written.
#[test]
fn pages_written_together_open_at_once() {
    let mut world = World::new(hosts(2), 2, true);
    let words = 4096 / WORD;
    let write = |world: &mut World, pages: usize, value: u32| {
        let before = world.total(|counts| counts.write_faults);
        (0..pages).for_each(|page| _ = world.whole(1, Step::Write(page * words, value)));
        let faults = world.total(|counts| counts.write_faults) - before;
        world.all_pass();
        faults
    };
    assert_eq!((write(&mut world, 8, 1), write(&mut world, 8, 2), write(&mut world, 4, 3)), (8, 1, 1));
    let misses = world.total(|counts| counts.misses);
    let read: Vec<u32> = (0..8).map(|page| world.whole(2, Step::Read(page * words))).collect();
    assert_eq!(read, [3, 3, 3, 3, 2, 2, 2, 2]);
    assert_eq!(world.total(|counts| counts.misses) - misses, 8);
    assert_eq!(write(&mut world, 8, 4), 2, "half of them were written to later than the others");
    (0..8).for_each(|page| assert_eq!(world.whole(2, Step::Read(page * words)), 4));
    // Unwritten pages stay valid at other nodes.
    let misses = world.total(|counts| counts.misses);
    write(&mut world, 3, 5);
    let read: Vec<u32> = (0..8).map(|page| world.whole(2, Step::Read(page * words))).collect();
    assert_eq!((read, world.total(|counts| counts.misses) - misses), (vec![5, 5, 5, 4, 4, 4, 4, 4], 3));
}

#[test]
fn lock_passes_between_local_tasks_without_message() {
    let mut world = World::new(hosts(2), 3, true);
    let turn = |world: &mut World, task: usize| {
        world.whole(task, Step::Acquire(1));
        let value = world.whole(task, Step::Read(0));
        world.whole(task, Step::Write(0, value + 1));
        world.whole(task, Step::Release(1));
    };
    turn(&mut world, 0);
    let before = world.total(|counts| counts.messages);
    (0..30).for_each(|number| turn(&mut world, number % 3));
    assert_eq!(world.total(|counts| counts.messages), before);
    assert_eq!(world.by_key, 60, "the node hears of none");
    // One of each host waits, the neighbour first: the other host is not kept waiting by neighbours.
    world.whole(0, Step::Acquire(1));
    world.step(4, Step::Acquire(1)).expect("it may");
    while world.deliver(&mut Dice(1)).expect("nodes make sense") {}
    world.step(1, Step::Acquire(1)).expect("it may");
    world.whole(0, Step::Release(1));
    assert!(!world.is_waiting(4) && world.is_waiting(1));
    assert_eq!(world.whole(4, Step::Read(0)), 31);
    world.whole(4, Step::Release(1));
    assert!(!world.is_waiting(1));
}

#[test]
fn invalid_task_calls_are_refused() {
    let mut world = World::new(hosts(2), 2, true);
    assert_eq!(world.step(0, Step::Release(0)), Err(Fault::NotHeld(0)));
    world.whole(0, Step::Acquire(0));
    assert_eq!(world.step(0, Step::Acquire(0)), Err(Fault::HeldAlready(0)));
    assert_eq!(world.step(1, Step::Release(0)), Err(Fault::NotHeld(0)), "a neighbour has it");
    assert_eq!(world.step(0, Step::Acquire(4)), Err(Fault::NoSuchLock(4)));
    assert_eq!(world.step(0, Step::Release(4)), Err(Fault::NoSuchLock(4)));
    assert_eq!(world.step(1, Step::Acquire(0)), Ok(Some(0)));
    assert_eq!(world.step(1, Step::Acquire(1)), Err(Fault::Busy));
    let (node, pages) = &mut world.nodes[1];
    node.barrier(0, 0, pages).expect("it is legal");
    assert_eq!(node.barrier(1, 1, pages), Err(Fault::NoSuchBarrier(1)));
}
