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
fn the_target_computes_while_others_use_its_memory() {
    for processes in ["2", "3", "8"] {
        assert_eq!(said("mpi_windows", processes, None), "windows: good\n");
    }
}

#[test]
fn where_the_kernel_may_not_copy_the_target_is_asked() {
    assert_eq!(said("mpi_windows", "3", Some(("PARVUM_SINGLE_COPY", "off"))), "windows: good\n");
}

#[test]
fn the_short_way_and_the_long_one_do_the_same() {
    for processes in ["2", "3"] {
        assert_eq!(said("mpi_windows_near", processes, None), "near: good\n");
        assert_eq!(said_with("mpi_windows_near", processes, None, &["alone"]), "near: good\n");
    }
    assert_eq!(said("mpi_windows_near", "2", Some(("PARVUM_SINGLE_COPY", "off"))), "near: good\n");
}

#[test]
fn elements_that_are_no_words_are_changed_whole_by_all_at_once() {
    assert_eq!(said("mpi_windows_elements", "3", None), "elements: good\n");
}

#[test]
fn elements_in_shared_memory_are_changed_while_the_target_is_stopped() {
    let said = said_with("mpi_windows_elements", "2", None, &["stopped"]);
    assert_eq!(said, "elements: good\n");
}
