//! Daemons that die and are started again in the middle of something.

use parvum_tests::bed::{Bed, profile};
use parvum_tests::eventually;
use parvum_tests::running::Running;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

/// A way to start daemons that waits until it may go on.
struct Gate {
    file: PathBuf,
    way: String,
}

impl Gate {
    fn of(bed: &Bed) -> Gate {
        let (file, script) = (bed.root().join("go"), bed.root().join("slow"));
        let text = format!(
            "#!/bin/sh\nwhile [ ! -e {} ]; do sleep 0.05; done\nexec {} rsh {} \"$@\"\n",
            file.display(),
            profile().join("hosts").display(),
            bed.root().display()
        );
        std::fs::write(&script, text).expect("the bed's folder is writable");
        std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).expect("ours");
        Gate { file, way: format!("{} {{host}}", script.display()) }
    }

    fn open(&self) {
        std::fs::write(&self.file, "").expect("the bed's folder is writable");
    }
}

#[test]
fn killed_daemon_is_added_again_while_others_exchange_messages() {
    for route in ["tcp", "routed"] {
        let Some(bed) = Bed::of(4) else { return };
        bed[0].add(&["beta", "gamma"]);
        let start = |at: usize, words: &[&str]| {
            let mut command = bed[at].program("actor");
            Running::start(command.args(words).env("PARVUM_ROUTE", route))
        };
        let mut receiver = start(2, &["drain", "0", "60000", "100"]);
        let tid = receiver.told("tid");
        receiver.tell("begin");
        let mut sender = start(0, &["stream", &tid, "1000", "60000"]);
        sender.told("streaming");
        let gate = Gate::of(&bed);
        let mut adding = bed[0].command("parvum");
        let adding = Running::start(adding.args(["add", "--start-by", &gate.way, "delta"]));
        eventually("delta is being added", || !bed[0].processes("slow delta").is_empty());
        bed[1].kill_daemon();
        bed[0].await_hosts(&["alpha", "gamma"]);
        bed[0].add(&["beta"]);
        bed[1].await_hosts(&["alpha", "beta", "gamma"]);
        gate.open();
        assert!(adding.finish(|| bed[0].log()).starts_with("delta is in the machine as"));
        for host in bed.hosts() {
            host.await_hosts(&["alpha", "beta", "gamma", "delta"]);
        }
        assert_eq!(sender.told("sent"), "60000");
        assert_eq!(sender.told("info"), "0");
        // In order, and none is missing: it checks that.
        assert_eq!(receiver.told("info"), "0");
        for task in [&mut sender, &mut receiver] {
            task.tell("end");
            assert!(task.end().success());
        }
        for host in bed.hosts() {
            host.check("across", &["places"], route);
        }
    }
}

#[test]
fn add_fails_cleanly_when_adding_daemon_is_killed() {
    let Some(bed) = Bed::of(4) else { return };
    bed[0].add(&["beta", "gamma"]);
    let gate = Gate::of(&bed);
    // Asked elsewhere, done by the one that leads.
    let mut adding = bed[2].command("parvum");
    let mut adding = Running::start(adding.args(["add", "--start-by", &gate.way, "delta"]));
    eventually("delta is being added", || !bed[0].processes("slow delta").is_empty());
    bed[0].kill_daemon();
    assert!(!adding.end().success());
    let said = adding.errors();
    for word in ["E-HOSTLOST", "add it again"] {
        assert!(said.contains(word), "{word:?} is not said: {said}");
    }
    // What was begun over there comes to nothing.
    gate.open();
    eventually("nothing is left of the attempt", || {
        // By the gate's words, and by those of what it becomes.
        bed[0].processes("delta parvum join").is_empty()
            && bed[3].processes("parvum join").is_empty()
            && bed[3].processes("parvum daemon").is_empty()
    });
    bed[2].await_hosts(&["beta", "gamma"]);
    bed[2].add(&["delta", "alpha"]);
    for host in bed.hosts() {
        host.await_hosts(&["alpha", "beta", "gamma", "delta"]);
        host.check("across", &["places"], "auto");
    }
}

#[test]
fn daemon_started_by_hand_is_another_machine() {
    let Some(bed) = Bed::of(2) else { return };
    bed.join_all();
    bed[1].kill_daemon();
    bed[0].await_hosts(&["alpha"]);
    bed[1].succeed(&["parvum", "up"]);
    assert_eq!(bed[1].knows(), ["beta"]);
    let done = bed[0].parvum(&["add", "beta"]);
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(!done.status.success());
    for word in ["E-RUNNING", "beta", "parvum down"] {
        assert!(said.contains(word), "{word:?} is not said: {said}");
    }
    bed[1].succeed(&["parvum", "down"]);
    bed[0].add(&["beta"]);
    bed[1].await_hosts(&["alpha", "beta"]);
}

#[test]
fn tasks_of_readded_host_receive_messages() {
    for route in ["tcp", "routed"] {
        let Some(bed) = Bed::of(2) else { return };
        bed[0].add(&["beta"]);
        let mut command = bed[0].program("lives");
        let mut master = Running::start(command.arg("beta").env("PARVUM_ROUTE", route));
        for life in ["0", "1"] {
            assert_eq!(master.told("ready"), life, "over {route}");
            bed[1].kill_daemon();
            assert_eq!(master.told("lost"), life, "over {route}");
            bed[0].await_hosts(&["alpha"]);
            bed[0].add(&["beta"]);
            bed[1].await_hosts(&["alpha", "beta"]);
            master.tell("again");
        }
        assert_eq!(master.told("done"), "3", "over {route}");
        assert!(master.end().success());
    }
}

#[test]
fn stopped_daemon_of_removed_host_is_replaced() {
    let Some(bed) = Bed::of(3) else { return };
    bed.join_all();
    let old = bed[1].daemon().expect("it is in the machine");
    bed[1].succeed(&["kill", "-STOP", &old.to_string()]);
    bed[0].await_hosts(&["alpha", "gamma"]);
    bed[0].add(&["beta"]);
    assert!(!bed[1].runs(old), "two daemons of one host");
    for host in bed.hosts() {
        host.await_hosts(&["alpha", "beta", "gamma"]);
        host.check("across", &["places"], "auto");
    }
}

/// A way to start daemons that stops one as soon as it has joined, before who adds it hears so.
fn deadening(bed: &Bed) -> String {
    let script = bed.root().join("deadening");
    let rsh = format!("{} rsh {}", profile().join("hosts").display(), bed.root().display());
    let text = format!(
        "#!/bin/sh\n{rsh} \"$@\" | while read -r line; do\n\
         case $line in *addresses*) {rsh} $1 kill -STOP $(cat {}/$1/pv/daemon.lock);; esac\n\
         printf '%s\\n' \"$line\"\ndone\n",
        bed.root().display()
    );
    std::fs::write(&script, text).expect("the bed's folder is writable");
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).expect("ours");
    format!("{} {{host}}", script.display())
}

#[test]
fn daemon_lost_before_it_knew_the_machine_ends() {
    let Some(bed) = Bed::of(3) else { return };
    bed[0].add(&["gamma"]);
    let done = bed[0].parvum(&["add", "--start-by", &deadening(&bed), "beta"]);
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(!done.status.success() && said.contains("E-HOSTLOST"), "{said}");
    bed[0].await_hosts(&["alpha", "gamma"]);
    let old = bed[1].daemon().expect("it sleeps");
    bed[1].succeed(&["kill", "-CONT", &old.to_string()]);
    eventually("it hears that it is out", || !bed[1].runs(old));
    bed[0].add(&["beta"]);
    bed[1].await_hosts(&["alpha", "beta", "gamma"]);
}
