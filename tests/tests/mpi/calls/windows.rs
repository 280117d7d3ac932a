//! One-sided communication: operations finish while the target computes, accumulates are atomic, every flavour and synchronisation
//! (`tests/programs/mpi/messages/mpi_windows.c`). The short way and the long one do the same, at once too (`mpi_windows_near.c`). Elements that the processor cannot
//! change in one piece are changed in shared memory too (`mpi_windows_elements.c`).

use parvum_tests::TestMachine;
use parvum_tests::stage::{program, stage};
use std::process::Command;

/// What a program says, with so many processes.
fn said(name: &str, processes: &str, variable: Option<(&str, &str)>) -> String {
    said_with(name, processes, variable, &[])
}

fn said_with(name: &str, processes: &str, variable: Option<(&str, &str)>, words: &[&str]) -> String {
    let machine = TestMachine::up();
    let mut command = Command::new(stage().bin.join("mpiexec"));
    machine.as_user(&mut command);
    let tester = program(name);
    command.env_remove("LD_LIBRARY_PATH").args(["-n", processes]).arg(tester).args(words).envs(variable);
    let done = command.output().expect("mpiexec runs");
    assert!(done.status.success(), "{done:?}");
    String::from_utf8(done.stdout).expect("text")
}

#[test]
fn target_computes_while_others_use_its_window() {
    for processes in ["2", "3", "8"] {
        assert_eq!(said("mpi_windows", processes, None), "windows: good\n");
    }
}

#[test]
fn window_works_without_single_copy() {
    assert_eq!(said("mpi_windows", "3", Some(("PARVUM_SINGLE_COPY", "off"))), "windows: good\n");
}

#[test]
fn window_short_and_long_paths_agree() {
    for processes in ["2", "3"] {
        assert_eq!(said("mpi_windows_near", processes, None), "near: good\n");
        assert_eq!(said_with("mpi_windows_near", processes, None, &["alone"]), "near: good\n");
    }
    assert_eq!(said("mpi_windows_near", "2", Some(("PARVUM_SINGLE_COPY", "off"))), "near: good\n");
}

#[test]
fn elements_that_are_no_words_are_updated_atomically() {
    assert_eq!(said("mpi_windows_elements", "3", None), "elements: good\n");
}

#[test]
fn shared_memory_elements_change_while_target_is_stopped() {
    let said = said_with("mpi_windows_elements", "2", None, &["stopped"]);
    assert_eq!(said, "elements: good\n");
}
