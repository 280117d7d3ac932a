//! What pushing saves, counted by the processes themselves: `tests/programs/treadmarks/tmk_pushes.c`.

use crate::processes;
use parvum_tests::TestMachine;
use parvum_tests::running::await_tasks;

/// Messages and misses of all processes in the last eight of twelve rounds.
fn counted(machine: &TestMachine, count: u32, part: &str, push: &str) -> (u64, u64) {
    let mut run = processes(machine, count, "lazy", &["tmk_pushes", part]);
    let said = machine.check(run.env("TMK_PUSH", push));
    assert!(said.contains("all well"), "{said}");
    let words: Vec<&str> = said.split_whitespace().collect();
    let behind = |name: &str| {
        let at = words.iter().position(|word| *word == name).expect("it is told");
        words[at + 1].parse().expect("a number")
    };
    (behind("messages"), behind("misses"))
}

#[test]
fn neighbours_get_pages_with_the_barrier() {
    let machine = TestMachine::up();
    let (rounds, barriers, pairs) = (8, 2 * 2 * 3, 2 * 3);
    // Two pages of each neighbour: a question and an answer each.
    assert_eq!(
        counted(&machine, 4, "neighbours", "no"),
        (rounds * (barriers + pairs * 4), rounds * pairs * 2)
    );
    assert_eq!(counted(&machine, 4, "neighbours", "yes"), (rounds * (barriers + pairs), 0));
    await_tasks(&machine, 0);
}

#[test]
fn page_comes_with_lock_that_guards_it() {
    let machine = TestMachine::up();
    let (without, misses) = counted(&machine, 3, "migrates", "no");
    // Each turn but for the page two messages: the lock's manager is one of the three.
    assert_eq!(misses, 8 * 3);
    assert_eq!(counted(&machine, 3, "migrates", "yes"), (without - 2 * misses, 0));
    await_tasks(&machine, 0);
}
