//! The package parvum for Python: its own tests, run by the Python of this system.

use parvum_tests::{Lack, parvum, skip, stage};
use std::ffi::OsStr;
use std::process::{Command, Output};

fn python(arguments: &[&str]) -> Option<Output> {
    let mut python = Command::new("python3");
    python.args(arguments).current_dir(stage::project().join("python/tests"));
    python.env("PYTHONPATH", stage::python()).env("PYTHONDONTWRITEBYTECODE", "1");
    python.env("PARVUM_BIN", parvum()).env_remove("PARVUM_DIR");
    python.output().ok()
}

/// Whether this Python has a module.
fn has(module: &str) -> bool {
    python(&["-c", &format!("import {module}")]).is_some_and(|done| done.status.success())
}

/// Runs one file of tests; says why when it cannot.
fn tests_of(file: &str, needs: &[&str]) {
    let recent = "import sys; sys.exit(sys.version_info < (3, 10))";
    if !python(&["-c", recent]).is_some_and(|done| done.status.success()) {
        return skip(Lack::Tools, "there is no python3 of 3.10 or later");
    }
    if let Some(lacking) = needs.iter().find(|module| !has(module)) {
        return skip(Lack::Tools, format!("this python3 has no {lacking}"));
    }
    let module = file.strip_suffix(".py").unwrap_or(file).replace('/', ".");
    let arguments = match has("pytest") {
        true => vec!["-m", "pytest", "-q", "-p", "no:cacheprovider", file],
        false => vec!["-m", "unittest", &module],
    };
    let done = python(&arguments).expect("it ran a moment ago");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(done.status.success(), "{file}:\n{}\n{}", text(&done.stdout), text(&done.stderr));
}

#[test]
fn messages() {
    tests_of("messages/test_messages.py", &[]);
}

#[test]
fn machine() {
    tests_of("messages/test_machine.py", &[]);
}

#[test]
fn threads() {
    tests_of("session/test_threads.py", &[]);
}

#[test]
fn threads_beside_threads_that_wait() {
    tests_of("session/test_beside.py", &["pytest"]);
}

#[test]
fn schedule_of_a_pool() {
    tests_of("work/test_schedule.py", &["pytest"]);
}

#[test]
fn calls() {
    tests_of("messages/test_calls.py", &["pytest"]);
}

#[test]
fn executor() {
    tests_of("work/test_executor.py", &["pytest"]);
}

#[test]
fn large_arguments() {
    tests_of("work/test_store.py", &["pytest", "numpy"]);
}

#[test]
fn deaths_of_workers() {
    tests_of("work/test_deaths.py", &["pytest"]);
}

#[test]
fn map() {
    tests_of("work/test_map.py", &["pytest"]);
}

#[test]
fn joblib() {
    tests_of("work/test_joblib.py", &["pytest", "joblib"]);
}

#[test]
fn dask() {
    tests_of("work/test_dask.py", &["pytest", "dask"]);
}

#[test]
fn actors() {
    tests_of("work/test_actors.py", &["pytest"]);
}

#[test]
fn queues_and_locks_by_name() {
    tests_of("work/test_places.py", &["pytest"]);
}

#[test]
fn machine_for_a_block() {
    tests_of("session/test_session.py", &["pytest"]);
}

#[test]
fn notebooks() {
    // Which `./x test` does not install.
    if let Some(lacking) =
        ["jupyter_client", "ipykernel", "cloudpickle"].into_iter().find(|module| !has(module))
    {
        return skip(Lack::Host, format!("this python3 has no {lacking}"));
    }
    tests_of("session/test_notebook.py", &["pytest"]);
}

#[test]
fn example_programs() {
    tests_of("session/test_example_programs.py", &["pytest"]);
}

#[test]
fn tutorials() {
    tests_of("session/test_tutorials.py", &["pytest"]);
}

#[test]
fn groups() {
    tests_of("messages/test_groups.py", &["numpy"]);
}

#[test]
fn pvm() {
    tests_of("messages/test_pvm.py", &[]);
}

#[test]
fn shared() {
    tests_of("messages/test_shared.py", &["numpy"]);
}

#[test]
fn arrays() {
    tests_of("messages/test_arrays.py", &["numpy"]);
}

#[test]
fn signals() {
    tests_of("session/test_signals.py", &[]);
}

#[test]
fn calls_that_are_stopped() {
    tests_of("work/test_stopping.py", &["pytest"]);
}

#[test]
fn signals_between_given_and_had() {
    tests_of("session/test_interrupts.py", &["pytest"]);
}

#[test]
fn what_goes_by_reference() {
    tests_of("messages/test_by_reference.py", &["pytest", "numpy"]);
}

#[test]
fn output_of_calls() {
    tests_of("work/test_output.py", &["pytest"]);
}

#[test]
fn types() {
    tests_of("session/test_typing.py", &["pytest"]);
}

#[test]
fn scripts_of_an_environment() {
    tests_of("session/test_scripts.py", &["pytest"]);
}

#[test]
fn bad_input() {
    tests_of("messages/test_bad_input.py", &[]);
}

#[test]
fn examples_in_the_documentation() {
    tests_of("session/test_examples.py", &["numpy"]);
}

/// Every file of tests has its place above.
#[test]
fn every_file_is_run() {
    let own = include_str!("python.rs");
    let tests = stage::project().join("python/tests");
    let folders = std::fs::read_dir(&tests).expect("python/tests").flatten().map(|entry| entry.path());
    for folder in folders.filter(|path| path.is_dir() && !path.ends_with("hosts")).chain([tests.clone()]) {
        for file in std::fs::read_dir(&folder).expect("a folder of python/tests").flatten() {
            let path = file.path();
            let name = path.strip_prefix(&tests).expect("below").to_str().expect("a plain name");
            let is_test = file.file_name().to_str().is_some_and(|name| name.starts_with("test_"));
            if is_test && path.extension() == Some(OsStr::new("py")) {
                assert!(own.contains(&format!("\"{name}\"")), "no test runs python/tests/{name}");
            }
        }
    }
}
