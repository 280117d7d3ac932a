//! Programs over libfabric, with its provider for TCP.

use parvum_tests::running::{Running, await_tasks};
use parvum_tests::{TestMachine, has_libfabric};

const FABRIC: [(&str, &str); 2] = [("PARVUM_ROUTE", "fabric"), ("PARVUM_FABRIC", "tcp")];

/// Programs that check themselves.
const PROGRAMS: [&str; 8] =
    ["calls", "order", "family", "farewell", "threads_waiting", "interrupted", "forks", "mutual"];

#[test]
fn pvm_programs_run_over_libfabric() {
    if !has_libfabric() {
        return;
    }
    let machine = TestMachine::up();
    for name in PROGRAMS {
        eprintln!("{name} over the fabric");
        machine.check(machine.program(name).envs(FABRIC));
        await_tasks(&machine, 0);
    }
}

#[test]
fn receive_from_killed_sender_fails_over_libfabric() {
    if !has_libfabric() {
        return;
    }
    let machine = TestMachine::up();
    let actor = |arguments: &[&str]| {
        let mut running = Running::start(machine.program("actor").args(arguments).envs(FABRIC));
        let tid = running.told("tid");
        (running, tid)
    };
    let (mut receiver, tid) = actor(&["receive", "-1"]);
    let (mut sender, from) = actor(&["stream", &tid, "10", "1"]);
    assert!(receiver.told("info").parse::<i32>().expect("a number") > 0);
    assert!(receiver.end().success());
    let (mut waiting, _) = actor(&["receive", &from]);
    sender.kill();
    assert_eq!(waiting.told("info"), "-31");
    assert!(waiting.end().success());
    await_tasks(&machine, 0);
}
