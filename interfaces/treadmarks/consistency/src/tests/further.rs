//! Walks through an array if further pages come with a page: requests and pages are counted.

use super::simulated::{Step, World};
use crate::{Homes, Setup, Start, WORD};
use Step::{Read, Write};

const WORDS: usize = 64 / WORD;
const PAGES: usize = 40;

fn setup(further: u32) -> Setup {
    Setup {
        nodes: 3,
        page_bytes: 64,
        pages: PAGES as u32,
        locks: 4,
        barriers: 2,
        views: 0,
        start: Start::Everybody,
        homes: Homes::None,
        move_homes: false,
        fold: true,
        room: u64::MAX,
        push: None,
        further,
        races: false,
        replicas: false,
    }
}

/// Node 0 writes all pages, and node 1 reads the first `pages` of them: requests and further pages of node 1.
fn walk(setup: Setup, pages: usize, home: bool) -> (u64, u64) {
    let mut world = World::new(setup);
    if home {
        world.give_home(0, 14);
    }
    for page in 0..PAGES {
        world.whole(0, Write(page * WORDS + 3, page as u32 + 1));
    }
    world.all_pass(0);
    for page in 0..pages {
        assert_eq!(world.whole(1, Read(page * WORDS + 3)), page as u32 + 1);
    }
    (world.counts(1).requests, world.counts(1).further)
}

#[test]
fn walk_through_array_asks_for_growing_runs_of_pages() {
    assert_eq!(walk(setup(0), PAGES, false), (40, 0));
    // 1, 1 + 2, 1 + 4, 1 + 8, 1 + 16, and the rest.
    assert_eq!(walk(setup(31), PAGES, false), (6, 34));
    assert_eq!(walk(setup(3), PAGES, false), (11, 29));
    assert_eq!(walk(setup(1), PAGES, false), (21, 19));
}

#[test]
fn whole_pages_come_in_runs_too() {
    let first = |further| Setup { start: Start::First, fold: false, ..setup(further) };
    assert_eq!(walk(first(0), PAGES, false), (40, 0));
    assert_eq!(walk(first(31), PAGES, false), (6, 34));
}

#[test]
fn pages_of_one_home_come_in_runs() {
    // Nodes 0, 1 and 2 are the homes of five, five and four pages. The pages of node 1 are there, and end no run.
    assert_eq!(walk(setup(0), 14, true), (9, 0));
    assert_eq!(walk(setup(31), 14, true), (4, 5));
}

/// The walk ends before memory that nobody has touched: the memory may get a home later.
#[test]
fn memory_behind_a_walk_stays_untouched() {
    let mut world = World::new(Setup { homes: Homes::InTurn, nodes: 2, ..setup(31) });
    // Node 0 is the home of the first eight pages, and node 1 of the others.
    world.give_home(0, 16);
    for page in 0..16 {
        world.whole(0, Write(page * WORDS, 5));
    }
    world.all_pass(0);
    for page in 0..16 {
        assert_eq!(world.whole(1, Read(page * WORDS)), 5);
    }
    assert!(world.counts(1).further > 0);
    world.give_home(16, 8);
}

#[test]
fn single_pages_bring_no_other() {
    let mut world = World::new(setup(31));
    for page in 0..PAGES {
        world.whole(0, Write(page * WORDS, 7));
    }
    world.all_pass(0);
    for page in (0..PAGES).step_by(3) {
        assert_eq!(world.whole(2, Read(page * WORDS)), 7);
    }
    assert_eq!(world.counts(2).further, 0);
}

#[test]
fn pages_of_other_writers_and_own_writes_end_a_run() {
    let mut world = World::new(setup(31));
    for page in 0..PAGES {
        // Node 1 writes page 6 and node 2 page 10, beside node 0.
        world.whole(0, Write(page * WORDS, page as u32));
    }
    world.whole(1, Write(6 * WORDS + 1, 60));
    world.whole(1, Write(10 * WORDS + 1, 100));
    world.all_pass(0);
    // The next page has a local write that is in no diff yet.
    world.whole(2, Write(4 * WORDS + 2, 40));
    let before = world.counts(2).requests;
    for page in 0..13 {
        assert_eq!(world.whole(2, Read(page * WORDS)), page as u32);
    }
    assert_eq!(world.whole(2, Read(6 * WORDS + 1)), 60);
    assert_eq!(world.whole(2, Read(10 * WORDS + 1)), 100);
    assert_eq!(world.whole(2, Read(4 * WORDS + 2)), 40);
    let requests = world.counts(2).requests - before;
    assert!((6..15).contains(&requests), "{requests}");
}

/// Pages that come with a page are open, so reading them is no miss; writing to one makes a twin as ever.
#[test]
fn further_pages_are_read_without_a_fault() {
    let mut world = World::new(setup(31));
    for page in 0..9 {
        world.whole(0, Write(page * WORDS, 5));
    }
    world.all_pass(0);
    for page in 0..9 {
        world.whole(1, Read(page * WORDS));
    }
    let counts = world.counts(1);
    assert_eq!((counts.misses, counts.further, counts.write_faults), (3, 6, 0));
    world.whole(1, Write(8 * WORDS, 6));
    assert_eq!(world.counts(1).twins, 1);
    world.all_pass(1);
    assert_eq!(world.whole(0, Read(8 * WORDS)), 6);
}

/// In each round node 0 writes pages one after the other, and nodes 1 and 2 read one of them. Returns the write faults and
/// twins of node 0 in each round.
fn rewrite(further: u32, written: usize) -> Vec<(u64, u64)> {
    let mut world = World::new(setup(further));
    let mut costs = Vec::new();
    for round in 1..=4 {
        let before = world.counts(0);
        for page in 0..written {
            world.whole(0, Write(page * WORDS, round * 100 + page as u32));
        }
        world.all_pass(0);
        assert_eq!(world.whole(1, Read(0)), round * 100);
        assert_eq!(world.whole(2, Read((written - 1) * WORDS)), round * 100 + written as u32 - 1);
        world.all_pass(1);
        let counts = world.counts(0);
        costs.push((counts.write_faults - before.write_faults, counts.twins - before.twins));
    }
    // In the end all nodes have all of it.
    for node in 0..3 {
        for page in 0..written {
            assert_eq!(world.whole(node, Read(page * WORDS)), 400 + page as u32);
        }
    }
    costs
}

#[test]
fn known_pages_that_are_written_in_a_row_open_together() {
    // Pages that nobody has touched stay closed: the memory may get a home later.
    assert_eq!(rewrite(31, 20)[0], (20, 20));
    assert!(rewrite(0, 20).iter().all(|&(faults, _)| faults == 20));
    for (faults, twins) in &rewrite(31, 20)[1..] {
        // 1, 1 + 2, 1 + 4, 1 + 8, and the last two.
        assert_eq!((*faults, *twins), (5, 2), "twins of the first and the last page; the others stand");
    }
}

#[test]
fn page_opened_ahead_without_a_write_is_unchanged() {
    let mut world = World::new(setup(31));
    for page in 0..20 {
        world.whole(0, Write(page * WORDS, 1));
    }
    world.all_pass(0);
    for page in 0..20 {
        assert_eq!(world.whole(1, Read(page * WORDS)), 1);
    }
    world.all_pass(1);
    let before = world.counts(1).invalidations;
    // The second write opens two more pages.
    for page in 0..2 {
        world.whole(0, Write(page * WORDS, 2));
    }
    world.all_pass(0);
    assert_eq!(world.counts(1).invalidations - before, 2);
    for page in 0..20 {
        assert_eq!(world.whole(1, Read(page * WORDS)), if page < 2 { 2 } else { 1 });
    }
}

/// A page is opened ahead, written, asked for, and written back to its old contents.
#[test]
fn write_back_after_a_diff_is_no_lost_write() {
    let mut world = World::new(setup(31));
    for page in 0..4 {
        world.whole(0, Write(page * WORDS, 1));
    }
    world.all_pass(0);
    world.whole(0, Step::Acquire(1));
    for page in 0..3 {
        world.whole(0, Write(page * WORDS, 2));
    }
    world.whole(0, Step::Release(1));
    world.whole(1, Step::Acquire(1));
    assert_eq!(world.whole(1, Read(2 * WORDS)), 2);
    world.whole(1, Step::Release(1));
    world.whole(0, Step::Acquire(1));
    for page in 0..3 {
        world.whole(0, Write(page * WORDS, 1));
    }
    world.whole(0, Step::Release(1));
    world.all_pass(1);
    for page in 0..3 {
        assert_eq!(world.whole(1, Read(page * WORDS)), 1);
    }
}
