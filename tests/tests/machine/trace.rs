//! `parvum trace`: everything a program did is in the files, however it ended.

use parvum_tests::TestMachine;
use parvum_tests::recorded::{Trace, trace, traced};
use std::path::Path;
use std::process::Command;

fn record(machine: &TestMachine, options: &[&str], program: &Path, words: &[&str]) -> Trace {
    let mut command = Command::new(parvum_tests::parvum());
    machine.as_user(&mut command);
    trace(command, &machine.dir.with_extension("trace"), options, program, words)
}

#[test]
fn trace_has_each_message_of_ring_once() {
    let machine = TestMachine::new();
    for route in ["shm", "tcp", "routed"] {
        let mut command = Command::new(parvum_tests::parvum());
        machine.as_user(&mut command);
        command.env("PARVUM_ROUTE", route);
        let folder = machine.dir.with_extension("trace");
        let it = trace(command, &folder, &[], &traced(), &["ring", "4", "25"]);
        assert_eq!(it.ended.status.code(), Some(3), "the program's own: {}", it.report());
        let told = it.told();
        assert_eq!(told.len(), 4 * 25 + 3);
        assert_eq!(it.ends("send", "to"), told, "{route}");
        assert_eq!(it.ends("receive", "from"), told, "{route}");
        let arrows = it.arrows();
        assert_eq!(arrows.len(), told.len());
        assert!(arrows.iter().all(|(_, sent, _, received)| sent <= received), "{arrows:?}");
        let routes = it.named("send").filter(|event| event["args"]["route"] == route).count();
        assert_eq!(routes, told.len());
        assert!(it.named("waits: receive").count() > 0);
        assert_eq!(it.named("thread_name").count(), 4);
        assert!(it.report().contains("103 messages of 4 tasks on 1 host"), "{}", it.report());
        assert!(it.html.contains("\"program\":\"traced\"") && it.html.contains("<canvas"));
    }
}

#[test]
fn trace_contains_events_of_killed_task() {
    let machine = TestMachine::new();
    let it = record(&machine, &[], &traced(), &["killed"]);
    assert!(it.ended.status.success(), "{}", it.report());
    let told = it.told();
    assert_eq!(told.len(), 2);
    assert_eq!(it.ends("send", "to"), told);
    let received = it.ends("receive", "from");
    assert!(told.iter().all(|message| received.contains(message)), "{received:?}");
    // Its last wait lasted until it was killed.
    let cut: Vec<_> =
        it.named("waits: receive").filter(|wait| wait["args"]["ended with its task"] == true).collect();
    let [last] = &cut[..] else { panic!("{cut:?}") };
    assert_eq!(last["tid"].as_i64(), Some(told[0].1));
    assert_eq!(last["args"]["tag"], "7");
    assert!(last["dur"].as_f64().expect("a time") > 40_000.0, "{last}");
}

#[test]
fn trace_contains_forked_task() {
    let machine = TestMachine::new();
    let it = record(&machine, &[], &traced(), &["forked"]);
    assert!(it.ended.status.success(), "{}", it.report());
    assert_eq!(it.ends("send", "to"), it.told());
    assert_eq!(it.ends("receive", "from"), it.told());
    assert_eq!(it.named("thread_name").count(), 2);
}

#[test]
fn trace_keeps_newest_records_and_reports_dropped() {
    let machine = TestMachine::new();
    let it = record(&machine, &["--memory", "4096"], &traced(), &["ring", "2", "500"]);
    assert_eq!(it.ended.status.code(), Some(3));
    assert!(it.report().contains("did not fit into 4096 bytes for each task (2 of 2"), "{}", it.report());
    let told = it.told();
    let sent = it.ends("send", "to");
    // A task's ring holds 127 records; of a message it has one, and two of a wait.
    assert!((60..=2 * 127).contains(&sent.len()), "{}", sent.len());
    assert!(sent.iter().all(|message| told.contains(message)));
    let newest = told.iter().map(|message| message.2).max();
    assert_eq!(sent.iter().map(|message| message.2).max(), newest, "the newest are there");
    let dropped: Vec<_> = it.about.iter().filter(|(name, _)| name.ends_with(" dropped")).collect();
    assert_eq!(dropped.len(), 2, "{:?}", it.about);
    assert!(dropped.iter().all(|(_, count)| count.as_u64().is_some_and(|count| count > 300)), "{dropped:?}");
}

#[test]
fn trace_escapes_hostile_program_name() {
    let machine = TestMachine::new();
    let program = machine.dir.with_extension("<b>\"x\\&'");
    std::fs::copy(traced(), &program).expect("copied");
    let it = record(&machine, &[], &program, &["ring", "2", "1"]);
    let name = program.file_name().expect("it has one").to_string_lossy().into_owned();
    std::fs::remove_file(&program).expect("ours");
    assert_eq!(it.ended.status.code(), Some(3), "{}", it.report());
    assert_eq!(it.about["program"], name.as_str());
    assert!(
        it.named("thread_name").all(|event| event["args"]["name"].as_str().expect("a name").ends_with(&name))
    );
    assert!(!it.html.contains("<b>") && !it.html.contains("\"x\\&"));
}

#[test]
fn unwritable_trace_file_is_reported_before_program_runs() {
    let machine = TestMachine::up();
    let ended = machine.run(&["trace", "-o", "/no/such/folder/it", "--", "sh", "-c", "echo ran"]);
    assert_eq!(ended.status.code(), Some(1));
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(said.contains("E-SYSTEM") && said.contains("/no/such/folder"), "{said}");
    assert!(ended.stdout.is_empty());
}
