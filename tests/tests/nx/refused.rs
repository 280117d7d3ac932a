//! What is wrong ends the program, with one cause and one remedy.

use parvum_tests::TestMachine;
use parvum_tests::stage::program;
use std::process::Output;

fn fatal(machine: &TestMachine, what: &str, options: &[(&str, &str)]) -> Output {
    let mut command = machine.program("nx_fatal");
    command.arg(what).envs(options.iter().copied()).output().expect("it starts")
}

#[test]
fn invalid_calls_print_cause_and_end_the_program() {
    let machine = TestMachine::up();
    for (what, call, cause) in [
        ("msglong", "crecv", "longer than the buffer"),
        ("pbuf", "csend", "null pointer"),
        ("len", "crecv", "negative"),
        ("blen", "csend", "larger than memory"),
        ("node", "csend", "no such node"),
        ("pid", "csend", "the ptype is negative"),
        ("type", "csend", "not one that a program may use"),
        ("mid", "msgwait", "no such message id"),
        ("hnd", "hrecv", "the handler is a null pointer"),
        ("nomid", "irecv", "all message ids are in use"),
        ("set", "setptype", "has a ptype already"),
        ("noset", "csend", "has no ptype"),
    ] {
        let ended = fatal(&machine, what, &[]);
        let said = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(1), "{what}: {said}");
        assert_eq!(said.lines().count(), 1, "{what}: {said}");
        assert!(
            said.starts_with(&format!("libnx [node 0]: {call}: ")) && said.contains(cause),
            "{what}: {said}"
        );
    }
    assert!(fatal(&machine, "done", &[]).status.success());
}

#[test]
fn invalid_option_is_refused() {
    let machine = TestMachine::up();
    let ended = fatal(&machine, "done", &[("PARVUM_NX_BUFFERING", "some")]);
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(
        !ended.status.success() && said.contains("E-OPTION") && said.contains("use paragon or ipsc"),
        "{said}"
    );
}

#[test]
fn ended_node_is_no_node() {
    let machine = TestMachine::up();
    let mut command = machine.command(&["run", "-n", "2"]);
    machine.as_user(&mut command);
    let ended = command.arg(program("nx_ended")).output().expect("parvum runs");
    let said = String::from_utf8_lossy(&ended.stdout);
    assert!(ended.status.success() && said.contains("all well"), "{ended:?}");
}
