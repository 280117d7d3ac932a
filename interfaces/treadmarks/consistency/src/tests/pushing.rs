//! The savings of pushing, by counts; and pushing stops if no node uses the pages.

use super::simulated::{Dice, Step, World};
use crate::{Homes, Setup, Start, WORD};
use Step::{Acquire, Read, Release, Write};

const WORDS: usize = 64 / WORD;
/// Pages of each node.
const PAGES: usize = 8;

fn setup(nodes: usize, push: Option<u32>) -> Setup {
    Setup {
        nodes,
        page_bytes: 64,
        pages: (nodes * PAGES) as u32,
        locks: 4,
        barriers: 2,
        views: 0,
        start: Start::Everybody,
        homes: Homes::None,
        move_homes: false,
        fold: true,
        room: u64::MAX,
        further: 0,
        push,
        races: false,
        replicas: false,
    }
}

/// Between two barriers each node changes its pages and reads two of each neighbour's: messages of each round.
fn neighbours(push: Option<u32>, rounds: u32, room: u64) -> Vec<u64> {
    let mut world = World::new(Setup { room, ..setup(4, push) });
    let mut messages = Vec::new();
    for round in 1..=rounds {
        let before = world.total(|counts| counts.messages);
        for node in 0..4 {
            for word in 0..PAGES * WORDS {
                world.whole(node, Write(node * PAGES * WORDS + word, round * 1000 + word as u32));
            }
        }
        world.all_pass(0);
        for node in 0..4_usize {
            for other in [node.wrapping_sub(1), node + 1].into_iter().filter(|&other| other < 4) {
                for page in [0, PAGES - 1] {
                    let value = world.whole(node, Read((other * PAGES + page) * WORDS));
                    assert_eq!(value, round * 1000 + (page * WORDS) as u32);
                }
            }
        }
        world.all_pass(1);
        messages.push(world.total(|counts| counts.messages) - before);
    }
    messages
}

#[test]
fn push_at_barrier_replaces_page_requests() {
    // Two barriers of six messages each; three pairs of neighbours ask each other for two pages, in two messages each.
    let (barriers, questions, letters) = (2 * 6, 3 * 2 * 2 * 2, 3 * 2);
    assert_eq!(neighbours(None, 6, u64::MAX), [barriers + questions; 6]);
    let pushed = neighbours(Some(2), 8, u64::MAX);
    // Readers have a habit when they have asked twice.
    assert_eq!(pushed[..2], [barriers + questions; 2]);
    assert_eq!(pushed[2..], [barriers + letters; 6]);
}

#[test]
fn collection_does_not_disturb_pushing() {
    let pushed = neighbours(Some(2), 12, 2000);
    assert!(pushed[4..].iter().all(|&messages| messages < 2 * 6 + 3 * 2 + 2 * 8 + 24), "{pushed:?}");
}

/// One counts in a page under a lock after the other: messages and misses of each turn.
fn migrates(push: Option<u32>, turns: usize) -> Vec<(u64, u64)> {
    let mut world = World::new(setup(3, push));
    let mut costs = Vec::new();
    for turn in 0..turns {
        let cost =
            |world: &World| (world.total(|counts| counts.messages), world.total(|counts| counts.misses));
        let (node, before) = (turn % 3, cost(&world));
        world.whole(node, Acquire(1));
        for word in 0..5 {
            let value = world.whole(node, Read(word));
            assert_eq!(value, turn as u32);
            world.whole(node, Write(word, value + 1));
        }
        world.whole(node, Release(1));
        let after = cost(&world);
        costs.push((after.0 - before.0, after.1 - before.1));
    }
    costs
}

#[test]
fn pushed_changes_travel_with_the_lock() {
    let without = migrates(None, 12);
    let with = migrates(Some(2), 12);
    assert!(without[3..].iter().all(|cost| cost.1 == 1), "{without:?}");
    assert!(with[9..].iter().all(|cost| cost.1 == 0), "{with:?}");
    for (with, without) in with[9..].iter().zip(&without[9..]) {
        assert_eq!(with.0 + 2, without.0, "no question and no answer");
    }
}

#[test]
fn unused_push_stops() {
    let mut world = World::new(setup(2, Some(2)));
    let mut pushes = Vec::new();
    for round in 1..10 {
        let before = world.counts(0).pushes;
        world.whole(0, Write(3, round));
        world.all_pass(0);
        if round < 5 {
            assert_eq!(world.whole(1, Read(3)), round);
        }
        world.all_pass(1);
        pushes.push(world.counts(0).pushes - before);
    }
    // The page was unused once, and the next barrier told the sender.
    assert_eq!(pushes, [0, 0, 1, 1, 1, 0, 0, 0, 0]);
    assert_eq!(world.whole(1, Read(3)), 9);
}

#[test]
fn push_pattern_of_three_barriers_is_learnt() {
    let mut world = World::new(setup(2, Some(2)));
    let (mut pushes, mut misses) = (Vec::new(), 0);
    for round in 1..8 {
        let before = (world.counts(0).pushes, world.counts(1).misses);
        // The page changes before each barrier; it is read behind the last alone.
        for barrier in 0..3 {
            world.whole(0, Write(3, 10 * round + barrier));
            world.all_pass(barrier % 2);
        }
        assert_eq!(world.whole(1, Read(3)), 10 * round + 2);
        pushes.push(world.counts(0).pushes - before.0);
        misses += world.counts(1).misses - before.1;
    }
    assert_eq!((pushes, misses), (vec![0, 0, 1, 1, 1, 1, 1], 2));
}

#[test]
fn data_pushed_with_lock_is_not_pushed_at_barrier() {
    let mut world = World::new(setup(2, Some(2)));
    let (mut pushes, mut last) = (0, (0, 0));
    for round in 1..12 {
        let before = (world.total(|counts| counts.messages), world.total(|counts| counts.misses));
        world.whole(0, Acquire(1));
        world.whole(0, Write(3, round));
        world.whole(0, Release(1));
        world.whole(1, Acquire(1));
        assert_eq!(world.whole(1, Read(3)), round);
        world.whole(1, Release(1));
        world.all_pass(0);
        pushes += world.counts(0).pushes;
        last = (
            world.total(|counts| counts.messages) - before.0,
            world.total(|counts| counts.misses) - before.1,
        );
    }
    // The lock is asked for and given, twice; the barrier is two messages.
    assert_eq!((pushes, last), (0, (2 * 2 + 2, 0)));
}

#[test]
fn pushed_changes_serve_reads_before_the_barrier() {
    let mut world = World::new(setup(2, Some(2)));
    for round in 1..4 {
        world.whole(0, Write(3, round));
        world.all_pass(0);
        assert_eq!(world.whole(1, Read(3)), round);
        world.all_pass(1);
    }
    // Node 0 writes under a lock this time, and is at the barrier when node 1 gets it: its letter is there.
    world.whole(0, Acquire(0));
    world.whole(0, Write(3, 4));
    world.whole(0, Release(0));
    let mut dice = Dice(1);
    world.step(0, Step::Barrier(0)).expect("it is legal");
    while world.deliver(&mut dice).expect("nodes make sense") {}
    let before = world.counts(1);
    world.whole(1, Acquire(0));
    assert_eq!(world.whole(1, Read(3)), 4);
    let after = world.counts(1);
    assert_eq!((after.misses - before.misses, after.requests - before.requests), (1, 0));
    assert_eq!(after.pushed - before.pushed, 1);
}

/// Steady programs, whose readers and writers go on as they were, in any interleaving of messages.
#[test]
fn steady_programs_see_one_memory_in_any_message_order() {
    let mut pushed = 0;
    for seed in 0..3000 {
        let mut dice = Dice(seed * 77 + 5);
        let nodes = 2 + dice.below(4);
        let homes = if dice.once_in(8) { Homes::InTurn } else { Homes::None };
        let room = [900, u64::MAX][dice.below(2)];
        let mut world = World::new(Setup { homes, room, ..setup(nodes, Some(1 + dice.below(2) as u32)) });
        let words = nodes * PAGES * WORDS;
        let writers: Vec<usize> = (0..words).map(|_| dice.below(nodes)).collect();
        // The readers of each word: few words, mostly the same words.
        let readers: Vec<(usize, usize)> = (0..12).map(|_| (dice.below(nodes), dice.below(words))).collect();
        let mut memory = vec![0; words];
        for round in 1..9 {
            for &(_, near) in &readers {
                for word in near.saturating_sub(2)..(near + 2).min(words) {
                    if !dice.once_in(5) {
                        memory[word] = round * 100_000 + word as u32;
                        world.whole(writers[word], Write(word, memory[word]));
                    }
                }
            }
            pass(&mut world, nodes, &mut dice);
            for &(node, word) in &readers {
                if !dice.once_in(9) {
                    assert_eq!(world.whole(node, Read(word)), memory[word], "seed {seed}, round {round}");
                }
            }
            pass(&mut world, nodes, &mut dice);
        }
        pushed += world.total(|counts| counts.pushed);
    }
    assert!(pushed > 50_000, "{pushed}");
}

/// All pass a barrier, in any order.
fn pass(world: &mut World, nodes: usize, dice: &mut Dice) {
    let mut left: Vec<usize> = (0..nodes).collect();
    while !left.is_empty() {
        let node = left.swap_remove(dice.below(left.len()));
        world.step(node, Step::Barrier(0)).expect("it is legal");
        while !dice.once_in(3) && world.deliver(dice).expect("nodes make sense") {}
    }
    while world.deliver(dice).expect("nodes make sense") {}
    assert!((0..nodes).all(|node| !world.is_waiting(node)));
}
