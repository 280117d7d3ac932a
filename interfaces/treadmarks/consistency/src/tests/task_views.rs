//! Views of nodes with several tasks: one memory for all placements of tasks. Only tasks that want a neighbour's view
//! wait for it.

use super::neighbours::{Step, World};
use super::simulated::Dice;
use crate::{Fault, Homes, Setup, Start, WORD};
use Step::{Acquire, AcquireView, Barrier, Read, Release, ReleaseView, Write};

const WORDS: usize = 16 / WORD;
/// The pages after the pages of views.
const SHARED: usize = 38;

fn setup(nodes: usize) -> Setup {
    Setup {
        nodes,
        page_bytes: 16,
        pages: 40,
        locks: 2,
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

/// The views that a task has or wants.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Has {
    Nothing,
    View(u32, bool),
    Lock,
}

/// A random program of views, and of counters behind a lock, beside one memory; how many words were compared.
fn play(seed: u64) -> u64 {
    let mut dice = Dice(seed.wrapping_mul(0x2468_ace1_3579_bdf1));
    let setup = Setup {
        nodes: 1 + dice.below(4),
        start: [Start::Everybody, Start::First][dice.below(2)],
        homes: [Homes::None, Homes::InTurn][dice.below(2)],
        ..setup(1)
    };
    let tasks = 1 + dice.below(4);
    let all = setup.nodes * tasks;
    let mut world = World::new(setup, tasks, dice.once_in(2));
    let views = 1 + dice.below(4) as u32;
    let (pages, mut memory) = (1 + dice.below(3) as u32, vec![0_u32; 40 * WORDS]);
    (0..views).for_each(|view| world.make_view(view, view * pages, pages));
    let mut has = vec![Has::Nothing; all];
    let mut steps: Vec<usize> = (0..all).map(|_| dice.below(40)).collect();
    // A write to be tried again.
    let mut again: Vec<Option<Step>> = vec![None; all];
    let (mut compared, mut written) = (0, 0);
    loop {
        let free: Vec<usize> = (0..all)
            .filter(|&task| !world.is_waiting(task) && (steps[task] > 0 || has[task] != Has::Nothing))
            .collect();
        if free.is_empty() || dice.once_in(2) {
            let went = world.deliver(&mut dice).expect("nodes make sense");
            if !went && free.is_empty() {
                break;
            }
            continue;
        }
        let task = free[dice.below(free.len())];
        let alone = |is: Has, other: Has| match (is, other) {
            (Has::View(view, writes), Has::View(its, its_writes)) => its != view || !writes && !its_writes,
            (Has::Lock, Has::Lock) => false,
            _ => true,
        };
        let others = (0..all).filter(|&other| other != task && !world.is_waiting(other));
        others.for_each(|other| assert!(alone(has[task], has[other])));
        if let Some(step) = again[task] {
            let done = world.step(task, step).expect("it is held");
            again[task] = done.is_none().then_some(step);
            if let (Some(value), Read(word)) = (done, step) {
                assert_eq!(value, memory[word], "task {task} reads word {word}");
            }
            continue;
        }
        steps[task] = steps[task].saturating_sub(1);
        match has[task] {
            Has::Nothing if dice.once_in(3) => {
                has[task] = Has::Lock;
                world.step(task, Acquire(1)).expect("it is free of it");
            }
            Has::Nothing => {
                let (view, writes) = (dice.below(views as usize) as u32, dice.once_in(2));
                has[task] = Has::View(view, writes);
                world.step(task, AcquireView(view, writes)).expect("it is free of it");
            }
            held if steps[task] == 0 || dice.once_in(4) => {
                has[task] = Has::Nothing;
                let release = match held {
                    Has::View(view, writes) => ReleaseView(view, writes),
                    _ => Release(1),
                };
                world.step(task, release).expect("it is held");
            }
            held => {
                let (word, writes) = match held {
                    Has::View(view, writes) => {
                        ((view * pages) as usize * WORDS + dice.below(pages as usize * WORDS), writes)
                    }
                    _ => (SHARED * WORDS + dice.below(2 * WORDS), true),
                };
                let step = if writes && dice.once_in(2) {
                    written += 1;
                    memory[word] = if dice.once_in(5) { 0 } else { written };
                    Write(word, memory[word])
                } else {
                    Read(word)
                };
                let done = world.step(task, step).expect("it is held");
                assert!(done.is_some() || held == Has::Lock, "no page of a view is missed");
                again[task] = done.is_none().then_some(step);
                if let Some(value) = done {
                    assert_eq!(value, memory[word], "task {task}, {step:?}");
                    compared += 1;
                }
            }
        }
    }
    assert!((0..all).all(|task| !world.is_waiting(task)), "nothing is under way, and somebody waits");
    compared
}

#[test]
fn views_and_tasks_see_one_memory_in_20_000_programs() {
    let compared: u64 = (0..20_000)
        .map(|seed| {
            let played = std::panic::catch_unwind(|| play(seed));
            played.unwrap_or_else(|_| panic!("the program of seed {seed}"))
        })
        .sum();
    assert!(compared > 400_000, "{compared}");
}

/// Two nodes of two tasks each: 0 and 1 are neighbours.
fn pairs() -> World {
    let mut world = World::new(setup(2), 2, true);
    world.make_view(0, 0, 2);
    world.make_view(1, 2, 2);
    world
}

#[test]
fn waiter_for_view_does_not_block_its_neighbour() {
    let mut world = pairs();
    world.whole(2, AcquireView(1, true));
    world.step(0, AcquireView(1, true)).expect("it may");
    while world.deliver(&mut Dice(1)).expect("nodes make sense") {}
    assert!(world.is_waiting(0));
    // At the same time its neighbour has another view, a page and a lock.
    world.whole(1, AcquireView(0, true));
    world.whole(1, Write(0, 5));
    world.whole(1, ReleaseView(0, true));
    world.whole(1, Acquire(1));
    world.whole(1, Write(SHARED * WORDS, 6));
    world.whole(1, Release(1));
    assert!(world.is_waiting(0));
    world.whole(2, Write(2 * WORDS, 7));
    world.whole(2, ReleaseView(1, true));
    assert!(!world.is_waiting(0));
    assert_eq!(world.whole(0, Read(2 * WORDS)), 7);
}

#[test]
fn view_readers_share_and_may_cross_a_barrier() {
    let mut world = pairs();
    world.whole(0, AcquireView(1, false));
    // Another task comes while the first task still has the view.
    world.whole(1, AcquireView(1, false));
    world.whole(2, AcquireView(1, false));
    world.whole(3, AcquireView(1, false));
    world.all_pass();
    world.whole(0, ReleaseView(1, false));
    world.step(2, AcquireView(0, true)).expect("it may");
    while world.deliver(&mut Dice(1)).expect("nodes make sense") {}
    world.whole(1, ReleaseView(1, false));
    world.whole(3, ReleaseView(1, false));
    world.whole(2, ReleaseView(1, false));
    // All have given it back: one may write.
    world.whole(1, AcquireView(1, true));
    world.whole(1, Write(2 * WORDS, 9));
    world.whole(1, ReleaseView(1, true));
    world.whole(3, AcquireView(1, false));
    assert_eq!(world.whole(3, Read(2 * WORDS)), 9);
}

#[test]
fn writer_receives_no_diffs_written_by_neighbour() {
    let mut world = pairs();
    let before = world.total(|counts| counts.diffs_applied);
    world.whole(2, AcquireView(0, true));
    world.step(3, AcquireView(0, true)).expect("it may");
    while world.deliver(&mut Dice(1)).expect("nodes make sense") {}
    world.whole(2, Write(1, 8));
    world.whole(2, ReleaseView(0, true));
    assert!(!world.is_waiting(3));
    assert_eq!(world.whole(3, Read(1)), 8);
    assert_eq!(world.total(|counts| counts.diffs_applied) - before, 1, "at the manager alone");
}

#[test]
fn invalid_view_calls_are_refused() {
    let mut world = pairs();
    assert_eq!(world.step(0, AcquireView(5, true)), Err(Fault::NoSuchView(5)));
    assert_eq!(world.step(0, ReleaseView(5, true)), Err(Fault::NoSuchView(5)));
    assert_eq!(world.step(0, ReleaseView(0, true)), Err(Fault::ViewNotHeld(0)));
    assert_eq!(world.step(0, Read(0)), Err(Fault::ViewNotHeld(0)));
    world.whole(0, AcquireView(0, false));
    assert_eq!(world.step(0, AcquireView(0, false)), Err(Fault::ViewHeldAlready(0)));
    assert_eq!(world.step(0, ReleaseView(0, true)), Err(Fault::ViewNotHeld(0)));
    assert_eq!(world.step(0, Write(0, 1)), Err(Fault::ViewReadOnly(0)));
    assert_eq!(world.step(1, ReleaseView(0, false)), Err(Fault::ViewNotHeld(0)), "a neighbour has it");
    world.step(1, Barrier).expect("it may");
    assert_eq!(world.step(1, AcquireView(0, false)), Err(Fault::Busy));
}
