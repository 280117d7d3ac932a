//! What `parvum why`, `parvum info`, `parvum ps` and `parvum trace` say of programs that share memory.

use crate::processes;
use parvum_tests::recorded::trace;
use parvum_tests::running::{Running, await_tasks};
use parvum_tests::stage::program;
use parvum_tests::{TestMachine, eventually};
use std::process::Command;

/// What hangs for certain.
const CERTAIN: i32 = 3;

/// A program that hangs, when all its processes have said that they are about to.
fn stuck(machine: &TestMachine, count: u32, protocol: &str, what: &str) -> Running {
    let mut run = Running::start(&mut processes(machine, count, protocol, &["tmk_stuck", what]));
    for _ in 0..count {
        run.told("ready ");
    }
    run
}

/// What `parvum why` says once it says all of this.
fn why(machine: &TestMachine, wanted: &[&str]) -> (String, Option<i32>) {
    let (mut said, mut code) = (String::new(), None);
    eventually(&format!("why knows {wanted:?}"), || {
        let done = machine.run(&["why"]);
        // As one line: it is broken between words.
        said = String::from_utf8_lossy(&done.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
        code = done.status.code();
        let knows = wanted.iter().all(|one| said.contains(one));
        if !knows {
            eprintln!("{said}");
        }
        knows
    });
    (said, code)
}

fn end(machine: &TestMachine, mut run: Running) {
    run.kill();
    run.end();
    await_tasks(machine, 0);
}

const WAYS: [&str; 4] = ["auto", "classic", "home", "auto/2"];

#[test]
fn locks_taken_in_two_orders_are_a_deadlock() {
    let machine = TestMachine::up();
    for protocol in WAYS {
        let run = stuck(&machine, 3, protocol, "locks");
        let wanted = [
            "DEADLOCK: rank 0 (",
            ") waits for rank 1 (",
            "holds lock 1 and wants lock 2; rank 1 (",
            "holds lock 2 and wants lock 1. All must take them in one order.",
            "waits in Tmk_lock_acquire for lock 2, which rank 1 (",
            "which perhaps hangs",
        ];
        let (said, code) = why(&machine, &wanted[..5]);
        assert_eq!(code, Some(CERTAIN), "{said}");
        assert!(
            !said.contains(wanted[5]) && said.contains("rank 2 (") && said.contains("; holds lock 1"),
            "{said}"
        );
        end(&machine, run);
    }
}

#[test]
fn why_names_holder_and_queue_of_lock() {
    let machine = TestMachine::up();
    for protocol in WAYS {
        let run = stuck(&machine, 3, protocol, "queue");
        let (said, code) = why(
            &machine,
            &[
                "computes; holds lock 7, for which rank 1 (",
                "), rank 2 (",
                ") wait",
                "rank 2 waits in Tmk_lock_acquire for lock 7, which rank 0 (",
                ") holds, behind rank 1 (",
                "Nothing hangs for certain.",
            ],
        );
        assert_eq!(code, Some(0), "{said}");
        let listed = machine.check(&mut machine.command(&["ps"]));
        assert!(listed.contains(" s in Tmk_lock_acquire 7"), "{listed}");
        end(&machine, run);
    }
}

#[test]
fn why_names_processes_missing_at_barrier() {
    let machine = TestMachine::up();
    for protocol in WAYS {
        let run = stuck(&machine, 4, protocol, "barrier");
        let (said, code) =
            why(&machine, &["rank 0 waits in Tmk_barrier 5: 3 of 4 have come, missing: rank 3 ("]);
        assert_eq!((code, said.matches("missing: rank 3 (").count()), (Some(0), 3), "{said}");
        end(&machine, run);
    }
}

#[test]
fn why_names_process_that_leaves_with_a_lock() {
    let machine = TestMachine::up();
    for protocol in WAYS {
        let run = stuck(&machine, 2, protocol, "leaves");
        let wanted = [
            "DEADLOCK: rank 0 (",
            "waits in Tmk_exit for the others: 1 of 2 have come, missing: rank 1 (",
            "; holds lock 3, for which rank 1 (",
            "release it before a barrier or Tmk_exit",
        ];
        let (said, code) = why(&machine, &wanted);
        assert_eq!(code, Some(CERTAIN), "{said}");
        end(&machine, run);
    }
}

/// Counts of a task, as `parvum info --json` has them.
fn counts(machine: &TestMachine, tid: &str) -> serde_json::Value {
    let said = machine.check(&mut machine.command(&["info", "--json", tid]));
    serde_json::from_str::<serde_json::Value>(&said).expect("JSON")["shared_memory"].clone()
}

#[test]
fn counters_are_shown_per_task() {
    let machine = TestMachine::up();
    for (protocol, how) in [("auto", "one memory"), ("classic", "pages, as in 1994 (classic)")] {
        let run = stuck(&machine, 2, protocol, "turns stay");
        let tasks: Vec<String> =
            machine.tasks().iter().filter(|row| row.rank.is_some()).map(|row| row.tid.to_string()).collect();
        assert_eq!(tasks.len(), 2);
        let mut locks = 0;
        for tid in &tasks {
            let said = counts(&machine, tid);
            // By userfaultfd, where the kernel has it.
            assert!(said["how"].as_str().is_some_and(|said| said.starts_with(how)), "{said}");
            let count = |name: &str| said["counters"][name].as_u64().expect("a number");
            // Two barriers around the pointer.
            assert_eq!(count("barriers"), 22, "{said}");
            assert_eq!(count("twins made") > 0, protocol == "classic", "{said}");
            assert_eq!(count("misses") > 0, protocol == "classic", "{said}");
            assert_eq!(count("bytes of them") > 0, protocol == "classic", "{said}");
            locks += count("locks taken that were here") + count("locks waited for");
            let table = machine.check(&mut machine.command(&["info", tid]));
            assert!(table.contains("shared memory") && table.contains(how), "{table}");
        }
        assert_eq!(locks, 40);
        end(&machine, run);
    }
}

/// Tasks that share pages have the counts of their node at the first of them, and locks and barriers each its own.
#[test]
fn counters_are_shown_per_node() {
    let machine = TestMachine::up();
    let run = stuck(&machine, 4, "auto/2", "turns stay");
    let mut rows: Vec<_> = machine.tasks().into_iter().filter(|row| row.rank.is_some()).collect();
    rows.sort_by_key(|row| row.rank);
    let (mut locks, mut nodes) = (0, Vec::new());
    for row in &rows {
        let said = counts(&machine, &row.tid.to_string());
        assert_eq!(said["how"], "one memory on a host, pages between hosts", "{said}");
        let count = |name: &str| said["counters"][name].as_u64().expect("a number");
        assert_eq!(count("barriers"), 22, "{said}");
        locks += count("locks taken that were here") + count("locks waited for");
        nodes.push(count("messages for shared memory") > 0 && count("twins made") > 0);
    }
    assert_eq!((locks, nodes), (80, vec![true, false, true, false]));
    end(&machine, run);
}

#[test]
fn trace_records_faults_locks_and_barriers() {
    let machine = TestMachine::new();
    for protocol in ["auto", "lazy", "lazy/2"] {
        let mut command = Command::new(parvum_tests::parvum());
        machine.as_user(&mut command);
        command.envs(crate::options(protocol));
        let folder = machine.dir.with_extension("trace");
        let it = trace(command, &folder, &["-n", "3"], &program("tmk_stuck"), &["turns"]);
        assert!(it.ended.status.success(), "{}", it.report());
        let tagged = |name: &str, tag: &str| it.named(name).filter(|wait| wait["args"]["tag"] == tag).count();
        assert!(tagged("waits: Tmk_barrier", "6") >= 20, "{}", it.report());
        assert!(it.named("waits: Tmk_exit").count() > 0);
        if protocol != "auto" {
            assert!(tagged("waits: shared page", "0") >= 20);
            assert!(tagged("waits: Tmk_lock_acquire", "9") >= 20);
        }
    }
}
