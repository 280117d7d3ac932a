//! What onlookers say of tasks that wait in calls of containers.

use parvum_tests::recorded::trace;
use parvum_tests::running::{Running, await_tasks};
use parvum_tests::{TestMachine, eventually};
use std::process::Command;

#[test]
fn why_names_containers() {
    let machine = TestMachine::up();
    let start = |role: &str| Running::start(machine.program("containers_waits").arg(role));
    let mut all = ["holder", "caller", "sender"].map(start);
    await_tasks(&machine, 3);
    let task = |running: &Running| {
        let rows = machine.tasks();
        rows.iter().find(|row| row.pid == running.pid()).map(|row| row.tid.to_string()).expect("a task")
    };
    let [holder, caller, _] = all.each_ref().map(task);
    let wanted = [
        "waits for a message to its container \"inbox\"".to_owned(),
        format!("4 B from {caller} for its container \"other\""),
        format!("waits in a call for the answer of container \"other\" of {holder}"),
        format!("waits to send until container \"small\" of {holder} has room"),
    ];
    let mut said = String::new();
    eventually("all waits are told", || {
        said = String::from_utf8_lossy(&machine.run(&["why"]).stdout).into_owned();
        let all = wanted.iter().all(|words| said.contains(words));
        if !all {
            eprintln!("{said}");
        }
        all
    });
    all.iter_mut().for_each(Running::kill);
}

#[test]
fn recording_contains_words_of_containers() {
    let machine = TestMachine::new();
    let mut command = Command::new(parvum_tests::parvum());
    machine.as_user(&mut command);
    let program = parvum_tests::stage::program("containers_waits");
    let it = trace(command, &machine.dir.with_extension("trace"), &[], &program, &["short"]);
    assert!(it.ended.status.success(), "{}", it.report());
    for word in ["container receive", "rpc call", "name server"] {
        assert!(it.named(&format!("waits: {word}")).count() > 0, "{word} is missing: {}", it.report());
    }
}
