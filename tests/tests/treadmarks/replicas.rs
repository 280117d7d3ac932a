//! Processes are killed, and the others go on with what they keep of each other: `tests/programs/treadmarks/tmk_replicas.c`, which checks its
//! result against what one process computes alone.

use crate::processes;
use parvum_tests::TestMachine;
use parvum_tests::running::{Running, await_tasks};
use parvum_tests::stage::program;
use std::process::Command;

/// So many processes, of which some will die.
fn doomed(machine: &TestMachine, count: usize, words: &[&str]) -> Command {
    let mut run = machine.command(&["run", "-n", &count.to_string(), "--on-failure", "continue", "--"]);
    machine.as_user(&mut run);
    run.arg(program("tmk_replicas")).args(words).env("TMK_REPLICAS", "1").env_remove("TMK_PROTOCOL");
    run
}

/// Runs it to its end: what it says besides that some were killed, and its complaints.
fn said(machine: &TestMachine, count: usize, words: &[&str]) -> (String, String) {
    let output = doomed(machine, count, words).output().expect("parvum runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

/// All survivors are well, after so many recoveries.
fn survive(machine: &TestMachine, count: usize, words: &[&str], recoveries: usize) {
    eprintln!("{count} processes: {words:?}");
    let (told, errors) = said(machine, count, words);
    let deaths = words.len() / 3;
    let well = format!("of {}: all well, recovered {recoveries} times", count - deaths);
    assert_eq!(told.matches(&well).count(), count - deaths, "{told}{errors}");
    await_tasks(machine, 0);
}

#[test]
fn replicas_without_death_undo_nothing() {
    let machine = TestMachine::up();
    for count in [1, 2, 4] {
        survive(&machine, count, &["12"], 0);
    }
}

/// Nobody is missed by it, and the bits are the same for all.
#[test]
fn arrays_are_combined_with_replicas() {
    let machine = TestMachine::up();
    for count in ["1", "2", "5"] {
        let mut run =
            processes(&machine, count.parse().expect("a number"), "auto", &["tmk_checks", "reduce", count]);
        let said = machine.check(run.env("TMK_REPLICAS", "1"));
        assert!(said.contains("all well"), "{said}");
    }
    await_tasks(&machine, 0);
}

/// The manager of barriers and of the heap, the last, or one between; in every place of its turn.
#[test]
fn survivors_continue_after_one_death_at_any_place() {
    let machine = TestMachine::up();
    for victim in ["0", "1", "3"] {
        for place in ["computing", "holding", "reducing", "arriving"] {
            survive(&machine, 4, &["8", victim, place, "3"], 1);
        }
    }
    // Who renews a block in the turn.
    survive(&machine, 3, &["8", "2", "allocating", "5"], 1);
    survive(&machine, 3, &["8", "0", "allocating", "3"], 1);
    survive(&machine, 2, &["8", "0", "holding", "0"], 1);
}

/// One after the other, each when what the one before had is kept anew; and two at once that keep nothing of each other.
#[test]
fn survivors_continue_after_several_deaths() {
    let machine = TestMachine::up();
    survive(&machine, 4, &["9", "0", "holding", "2", "1", "computing", "4", "2", "arriving", "6"], 3);
    let (told, errors) = said(&machine, 4, &["9", "0", "computing", "2", "2", "computing", "2"]);
    assert_eq!(told.matches("of 2: all well").count(), 2, "{told}{errors}");
    await_tasks(&machine, 0);
}

/// A home and its keeper: there is nobody who has their memory, and each of the others says so.
#[test]
fn deaths_of_home_and_its_replica_are_fatal() {
    let machine = TestMachine::up();
    let (told, errors) = said(&machine, 4, &["9", "1", "arriving", "2", "2", "arriving", "2"]);
    assert!(!told.contains("all well"), "{told}");
    let unkept = "E-TMK-REPLICA: node 1 has ended, and node 2, which kept its memory, has too";
    // The second to hear of it may have heard of the first's end before.
    assert!(errors.contains(unkept), "{errors}");
    assert_eq!(errors.matches("E-TMK-REPLICA: node ").count(), 2, "{errors}");
    await_tasks(&machine, 0);
}

/// From outside, at no place in particular.
#[test]
fn survivors_continue_after_kill_from_outside() {
    let machine = TestMachine::up();
    for (victim, turn) in [(0, 3), (1, 5), (2, 2)] {
        let mut run = Running::start(&mut doomed(&machine, 3, &["4", "told"]));
        run.told(&format!("node {victim}: turn {turn}"));
        let mut tasks = machine.tasks();
        tasks.sort_by_key(|row| row.tid.0);
        let of_run: Vec<_> = tasks.into_iter().rev().take(3).collect();
        parvum_tests::kill_hard(of_run[2 - victim].pid);
        let mut lines: Vec<String> = Vec::new();
        while lines.iter().filter(|line| line.contains("of 2: all well, recovered 1 times")).count() < 2 {
            lines.push(run.told("node "));
        }
        run.end();
        await_tasks(&machine, 0);
    }
}

/// A program that knows of no deaths ends with a sentence, at its next barrier.
#[test]
fn program_that_ignores_deaths_ends_with_error() {
    let machine = TestMachine::up();
    let mut run = machine.command(&["run", "-n", "2", "--on-failure", "continue", "--"]);
    machine.as_user(&mut run);
    run.arg(program("tmk_errors")).arg("dies_alone").env("TMK_REPLICAS", "1").env_remove("TMK_PROTOCOL");
    let output = run.output().expect("parvum runs");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(errors.matches("E-TMK-DEAD: node 1 ").count(), 1, "{errors}");
    await_tasks(&machine, 0);
}

#[test]
fn unsupported_options_with_replicas_are_refused() {
    let machine = TestMachine::up();
    let refused = |words: &[&str], protocol: &str, more: &[(&str, &str)], what: &str| {
        let mut run = processes(&machine, 2, protocol, words);
        let output = run.env("TMK_REPLICAS", "1").envs(more.iter().copied()).output().expect("parvum runs");
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && errors.contains(what), "{errors}");
        await_tasks(&machine, 0);
    };
    let with = |what: &str| format!("E-TMK-REPLICA: there is no {what} with TMK_REPLICAS=1");
    refused(&["tmk_replicas", "3"], "lazy", &[], &with("TMK_PROTOCOL but home"));
    refused(&["tmk_replicas", "3"], "home", &[("TMK_RACES", "yes")], &with("TMK_RACES"));
    refused(&["tmk_views", "turns"], "auto", &[], &with("view"));
}
