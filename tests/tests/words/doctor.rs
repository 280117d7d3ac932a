//! `parvum doctor HOST`: what stops `parvum add` is said before, with its cure, and in time.

use super::{Folder, text};
use parvum_tests::bed::Bed;
use parvum_tests::{TestMachine, parvum};
use serde_json::Value;
use std::path::Path;
use std::process::Output;

/// The doctor of one host that a script stands for.
fn asked(by: &Path, more: &[&str]) -> (Output, Vec<Value>) {
    let machine = TestMachine::new();
    let by = by.to_str().expect("a plain path");
    let mut words = vec!["doctor", "--json", "--timeout", "3", "--start-by", by];
    words.extend(more);
    words.push("beta");
    let done = machine.command(&words).env_remove("PARVUM_REMOTE").output().expect("parvum runs");
    let found: Value =
        serde_json::from_str(&text(&done.stdout)).unwrap_or_else(|why| panic!("{why}: {done:?}"));
    let findings = found["findings"].as_array().expect("findings").iter();
    let of_beta = findings.filter(|one| one["host"] == "beta").cloned().collect();
    (done, of_beta)
}

/// The finding of that check, which is an error with help.
fn error<'a>(found: &'a [Value], check: &str) -> &'a str {
    let one = found.iter().find(|one| one["check"] == check).unwrap_or_else(|| panic!("{check}: {found:?}"));
    assert_eq!(one["state"], "error", "{one}");
    assert!(one["help"].as_array().is_some_and(|help| !help.is_empty()), "{one}");
    one["text"].as_str().expect("a text")
}

fn state<'a>(found: &'a [Value], check: &str) -> &'a str {
    let one = found.iter().find(|one| one["check"] == check).unwrap_or_else(|| panic!("{check}: {found:?}"));
    one["state"].as_str().expect("a state")
}

/// What ssh prints in each case, and its code.
#[test]
fn doctor_turns_words_of_ssh_into_cause_and_cure() {
    let folder = Folder::new("doctor");
    for (code, said, check, cause) in [
        (
            255,
            "ssh: Could not resolve hostname beta: Name or service not known",
            "ssh",
            "cannot resolve the name",
        ),
        (255, "anna@beta: Permission denied (publickey).", "ssh", "refuses this user's key"),
        (255, "Host key verification failed.", "ssh", "a host key that ssh does not know"),
        (255, "ssh: connect to host beta port 22: Connection refused", "ssh", "no sshd listens"),
        (255, "ssh: connect to host beta port 22: Connection timed out", "ssh", "cannot be reached"),
        (127, "bash: parvum: command not found", "release", "has no `parvum` in its PATH"),
        (126, "bash: parvum: cannot execute binary file", "release", "cannot execute `parvum`"),
        (2, "parvum: E-USAGE: unexpected argument '--probe' found", "release", "an earlier release"),
        (7, "", "ssh", "exit code 7"),
    ] {
        let by = folder.script("ssh", &format!("#!/bin/sh\nprintf '%s\\n' \"{said}\" >&2\nexit {code}\n"));
        let (done, found) = asked(&by, &[]);
        assert_eq!(done.status.code(), Some(1), "{done:?}");
        assert!(error(&found, check).contains(cause), "{said}: {found:?}");
    }
}

#[test]
fn doctor_ends_in_time_if_host_hangs() {
    let folder = Folder::new("doctor-hangs");
    let mark = folder.0.join("pid");
    let by = folder.script("ssh", &format!("#!/bin/sh\necho $$ > {}\nsleep 600 & wait\n", mark.display()));
    let (_, found) = asked(&by, &[]);
    assert!(error(&found, "ssh").contains("no answer within 3 s"), "{found:?}");
    let pid: u32 = std::fs::read_to_string(&mark).expect("it ran").trim().parse().expect("a pid");
    parvum_tests::gone(pid);
    // One that answers first and hangs then.
    let hello = "{\"doctor\":1,\"release\":\"0\",\"protocol\":0}";
    let by = folder.script(
        "ssh",
        &format!("#!/bin/sh\necho $$ > {}\necho '{hello}'\nsleep 600 & wait\n", mark.display()),
    );
    let (_, found) = asked(&by, &[]);
    assert!(error(&found, "answer").contains("no answer within 3 s"), "{found:?}");
    parvum_tests::gone(std::fs::read_to_string(&mark).expect("it ran").trim().parse().expect("a pid"));
}

#[test]
fn doctor_reports_other_release_with_both_numbers() {
    let folder = Folder::new("doctor-release");
    let script = "#!/bin/sh\necho welcome\necho '{\"doctor\":1,\"release\":\"9.9.9\",\"protocol\":200}'\nread line\nexit 0\n";
    let by = folder.script("ssh", script);
    let (_, found) = asked(&by, &[]);
    let said = error(&found, "release");
    assert!(said.contains("9.9.9") && said.contains(env!("CARGO_PKG_VERSION")), "{said}");
}

#[test]
fn doctor_checks_ports_and_clock_of_host() {
    let folder = Folder::new("doctor-good");
    // The host is this one.
    let by = folder.script(
        "ssh",
        &format!(
            "#!/bin/sh\nshift\nexport SSH_CONNECTION='127.0.0.1 1 127.0.0.1 22'\nshift\nexec {} \"$@\"\n",
            parvum().display()
        ),
    );
    let (_, found) = asked(&by, &[]);
    for check in ["ssh", "release", "clock", "tcp-to", "tcp-from", "udp-to", "udp-from"] {
        assert_eq!(state(&found, check), "OK", "{check}: {found:?}");
    }
    assert!(found.iter().any(|one| one["check"] == "nofile"), "{found:?}");
}

#[test]
fn doctor_reports_ports_behind_firewall() {
    let Some(bed) = Bed::of(2) else { return };
    let ask = || {
        let done = bed[0].parvum(&["doctor", "--json", "beta"]);
        let found: Value =
            serde_json::from_str(&text(&done.stdout)).unwrap_or_else(|why| panic!("{why}: {done:?}"));
        let all = found["findings"].as_array().expect("findings").iter();
        all.filter(|one| one["host"] == "beta").cloned().collect::<Vec<Value>>()
    };
    let found = ask();
    for check in ["ssh", "release", "clock", "tcp-to", "tcp-from", "udp-to", "udp-from"] {
        assert_eq!(state(&found, check), "OK", "{check}: {found:?}");
    }
    bed[1].drop_tcp();
    let found = ask();
    assert!(error(&found, "tcp-to").contains("TCP from here to beta fails"), "{found:?}");
    assert_eq!(state(&found, "udp-to"), "OK", "{found:?}");
}
