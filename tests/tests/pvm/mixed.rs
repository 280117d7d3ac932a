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
