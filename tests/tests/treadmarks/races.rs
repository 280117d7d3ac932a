//! `parvum run --races`: what it finds, how it tells it, and what it must not take for a race.

use crate::EACH_ALONE;
use parvum_tests::TestMachine;
use parvum_tests::running::await_tasks;
use parvum_tests::stage::{program, program_source};
use std::process::Output;

/// A part of the program as so many processes, looked at for races.
fn looked_at(machine: &TestMachine, count: u32, protocol: &str, part: &str) -> (String, Output) {
    let mut run = machine.command(&["run", "--races", "-n", &count.to_string(), "--"]);
    machine.as_user(&mut run);
    run.arg(program("tmk_races")).arg(part).env("TMK_PROTOCOL", protocol);
    let ended = run.output().expect("it runs");
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert!(String::from_utf8_lossy(&ended.stdout).contains("all well"), "{said}");
    (said, ended)
}

/// The line of the program's source that has this mark, as it is told.
fn line(mark: &str) -> String {
    let source = program_source("tmk_races.c");
    let text = std::fs::read_to_string(source).expect("the program's source");
    let at = text.lines().position(|line| line.ends_with(&format!("/* {mark} */"))).expect("it is marked");
    format!("tmk_races.c:{} in ", at + 1)
}

/// That exactly one race was found, and is told with all of these.
fn one_race(part: &str, count: u32, words: &[String]) {
    if !cfg!(target_arch = "x86_64") {
        return parvum_tests::skip(parvum_tests::Lack::Tools, "races are looked for on x86-64 alone");
    }
    let machine = TestMachine::up();
    for protocol in EACH_ALONE {
        let (said, ended) = looked_at(&machine, count, protocol, part);
        eprintln!("{protocol}: {said}");
        assert_eq!(ended.status.code(), Some(66), "{said}");
        assert_eq!(said.matches("parvum: race ").count(), 1, "{said}");
        assert!(said.contains("parvum: 1 race, seen once"), "{said}");
        for word in words {
            assert!(said.contains(word.as_str()), "{word} is missing: {said}");
        }
    }
    await_tasks(&machine, 0);
}

#[test]
fn writes_without_lock_are_a_race() {
    one_race(
        "count",
        3,
        &[
            "two writes that nothing orders".into(),
            ", byte 20 of the 4096 that node 0 allocated at ".into(),
            line("ALLOCATED"),
            "node 0 (task t".into(),
            format!("{}count, holding no lock", line("WRITES")),
            "node 1 (task t".into(),
            "both after barrier 3 and before barrier 4".into(),
        ],
    );
}

#[test]
fn locks_that_differ_order_nothing() {
    one_race(
        "locks",
        3,
        &[
            "a write and a read that nothing orders".into(),
            ", byte 400 of the 8192 that".into(),
            format!("{}locks, holding lock 7", line("LOCKED")),
            format!("{}locks, holding lock 8", line("READS")),
        ],
    );
}

#[test]
fn accesses_of_different_widths_after_last_barrier_are_compared() {
    one_race(
        "last",
        2,
        &[
            "two writes that".into(),
            ", byte 12 of the 4096 that".into(),
            line("LONG"),
            line("SHORT"),
            "and before Tmk_exit".into(),
        ],
    );
}

#[test]
fn race_in_c_library_names_its_caller() {
    one_race("copies", 2, &[", called at ".into(), format!("{}copies", line("COPIES")), line("INSIDE")]);
}

#[test]
fn ordered_accesses_and_page_neighbours_are_no_races() {
    if !cfg!(target_arch = "x86_64") {
        return parvum_tests::skip(parvum_tests::Lack::Tools, "races are looked for on x86-64 alone");
    }
    let machine = TestMachine::up();
    for protocol in EACH_ALONE {
        for count in [1, 2, 4] {
            let (said, ended) = looked_at(&machine, count, protocol, "orderly");
            assert_eq!((ended.status.code(), said.contains("parvum: race ")), (Some(0), false), "{said}");
            assert!(said.contains("parvum: no races"), "{said}");
        }
    }
    await_tasks(&machine, 0);
}

/// By the variable alone, told on standard error; and a program of another kind.
#[test]
fn race_variable_enables_detection_and_silence_is_reported() {
    let machine = TestMachine::up();
    let mut run = crate::processes(&machine, 2, "lazy", &["tmk_races", "count"]);
    let ended = run.env("TMK_RACES", "yes").output().expect("it runs");
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert!(ended.status.success() && said.contains("libTmk: race 1: two writes"), "{said}");
    let mut other = machine.command(&["run", "--races", "-n", "2", "true"]);
    let ended = other.output().expect("it runs");
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert!(ended.status.success() && said.contains("E-RACES: process 0 has said nothing"), "{said}");
    await_tasks(&machine, 0);
}
