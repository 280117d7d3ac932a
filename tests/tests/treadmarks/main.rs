//! TreadMarks as its programs see it. The numbers are those of the checks in the interface's specification.

mod beside;
mod ends;
mod papers;
mod pushing;
mod races;
mod refused;
mod replicas;
mod sight;
mod views;

use parvum_tests::running::await_tasks;
use parvum_tests::stage::{fortran, program};
use parvum_tests::{Lack, TestMachine, skip};
use std::path::Path;
use std::process::Command;

/// A program as so many processes. Behind a protocol there may be how many tasks are one node: `lazy/2`.
fn processes(machine: &TestMachine, count: u32, protocol: &str, words: &[&str]) -> Command {
    let mut run = processes_of(machine, count, protocol, &program(words[0]));
    run.args(&words[1..]);
    run
}

fn processes_of(machine: &TestMachine, count: u32, protocol: &str, file: &Path) -> Command {
    let mut run = machine.command(&["run", "-n", &count.to_string(), "--"]);
    machine.as_user(&mut run);
    for option in ["HEAP", "PAGE", "RECORDS", "NODES", "PUSH", "RACES", "REPLICAS", "STATISTICS"] {
        run.env_remove(format!("TMK_{option}"));
    }
    run.arg(file).envs(options(protocol));
    run
}

/// What says so in the environment.
fn options(protocol: &str) -> [(&str, &str); 2] {
    let (protocol, group) = protocol.split_once('/').unwrap_or((protocol, ""));
    [("TMK_PROTOCOL", protocol), ("TMK_GROUP", group)]
}

/// Ways in which each process has its own memory, but the first on one host.
const EACH_ALONE: [&str; 4] = ["auto", "classic", "lazy", "home"];
const PROTOCOLS: [&str; 6] = ["auto", "classic", "lazy", "home", "auto/2", "home/3"];

/// Runs a check as so many processes, in every way of sharing.
fn shown(check: &str, counts: &[u32], options: &[(&str, &str)]) {
    let machine = TestMachine::up();
    for protocol in PROTOCOLS {
        for &count in counts {
            eprintln!("{check}: {count} processes, {protocol}");
            let mut run = processes(&machine, count, protocol, &["tmk_checks", check, &count.to_string()]);
            let said = machine.check(run.envs(options.iter().copied()));
            assert!(said.contains("all well"), "{said}");
        }
    }
    await_tasks(&machine, 0);
}

/// Check 1.
#[test]
fn distributed_pointer_and_its_data_are_seen() {
    shown("distribute", &[1, 2, 4], &[]);
}

/// Check 2.
#[test]
fn counter_under_lock_is_exact() {
    shown("counter", &[1, 2, 4, 8], &[]);
}

/// Check 3.
#[test]
fn writes_are_seen_transitively_over_other_locks() {
    shown("transitive", &[2, 3, 5], &[]);
}

/// Check 4.
#[test]
fn unread_data_makes_no_diff() {
    shown("lazy", &[2, 4], &[]);
}

/// Check 5.
#[test]
fn page_accepts_several_writers() {
    shown("writers", &[2, 4], &[]);
    shown("writers", &[3], &[("TMK_PAGE", "16K")]);
}

/// Check 6.
#[test]
fn barrier_costs_two_messages_per_process() {
    shown("barriers", &[1, 2, 5], &[]);
}

/// Check 10.
#[test]
fn long_run_needs_little_memory() {
    shown("rounds", &[3], &[("TMK_RECORDS", "1M")]);
}

/// Check 12.
#[test]
fn answer_may_be_longer_than_datagram() {
    shown("large", &[2, 3], &[("TMK_PAGE", "64K")]);
}

#[test]
fn heap_blocks_are_reusable_and_heap_is_bounded() {
    shown("blocks", &[1, 3], &[("TMK_HEAP", "64M")]);
}

#[test]
fn reductions_combine_arrays_of_all_processes() {
    shown("reduce", &[1, 2, 3], &[]);
}

#[test]
fn system_calls_get_touched_pages() {
    shown("touched", &[1, 2, 3], &[]);
}

/// Where the system gives shared memory none a program says so, and who may change that.
#[test]
fn huge_pages_are_used_or_refused() {
    let machine = TestMachine::up();
    let run = |protocol: &str| {
        let mut run = processes(&machine, 2, protocol, &["tmk_checks", "large", "2"]);
        let ended = run.env("TMK_HUGE", "yes").env("TMK_HEAP", "16G").output().expect("it runs");
        String::from_utf8_lossy(&ended.stdout).into_owned() + &String::from_utf8_lossy(&ended.stderr)
    };
    let setting = std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/shmem_enabled");
    let has = setting.is_ok_and(|said| !said.contains("[never]") && !said.contains("[deny]"));
    let said = run("auto");
    assert!(said.contains(if has { "all well" } else { "E-TMK-HUGE: " }), "{said}");
    let said = run("lazy");
    assert!(
        said.contains("E-TMK-HUGE: there are no huge pages for shared memory: each process has"),
        "{said}"
    );
    await_tasks(&machine, 0);
}

/// As on kernels that have no userfaultfd for ordinary users; and larger pages by both.
#[test]
fn mprotect_faults_give_the_same_results() {
    for check in ["writers", "transitive", "counter", "touched", "overwritten", "later_handlers"] {
        shown(check, &[3], &[("TMK_FAULTS", "mprotect")]);
    }
    for faults in ["auto", "mprotect"] {
        shown("touched", &[3], &[("TMK_FAULTS", faults), ("TMK_PAGE", "16384")]);
    }
}

#[test]
fn overwritten_data_is_not_fetched() {
    shown("overwritten", &[1, 2, 3], &[]);
}

/// It neither reads what is old nor opens pages in its parent's name.
#[test]
fn forked_child_has_no_shared_memory_of_protocol() {
    for faults in ["auto", "mprotect"] {
        shown("forked", &[2, 3], &[("TMK_FAULTS", faults)]);
    }
}

/// Another thread of the process waits for a page meanwhile.
#[test]
fn threads_overwrite_and_read_pages_concurrently() {
    shown("overwritten_beside", &[2, 3], &[]);
}

#[test]
fn fault_handler_may_be_set_at_any_time() {
    shown("later_handlers", &[1, 2, 3], &[]);
}

#[test]
fn computing_process_serves_the_others() {
    shown("busy", &[2, 3], &[]);
}

/// Checks 9 and 14 in the small, and the hybrid program: one process with two interfaces.
#[test]
fn programs_give_the_same_with_every_protocol() {
    let machine = TestMachine::up();
    for protocol in PROTOCOLS {
        let programs: [&[&str]; 7] = [
            &["sor", "60", "70", "8"],
            &["integer_sort", "5000", "3"],
            &["water", "60", "3"],
            &["barnes_hut", "120", "3"],
            &["gather", "shared", "3"],
            &["gather", "pvm", "3"],
            &["gather", "reduce", "3"],
        ];
        for words in programs {
            for count in [1, 2, 4, 8] {
                eprintln!("{words:?}: {count} processes, {protocol}");
                let said = machine.check(&mut processes(&machine, count, protocol, words));
                assert!(said.contains(&format!("{count} processes")) && said.contains("all well"), "{said}");
            }
        }
    }
    await_tasks(&machine, 0);
}

/// MPI and shared memory in one process, by either binary interface of MPI.
#[test]
fn mpi_programs_share_memory() {
    let machine = TestMachine::up();
    for protocol in ["auto", "lazy", "home", "auto/2"] {
        for name in ["mpi_treadmarks", "mpi_treadmarks_abi"] {
            for count in [1, 2, 4] {
                eprintln!("{name}: {count} processes, {protocol}");
                let said = machine.check(&mut processes(&machine, count, protocol, &[name]));
                assert!(said.contains("all well"), "{said}");
            }
        }
    }
    await_tasks(&machine, 0);
}

#[test]
fn treadmarks_runs_over_any_route() {
    let machine = TestMachine::up();
    for route in ["tcp", "routed"] {
        for protocol in ["auto", "classic", "home", "auto/2", "classic/2"] {
            let words = ["integer_sort", "3000", "2"];
            let said = machine.check(processes(&machine, 3, protocol, &words).env("PARVUM_ROUTE", route));
            assert!(said.contains("all well"), "{said}");
        }
    }
    await_tasks(&machine, 0);
}

#[test]
fn fortran_program_runs() {
    if fortran().is_none() {
        return skip(Lack::Tools, "no Fortran compiler is installed");
    }
    let machine = TestMachine::up();
    for protocol in ["auto", "classic", "auto/2"] {
        assert!(machine.check(&mut processes(&machine, 3, protocol, &["tmk_names"])).contains("all well"));
    }
}

/// A program that is started by itself becomes several.
#[test]
fn program_starts_its_other_processes() {
    let machine = TestMachine::up();
    let mut by_variable = machine.program("tmk_checks");
    let said = machine.check(by_variable.args(["counter", "3"]).env("TMK_NODES", "3"));
    assert!(said.contains("all well"), "{said}");
    let mut by_words = machine.program("tmk_checks");
    let said = machine.check(by_words.args(["counter", "2", "--", "-n", "2"]));
    assert!(said.contains("all well"), "{said}");
    let mut alone = machine.program("tmk_checks");
    assert!(machine.check(alone.args(["counter", "1"])).contains("all well"));
    await_tasks(&machine, 0);
}

#[test]
fn statistics_are_printed_if_requested() {
    let machine = TestMachine::up();
    let mut run = processes(&machine, 2, "classic", &["tmk_checks", "barriers", "2"]);
    let ended = run.env("TMK_STATISTICS", "yes").output().expect("it runs");
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert!(ended.status.success(), "{said}");
    for node in 0..2 {
        assert!(said.contains(&format!("libTmk: node {node}: ")) && said.contains(" barriers, "), "{said}");
    }
}
