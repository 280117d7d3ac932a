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

#[test]
fn mpiexec_adds_hosts_that_are_named() {
    let Some(bed) = Bed::of(3) else { return };
    let mpiexec = parvum_tests::stage::stage().bin.join("mpiexec");
    let mpiexec = mpiexec.to_str().expect("a plain path");
    let said = bed[0].succeed(&[mpiexec, "-hosts", "alpha:1,beta:2", "hostname"]);
    let mut names: Vec<&str> = said.lines().collect();
    names.sort_unstable();
    assert_eq!(names, ["alpha", "beta", "beta"]);
    bed[0].await_hosts(&["alpha", "beta"]);
    let refused = bed[0].run(&[mpiexec, "-launcher", "fork", "-hosts", "alpha,gamma", "hostname"]);
    let why = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success() && why.contains("E-NOHOST"), "{why}");
    bed[0].await_hosts(&["alpha", "beta"]);
    let said = bed[0].succeed(&[mpiexec, "-nolocal", "-n", "2", "hostname"]);
    assert_eq!(said, "beta\nbeta\n");
    let refused =
        bed[0].run(&[mpiexec, "-nooversubscribe", "-hosts", "alpha:1,beta:1", "-n", "3", "hostname"]);
    let why = String::from_utf8_lossy(&refused.stderr);
    assert!(
        refused.status.code() == Some(2) && why.contains("3 processes are more than the 2 slots"),
        "{why}"
    );
}

#[test]
fn stack_of_a_task_on_another_host_is_shown() {
    let Some(bed) = Bed::of(2) else { return };
    bed.join_all();
    let running = job(&bed[0], &["-H", "beta"], 1);
    let tasks: serde_json::Value =
        serde_json::from_str(&bed[0].succeed(&["parvum", "ps", "--json"])).expect("JSON");
    let rows = tasks.as_array().expect("a list");
    let row = rows.iter().find(|row| row["host"] == "beta").expect("the task of the job");
    let task = row["tid"].as_str().expect("an id").to_owned();
    let said = bed[0].succeed(&["parvum", "stack", &task]);
    assert!(said.starts_with(&task) && said.contains(" on beta\n") && said.contains("sleep"), "{said}");
    drop(running);
}
