//! Views: a later holder sees the writes to a view, and the writes come with the grant.

use super::simulated::{Dice, Step, World};
use crate::{Fault, Homes, Setup, Start, WORD};
use Step::{AcquireView, Read, ReleaseView, Write};

const WORDS: usize = 16 / WORD;

fn setup(nodes: usize) -> Setup {
    Setup {
        nodes,
        page_bytes: 16,
        pages: 40,
        locks: 1,
        barriers: 1,
        views: 8,
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

/// A view that a node has, or wants: to write or to read.
type Has = Option<(u32, bool, bool)>;

/// A random program, in any interleaving of steps and messages, beside one memory; how many words were compared.
fn play(seed: u64) -> u64 {
    let mut dice = Dice(seed.wrapping_mul(0x1357_9bdf_0246_8ace));
    let setup = Setup {
        nodes: 1 + dice.below(5),
        start: [Start::Everybody, Start::First][dice.below(2)],
        ..setup(1)
    };
    let mut world = World::new(setup);
    let views = 1 + dice.below(4) as u32;
    let (pages, mut memory) = (1 + dice.below(3) as u32, vec![0_u32; 40 * WORDS]);
    (0..views).for_each(|view| world.make_view(view, view * pages, pages));
    let mut has: Vec<Has> = vec![None; setup.nodes];
    let mut steps: Vec<usize> = (0..setup.nodes).map(|_| dice.below(60)).collect();
    let (mut compared, mut written) = (0, 0);
    loop {
        let free: Vec<usize> = (0..setup.nodes)
            .filter(|&node| !world.is_waiting(node) && (steps[node] > 0 || has[node].is_some()))
            .collect();
        if free.is_empty() || world.has_letters() && dice.once_in(2) {
            if !world.deliver(&mut dice).expect("nodes make sense") {
                break;
            }
            continue;
        }
        let node = free[dice.below(free.len())];
        steps[node] = steps[node].saturating_sub(1);
        let Some((view, writes, _)) = has[node] else {
            let (view, writes) = (dice.below(views as usize) as u32, dice.once_in(2));
            has[node] = Some((view, writes, true));
            world.step(node, AcquireView(view, writes)).expect("it is free of it");
            continue;
        };
        // Writers are alone, and readers have no writer.
        let others = has.iter().enumerate().filter(|&(other, _)| other != node && !world.is_waiting(other));
        for (_, other) in others {
            assert!(other.is_none_or(|(its, its_writes, _)| its != view || !writes && !its_writes));
        }
        if steps[node] == 0 || dice.once_in(4) {
            has[node] = None;
            world.step(node, ReleaseView(view, writes)).expect("it is held");
            continue;
        }
        let word = (view * pages) as usize * WORDS + dice.below(pages as usize * WORDS);
        if writes && dice.once_in(2) {
            written += 1;
            memory[word] = if dice.once_in(5) { 0 } else { written };
            assert_eq!(world.step(node, Write(word, memory[word])), Ok(Some(memory[word])));
        } else {
            let read = world.step(node, Read(word)).expect("it is held");
            assert_eq!(read, Some(memory[word]), "node {node} reads word {word} of view {view}");
            compared += 1;
        }
    }
    assert_eq!(world.total(|counts| counts.misses), 0);
    compared
}

#[test]
fn views_see_one_memory_in_20_000_programs() {
    let compared: u64 = (0..20_000)
        .map(|seed| {
            let played = std::panic::catch_unwind(|| play(seed));
            played.unwrap_or_else(|_| panic!("the program of seed {seed}"))
        })
        .sum();
    assert!(compared > 400_000, "{compared}");
}

#[test]
fn view_grant_carries_data_in_two_messages() {
    let mut world = World::new(setup(3));
    world.make_view(1, 4, 10);
    let cost = |world: &mut World, node: usize, writes: bool| {
        let before = world.total(|counts| counts.messages);
        world.whole(node, AcquireView(1, writes));
        let acquired = world.total(|counts| counts.messages) - before;
        for word in 4 * WORDS..14 * WORDS {
            let value = world.whole(node, Read(word));
            if writes {
                world.whole(node, Write(word, value + 1));
            }
        }
        world.whole(node, ReleaseView(1, writes));
        (acquired, world.total(|counts| counts.messages) - before)
    };
    assert_eq!(cost(&mut world, 0, true), (2, 3));
    assert_eq!(cost(&mut world, 2, true), (2, 3));
    assert_eq!(cost(&mut world, 0, false), (2, 3));
    assert_eq!(cost(&mut world, 1, true), (0, 0), "the manager has it");
    assert_eq!((world.total(|counts| counts.misses), world.total(|counts| counts.requests)), (0, 0));
    world.whole(2, AcquireView(1, false));
    assert_eq!(world.whole(2, Read(5 * WORDS)), 3);
}

#[test]
fn view_allows_many_readers_and_bounds_grant() {
    let mut world = World::new(setup(4));
    world.make_view(0, 0, 2);
    for turn in 0..50 {
        world.whole(1, AcquireView(0, true));
        for word in 0..2 * WORDS {
            world.whole(1, Write(word, turn * 100 + word as u32));
        }
        world.whole(1, ReleaseView(0, true));
    }
    let before = world.total(|counts| counts.bytes);
    for node in [2, 3] {
        world.whole(node, AcquireView(0, false));
    }
    assert!(world.total(|counts| counts.bytes) - before < 2 * (2 * 16 + 40));
    for node in [2, 3] {
        assert_eq!(world.whole(node, Read(5)), 4905);
    }
    // A writer waits for both.
    world.step(1, AcquireView(0, true)).expect("it may");
    let mut dice = Dice(1);
    while world.deliver(&mut dice).expect("nodes make sense") {}
    assert!(world.is_waiting(1));
    world.whole(2, ReleaseView(0, false));
    assert!(world.is_waiting(1));
    world.whole(3, ReleaseView(0, false));
    assert!(!world.is_waiting(1));
}

#[test]
fn view_access_without_acquire_fails() {
    let mut world = World::new(setup(2));
    world.make_view(3, 0, 1);
    assert_eq!(world.step(0, Read(0)), Err(Fault::ViewNotHeld(3)));
    assert_eq!(world.step(0, ReleaseView(3, true)), Err(Fault::ViewNotHeld(3)));
    assert_eq!(world.step(0, AcquireView(4, true)), Err(Fault::NoSuchView(4)));
    world.whole(0, AcquireView(3, false));
    assert_eq!(world.whole(0, Read(0)), 0);
    assert_eq!(world.step(0, Write(0, 1)), Err(Fault::ViewReadOnly(3)));
    assert_eq!(world.step(0, AcquireView(3, true)), Err(Fault::ViewHeldAlready(3)));
    assert_eq!(world.step(0, ReleaseView(3, true)), Err(Fault::ViewNotHeld(3)));
    world.whole(0, ReleaseView(3, false));
    assert_eq!(world.step(0, Read(0)), Err(Fault::ViewNotHeld(3)));
}
