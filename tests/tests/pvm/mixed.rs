//! One engine per process, however many interface libraries it loads.

use parvum_tests::TestMachine;
use parvum_tests::stage::stage;

#[test]
fn two_interfaces_are_one_task() {
    let machine = TestMachine::up();
    for route in ["shm", "tcp", "routed"] {
        let second = stage().programs.join("second_library.so");
        machine.check(machine.program("mixed").arg(second).env("PARVUM_ROUTE", route));
    }
}

#[test]
fn requests_take_pieces_and_any_thread_takes_messages_out() {
    let machine = TestMachine::up();
    for route in ["shm", "tcp", "routed"] {
        machine.check(machine.program("requests").env("PARVUM_ROUTE", route));
    }
    machine.check(machine.program("requests").env("PARVUM_SINGLE_COPY", "off"));
}

/// What the example prints, wherever its tasks are.
const LETTER: &str = "PVM: I begin, with raw data: the others know no XDR.\n\
                          NX: node 1 of 3 had it from node 0.\n\
                          CMMD: node 2 of 3 had it from node 1.\n\
                          PVM: and here it is again.\n";

#[test]
fn a_letter_goes_through_three_interfaces() {
    let machine = TestMachine::up();
    for route in ["shm", "tcp", "routed"] {
        let mut run = machine.command(&["run", "-n", "3"]);
        machine.as_user(&mut run);
        run.arg(parvum_tests::stage::program("letter")).env("PARVUM_ROUTE", route);
        assert_eq!(machine.check(&mut run), LETTER);
    }
}
