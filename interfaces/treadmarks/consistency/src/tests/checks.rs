//! The checks that an implementation must pass, by counts. The numbers are from section 10 of the interface's
//! specification. Checks that need processes are in `tests/tests/treadmarks`.

use super::simulated::{Step, World};
use crate::{Access, Fault, Homes, Memory, Node, Setup, Start, WORD};
use Step::{Acquire, Read, Release, Write};

/// As TreadMarks was.
fn classic(nodes: usize) -> Setup {
    Setup {
        nodes,
        page_bytes: 4096,
        pages: 64,
        locks: 8,
        barriers: 4,
        views: 8,
        start: Start::First,
        homes: Homes::None,
        move_homes: false,
        fold: false,
        room: u64::MAX,
        push: None,
        further: 0,
        races: false,
        replicas: false,
    }
}

/// The default between hosts.
fn lazy(nodes: usize) -> Setup {
    Setup { start: Start::Everybody, fold: true, ..classic(nodes) }
}

fn home(nodes: usize) -> Setup {
    Setup { homes: Homes::InTurn, ..lazy(nodes) }
}

const WORDS: usize = 4096 / WORD;

#[test]
fn check_2_counter_is_exact_and_free_for_last_holder() {
    for setup in [classic(5), lazy(5), home(5)] {
        let mut world = World::new(setup);
        for turn in 0..40 {
            let node = turn * 3 % 5;
            world.whole(node, Acquire(1));
            let value = world.whole(node, Read(7));
            world.whole(node, Write(7, value + 1));
            world.whole(node, Release(1));
        }
        world.whole(2, Acquire(1));
        assert_eq!(world.whole(2, Read(7)), 40);
        world.whole(2, Release(1));
        let before = world.total(|counts| counts.messages);
        for _ in 0..100 {
            world.whole(2, Acquire(1));
            world.whole(2, Release(1));
        }
        assert_eq!(world.total(|counts| counts.messages), before);
    }
}

#[test]
fn lock_costs_three_messages_or_two_at_manager() {
    let mut world = World::new(classic(4));
    let mut cost = |node| {
        let before = world.total(|counts| counts.messages);
        world.whole(node, Acquire(1));
        world.whole(node, Release(1));
        world.total(|counts| counts.messages) - before
    };
    // The manager, node 1, has it first; then it is an end point, then in between, then an end point.
    assert_eq!([cost(1), cost(2), cost(3), cost(1)], [0, 2, 3, 2]);
}

#[test]
fn check_3_writes_travel_over_other_locks() {
    for setup in [classic(3), lazy(3), home(3)] {
        let mut world = World::new(setup);
        world.whole(2, Read(9));
        world.whole(0, Acquire(1));
        world.whole(0, Write(9, 77));
        world.whole(0, Release(1));
        world.whole(1, Acquire(1));
        world.whole(1, Release(1));
        world.whole(1, Acquire(2));
        world.whole(1, Release(2));
        world.whole(2, Acquire(2));
        assert_eq!(world.whole(2, Read(9)), 77);
    }
}

#[test]
fn check_4_unread_writes_cost_nothing() {
    let mut world = World::new(lazy(2));
    world.whole(1, Acquire(1));
    world.whole(1, Write(0, 5));
    world.whole(1, Release(1));
    let counts = world.counts(1);
    assert_eq!((counts.twins, counts.diffs_made, counts.messages), (1, 0, 0));
    // Also when the lock goes on: the news does, the data does not.
    world.whole(0, Acquire(1));
    let counts = world.counts(1);
    assert_eq!((counts.diffs_made, counts.messages), (0, 1));
    assert_eq!(world.counts(0).invalidations, 1);
    assert_eq!(world.whole(0, Read(0)), 5);
    assert_eq!(world.counts(1).diffs_made, 1);
}

#[test]
fn check_5_page_accepts_several_writers_at_once() {
    for setup in [classic(4), lazy(4), home(4)] {
        let mut world = World::new(setup);
        for word in 0..WORDS {
            world.whole(word % 4, Write(word, word as u32 + 1));
        }
        world.all_pass(0);
        for node in 0..4 {
            for word in 0..WORDS {
                assert_eq!(world.whole(node, Read(word)), word as u32 + 1);
            }
        }
        let twins: Vec<u64> = (0..4).map(|node| world.counts(node).twins).collect();
        // A home writes in place.
        let at_home = u64::from(setup.homes == Homes::None);
        assert_eq!(twins, [at_home, 1, 1, 1]);
        // Three times a quarter of a page, to each of four; or each quarter to the home, and the page to three.
        assert!(world.total(|counts| counts.diffs_made) <= 4);
    }
}

#[test]
fn check_6_barrier_costs_two_messages_per_other_node() {
    for nodes in [1, 2, 3, 8, 32] {
        let mut world = World::new(classic(nodes));
        world.all_pass(0);
        world.all_pass(0);
        assert_eq!(world.total(|counts| counts.messages), 2 * 2 * (nodes as u64 - 1));
        assert_eq!(world.counts(0).barriers, 2);
    }
}

#[test]
fn check_7_last_writer_of_chain_is_asked_alone() {
    for setup in [Setup { start: Start::Everybody, ..classic(4) }, lazy(4)] {
        let mut world = World::new(setup);
        for node in 0..3 {
            world.whole(node, Acquire(5));
            let value = world.whole(node, Read(0));
            world.whole(node, Write(0, value + 1));
            world.whole(node, Write(node + 10, 1));
            world.whole(node, Release(5));
        }
        world.whole(3, Acquire(5));
        let before: Vec<u64> = (0..3).map(|node| world.counts(node).messages).collect();
        assert_eq!(world.whole(3, Read(0)), 3);
        let asked: Vec<u64> = (0..3).map(|node| world.counts(node).messages - before[node]).collect();
        assert_eq!((asked, world.counts(3).requests), (vec![0, 0, 1], 1));
        assert_eq!([10, 11, 12].map(|word| world.whole(3, Read(word))), [1; 3]);
    }
}

/// Each node in turn rewrites a page under a lock; bytes for one turn, when all have had theirs several times.
fn bytes_of_a_turn(setup: Setup) -> u64 {
    let mut world = World::new(setup);
    let mut turn = |number: usize| {
        let node = number % setup.nodes;
        let before = world.total(|counts| counts.bytes);
        world.whole(node, Acquire(3));
        for word in 0..WORDS {
            let value = world.whole(node, Read(word));
            world.whole(node, Write(word, value + 1));
        }
        world.whole(node, Release(3));
        world.total(|counts| counts.bytes) - before
    };
    for number in 0..3 * setup.nodes {
        turn(number);
    }
    turn(0)
}

#[test]
fn check_8_diffs_accumulate_unless_folded_or_sent_home() {
    let bytes = |setup: fn(usize) -> Setup| [2, 4, 8].map(|nodes| bytes_of_a_turn(setup(nodes)));
    let piled = bytes(classic);
    assert!(piled[0] < 5000 && piled[1] > 11_000 && piled[2] > 27_000, "{piled:?}");
    // One page comes, folded; or one goes home and one comes from there.
    for (flat, pages) in [(bytes(lazy), 1), (bytes(home), 2)] {
        assert!(flat.iter().all(|&bytes| bytes < pages * 4096 + 700), "{flat:?}");
    }
}

#[test]
fn folded_answer_is_never_longer_than_page_and_headers() {
    let mut world = World::new(lazy(8));
    let mut dice = super::simulated::Dice(5);
    for turn in 0..400 {
        let node = dice.below(8);
        let before = world.total(|counts| counts.bytes);
        world.whole(node, Acquire(3));
        // A different part of the page each time.
        let from = dice.below(WORDS / 2);
        for word in from..from + WORDS / 2 {
            let value = world.whole(node, Read(word));
            world.whole(node, Write(word, value + 1));
        }
        world.whole(node, Release(3));
        let bytes = world.total(|counts| counts.bytes) - before;
        // A grant tells of every turn that this node has missed.
        assert!(bytes < 4096 + 1500, "turn {turn}: {bytes}");
    }
    // Own changes stay until they are collected, and each node has a record of each turn; others' changes are folded.
    let held = world.total(|counts| counts.held);
    assert!(held < 400 * (2200 + 8 * 100) + 8 * 3 * 4200, "{held}");
}

/// All nodes in turn add to an array of 72 KiB, then node 0 reads it: bytes, and node 0's requests.
fn gather(setup: Setup) -> (u64, u64) {
    let mut world = World::new(setup);
    let words = 18 * WORDS;
    for node in 1..setup.nodes {
        world.whole(node, Acquire(0));
        for word in 0..words {
            let value = world.whole(node, Read(word));
            world.whole(node, Write(word, value + node as u32));
        }
        world.whole(node, Release(0));
    }
    world.whole(0, Acquire(0));
    let before = (world.total(|counts| counts.bytes), world.counts(0).requests);
    for word in 0..words {
        assert_eq!(world.whole(0, Read(word)), (1..setup.nodes).sum::<usize>() as u32);
    }
    (world.total(|counts| counts.bytes) - before.0, world.counts(0).requests - before.1)
}

#[test]
fn check_9_gather_costs_request_per_page_unless_folded() {
    let array = 18 * 4096;
    for nodes in [2, 4, 8] {
        let (bytes, requests) = gather(classic(nodes));
        assert_eq!(requests, 18);
        let times = nodes as u64 - 1;
        assert!((times * array..times * array + 18 * 200).contains(&bytes), "{nodes}: {bytes}");
        let (bytes, requests) = gather(lazy(nodes));
        assert_eq!(requests, 18);
        assert!((array..array + 18 * 200).contains(&bytes), "{nodes}: {bytes}");
        let (bytes, _) = gather(home(nodes));
        assert!(bytes < array + 18 * 200, "{nodes}: {bytes}");
    }
}

#[test]
fn check_10_records_are_collected_at_low_memory() {
    let long_run = |setup: Setup| {
        let mut world = World::new(setup);
        for round in 0..300_u32 {
            for node in 0..3 {
                for word in 0..WORDS / 2 {
                    world.whole(
                        node,
                        Write((round as usize * 5 % 40) * WORDS + word * 3 % WORDS + node, round),
                    );
                }
            }
            world.all_pass(0);
            let at = (round as usize * 5 % 40) * WORDS + 1;
            assert_eq!(world.whole(round as usize % 3, Read(at)), round);
        }
        let all: Vec<u32> = (0..40 * WORDS).step_by(37).map(|word| world.whole(1, Read(word))).collect();
        let most = (0..3).map(|node| world.counts(node).most_held).max().expect("three nodes");
        (all, most, world.counts(0).collections)
    };
    for setup in [classic(3), lazy(3)] {
        let (expected, unbounded, none) = long_run(setup);
        let (found, bounded, collections) = long_run(Setup { room: 200_000, ..setup });
        assert_eq!((expected == found, none), (true, 0));
        assert!(collections > 5 && bounded < 260_000 && unbounded > 4 * bounded, "{bounded} {unbounded}");
    }
}

#[test]
fn check_14_protocol_modes_give_the_same_result() {
    let result = |setup: Setup| {
        let mut world = World::new(setup);
        for round in 0..6_u32 {
            for node in 0..4 {
                world.whole(node, Acquire(node as u32 % 2));
                for word in (node..4 * WORDS).step_by(9) {
                    if word % 2 == node % 2 {
                        let value = world.whole(node, Read(word));
                        world.whole(node, Write(word, value * 3 + round));
                    }
                }
                world.whole(node, Release(node as u32 % 2));
            }
            world.all_pass(1);
        }
        (0..4 * WORDS).map(|word| world.whole(0, Read(word))).collect::<Vec<u32>>()
    };
    let all =
        [classic(4), lazy(4), home(4), Setup { room: 0, ..lazy(4) }, Setup { page_bytes: 16384, ..lazy(4) }];
    assert!(all.windows(2).all(|pair| result(pair[0]) == result(pair[1])));
}

#[test]
fn answer_longer_than_64_kib_is_one_letter() {
    let mut world = World::new(classic(20));
    for node in 1..20 {
        world.whole(node, Acquire(0));
        for word in 0..WORDS {
            world.whole(node, Write(word, (node * 1000 + word) as u32));
        }
        world.whole(node, Release(0));
    }
    world.whole(0, Acquire(0));
    let before = world.counts(19);
    assert_eq!(world.whole(0, Read(5)), 19_005);
    let after = world.counts(19);
    assert_eq!(after.messages - before.messages, 1);
    assert!(after.bytes - before.bytes > 70_000);
}

#[test]
fn invalid_calls_are_refused() {
    let mut world = World::new(classic(2));
    assert_eq!(world.step(0, Acquire(8)), Err(Fault::NoSuchLock(8)));
    assert_eq!(world.step(0, Release(8)), Err(Fault::NoSuchLock(8)));
    assert_eq!(world.step(0, Step::Barrier(4)), Err(Fault::NoSuchBarrier(4)));
    assert_eq!(world.step(0, Release(0)), Err(Fault::NotHeld(0)));
    world.whole(0, Acquire(0));
    assert_eq!(world.step(0, Acquire(0)), Err(Fault::HeldAlready(0)));
    assert_eq!(world.step(1, Acquire(0)), Ok(Some(0)));
    assert_eq!(world.step(1, Release(0)), Err(Fault::Busy));
    world.whole(0, Release(0));
    world.whole(0, Write(0, 1));
    // Not at the same barrier.
    let mut world = World::new(classic(2));
    assert_eq!(world.step(1, Step::Barrier(2)), Ok(Some(0)));
    world.deliver(&mut super::simulated::Dice(0)).expect("it has come");
    let faulty = world.step(0, Step::Barrier(1));
    assert_eq!(faulty, Err(Fault::DifferentBarriers { nodes: (0, 1), at: (1, 2) }));
}

struct Nothing;

impl Memory for Nothing {
    fn load(&self, _: u32, out: &mut [u8]) {
        out.fill(0);
    }
    fn store(&mut self, _: u32, _: usize, _: &[u8]) {}
    fn protect(&mut self, _: u32, _: u32, _: Access) {}
}

/// The program has taken the lock without telling the node.
struct Taken;

impl Memory for Taken {
    fn load(&self, _: u32, _: &mut [u8]) {}
    fn store(&mut self, _: u32, _: usize, _: &[u8]) {}
    fn protect(&mut self, _: u32, _: u32, _: Access) {}
    fn is_free(&mut self, _: u32) -> bool {
        false
    }
}

#[test]
fn lock_taken_without_node_is_passed_on_at_release() {
    let (mut asker, mut holder) = (Node::new(classic(2), 0), Node::new(classic(2), 1));
    assert!(holder.keeps(1) && !asker.keeps(1));
    asker.acquire(1, &mut Nothing).expect("it may");
    for letter in asker.outbox() {
        holder.receive(0, &letter.bytes, &mut Taken).expect("it makes sense");
    }
    assert!(holder.outbox().is_empty() && !holder.keeps(1));
    holder.release(1, &mut Nothing).expect("it is held");
    for letter in holder.outbox() {
        asker.receive(1, &letter.bytes, &mut Nothing).expect("it makes sense");
    }
    assert!(!asker.is_waiting());
    assert_eq!(holder.release(1, &mut Nothing), Err(Fault::NotHeld(1)));
}

#[test]
fn malformed_letters_are_refused_without_panic() {
    let mut dice = super::simulated::Dice(99);
    let bytes = |with_era: bool, dice: &mut super::simulated::Dice| {
        // With replicas the first byte is the number of deaths from which the sender has recovered.
        let kinds = [0, dice.below(26) as u8];
        let (skip, length) = (usize::from(!with_era), dice.below(24));
        kinds
            .into_iter()
            .skip(skip)
            .chain((0..length).map(|_| [0, 1, 2, 3, dice.below(256) as u8][dice.below(5)]))
            .collect()
    };
    let mut refused = 0;
    for round in 0..40_000 {
        let setup = [classic(3), home(3), Setup { replicas: true, ..home(3) }][round / 3 % 3];
        let mut node = Node::new(setup, round % 3);
        if setup.replicas && round % 2 == 0 {
            node.gone((round + 2) % 3, &mut Nothing).expect("it may");
        }
        if round % 5 == 0 {
            node.acquire((round as u32 + 1) % 3, &mut Nothing).expect("it may");
        } else if round % 5 == 1 {
            node.fault(3, Access::Write, &mut Nothing).expect("it may");
        } else if round % 5 == 2 {
            node.barrier(0, &mut Nothing).expect("it may");
        }
        for _ in 0..8 {
            let letter: Vec<u8> = bytes(setup.replicas, &mut dice);
            if node.receive((round + 1) % 3, &letter, &mut Nothing).is_err() {
                refused += 1;
                break;
            }
        }
    }
    assert!(refused > 30_000, "{refused}");
}
