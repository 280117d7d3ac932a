//! What `parvum why`, `parvum ps` and `parvum trace` say of MPI programs.

use parvum_tests::TestMachine;
use parvum_tests::running::{Running, await_tasks};
use parvum_tests::stage::program;

/// Runs ranks that all hang. Returns the text of `parvum why` as soon as the text has the first of the `wanted`.
fn why(ranks: u32, way: &str, wanted: &[&str]) -> String {
    let machine = TestMachine::up();
    let mut command = machine.command(&["run", "-n", &ranks.to_string()]);
    machine.as_user(&mut command);
    let mut run = Running::start(command.arg(program("mpi_stuck")).arg(way));
    for _ in 0..ranks {
        run.told("ready ");
    }
    let mut said = String::new();
    parvum_tests::eventually("parvum why knows", || {
        let done = machine.run(&["why"]);
        said = String::from_utf8_lossy(&done.stdout).into_owned();
        said.contains(wanted[0])
    });
    for one in wanted {
        assert!(said.contains(one), "{one}: {said}");
    }
    run.kill();
    run.end();
    await_tasks(&machine, 0);
    said
}

#[test]
fn ranks_in_two_collective_functions_are_a_deadlock() {
    let said = why(
        4,
        "odds",
        &[
            "DEADLOCK: on MPI_COMM_WORLD rank 3 is in MPI_Bcast (root 0, 400 bytes), ranks 0-2 are in MPI_Barrier: these can never \
             meet (operation 4 of the communicator).",
            "is in MPI_Bcast on MPI_COMM_WORLD (root 0, 400 bytes) by straight messages, waits there for rank ",
            "is in MPI_Barrier on MPI_COMM_WORLD by dissemination, waits there for rank ",
        ],
    );
    assert!(!said.contains("wait for one another: nobody"), "{said}");
}

#[test]
fn why_reports_nonblocking_against_blocking_collective() {
    why(
        3,
        "begun",
        &[
            "DEADLOCK: on MPI_COMM_WORLD rank 2 waits for an operation of the group that was begun, ranks 0-1 are in MPI_Barrier: the \
             two can never meet. All ranks must begin it, or all must call the blocking one.",
        ],
    );
}

#[test]
fn mismatched_roots_are_reported() {
    why(
        2,
        "roots",
        &[
            "DEADLOCK: in MPI_Reduce on rows rank 0 has root 0, rank 1 has root 1: the root must be the same on all ranks",
            "is in MPI_Reduce on rows (root 1, 4 bytes) by straight messages, waits there for rank 0",
        ],
    );
}

#[test]
fn rank_that_does_not_give_to_its_root_is_named() {
    why(
        4,
        "gives",
        &[
            "DEADLOCK: rank 0 (",
            "is in MPI_Reduce on MPI_COMM_WORLD (root 0, 4 bytes) by broadcast ring, waits there for rank 3 (",
            "rank 3 is in MPI_Recv on MPI_COMM_WORLD, waits for a message from rank 0 (",
        ],
    );
}

#[test]
fn why_suggests_remedy_for_mutual_sends() {
    for (way, doing) in [
        ("ssend", "is in MPI_Ssend on MPI_COMM_WORLD (8 bytes): rank 1"),
        ("send", "is in MPI_Send on MPI_COMM_WORLD (104857600 bytes): rank 1"),
    ] {
        let wanted = [
            "Each of them sends, and waits until that is received",
            doing,
            "has not received it, tag 7",
            "DEADLOCK: rank 0 (",
        ];
        why(2, way, &wanted);
    }
}

#[test]
fn message_waits_are_described_in_mpi_terms() {
    why(
        2,
        "tags",
        &[
            "DEADLOCK: rank 0 (",
            "is in MPI_Recv on MPI_COMM_WORLD, waits for a message from rank 1",
            "the sender is right, the tag is not 5",
            "is in MPI_Waitall on MPI_COMM_WORLD, waits for a message from rank 0",
        ],
    );
}

#[test]
fn why_reports_no_deadlock_if_a_rank_computes() {
    let said = why(
        3,
        "slow",
        &["is in MPI_Barrier on MPI_COMM_WORLD", "rank 0 computes", "Nothing hangs for certain."],
    );
    assert!(!said.contains("DEADLOCK"), "{said}");
}

#[test]
fn trace_shows_mpi_function_names() {
    use parvum_tests::recorded::trace;
    let machine = TestMachine::up();
    let mut command = machine.command(&[]);
    machine.as_user(&mut command);
    let folder = std::env::temp_dir().join(format!("parvum-mpi-trace-{}", std::process::id()));
    let trace = trace(command, &folder, &["-n", "3"], &program("mpi_checks"), &[]);
    assert!(trace.ended.status.success(), "{}", trace.report());
    let waits: Vec<&str> = trace.events.iter().filter_map(|event| event["name"].as_str()).collect();
    // Where three on two cores wait is not certain, but that they do is.
    assert!(waits.iter().any(|name| name.starts_with("waits: MPI_")), "{waits:?}");
    assert!(trace.html.contains("\"MPI_Allreduce\""), "the picture knows the names");
}

#[test]
fn ps_and_info_show_mpi_function_and_rank() {
    let machine = TestMachine::up();
    let mut command = machine.command(&["run", "-n", "2"]);
    machine.as_user(&mut command);
    let mut run = Running::start(command.arg(program("mpi_stuck")).arg("ssend"));
    run.told("ready ");
    run.told("ready ");
    let mut said = String::new();
    parvum_tests::eventually("parvum ps knows", || {
        said = String::from_utf8_lossy(&machine.run(&["ps"]).stdout).into_owned();
        said.matches("in MPI_Ssend: t").count() == 2
    });
    let first = machine.tasks().into_iter().find(|row| row.rank == Some(0)).expect("rank 0");
    let told = machine.run(&["info", &first.tid.to_string()]);
    let told = String::from_utf8_lossy(&told.stdout).into_owned();
    assert!(told.contains("messages sent") && told.contains("rank"), "{told}");
    let json = machine.run(&["ps", "--json"]);
    let json = String::from_utf8_lossy(&json.stdout).into_owned();
    assert!(
        json.contains("\"function\": \"MPI_Ssend\"") || json.contains("\"function\":\"MPI_Ssend\""),
        "{json}"
    );
    run.kill();
    run.end();
    await_tasks(&machine, 0);
}

#[test]
fn waitany_with_computing_peer_is_no_deadlock() {
    let said = why(3, "any", &["is in MPI_Waitany", "rank 2 computes", "Nothing hangs for certain."]);
    assert!(!said.contains("DEADLOCK"), "{said}");
}

#[test]
fn thread_in_receive_is_no_deadlock_with_other_threads() {
    let said = why(2, "threads", &["is in MPI_Recv on MPI_COMM_WORLD", "Nothing hangs for certain."]);
    assert!(!said.contains("DEADLOCK"), "{said}");
}
