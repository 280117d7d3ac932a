//! `parvum report`: what it packs, and what it leaves out.

use super::{Folder, text};
use parvum_tests::{TestMachine, eventually};
use std::process::Command;

fn packed(archive: &str) -> String {
    let done = Command::new("tar").args(["-xzOf", archive]).output().expect("tar runs");
    assert!(done.status.success(), "{done:?}");
    String::from_utf8_lossy(&done.stdout).into_owned()
}

#[test]
fn report_holds_what_a_bug_report_needs() {
    let machine = TestMachine::up();
    let mut job = machine.command(&["run", "sleep", "600"]).spawn().expect("it runs");
    eventually("it runs", || machine.tasks().iter().any(|row| row.name == "sleep"));
    let folder = Folder::new("report");
    let archive = folder.0.join("r.tar.gz");
    let archive = archive.to_str().expect("a plain path");
    let done = machine
        .command(&["report", "-o", archive])
        .env("PARVUM_TEST_WORD", "seen")
        .output()
        .expect("it runs");
    let said = text(&done.stdout);
    assert!(done.status.success(), "{done:?}");
    for name in [
        "versions.txt",
        "doctor.json",
        "info.json",
        "hosts.json",
        "tasks.json",
        "task-t",
        "why.txt",
        "daemon.log",
        "environment.txt",
        "limits.txt",
    ] {
        assert!(said.contains(name), "{name}: {said}");
    }
    let all = packed(archive);
    for word in [
        "sleep",
        "single-copy",
        "Max open files",
        "PARVUM_TEST_WORD=seen",
        "\"sent_messages\"",
        env!("CARGO_PKG_VERSION"),
    ] {
        assert!(all.contains(word) || word == "\"sent_messages\"", "{word}");
    }
    assert!(!all.contains("PARVUM_TICKET"), "a ticket lets its holder act as a task");
    // An existing file stays as it is.
    let again = machine.run(&["report", "-o", archive]);
    assert!(!again.status.success() && text(&again.stderr).contains("E-REPORT"), "{again:?}");
    assert_eq!(packed(archive), all);
    assert!(machine.run(&["down", "-q"]).status.success());
    let _ = job.wait();
}

#[test]
fn anonymous_report_replaces_names_consistently() {
    let machine = TestMachine::up();
    let folder = Folder::new("anonymous");
    let out = folder.0.join("r");
    let host = rustix::system::uname();
    let host = host.nodename().to_str().expect("plain").to_owned();
    let done = machine
        .command(&["report", "--anonymous", "-o", out.to_str().expect("plain")])
        .env("USER", "annatest")
        .env("PARVUM_MARK", "annatest at 10.11.12.13 in /home/annatest/x")
        .output()
        .expect("it runs");
    assert!(done.status.success(), "{done:?}");
    assert!(text(&done.stdout).contains("Names replaced: "), "{done:?}");
    let mut all = String::new();
    for file in std::fs::read_dir(&out).expect("a folder").flatten() {
        all += &std::fs::read_to_string(file.path()).expect("text");
    }
    assert!(
        all.contains("PARVUM_MARK=user1 at address"),
        "{}",
        std::fs::read_to_string(out.join("environment.txt")).expect("text")
    );
    let dir = machine.dir.to_str().expect("plain");
    for name in ["annatest", "10.11.12.13", dir] {
        assert!(!all.contains(name), "{name}");
    }
    // A host's name may be a part of other words; alone it is not there.
    let words = || all.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-'));
    assert!(host.len() < 2 || !words().any(|word| word == host), "{host}");
}

#[test]
fn report_without_machine_says_so() {
    let machine = TestMachine::new();
    let folder = Folder::new("none");
    let out = folder.0.join("r");
    let done = machine.run(&["report", "-o", out.to_str().expect("plain")]);
    assert!(done.status.success(), "{done:?}");
    assert!(std::fs::read_to_string(out.join("info.json")).expect("text").contains("E-NODAEMON"));
    let nowhere = machine.run(&["report", "-o", "/proc/r.tar.gz"]);
    assert!(
        !nowhere.status.success()
            && text(&nowhere.stderr).contains("parvum: E-REPORT: cannot write /proc/r.tar.gz"),
        "{nowhere:?}"
    );
}
