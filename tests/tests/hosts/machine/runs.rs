//! `parvum run` over several hosts: where tasks start, and what it says when a host is lost.

use parvum_tests::bed::{Bed, Host};
use parvum_tests::eventually;
use parvum_tests::running::Running;

/// A job of that host, whose tasks have all begun.
fn job(host: &Host, words: &[&str], tasks: usize) -> Running {
    let mut command = host.command("parvum");
    command.args(["run"]).args(words).args(["sh", "-c", "echo begun; exec sleep 600"]);
    let mut job = Running::start(&mut command);
    (0..tasks).for_each(|_| drop(job.told("begun")));
    job
}

#[test]
fn job_ends_and_names_removed_or_dead_host() {
    let Some(bed) = Bed::of(2) else { return };
    for dies in [false, true] {
        bed[0].add(&["beta"]);
        bed[0].await_hosts(&["alpha", "beta"]);
        let mut job = job(&bed[0], &["-n", "2", "--map-by", "node"], 2);
        match dies {
            false => drop(bed[0].succeed(&["parvum", "remove", "beta"])),
            true => bed[1].kill_daemon(),
        }
        let status = job.end();
        let said = job.complaints();
        assert_eq!(status.code(), Some(1), "{said}");
        assert!(said.contains("on beta") || said.contains("host beta is gone from the machine"), "{said}");
        assert!(said.contains("E-HOSTLOST") || said.contains("E-TASKFAILED"), "{said}");
        bed[0].await_hosts(&["alpha"]);
        eventually("its tasks have ended", || bed[1].processes("sleep").is_empty());
        eventually("the daemon has ended", || bed[1].daemon().is_none());
    }
}

#[test]
fn tasks_start_on_requested_hosts() {
    let Some(bed) = Bed::of(3) else { return };
    bed.join_all();
    let places = |words: &[&str]| -> Vec<String> {
        let words =
            [&["parvum", "run", "--label"], words, &["sh", "-c", "echo $(cat /proc/sys/kernel/hostname)"]];
        let said = bed[0].succeed(&words.concat());
        let mut lines: Vec<String> = said.lines().map(str::to_owned).collect();
        lines.sort_unstable();
        lines.iter().map(|line| line.split(": ").nth(1).unwrap_or_default().to_owned()).collect()
    };
    assert_eq!(places(&["-n", "3", "--host", "gamma:2,beta"]), ["gamma", "gamma", "beta"]);
    assert_eq!(places(&["-n", "3", "-host", "gamma:2,beta", "--map-by", "node"]), ["gamma", "beta", "gamma"]);
    assert_eq!(
        places(&["-n", "4", "--ppn", "2", "--host", "beta,gamma"]),
        ["beta", "beta", "gamma", "gamma"]
    );
    let file = bed[0].folder.join("hosts");
    std::fs::write(&file, "beta slots=1 # first\ngamma:1\n").expect("written");
    let file = file.to_str().expect("a plain path");
    assert_eq!(places(&["-n", "2", "--hostfile", file]), ["beta", "gamma"]);
    // Input goes to a task of another host.
    let mut command = bed[0].command("parvum");
    command.args(["run", "--host", "gamma", "cat"]);
    let mut cat = Running::start(&mut command);
    cat.tell("hello");
    cat.told("hello");
    cat.close_input();
    assert!(cat.end().success());
}
