//! What belongs to a job ends with the job: after 300 jobs that leave everything behind the machine is as empty as before.

use parvum_tests::stage::program;
use parvum_tests::{TestMachine, eventually};
use std::path::Path;

/// How much of each kind is in use.
fn in_use(machine: &TestMachine) -> Vec<String> {
    let said = machine.run(&["info"]).stdout;
    let rows = String::from_utf8_lossy(&said).into_owned();
    let is_count = |row: &&str| row.ends_with("in use");
    // The columns are as wide as their longest entry.
    let plain = |row: &str| row.split_whitespace().collect::<Vec<_>>().join(" ");
    rows.lines().filter(is_count).map(plain).collect()
}

fn files(folder: &Path) -> Vec<String> {
    let listed = std::fs::read_dir(folder).expect("a folder").flatten();
    let mut names: Vec<_> = listed.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn machine_is_as_empty_after_300_jobs_as_before() {
    let machine = TestMachine::up();
    let folder = std::env::temp_dir().join(format!("parvum-leaves-{}", std::process::id()));
    std::fs::create_dir(&folder).expect("a folder");
    let place = folder.to_str().expect("a plain path");
    let before = (in_use(&machine), files(&machine.dir));
    assert!(before.0.len() >= 8 && before.0.iter().all(|row| row.contains(" 0 ")), "{before:?}");
    for round in 0..300 {
        let how = ["finalize", "exit", "abort", "kill"][round % 4];
        let mut command = machine.command(&["run", "-n", "2"]);
        machine.as_user(&mut command);
        let ended = command.arg(program("leaves")).args([how, place]).output().expect("parvum runs");
        let said = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.success(), how == "finalize", "{how}: {said}");
        assert!(!said.contains("leaves.c"), "{said}");
    }
    let mut after = before.clone();
    eventually("the machine is empty", || {
        after = (in_use(&machine), files(&machine.dir));
        after == before
    });
    // The shared pointer lay beside the file.
    assert_eq!(files(&folder), ["leaves"]);
    std::fs::remove_dir_all(&folder).expect("removed");
}
