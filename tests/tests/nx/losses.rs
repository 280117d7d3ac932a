//! Nodes that lose something: their machine, memory, another node, themselves.

use parvum_tests::running::{Running, await_tasks};
use parvum_tests::stage::program;
use parvum_tests::{TestMachine, eventually, kill_hard};

#[test]
fn forked_child_is_no_node() {
    let machine = TestMachine::up();
    assert!(lost(&machine, 1, "child").contains("all well"));
}

#[test]
fn node_without_descriptors_does_not_spin() {
    let machine = TestMachine::up();
    assert!(lost(&machine, 1, "descriptors").contains("all well"));
}

#[test]
fn collective_ends_when_a_node_has_ended() {
    let machine = TestMachine::up();
    for (nodes, route) in [(3, "shm"), (5, "shm"), (4, "tcp"), (4, "routed")] {
        let mut command = machine.command(&["run", "-n", &nodes.to_string()]);
        machine.as_user(&mut command);
        let said = machine.check(command.env("PARVUM_ROUTE", route).arg(program("nx_lost")).arg("fellow"));
        assert_eq!(said.matches("all well").count(), nodes, "{said}");
    }
    let mut command = machine.command(&["run", "-n", "4", "--on-failure", "continue"]);
    machine.as_user(&mut command);
    let ended = command.arg(program("nx_lost")).arg("plainly").output().expect("parvum runs");
    let said = String::from_utf8_lossy(&ended.stdout) + String::from_utf8_lossy(&ended.stderr);
    assert_eq!(said.matches("gdsum: node 2 has ended, and this needs all nodes").count(), 3, "{said}");
}

#[test]
fn task_waiting_in_segment_learns_of_a_death() {
    let machine = TestMachine::up();
    for (nodes, after) in [(3, "0"), (4, "30"), (8, "30")] {
        let mut command = machine.command(&["run", "-n", &nodes.to_string(), "--on-failure", "continue"]);
        machine.as_user(&mut command);
        let ended = command.arg(program("nx_lost")).args(["dies", after]).output().expect("parvum runs");
        let said = String::from_utf8_lossy(&ended.stdout) + String::from_utf8_lossy(&ended.stderr);
        assert_eq!(said.matches("all well").count(), nodes - 1, "{said}");
    }
}

#[test]
fn task_waiting_in_segment_is_shown_with_missing_member() {
    let machine = TestMachine::up();
    let mut command = machine.command(&["run", "-n", "4"]);
    machine.as_user(&mut command);
    let mut run = Running::start(command.arg(program("nx_lost")).arg("absent"));
    run.told("absent");
    let mut said = String::new();
    eventually("the others have come", || {
        said = String::from_utf8_lossy(&machine.run(&["why"]).stdout).into_owned();
        said.contains(": 3 of 4 have come, missing: t")
    });
    assert_eq!(said.matches("waits in nx global operation of group nodes of t").count(), 3, "{said}");
    run.kill();
    for row in machine.tasks() {
        machine.run(&["kill", "-s", "9", &row.tid.to_string()]);
    }
    await_tasks(&machine, 0);
}

#[test]
fn send_without_memory_fails_and_later_succeeds() {
    let machine = TestMachine::up();
    let said = lost(&machine, 2, "memory");
    assert_eq!(said.matches("all well").count(), 2, "{said}");
}

#[test]
fn process_without_machine_is_no_node() {
    let machine = TestMachine::new();
    let mut nowhere = machine.program("nx_lost");
    let ended = nowhere.env("PARVUM_DIR", "/dev/null/nowhere").output().expect("it starts");
    let (said, why) = (String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr));
    assert!(ended.status.success() && said.contains("all well"), "{said}{why}");
    assert!(why.contains("libnx: E-DIR") && why.contains("set PARVUM_DIR"), "{why}");
}

#[test]
fn waits_all_end_with_the_machine() {
    let machine = TestMachine::up();
    let mut node = Running::start(machine.program("nx_lost").arg("machine"));
    node.told("waits");
    kill_hard(machine.daemon_pid());
    node.told("all well");
    assert!(node.end().success());
}

#[test]
fn killproc_stops_one_node_and_killcube_all() {
    let machine = TestMachine::up();
    // A node that another stops has not ended well: the job shall go on without it.
    let mut command = machine.command(&["run", "-n", "3", "--on-failure", "continue"]);
    machine.as_user(&mut command);
    let mut run = Running::start(command.arg(program("nx_kill")));
    run.told("one is gone");
    assert!(!run.end().success());
    assert!(!run.said.contains("not reached"), "{}", run.said);
    await_tasks(&machine, 0);
}

fn lost(machine: &TestMachine, nodes: u32, what: &str) -> String {
    let mut command = machine.command(&["run", "-n", &nodes.to_string()]);
    machine.as_user(&mut command);
    machine.check(command.arg(program("nx_lost")).arg(what))
}
