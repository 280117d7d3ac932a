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
    let module = file.strip_suffix(".py").unwrap_or(file);
    let arguments = match has("pytest") {
        true => vec!["-m", "pytest", "-q", "-p", "no:cacheprovider", file],
        false => vec!["-m", "unittest", module],
    };
    let done = python(&arguments).expect("it ran a moment ago");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(done.status.success(), "{file}:\n{}\n{}", text(&done.stdout), text(&done.stderr));
}

#[test]
fn messages() {
    tests_of("test_messages.py", &[]);
}

#[test]
fn machine() {
    tests_of("test_machine.py", &[]);
}

#[test]
fn threads() {
    tests_of("test_threads.py", &[]);
}

#[test]
fn threads_beside_threads_that_wait() {
    tests_of("test_beside.py", &["pytest"]);
}

#[test]
fn schedule_of_a_pool() {
    tests_of("test_schedule.py", &["pytest"]);
}

#[test]
fn calls() {
    tests_of("test_calls.py", &["pytest"]);
}

#[test]
fn executor() {
    tests_of("test_executor.py", &["pytest"]);
}

#[test]
fn large_arguments() {
    tests_of("test_store.py", &["pytest", "numpy"]);
}

#[test]
fn deaths_of_workers() {
    tests_of("test_deaths.py", &["pytest"]);
}

#[test]
fn map() {
    tests_of("test_map.py", &["pytest"]);
}

#[test]
fn joblib() {
    tests_of("test_joblib.py", &["pytest", "joblib"]);
}

#[test]
fn dask() {
    tests_of("test_dask.py", &["pytest", "dask"]);
}

#[test]
fn actors() {
    tests_of("test_actors.py", &["pytest"]);
}

#[test]
fn queues_and_locks_by_name() {
    tests_of("test_places.py", &["pytest"]);
}

#[test]
fn machine_for_a_block() {
    tests_of("test_session.py", &["pytest"]);
}

#[test]
fn notebooks() {
    // Which `./x test` does not install.
    if let Some(lacking) =
        ["jupyter_client", "ipykernel", "cloudpickle"].into_iter().find(|module| !has(module))
    {
        return skip(Lack::Host, format!("this python3 has no {lacking}"));
    }
    tests_of("test_notebook.py", &["pytest"]);
}

#[test]
fn example_programs() {
    tests_of("test_example_programs.py", &["pytest"]);
}

#[test]
fn tutorials() {
    tests_of("test_tutorials.py", &["pytest"]);
}

#[test]
fn groups() {
    tests_of("test_groups.py", &["numpy"]);
}

#[test]
fn pvm() {
    tests_of("test_pvm.py", &[]);
}

#[test]
fn shared() {
    tests_of("test_shared.py", &["numpy"]);
}

#[test]
fn arrays() {
    tests_of("test_arrays.py", &["numpy"]);
}

#[test]
fn signals() {
    tests_of("test_signals.py", &[]);
}

#[test]
fn calls_that_are_stopped() {
    tests_of("test_stopping.py", &["pytest"]);
}

#[test]
fn signals_between_given_and_had() {
    tests_of("test_interrupts.py", &["pytest"]);
}

#[test]
fn what_goes_by_reference() {
    tests_of("test_by_reference.py", &["pytest", "numpy"]);
}

#[test]
fn output_of_calls() {
    tests_of("test_output.py", &["pytest"]);
}

#[test]
fn types() {
    tests_of("test_typing.py", &["pytest"]);
}

#[test]
fn scripts_of_an_environment() {
    tests_of("test_scripts.py", &["pytest"]);
}

#[test]
fn bad_input() {
    tests_of("test_bad_input.py", &[]);
}

#[test]
fn examples_in_the_documentation() {
    tests_of("test_examples.py", &["numpy"]);
}

/// Every file of tests has its place above.
#[test]
fn every_file_is_run() {
    let own = include_str!("python.rs");
    for file in std::fs::read_dir(stage::project().join("python/tests")).expect("python/tests").flatten() {
        let name = file.file_name();
        let Some(name) = name.to_str().filter(|name| name.starts_with("test_")) else { continue };
        if file.path().extension() == Some(OsStr::new("py")) {
            assert!(own.contains(&format!("\"{name}\"")), "nothing runs python/tests/{name}");
        }
    }
}
