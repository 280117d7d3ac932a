//! LU, SP and BT of the NAS benchmarks over PVM's calls: what comes out are the official values, or the program says that it is not so.

use parvum_tests::npb::{BENCHMARKS, Npb, verified};
use parvum_tests::running::await_tasks;
use parvum_tests::{TestMachine, parvum};
use std::process::{Command, Output};

fn run(machine: &TestMachine, program: &Npb, words: &[&str]) -> Output {
    let mut command = Command::new(program.path());
    machine.as_user(&mut command);
    command.args(words).output().expect("it starts")
}

fn said(done: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr))
}

#[test]
fn class_s_values_are_official_for_every_split() {
    let machine = TestMachine::up();
    let program = Npb::over("pvm", "pvm");
    for benchmark in BENCHMARKS {
        // Odd numbers too, lines over five blocks, and slabs of one plane.
        for tasks in [1, 2, 4, 5, 8] {
            let words = ["--benchmark", benchmark, "--class", "S", "--tasks", &tasks.to_string()];
            let done = run(&machine, &program, &words);
            assert!(done.status.success(), "{words:?}: {}", said(&done));
            verified(&said(&done), benchmark, tasks);
        }
    }
    // More groups than are needed, by portable bytes, through the daemon.
    let words = [
        "--benchmark",
        "sp",
        "--class",
        "S",
        "--tasks",
        "3",
        "--groups",
        "9",
        "--encoding",
        "default",
        "--route",
        "dont",
    ];
    verified(&said(&run(&machine, &program, &words)), "sp", 3);
    await_tasks(&machine, 0);
}

#[test]
fn perturbed_value_fails_verification_and_leaves_no_sample() {
    let machine = TestMachine::up();
    let program = Npb::over("pvm", "perturbed");
    let out = std::env::temp_dir().join(format!("parvum-npb-samples-{}", std::process::id()));
    let file = out.to_str().expect("a plain path");
    for benchmark in BENCHMARKS {
        let words = ["--benchmark", benchmark, "--class", "S", "--tasks", "2", "--perturb", "1e-5"];
        let done = run(&machine, &program, &words);
        let page = said(&done);
        assert!(done.status.code() == Some(1) && page.contains("NOT VERIFIED"), "{benchmark}: {page}");
        assert!(page.contains("DIFFERS"), "{benchmark}: {page}");
        await_tasks(&machine, 0);
        let done = run(&machine, &program, &[&words[..], &["--out", file]].concat());
        let why = said(&done);
        assert!(
            !done.status.success() && why.contains("class S is not verified: a value is off by"),
            "{why}"
        );
        assert!(!out.exists(), "{benchmark}: a sample of a run that is wrong");
        await_tasks(&machine, 0);
    }
    let done = run(&machine, &program, &["--benchmark", "lu", "--class", "S", "--tasks", "2", "--out", file]);
    let line = std::fs::read_to_string(&out).expect("samples");
    std::fs::remove_file(&out).expect("ours");
    assert!(done.status.success() && line.contains("\"messages\":40,"), "{line}{}", said(&done));
}

#[test]
fn npb_refuses_invalid_arguments_with_cause() {
    let alone = Npb::over("alone", "alone");
    let refused = |words: &[&str], cause: &str| {
        let done = Command::new(alone.path()).args(words).output().expect("it starts");
        assert!(done.status.code() == Some(1) && said(&done).contains(cause), "{words:?}: {}", said(&done));
    };
    refused(&[], "--benchmark is missing: lu, sp or bt");
    refused(&["--benchmark", "ep"], "--benchmark is lu, sp or bt, not \"ep\"");
    refused(&["--benchmark", "lu"], "--class is missing: S, W, A or B");
    refused(&["--benchmark", "lu", "--class", "C"], "--class is S, W, A or B, not \"C\"");
    refused(&["--benchmark", "lu", "--sizes", "13"], "no class of lu has 13 points each way");
    refused(
        &["--benchmark", "lu", "--class", "S", "--tasks", "0"],
        "--tasks is a number from 1 to 64, not \"0\"",
    );
    refused(&["--benchmark", "lu", "--class", "S", "--tasks", "2"], "built without messages, it has 1 task");
    refused(&["--benchmark", "lu", "--class", "S", "--cpus", "0,x"], "--cpus is a list of cores");
    refused(
        &["--benchmark", "lu", "--class", "S", "--perturb", "much"],
        "--perturb is a number, not \"much\"",
    );
    refused(&["--benchmark", "lu", "--class"], "its value is missing: --class");
    // Memory is looked at before it is taken.
    let script = format!("ulimit -v 100000; exec {} --benchmark bt --class B", alone.path());
    let done = Command::new("sh").args(["-c", &script]).output().expect("sh runs");
    let why = said(&done);
    assert!(done.status.code() == Some(1) && why.contains("bt class B needs 374 MiB"), "{why}");
    assert!(why.contains("which has 98 MiB left"), "{why}");

    let machine = TestMachine::up();
    let program = Npb::over("pvm", "refused");
    for (benchmark, axis) in [
        ("bt", "13 blocks (1 x 1 x 13) along z leave one fewer than 1"),
        ("lu", "13 blocks (13 x 1 x 1) along x"),
    ] {
        let done = run(&machine, &program, &["--benchmark", benchmark, "--class", "S", "--tasks", "13"]);
        let why = said(&done);
        assert!(!done.status.success() && why.contains(axis), "{benchmark}: {why}");
        await_tasks(&machine, 0);
    }
}

#[test]
fn compare_refuses_invalid_npb_choices() {
    for (words, cause) in [
        (&["--suite", "npb", "--class", "Z"][..], "the classes are S, W, A and B"),
        (&["--suite", "npb", "--tasks", "3"], "the benchmarks are run on 1, 2, 4 or 8 tasks"),
        (&["--suite", "npb", "--benchmark", "ep"], "lu, sp, bt"),
        (&["--suite", "main", "--tasks", "2"], "the suite main has no such parts"),
        (&["--suite", "npb", "--hosts", "8", "--tasks", "4"], "--hosts 8 needs --tasks 8 or more (got 4)"),
        (&["--suite", "npb", "--hosts", "3"], "2, 4 or 8 hosts can be made"),
        (&["--suite", "npb", "--host", "alpha"], "--host alpha names one host"),
        (
            &["--suite", "shared", "--host", "alpha,beta"],
            "the suite shared (or this part of it) runs on one host",
        ),
        (&["--paper", "004", "--table", "2", "--host", "alpha,beta"], "the suite sockets"),
        (&["--paper", "001", "--figure", "7,17"], "figure 17"),
    ] {
        let done = Command::new(parvum()).arg("compare").args(words).output().expect("it starts");
        assert!(!done.status.success() && said(&done).contains(cause), "{words:?}: {}", said(&done));
    }
}
