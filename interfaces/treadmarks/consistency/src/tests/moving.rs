//! The moves of homes, and their savings, by counts.

use super::simulated::{Step, World};
use crate::{Homes, Setup, Start};
use Step::{Read, Write};

const NODES: usize = 4;
/// What a barrier takes.
const BARRIER: u64 = 2 * (NODES as u64 - 1);

fn world(move_homes: bool) -> World {
    World::new(Setup {
        nodes: NODES,
        page_bytes: 64,
        pages: 8,
        locks: 1,
        barriers: 1,
        views: 0,
        start: Start::Everybody,
        homes: Homes::InTurn,
        move_homes,
        fold: true,
        room: u64::MAX,
        push: None,
        further: 0,
        races: false,
        replicas: false,
    })
}

/// These write to page 0, whose home is node 0 at first, and all pass a barrier: messages of it.
fn round(world: &mut World, writers: &[usize], value: u32) -> u64 {
    let before = world.total(|counts| counts.messages);
    for &node in writers {
        world.whole(node, Write(node, value));
    }
    world.all_pass(0);
    world.total(|counts| counts.messages) - before
}

#[test]
fn page_moves_to_node_that_touches_it_first() {
    let mut still = world(false);
    let stays: Vec<u64> = (1..5).map(|value| round(&mut still, &[2], value)).collect();
    assert_eq!(stays, [BARRIER + 1; 4], "each time a diff goes home");
    let mut world = world(true);
    let goes: Vec<u64> = (1..5).map(|value| round(&mut world, &[2], value)).collect();
    assert_eq!(goes, [BARRIER + 1, BARRIER, BARRIER, BARRIER]);
    assert_eq!((world.counts(2).homes_moved, world.total(|counts| counts.homes_moved)), (1, 1));
    // A node that lacks the page asks there.
    let before = world.counts(2).messages;
    assert_eq!(world.whole(0, Read(2)), 4);
    assert_eq!(world.counts(2).messages - before, 1);
}

#[test]
fn page_moves_to_node_that_wrote_it_alone_twice() {
    let mut world = world(true);
    round(&mut world, &[2], 1);
    let goes: Vec<u64> = (2..7).map(|value| round(&mut world, &[3], value)).collect();
    // Node 3 fetches the page once, which is two messages.
    assert_eq!(goes, [BARRIER + 3, BARRIER + 1, BARRIER, BARRIER, BARRIER]);
    assert_eq!(world.counts(3).homes_moved, 1);
    for node in 0..NODES {
        assert_eq!(world.whole(node, Read(3)), 6);
    }
}

/// Barriers end by answers, which may overtake what was asked before.
#[test]
fn late_diff_reaches_page_whose_home_returned() {
    let mut world = world(true);
    // The first word of page 1, whose home is node 1. Node 0 manages barriers.
    let word = 16;
    world.slow = Some((0, 1));
    world.whole(0, Write(word, 1));
    world.all_pass(0);
    for value in 2..4 {
        world.whole(1, Write(word, value));
        world.all_pass(0);
    }
    assert_eq!((world.counts(0).homes_moved, world.counts(1).homes_moved), (1, 1));
    assert!(world.has_letters());
    world.slow = None;
    assert_eq!(world.whole(1, Read(word)), 3);
    for node in 0..NODES {
        assert_eq!(world.whole(node, Read(word)), 3);
    }
}

#[test]
fn page_with_several_writers_keeps_its_home() {
    let mut world = world(true);
    for value in 1..6 {
        round(&mut world, &[1, 2], value);
    }
    assert_eq!(world.total(|counts| counts.homes_moved), 0);
    assert_eq!(world.whole(3, Read(1)), 5);
}
