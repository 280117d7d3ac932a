//! Several tasks on each node: random programs without data races see what they would see in one memory, whichever tasks are
//! neighbours, and what hosts send each other does not depend on how many tasks they have.
//!
//! The rules that make a program free of races are those of [`programs`](super::programs), for tasks in the place of nodes.

use super::simulated::{Dice, Pages};
use crate::{Access, Counts, Fault, Homes, Letter, Setup, Start, Tasks, WORD};
use std::collections::VecDeque;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Acquire(u32),
    Release(u32),
    Barrier,
    Read(usize),
    Write(usize, u32),
}

/// Nodes with tasks, and what is under way between them.
struct World {
    nodes: Vec<(Tasks, Pages)>,
    tasks: usize,
    page_bytes: usize,
    /// Letters by sender, receiver and kind.
    ways: Vec<VecDeque<Letter>>,
}

impl World {
    fn new(setup: Setup, tasks: usize) -> World {
        let make = |own| {
            let node = Tasks::new(setup, own, tasks);
            let pages = Pages::new(&setup, node.untouched());
            (node, pages)
        };
        World {
            nodes: (0..setup.nodes).map(make).collect(),
            tasks,
            page_bytes: setup.page_bytes,
            ways: vec![VecDeque::new(); 2 * setup.nodes * setup.nodes],
        }
    }

    fn is_waiting(&self, task: usize) -> bool {
        self.nodes[task / self.tasks].0.is_waiting(task % self.tasks)
    }

    /// A step of a task that waits for nothing: what was read, or nothing when it is to be tried again.
    fn step(&mut self, task: usize, step: Step) -> Result<Option<u32>, Fault> {
        let (node, own) = (task / self.tasks, task % self.tasks);
        let page_bytes = self.page_bytes;
        let (it, pages) = &mut self.nodes[node];
        let mut is_open = |word: usize, access: Access| {
            let page = word * WORD / page_bytes;
            if pages.access(page) < access {
                it.fault(own, page as u32, access, pages)?;
            }
            Ok(!it.is_waiting(own) && pages.access(page) >= access)
        };
        let done = match step {
            Step::Acquire(lock) => it.acquire(own, lock, pages).map(|_| Some(0)),
            Step::Release(lock) => it.release(own, lock, pages).map(|_| Some(0)),
            Step::Barrier => it.barrier(own, 0, pages).map(|_| Some(0)),
            Step::Read(word) => is_open(word, Access::Read).map(|open| open.then(|| pages.word(word))),
            Step::Write(word, value) => is_open(word, Access::Write).map(|open| {
                open.then(|| {
                    pages.set_word(word, value);
                    value
                })
            }),
        };
        self.post(node);
        done
    }

    fn post(&mut self, from: usize) {
        for letter in self.nodes[from].0.outbox() {
            let way = (from * self.nodes.len() + letter.to) * 2 + usize::from(letter.answer);
            self.ways[way].push_back(letter);
        }
    }

    /// Hands over a letter; `false`: there is none.
    fn deliver(&mut self, dice: &mut Dice) -> Result<bool, Fault> {
        let busy: Vec<usize> = (0..self.ways.len()).filter(|&way| !self.ways[way].is_empty()).collect();
        if busy.is_empty() {
            return Ok(false);
        }
        let way = busy[dice.below(busy.len())];
        let letter = self.ways[way].pop_front().expect("it is busy");
        let from = way / 2 / self.nodes.len();
        let (node, pages) = &mut self.nodes[letter.to];
        node.receive(from, &letter.bytes, pages)?;
        self.post(letter.to);
        Ok(true)
    }

    fn total(&self, of: impl Fn(Counts) -> u64) -> u64 {
        self.nodes.iter().map(|(node, _)| of(node.counts())).sum()
    }

    fn whole(&mut self, task: usize, step: Step) -> u32 {
        let mut dice = Dice(7);
        loop {
            let done = self.step(task, step).expect("it is legal");
            while self.deliver(&mut dice).expect("nodes make sense") {}
            if let Some(value) = done {
                return value;
            }
        }
    }

    fn all_pass(&mut self) {
        for task in 0..self.nodes.len() * self.tasks {
            self.step(task, Step::Barrier).expect("it is legal");
        }
        while self.deliver(&mut Dice(3)).expect("nodes make sense") {}
        assert!((0..self.nodes.len() * self.tasks).all(|task| !self.is_waiting(task)));
    }
}

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
}

impl Game {
    fn new(seed: u64) -> Game {
        let mut dice = Dice(seed.wrapping_mul(0xabcd_ef01_2345_6789));
        let setup = Setup {
            nodes: 1 + dice.below(4),
            page_bytes: [16, 32, 64][dice.below(3)],
            pages: 1 + dice.below(6) as u32,
            locks: 1 + dice.below(4) as u32,
            barriers: 1,
            views: 0,
            start: [Start::Everybody, Start::First][dice.below(2)],
            homes: if dice.once_in(3) { Homes::InTurn } else { Homes::None },
            move_homes: dice.once_in(2),
            fold: dice.once_in(2),
            room: [0, 300, 1500, u64::MAX][dice.below(4)],
            push: [None, Some(1), Some(2)][dice.below(3)],
            races: false,
            replicas: false,
        };
        let tasks = 1 + dice.below(4);
        let mut game = Game {
            world: World::new(setup, tasks),
            locks: setup.locks as usize,
            memory: vec![0; setup.pages as usize * setup.page_bytes / WORD],
            rules: vec![Rule::Frozen; setup.pages as usize * setup.page_bytes / WORD],
            players: vec![Player::default(); setup.nodes * tasks],
            rounds: 1 + dice.below(5),
            compared: 0,
            dice,
        };
        game.new_round();
        game
    }

    fn new_round(&mut self) {
        let (locks, players) = (self.locks, self.players.len());
        for rule in &mut self.rules {
            if !self.dice.once_in(3) {
                *rule = match self.dice.below(7) {
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
                // In ascending order, so that nobody waits in a circle.
                let lock = last.map_or(0, |lock| lock + 1) + self.dice.below(self.locks) as u32;
                ((lock as usize) < self.locks).then_some(Step::Acquire(lock))
            }
            1 => last.map(Step::Release),
            2 => {
                self.pass_on(task);
                None
            }
            kind => {
                let word = self.dice.below(self.rules.len());
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
            Step::Barrier => {}
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

/// `CONSISTENCY_PROGRAMS` in the environment plays so many, from the seed `CONSISTENCY_FROM` on.
#[test]
fn twenty_thousand_programs_of_several_tasks_on_a_node_see_one_memory() {
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
        races: false,
        replicas: false,
    }
}

/// Each task writes a part of eight pages, and then reads all: messages and bytes of all hosts.
fn exchange(nodes: usize, tasks: usize) -> (u64, u64) {
    let mut world = World::new(hosts(nodes), tasks);
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
fn hosts_exchange_diffs_and_tasks_do_not() {
    assert_eq!(exchange(1, 4), (0, 0), "on one host no page moves");
    let (messages, bytes) = exchange(2, 1);
    for tasks in [2, 4] {
        assert_eq!(exchange(2, tasks), (messages, bytes));
        // Where each task is a node.
        let (apart, more) = exchange(2 * tasks, 1);
        assert!(apart > 2 * messages && more > 2 * bytes, "{apart}, {more}");
    }
}

#[test]
fn a_lock_goes_from_task_to_task_without_a_message_unless_another_host_wants_it() {
    let mut world = World::new(hosts(2), 3);
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
fn wrong_calls_of_tasks_are_refused() {
    let mut world = World::new(hosts(2), 2);
    assert_eq!(world.step(0, Step::Release(0)), Err(Fault::NotHeld(0)));
    world.whole(0, Step::Acquire(0));
    assert_eq!(world.step(0, Step::Acquire(0)), Err(Fault::HeldAlready(0)));
    assert_eq!(world.step(1, Step::Release(0)), Err(Fault::NotHeld(0)), "a neighbour has it");
    assert_eq!(world.step(0, Step::Acquire(4)), Err(Fault::NoSuchLock(4)));
    assert_eq!(world.step(1, Step::Acquire(0)), Ok(Some(0)));
    assert_eq!(world.step(1, Step::Acquire(1)), Err(Fault::Busy));
    let (node, pages) = &mut world.nodes[1];
    node.barrier(0, 0, pages).expect("it is legal");
    assert_eq!(node.barrier(1, 1, pages), Err(Fault::NoSuchBarrier(1)));
}
