//! CMMD as its programs see it. The numbers are those of the checks in the interface's specification.

use parvum_tests::beside::{judge, situations};
use parvum_tests::running::{Running, await_tasks};
use parvum_tests::stage::{fortran, include_of, program, program_source};
use parvum_tests::{Lack, TestMachine, skip};
use std::process::Command;

/// A program on so many nodes.
fn nodes(machine: &TestMachine, count: u32, name: &str, arguments: &[&str]) -> Command {
    let mut run = machine.command(&["run", "-n", &count.to_string()]);
    machine.as_user(&mut run);
    run.arg(program(name)).args(arguments);
    run
}

fn all_well(count: u32, name: &str, arguments: &[&str], routes: &[&str]) {
    let machine = TestMachine::up();
    for route in routes {
        eprintln!("over {route}");
        let said = machine.check(nodes(&machine, count, name, arguments).env("PARVUM_ROUTE", route));
        assert!(said.contains("all well"), "{said}");
        await_tasks(&machine, 0);
    }
}

const ROUTES: [&str; 3] = ["shm", "tcp", "routed"];

/// Checks 1 to 4. Over sockets the system has a part in when an answer comes, and in when long data has left.
#[test]
fn send_buffers_and_returns_as_cmmd_documents() {
    all_well(2, "cmmd_buffering", &[], &["shm"]);
    all_well(2, "cmmd_buffering", &["sockets"], &["tcp", "routed"]);
}

/// What a noblock send copied is fetched by its receiver alone, where tasks may read each other's memory.
#[test]
fn sender_outside_calls_blocks_no_other() {
    let folder = std::env::temp_dir().join(format!("parvum-cmmd-away-{}", std::process::id()));
    std::fs::create_dir(&folder).expect("a folder in which the nodes tell each other how far they are");
    all_well(2, "cmmd_away", &[folder.to_str().expect("a name in UTF-8")], &["shm"]);
    std::fs::remove_dir_all(&folder).expect("removed");
}

/// A run whose tasks are of PVM, NX and CMMD, each with each.
#[test]
fn tasks_of_other_interfaces_are_cmmd_nodes() {
    all_well(3, "interfaces_mixed", &[], &ROUTES);
}

/// Check 5: what ends.
#[test]
fn exchange_completes_with_both_sending_first() {
    for way in ["noblock", "async", "swap", "both"] {
        all_well(2, "cmmd_exchange", &[way], &ROUTES);
    }
}

/// Check 5: what does not; and what a person is told then.
#[test]
fn exchange_of_blocking_sends_is_reported_as_deadlock() {
    let machine = TestMachine::up();
    let mut run = Running::start(&mut nodes(&machine, 2, "cmmd_exchange", &["block"]));
    run.told("node ");
    run.told("node ");
    parvum_tests::eventually("parvum why names the deadlock", || {
        let said = String::from_utf8_lossy(&machine.run(&["why"]).stdout).into_owned();
        said.contains("DEADLOCK")
            && said.contains("waits in cmmd send_block")
            && said.contains("has posted no receive")
    });
    assert!(run.is_silent(), "{}", run.said);
    run.kill();
    run.end();
    await_tasks(&machine, 0);
}

/// A thread that waits holds up no other.
#[test]
fn thread_that_waits_does_not_block_another() {
    all_well(2, "cmmd_threads", &[], &ROUTES);
}

/// Checks 6 to 8.
#[test]
fn cmmd_matching_probes_and_handlers_work() {
    all_well(3, "cmmd_matching", &[], &ROUTES);
}

/// Check 9.
#[test]
fn cmmd_descriptors_and_credit_run_out_and_return() {
    let machine = TestMachine::new();
    let mut run = nodes(&machine, 2, "cmmd_handles", &[]);
    assert!(machine.check(run.env("PARVUM_CREDIT", "1000000")).contains("all well"));
}

/// Checks 10 to 13.
#[test]
fn collective_operations_work_with_all_nodes() {
    for count in [1, 2, 3, 5, 8] {
        all_well(count, "cmmd_global", &[&count.to_string()], &["shm"]);
    }
    all_well(4, "cmmd_global", &["4"], &["tcp", "routed"]);
}

/// What all do ends when one has ended.
#[test]
fn collective_operation_ends_when_a_node_has_ended() {
    for count in [2, 5] {
        all_well(count, "cmmd_ended", &[], &ROUTES);
    }
}

/// Check 14, channels, and the table of errors.
#[test]
fn cmmd_errors_timers_and_channels_work() {
    all_well(2, "cmmd_errors", &[], &ROUTES);
}

#[test]
fn receive_from_dead_node_fails() {
    let machine = TestMachine::up();
    // One node dies, as it is told to: the other shall go on.
    let mut run = machine.command(&["run", "-n", "2", "--on-failure", "continue"]);
    machine.as_user(&mut run);
    let mut run = Running::start(run.arg(program("cmmd_errors")).arg("die"));
    run.told("told");
    run.end();
    await_tasks(&machine, 0);
}

#[test]
fn cmmd_error_ends_the_run() {
    let machine = TestMachine::up();
    let mut run = Running::start(&mut nodes(&machine, 2, "cmmd_errors", &["error"]));
    assert!(!run.end().success());
    assert!(run.errors().contains("CMMD node 1: no luck today"));
    await_tasks(&machine, 0);
}

#[test]
fn host_program_starts_its_nodes() {
    let machine = TestMachine::up();
    for count in ["1", "3"] {
        let said = machine.check(machine.program("cmmd_host").env("PARVUM_CMMD_NODES", count));
        assert!(said.contains(&format!("{count} nodes, all well")), "{said}");
    }
    let mut refused = Running::start(machine.program("cmmd_host").env("PARVUM_CMMD_NODES", "many"));
    assert!(!refused.end().success());
    assert!(refused.errors().contains("PARVUM_CMMD_NODES=many is not valid"));
    let missing = "/nowhere/at-all";
    let mut refused = Running::start(machine.program("cmmd_host").env("PARVUM_CMMD_PROGRAM", missing));
    assert!(!refused.end().success());
    assert!(refused.errors().contains(missing));
    await_tasks(&machine, 0);
}

/// Check 15, as far as a busy machine can show it: of what no receive is posted for, there is one copy more, and of what one
/// is posted for there is none. What copies cost, `parvum compare --suite buffering` measures.
#[test]
fn buffered_message_is_copied_once_more() {
    all_well(2, "cmmd_rate", &[], &["shm"]);
}

#[test]
fn nodes_write_shared_files() {
    let machine = TestMachine::up();
    let file = machine.dir.join("together");
    let said = machine.check(&mut nodes(&machine, 3, "cmmd_files", &[file.to_str().expect("plain")]));
    std::fs::remove_file(&file).expect("node 0 has made it");
    // Each node wrote that alone: it may have come by another way, and earlier.
    let (ends, in_order): (Vec<&str>, Vec<&str>) = said.lines().partition(|line| line.starts_with("end of"));
    let mut wanted = String::new();
    for round in 0..3 {
        for node in 0..3 {
            wanted += &format!("round {round} node {node}\n");
            if round == 1 {
                wanted += &format!("and more of node {node}\n");
            }
        }
    }
    assert_eq!(in_order.join("\n"), wanted + "all of us");
    assert_eq!(ends.len(), 3, "{said}");
}

#[test]
fn fortran_program_runs() {
    if fortran().is_none() {
        return skip(Lack::Tools, "no Fortran compiler (gfortran) is installed");
    }
    all_well(2, "cmmd_ring", &[], &["shm"]);
}

#[test]
fn fortran_names_all_run() {
    if fortran().is_none() {
        return skip(Lack::Tools, "no Fortran compiler (gfortran) is installed");
    }
    let machine = TestMachine::up();
    let mut run = Running::start(&mut nodes(&machine, 2, "cmmd_names", &[]));
    run.told(" all well");
    assert!(!run.end().success(), "cmmd_error ends the run");
    assert!(run.errors().contains("CMMD node 0: that is enough"));
    // None is forgotten: the C calls are those of the header.
    let header = std::fs::read_to_string(include_of("cmmd").join("cmmd.h")).expect("cmmd.h");
    let program = std::fs::read_to_string(program_source("cmmd_names.f90")).expect("the program");
    let other = std::fs::read_to_string(program_source("cmmd_ring.f90")).expect("the program");
    let calls = header.lines().filter(|line| !line.starts_with('#'));
    for (before, _) in calls.filter_map(|line| line.split_once('(')) {
        let Some(name) = before.rsplit([' ', '*']).next().filter(|name| name.starts_with("CMMD_")) else {
            continue;
        };
        let name = name.to_lowercase() + "(";
        assert!(program.contains(&name) || other.contains(&name), "{name}");
    }
}

/// Each call that waits, in each situation of its partner.
#[test]
fn thread_works_while_another_waits_in_a_call() {
    let machine = TestMachine::up();
    for situation in situations() {
        eprintln!("{situation}");
        let mut command = nodes(&machine, 2, "cmmd_beside", &[situation]);
        judge(&machine, command.env("PARVUM_CREDIT", "65536"), 11);
    }
}
