//! pvm_notify over hosts: each notice exactly once.

use parvum_tests::bed::{Bed, Host};
use parvum_tests::kill_hard;
use parvum_tests::running::Running;
use std::collections::HashMap;

/// The watcher on a host, and the tids of its tasks by host.
pub fn watch(host: &Host, hosts: usize) -> (Running, HashMap<String, u32>) {
    let mut watch = host.start("across", &["watch"]);
    let mut tids = HashMap::new();
    for _ in 0..hosts {
        let line = watch.told("task");
        let (name, tid) = line.split_once(' ').expect("a name and a tid");
        tids.insert(name.to_owned(), tid.parse().expect("a number"));
    }
    watch.told("watching");
    (watch, tids)
}

/// Ends the watcher; how often it said what.
pub fn told(mut watch: Running) -> HashMap<String, usize> {
    // What is told twice is told within this.
    std::thread::sleep(std::time::Duration::from_millis(100));
    watch.tell("end");
    let said = watch.finish(String::new);
    let mut counts = HashMap::new();
    for line in said.lines() {
        *counts.entry(line.to_owned()).or_insert(0) += 1;
    }
    counts
}

/// Waits until it has said all of these lines, in whatever order.
pub fn await_lines(watch: &mut Running, lines: &[String]) {
    while !lines.iter().all(|line| watch.said.lines().any(|said| said == line)) {
        watch.told("");
    }
}

/// The daemon's tid on the host of a task.
pub fn host_of(tid: u32) -> u32 {
    tid & !0x3ffff
}

/// What a dead task has sent waits in the daemons for a receiver that is stopped: nobody else waits for it.
#[test]
fn death_notice_arrives_while_remote_receiver_is_stopped() {
    let Some(bed) = Bed::of(2) else { return };
    bed.join_all();
    bed[0].check("last_words", &[&bed[1].name], "routed");
    bed[0].await_idle();
}

#[test]
fn task_end_is_notified_once_on_every_host() {
    let Some(bed) = Bed::of(3) else { return };
    bed.join_all();
    for at in 0..3 {
        let (mut watch, tids) = watch(&bed[at], 3);
        for host in bed.hosts() {
            let tid = tids[&host.name];
            let pid = host.processes("across wait")[0];
            kill_hard(pid);
            assert_eq!(watch.told("exited"), tid.to_string(), "{}", host.name);
        }
        let counts = told(watch);
        for tid in tids.values() {
            assert_eq!(counts[&format!("exited {tid}")], 1, "{counts:?}");
            assert_eq!(counts[&format!("ended {tid}")], 1, "{counts:?}");
        }
    }
}

#[test]
fn host_additions_and_losses_are_notified_once() {
    let Some(bed) = Bed::of(4) else { return };
    bed[0].add(&["beta", "gamma"]);
    for at in 0..2 {
        let (mut watch, tids) = watch(&bed[at], 3);
        bed[0].add(&["delta"]);
        let new: u32 = watch.told("added").parse().expect("a number");
        bed[0].succeed(&["parvum", "remove", "delta"]);
        bed[0].await_hosts(&["alpha", "beta", "gamma"]);
        bed[0].succeed(&["parvum", "remove", "gamma"]);
        let gone = host_of(tids["gamma"]);
        await_lines(&mut watch, &[format!("deleted {gone}"), format!("exited {}", tids["gamma"])]);
        let counts = told(watch);
        assert_eq!(counts[&format!("added {new}")], 1, "{counts:?}");
        assert_eq!(counts[&format!("deleted {gone}")], 1, "{counts:?}");
        assert_eq!(counts[&format!("exited {}", tids["gamma"])], 1, "{counts:?}");
        assert!(!counts.contains_key(&format!("exited {}", tids["beta"])), "{counts:?}");
        bed[0].add(&["gamma"]);
    }
}
