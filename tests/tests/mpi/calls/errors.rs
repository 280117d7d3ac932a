//! Calls with invalid arguments: the class that a program gets, and the text that a newcomer reads when the job ends.

use parvum_tests::TestMachine;
use parvum_tests::running::await_tasks;
use parvum_tests::stage::{compiler, program};
use std::process::Output;

fn run(machine: &TestMachine, ranks: &str, words: &[&str]) -> Output {
    run_of(machine, "mpi_errors", ranks, words)
}

fn run_of(machine: &TestMachine, name: &str, ranks: &str, words: &[&str]) -> Output {
    let mut command = machine.command(&["run", "-n", ranks]);
    machine.as_user(&mut command);
    command.arg(program(name)).args(words).output().expect("parvum runs")
}

#[test]
fn invalid_argument_returns_its_error_class() {
    let machine = TestMachine::up();
    for (name, ranks) in [("mpi_errors", "1"), ("mpi_errors", "3"), ("mpi_errors_abi", "3")] {
        let done = run_of(&machine, name, ranks, &[]);
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let said = String::from_utf8_lossy(&done.stdout).into_owned();
        assert_eq!(
            said.lines().filter(|line| line.ends_with("errors as they should be")).count().to_string(),
            ranks,
            "{said}"
        );
    }
}

#[test]
fn fatal_error_names_function_rank_and_cause() {
    let machine = TestMachine::up();
    for (word, wanted) in [
        ("before", "MPI_Comm_rank: called before MPI_Init; call MPI_Init first"),
        ("after", "MPI_Barrier: called after MPI_Finalize"),
        ("twice", "MPI_Init: MPI_Init was called twice"),
        ("tag", ": MPI_Send: the tag is -7; tags go from 0 to 2147483647 (MPI_ERR_TAG)"),
        ("abort", ": MPI_Send: the count is -1 (MPI_ERR_COUNT)"),
        ("type", ": MPI_Send: the datatype is not committed"),
        (
            "left",
            "MPI_Recv: rank 0 is gone: it has died, or has called MPI_Finalize already (MPIX_ERR_PROC_FAILED)",
        ),
        ("left_together", "MPI_Wait: rank 0 is gone: it has died, or has called MPI_Finalize already"),
        ("freed", "MPI_Barrier: the handle names no communicator; it may have been freed (MPI_ERR_COMM)"),
    ] {
        let done = run(&machine, "2", &[word]);
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(said.contains(wanted), "{word}: {said}");
        let wherefore =
            if word == "abort" { "MPI_ERRORS_ABORT is set" } else { "MPI_ERRORS_ARE_FATAL is set" };
        assert!(said.contains(&format!("the job ends: {wherefore}")), "{word}: {said}");
        assert_eq!(done.status.code(), Some(1), "{word}: {said}");
        await_tasks(&machine, 0);
    }
}

#[test]
fn invalid_option_is_reported_first_then_rank() {
    let machine = TestMachine::up();
    let mut command = machine.program("mpi_errors");
    let done = command.env("PARVUM_ROUTE", "foo").output().expect("it runs");
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    let begins = "E-OPTION: PARVUM_ROUTE=foo: not a transport; note: ";
    assert!(!done.status.success() && said.contains(begins) && said.contains("rank 0 of /"), "{said}");
    assert!(
        said.contains("mpi_errors; note: the job ends: ") && said.contains("; help: use auto, "),
        "{said}"
    );
}

#[test]
fn second_mpi_library_in_process_is_refused() {
    let machine = TestMachine::up();
    let folder = std::env::temp_dir().join(format!("parvum-mpi-two-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("made");
    let (source, other) = (folder.join("other.c"), folder.join("libmpi.so.40"));
    std::fs::write(&source, "int ompi_mpi_comm_self;\n").expect("written");
    let built =
        compiler("cc").args(["-shared", "-fPIC", "-o"]).arg(&other).arg(&source).output().expect("cc runs");
    assert!(built.status.success(), "{built:?}");
    let done = run(&machine, "1", &[other.to_str().expect("a plain path")]);
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    std::fs::remove_dir_all(&folder).expect("ours");
    assert!(said.contains("MPI_Init: two MPI libraries are in this process"), "{said}");
    assert!(said.contains("libmpi.so.40") && said.contains("libmpi.so.12"), "{said}");
    assert_eq!(done.status.code(), Some(1), "{said}");
}
