//! Programs in C that check themselves.

use parvum_tests::TestMachine;
use parvum_tests::running::Running;

/// The ways that the engine has on one host, and the best of them with and without single copies.
const WAYS: [(&str, &str); 4] = [
    ("PARVUM_ROUTE", "shm"),
    ("PARVUM_SINGLE_COPY", "off"),
    ("PARVUM_ROUTE", "tcp"),
    ("PARVUM_ROUTE", "routed"),
];

#[test]
fn one_task_and_its_containers() {
    let machine = TestMachine::up();
    machine.check(&mut machine.program("containers_alone"));
}

#[test]
fn two_tasks_and_their_containers() {
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
