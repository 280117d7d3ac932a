//! Processes that end: with an error, by a fault of their own, killed, or without saying so.

use crate::processes;
use parvum_tests::TestMachine;
use parvum_tests::running::{Running, await_tasks};
use parvum_tests::stage::program;

/// What a run of three processes says that fails, when the failure of one does not end the others.
fn complaints(machine: &TestMachine, protocol: &str, what: &str) -> String {
    let mut run = machine.command(&["run", "-n", "3", "--on-failure", "continue", "--"]);
    machine.as_user(&mut run);
    let mut run = Running::start(run.arg(program("tmk_errors")).arg(what).envs(crate::options(protocol)));
    assert!(!run.end().success());
    run.complaints()
}

#[test]
fn program_error_ends_the_run() {
    let machine = TestMachine::up();
    for protocol in ["auto", "classic", "auto/2"] {
        for (what, said) in
            [("errexit", "Tmk node 2: no luck today, 3 times"), ("status", "ended with code 3")]
        {
            let errors = complaints(&machine, protocol, what);
            assert!(errors.contains(said), "{errors}");
            await_tasks(&machine, 0);
        }
    }
}

/// On one host a barrier is the engine's, and a task that has left has none.
#[test]
fn barrier_fails_in_process_that_left_the_machine() {
    let machine = TestMachine::up();
    let mut run = Running::start(&mut processes(&machine, 2, "auto", &["tmk_errors", "leaves"]));
    assert!(!run.end().success());
    let errors = run.complaints();
    assert!(errors.contains("E-TMK-LEFT: this process has left the machine"), "{errors}");
    await_tasks(&machine, 0);
}

/// A fault outside the heap is the program's own, with its handler or without.
#[test]
fn fault_outside_heap_reaches_program_handler() {
    let machine = TestMachine::up();
    for protocol in ["auto", "classic", "auto/2"] {
        for what in ["fault", "sent"] {
            let errors = complaints(&machine, protocol, what);
            assert!(errors.contains("rank 2) on ") && errors.contains("was killed by SIGSEGV"), "{errors}");
            await_tasks(&machine, 0);
        }
        let mut own = machine.command(&["run", "-n", "2", "--on-failure", "continue", "--"]);
        machine.as_user(&mut own);
        own.arg(program("tmk_checks")).arg("own_fault").envs(crate::options(protocol));
        let mut run = Running::start(&mut own);
        run.told("own fault");
        run.end();
        await_tasks(&machine, 0);
    }
}

/// Of three processes one is killed: each of the others says so, once, and ends. The second may hear of the first's end before it
/// hears of the death that has caused both.
#[test]
fn death_is_reported_by_every_survivor() {
    let machine = TestMachine::up();
    for protocol in ["auto", "classic", "auto/2"] {
        for what in ["die", "die_holding"] {
            let mut run = machine.command(&["run", "-n", "3", "--on-failure", "continue", "--"]);
            machine.as_user(&mut run);
            run.arg(program("tmk_errors")).arg(what).envs(crate::options(protocol));
            let mut run = Running::start(&mut run);
            run.told("dies");
            // The last of those that were started.
            let last = machine.tasks().into_iter().max_by_key(|row| row.tid.0).expect("three tasks");
            parvum_tests::kill_hard(last.pid);
            assert!(!run.end().success());
            let errors = run.complaints();
            let dead: Vec<_> = errors.lines().filter(|line| line.contains("E-TMK-DEAD")).collect();
            assert_eq!(dead.len(), 2, "{errors}");
            assert!(dead.iter().any(|line| line.contains("E-TMK-DEAD: node 2")), "{errors}");
            await_tasks(&machine, 0);
        }
    }
}

/// Who ends well has left, whether it said so or not; nobody takes its end for a death.
#[test]
fn process_that_returns_counts_as_left() {
    let machine = TestMachine::up();
    for protocol in ["auto", "classic", "auto/2"] {
        for _ in 0..5 {
            let said = machine.check(&mut processes(&machine, 3, protocol, &["tmk_errors", "returns"]));
            assert!(said.contains("returns"), "{said}");
        }
    }
    await_tasks(&machine, 0);
}

/// Whichever task of a host is killed, the others say so: one that has the node of its host, or one that has not.
#[test]
fn death_of_any_task_of_host_is_reported() {
    let machine = TestMachine::up();
    for dies in 0..4 {
        let mut run = machine.command(&["run", "-n", "4", "--on-failure", "continue", "--"]);
        machine.as_user(&mut run);
        run.arg(program("tmk_errors")).arg("die").envs(crate::options("auto/2"));
        let mut run = Running::start(&mut run);
        run.told("dies");
        let row = machine.tasks().into_iter().find(|row| row.rank == Some(dies)).expect("it runs");
        parvum_tests::kill_hard(row.pid);
        assert!(!run.end().success());
        let errors = run.complaints();
        assert_eq!(errors.matches("E-TMK-DEAD: node ").count(), 3, "{errors}");
        assert!(errors.contains(&format!("E-TMK-DEAD: node {dies}")), "{errors}");
        await_tasks(&machine, 0);
    }
}

/// A task that does not close its pages holds up its host, and nobody else; when it is killed the host does not wait for it.
#[test]
fn stopped_task_with_open_page_may_be_killed() {
    let machine = TestMachine::up();
    let mut run = machine.command(&["run", "-n", "4", "--on-failure", "continue", "--"]);
    machine.as_user(&mut run);
    run.arg(program("tmk_errors")).arg("stops").envs(crate::options("auto/2"));
    let mut run = Running::start(&mut run);
    run.told("stops");
    let rows = machine.tasks();
    let row = |rank: u32| rows.iter().find(|row| row.rank == Some(rank)).expect("it runs");
    // Another waits for the lock, which does not come before the page is closed.
    parvum_tests::eventually_told("process 0 waits for the lock", " s in Tmk_lock_acquire 9", || {
        machine.check(&mut machine.command(&["ps"])) + &machine.check(&mut machine.command(&["why"]))
    });
    parvum_tests::kill_hard(row(3).pid);
    assert!(!run.end().success());
    let errors = run.complaints();
    assert_eq!(errors.matches("E-TMK-DEAD: node ").count(), 3, "{errors}");
    assert!(errors.contains("E-TMK-DEAD: node 3"), "{errors}");
    await_tasks(&machine, 0);
}
