//! One engine per process, however many interface libraries it loads.

use parvum_tests::running::{Running, await_tasks};
use parvum_tests::stage::stage;
use parvum_tests::{TestMachine, eventually_told};

#[test]
fn interfaces_in_one_process_share_one_task() {
    let machine = TestMachine::up();
    for route in ["shm", "tcp", "routed"] {
        let second = stage().programs.join("second_library.so");
        machine.check(machine.program("mixed").arg(second).env("PARVUM_ROUTE", route));
    }
}

#[test]
fn requests_accept_pieces_and_any_thread_extracts() {
    let machine = TestMachine::up();
    for route in ["shm", "tcp", "routed"] {
        machine.check(machine.program("requests").env("PARVUM_ROUTE", route));
    }
    machine.check(machine.program("requests").env("PARVUM_SINGLE_COPY", "off"));
}

/// What the example prints, wherever its tasks are.
const LETTER: &str = "PVM: I begin, with raw data: the others know no XDR.\n\
                          NX: node 1 of 4 had it from node 0.\n\
                          CMMD: node 2 of 4 had it from node 1.\n\
                          PVM: and here it is again.\n\
                          MPI: rank 3 of 4 reads it, from rank 0.\n";

#[test]
fn letter_passes_through_four_interfaces() {
    let machine = TestMachine::up();
    for route in ["shm", "tcp", "routed"] {
        let mut run = machine.command(&["run", "-n", "4"]);
        machine.as_user(&mut run);
        run.arg(parvum_tests::stage::program("letter")).env("PARVUM_ROUTE", route);
        assert_eq!(machine.check(&mut run), LETTER);
    }
}

/// A short receive of MPI's that has been begun is there also while the program waits in PVM; and tasks that an MPI program has spawned by
/// PVM's calls are spoken to by them.
#[test]
fn mpi_program_waits_in_pvm_and_spawns_pvm_tasks() {
    let machine = TestMachine::up();
    for route in ["shm", "tcp", "routed"] {
        let mut run = machine.command(&["run", "-n", "2"]);
        machine.as_user(&mut run);
        run.arg(parvum_tests::stage::program("mixed_mpi")).env("PARVUM_ROUTE", route);
        let said = machine.check(&mut run);
        assert_eq!(said.lines().filter(|line| line.ends_with("all is well")).count(), 2, "{route}: {said}");
    }
}

/// Neither the engine, nor the daemon, nor the command knows the interface: all that they say of it stands in its program.
#[test]
fn interface_in_one_file_shows_its_own_words() {
    let machine = TestMachine::up();
    let mut run = Running::start(&mut machine.program("own_interface"));
    run.told("waits");
    let told = |words: &[&str]| String::from_utf8_lossy(&machine.run(words).stdout).into_owned();
    eventually_told("ps names the call", "echo await an echo: anyone, tag 7", || told(&["ps"]));
    let rows: serde_json::Value = serde_json::from_str(&told(&["ps", "--json"])).expect("JSON");
    let waits = &rows[0]["waits"];
    assert_eq!((&waits["interface"], &waits["call"]), (&"echo".into(), &"await an echo".into()), "{rows}");
    assert!(waits["function"].is_null(), "{rows}");
    // No task that starts later can help: so it hangs for certain.
    eventually_told("why is certain", "DEADLOCK: ", || told(&["why"]));
    run.kill();
    run.end();
    await_tasks(&machine, 0);
}

/// A transport with sockets that one line registers. Onlookers have its name from the task.
#[test]
fn registered_socket_transport_is_chosen_by_name() {
    let machine = TestMachine::up();
    let mut run = Running::start(machine.program("hang").args(["ring", "2"]).env("PARVUM_ROUTE", "unix"));
    run.told("hangs");
    await_tasks(&machine, 2);
    let task = machine.tasks()[0].tid.to_string();
    let said = String::from_utf8_lossy(&machine.run(&["info", "--json", &task]).stdout).into_owned();
    let info: serde_json::Value = serde_json::from_str(&said).expect("JSON");
    let pairs = info["pairs"].as_array().expect("a list").iter();
    let to_others: Vec<_> = pairs.map(|pair| &pair["route"]).filter(|route| **route != "itself").collect();
    assert!(!to_others.is_empty() && to_others.iter().all(|route| **route == "unix"), "{said}");
    run.kill();
    for row in machine.tasks() {
        machine.run(&["kill", "-s", "9", &row.tid.to_string()]);
    }
    run.end();
    await_tasks(&machine, 0);
}
