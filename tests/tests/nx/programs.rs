//! Programs that check themselves, as partitions of several sizes.

use parvum_tests::stage::{fortran, program};
use parvum_tests::{Lack, TestMachine, skip};

/// Runs a program as so many nodes; what it says.
pub(crate) fn run(machine: &TestMachine, nodes: u32, name: &str, options: &[(&str, &str)]) -> String {
    let mut command = machine.command(&["run", "-n", &nodes.to_string()]);
    machine.as_user(&mut command);
    command.arg(program(name)).envs(options.iter().copied());
    machine.check(&mut command)
}

fn all_well(machine: &TestMachine, nodes: u32, name: &str, options: &[(&str, &str)]) {
    let said = run(machine, nodes, name, options);
    assert_eq!(said.matches("all well").count(), nodes as usize, "{said}");
    parvum_tests::running::await_tasks(machine, 0);
}

#[test]
fn nx_messages_ids_probes_and_selectors_work() {
    let machine = TestMachine::up();
    for mode in ["paragon", "ipsc"] {
        all_well(&machine, 3, "nx_points", &[("PARVUM_NX_BUFFERING", mode)]);
    }
}

#[test]
fn nx_messages_work_without_single_copy_and_over_tcp() {
    let machine = TestMachine::up();
    all_well(&machine, 3, "nx_points", &[("PARVUM_SINGLE_COPY", "off")]);
    all_well(&machine, 3, "nx_points", &[("PARVUM_ROUTE", "tcp")]);
}

#[test]
fn nx_global_operations_work_with_any_node_count() {
    let machine = TestMachine::up();
    for nodes in [1, 2, 3, 5, 8] {
        all_well(&machine, nodes, "nx_global", &[]);
    }
}

#[test]
fn nx_handlers_interrupt_the_program() {
    let machine = TestMachine::up();
    all_well(&machine, 2, "nx_handlers", &[]);
}

#[test]
fn thread_waits_for_message_sent_by_another_thread() {
    let machine = TestMachine::up();
    for route in ["shm", "tcp", "routed"] {
        all_well(&machine, 2, "nx_threads", &[("PARVUM_ROUTE", route)]);
    }
}

#[test]
fn handler_may_take_lock_held_by_program() {
    let machine = TestMachine::up();
    all_well(&machine, 2, "nx_locked", &[]);
}

#[test]
fn ptypes_are_chosen_once() {
    let machine = TestMachine::up();
    all_well(&machine, 1, "nx_ptype", &[]);
    let mut service = machine.program("nx_ptype");
    assert!(machine.check(service.arg("service")).contains("all well"));
}

#[test]
fn fortran_point_to_point_names_all_run() {
    if fortran().is_none() {
        return skip(Lack::Tools, "no Fortran compiler (gfortran) is installed");
    }
    all_well(&TestMachine::up(), 2, "nx_names", &[]);
}

#[test]
fn why_names_crecv() {
    use parvum_tests::running::{Running, await_tasks};
    let machine = TestMachine::up();
    let mut command = machine.command(&["run", "-n", "2"]);
    machine.as_user(&mut command);
    let mut run = Running::start(command.arg(program("nx_waits")));
    run.told("waits ");
    run.told("waits ");
    parvum_tests::eventually("parvum why names the call and its type", || {
        let said = String::from_utf8_lossy(&machine.run(&["why"]).stdout).into_owned();
        said.contains("crecv") && said.contains("tag 6")
    });
    run.kill();
    run.end();
    await_tasks(&machine, 0);
}
