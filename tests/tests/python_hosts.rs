//! The package parvum for Python over several hosts, on a bed of namespaces: scripts of python/tests/hosts, which check themselves.

use parvum_tests::bed::Bed;
use parvum_tests::{Lack, skip, stage};
use std::process::Output;

/// Runs a script on the first host.
fn run(bed: &Bed, words: &[&str]) -> Output {
    let project = stage::project().display();
    let path = format!("PYTHONPATH={}:{project}/python/tests/hosts", stage::python().display());
    let own = ["env", &path, "PYTHONDONTWRITEBYTECODE=1"];
    // Longer than anything that the scripts themselves wait for.
    let words = [&["timeout", "--foreground", "--signal=KILL", "300"], &own[..], words].concat();
    bed[0].command(words[0]).args(&words[1..]).output().expect("nsenter runs")
}

/// So many hosts, where the Python of this system has these modules.
fn hosts(count: usize, needs: &[&str]) -> Option<Bed> {
    let bed = Bed::of(count)?;
    let works = |code: &str| run(&bed, &["python3", "-c", code]).status.success();
    if !works("import sys; sys.exit(sys.version_info < (3, 10))") {
        skip(Lack::Tools, "there is no python3 of 3.10 or later");
        return None;
    }
    if let Some(lacking) = needs.iter().find(|module| !works(&format!("import {module}"))) {
        skip(Lack::Tools, format!("this python3 has no {lacking}"));
        return None;
    }
    Some(bed)
}

/// Runs a script, or a module's, which must succeed, and say of each task that all is well; what it said.
fn check(bed: &Bed, words: &[&str], tasks: usize) -> String {
    let done = run(bed, words);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (said, errors) = (text(&done.stdout), text(&done.stderr));
    assert!(done.status.success(), "{words:?}: {}\n{said}\n{errors}", done.status);
    assert_eq!(said.matches("all well").count(), tasks, "{words:?}:\n{said}\n{errors}");
    said
}

/// What a script's own machine has left on any host.
fn assert_clean(bed: &Bed) {
    for host in bed.hosts() {
        parvum_tests::eventually(&format!("{} is clean", host.name), || host.leftovers().is_empty());
    }
}

fn script(name: &str) -> String {
    stage::project().join("python/tests/hosts").join(name).display().to_string()
}

#[test]
fn machine_of_three_hosts_lives_for_a_block() {
    let Some(bed) = hosts(3, &[]) else { return };
    check(&bed, &["python3", &script("machine.py")], 1);
    assert_clean(&bed);
}

#[test]
fn large_arguments_are_sent_to_each_host_once() {
    let Some(bed) = hosts(3, &["numpy"]) else { return };
    check(&bed, &["python3", &script("arguments.py")], 1);
    assert_clean(&bed);
}

#[test]
fn host_death_in_map_loses_no_result() {
    let Some(bed) = hosts(3, &[]) else { return };
    check(&bed, &["python3", &script("dying.py")], 1);
}

#[test]
fn hosts_join_and_leave_while_a_map_runs() {
    let Some(bed) = hosts(3, &[]) else { return };
    check(&bed, &["python3", &script("growing.py")], 1);
    assert_clean(&bed);
}

#[test]
fn array_is_shared_by_tasks_of_two_hosts() {
    let Some(bed) = hosts(2, &["numpy"]) else { return };
    bed.join_all();
    check(&bed, &["parvum", "run", "-n", "4", "python3", &script("shared.py")], 4);
    bed[0].await_idle();
}

#[test]
fn python_groups_work_on_three_hosts() {
    let Some(bed) = hosts(3, &["numpy"]) else { return };
    bed.join_all();
    check(&bed, &["parvum", "run", "-n", "6", "python3", &script("groups.py")], 6);
    // One that ends is named by all others.
    check(&bed, &["parvum", "run", "-n", "6", "python3", &script("groups.py"), "die"], 5);
    bed[0].await_idle();
}

#[test]
fn host_with_another_python_or_numpy_is_refused() {
    let Some(bed) = hosts(3, &["numpy"]) else { return };
    check(&bed, &["python3", &script("unlike.py")], 1);
    assert_clean(&bed);
}

/// The page of the documentation, run as its reader runs it: what three hosts find is what one process finds.
#[test]
fn scikit_learn_search_over_three_hosts_equals_local_one() {
    let Some(bed) = hosts(3, &["numpy", "joblib", "cloudpickle"]) else { return };
    if !run(&bed, &["python3", "-c", "import sklearn"]).status.success() {
        return skip(Lack::Host, "this python3 has no sklearn (scikit-learn)");
    }
    check(&bed, &["python3", &script("searching.py")], 1);
    assert_clean(&bed);
}

#[test]
fn large_argument_outlives_its_holder() {
    let Some(bed) = hosts(2, &["numpy"]) else { return };
    check(&bed, &["python3", &script("holding.py")], 1);
    assert_clean(&bed);
}
