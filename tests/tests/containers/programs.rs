//! Programs in C that check themselves.

use parvum_tests::running::Running;
use parvum_tests::stage::cplusplus;
use parvum_tests::{Lack, TestMachine, skip};

/// The ways that the engine has on one host, and the best of them with and without single copies.
const WAYS: [(&str, &str); 4] = [
    ("PARVUM_ROUTE", "shm"),
    ("PARVUM_SINGLE_COPY", "off"),
    ("PARVUM_ROUTE", "tcp"),
    ("PARVUM_ROUTE", "routed"),
];

#[test]
fn containers_of_single_task_work() {
    let machine = TestMachine::up();
    machine.check(&mut machine.program("containers_alone"));
}

#[test]
fn containers_of_two_tasks_work() {
    let machine = TestMachine::up();
    for (option, value) in [WAYS[0], WAYS[2], WAYS[3]] {
        let start = |role| Running::start(machine.program("containers_pair").arg(role).env(option, value));
        let (server, client) = (start("server"), start("client"));
        let said = server.succeed(&machine);
        // Where tasks share memory nobody has copied it before it is read.
        let stayed = option == "PARVUM_ROUTE" && value == "shm";
        assert_eq!(said.trim(), format!("with sender: {}", i32::from(stayed)), "{option}={value}");
        client.succeed(&machine);
    }
}

#[test]
fn container_group_call_reports_dead_server() {
    let machine = TestMachine::up();
    let start = |number: &str| Running::start(machine.program("containers_many").args(["member", number]));
    let mut members = ["1", "2", "3"].map(start);
    let ids = members.each_mut().map(|member| member.told("task "));
    let mut caller = Running::start(machine.program("containers_many").arg("caller"));
    caller.told("kill one");
    let [first, mut second, third] = members;
    second.kill();
    caller.tell("done");
    assert_eq!(caller.told("dead "), ids[1]);
    caller.succeed(&machine);
    first.succeed(&machine);
    third.succeed(&machine);
}

#[test]
fn pvm_task_and_container_exchange_messages() {
    let machine = TestMachine::up();
    let containers = Running::start(&mut machine.program("containers_mixed"));
    machine.check(machine.program("containers_mixed").arg("pvm"));
    containers.succeed(&machine);
}

#[test]
fn cpp_classes_work() {
    if !cplusplus() {
        return skip(Lack::Tools, "no C++ compiler (c++) is installed");
    }
    let machine = TestMachine::up();
    let server = Running::start(machine.program("containers_classes").arg("server"));
    assert_eq!(machine.check(&mut machine.program("containers_classes")), "done\n");
    assert_eq!(server.succeed(&machine), "done\n");
}

#[test]
fn container_gang_starts() {
    let machine = TestMachine::up();
    machine.check(&mut machine.program("containers_gang"));
}
