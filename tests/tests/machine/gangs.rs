//! `parvum run --gang`: jobs that take turns.

use parvum_tests::{TestMachine, eventually};
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

/// A gang with a task for each processor, which all want to run for ever; it, and their processes.
fn gang(machine: &TestMachine) -> (Child, Vec<u32>) {
    let count = std::thread::available_parallelism().expect("known").get();
    let words = ["run", "--gang", "-n", &count.to_string(), "sh", "-c", "echo $$; while :; do :; done"];
    let mut child = machine.command(&words).stdout(Stdio::piped()).spawn().expect("runs");
    let out = BufReader::new(child.stdout.take().expect("piped"));
    let pids = out.lines().take(count).map(|line| line.expect("read").parse().expect("a pid")).collect();
    (child, pids)
}

/// Whether all of them are stopped.
fn stopped(pids: &[u32]) -> bool {
    pids.iter().all(|pid| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with('T'))
    })
}

#[test]
fn gangs_on_the_same_processors_take_turns() {
    let machine = TestMachine::up();
    let (mut one, first) = gang(&machine);
    assert!(!stopped(&first), "alone it runs");
    let (mut other, second) = gang(&machine);
    for _ in 0..3 {
        eventually("the first waits", || stopped(&first) && !stopped(&second));
        eventually("the second waits", || stopped(&second) && !stopped(&first));
    }
    eventually("people see it", || {
        let said = machine.run(&["ps"]);
        String::from_utf8_lossy(&said.stdout).contains("another gang's turn")
    });
    one.kill().expect("it runs");
    one.wait().expect("it ended");
    eventually("the first is gone", || first.iter().all(|pid| !parvum_tests::alive(*pid)));
    eventually("the second runs on", || second.iter().all(|pid| !stopped(&[*pid])));
    other.kill().expect("it runs");
    other.wait().expect("it ended");
    eventually("the second is gone", || second.iter().all(|pid| !parvum_tests::alive(*pid)));
}
