//! MPI over libfabric, with its provider for TCP.

use parvum_tests::stage::program;
use parvum_tests::{TestMachine, has_libfabric};
use std::process::Output;

fn over_fabric(ranks: &str, name: &str, provider: &str) -> Output {
    let machine = TestMachine::up();
    let program = program(name);
    let mut command = machine.command(&["run", "-n", ranks, program.to_str().expect("a plain path")]);
    machine.as_user(&mut command);
    let fabric = [("PARVUM_ROUTE", "fabric"), ("PARVUM_FABRIC", provider)];
    command.envs(fabric).current_dir(&machine.dir).output().expect("parvum runs")
}

#[test]
fn mpi_programs_run_over_libfabric() {
    if !has_libfabric() {
        return;
    }
    for (ranks, name) in [("2", "mpi_messages"), ("5", "mpi_collectives")] {
        let done = over_fabric(ranks, name, "tcp");
        let said = String::from_utf8_lossy(&done.stdout).into_owned();
        assert!(done.status.success(), "{name}: {done:?}");
        assert_eq!(said.lines().filter(|line| line.ends_with("checks")).count().to_string(), ranks, "{said}");
    }
}

#[test]
fn unknown_provider_of_libfabric_is_refused_with_help() {
    if !has_libfabric() {
        return;
    }
    let done = over_fabric("2", "mpi_messages", "pigeon");
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(!done.status.success(), "{done:?}");
    assert!(said.contains("E-FABRIC") && said.contains("\"pigeon\"") && said.contains("fi_info"), "{said}");
}
