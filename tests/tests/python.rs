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
fn message_tests_pass() {
    tests_of("messages/test_messages.py", &[]);
}

#[test]
fn machine_tests_pass() {
    tests_of("messages/test_machine.py", &[]);
}

#[test]
fn thread_tests_pass() {
    tests_of("session/test_threads.py", &[]);
}

#[test]
fn waiting_thread_tests_pass() {
    tests_of("session/test_beside.py", &["pytest"]);
}

#[test]
fn taps_tests_pass() {
    tests_of("work/test_taps.py", &["pytest"]);
}

#[test]
fn schedule_tests_pass() {
    tests_of("work/test_schedule.py", &["pytest"]);
}

#[test]
fn call_tests_pass() {
    tests_of("messages/test_calls.py", &["pytest"]);
}

#[test]
fn executor_tests_pass() {
    tests_of("work/test_executor.py", &["pytest"]);
}

#[test]
fn store_tests_pass() {
    tests_of("work/test_store.py", &["pytest", "numpy"]);
}

#[test]
fn mapped_array_tests_pass() {
    tests_of("work/test_arrays.py", &["pytest", "numpy"]);
}

#[test]
fn death_tests_pass() {
    tests_of("work/test_deaths.py", &["pytest"]);
}

#[test]
fn map_tests_pass() {
    tests_of("work/test_map.py", &["pytest"]);
}

#[test]
fn joblib_tests_pass() {
    tests_of("work/test_joblib.py", &["pytest", "joblib"]);
}

#[test]
fn dask_tests_pass() {
    tests_of("work/test_dask.py", &["pytest", "dask"]);
}

#[test]
fn actor_tests_pass() {
    tests_of("work/test_actors.py", &["pytest"]);
}

#[test]
fn place_tests_pass() {
    tests_of("work/test_places.py", &["pytest"]);
}

#[test]
fn session_tests_pass() {
    tests_of("session/test_session.py", &["pytest"]);
}

#[test]
fn notebook_tests_pass() {
    // Which `./x test` does not install.
    if let Some(lacking) =
        ["jupyter_client", "ipykernel", "cloudpickle"].into_iter().find(|module| !has(module))
    {
        return skip(Lack::Host, format!("this python3 has no {lacking}"));
    }
    tests_of("session/test_notebook.py", &["pytest"]);
}

#[test]
fn example_program_tests_pass() {
    tests_of("session/test_example_programs.py", &["pytest"]);
}

#[test]
fn tutorial_tests_pass() {
    tests_of("session/test_tutorials.py", &["pytest"]);
}

#[test]
fn group_tests_pass() {
    tests_of("messages/test_groups.py", &["numpy"]);
}

#[test]
fn pvm_tests_pass() {
    tests_of("messages/test_pvm.py", &[]);
}

#[test]
fn shared_tests_pass() {
    tests_of("messages/test_shared.py", &["numpy"]);
}

#[test]
fn array_tests_pass() {
    tests_of("messages/test_arrays.py", &["numpy"]);
}

#[test]
fn signal_tests_pass() {
    tests_of("session/test_signals.py", &[]);
}

#[test]
fn stopping_tests_pass() {
    tests_of("work/test_stopping.py", &["pytest"]);
}

#[test]
fn interrupt_tests_pass() {
    tests_of("session/test_interrupts.py", &["pytest"]);
}

#[test]
fn reference_tests_pass() {
    tests_of("messages/test_by_reference.py", &["pytest", "numpy"]);
}

#[test]
fn output_tests_pass() {
    tests_of("work/test_output.py", &["pytest"]);
}

#[test]
fn typing_tests_pass() {
    tests_of("session/test_typing.py", &["pytest"]);
}

#[test]
fn script_tests_pass() {
    tests_of("session/test_scripts.py", &["pytest"]);
}

#[test]
fn bad_input_tests_pass() {
    tests_of("messages/test_bad_input.py", &[]);
}

#[test]
fn documentation_examples_pass() {
    tests_of("session/test_examples.py", &["numpy"]);
}

/// Every file of tests has its place above.
#[test]
fn python_test_files_are_all_run() {
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
