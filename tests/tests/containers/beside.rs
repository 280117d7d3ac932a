//! No thread stands still because another one waits in a call of containers: each call that waits, in each situation of its partner.

use parvum_tests::TestMachine;
use parvum_tests::beside::{judge, situations};

#[test]
fn thread_works_while_another_waits_in_a_call() {
    let machine = TestMachine::up();
    for situation in situations() {
        eprintln!("{situation}");
        let mut program = machine.program("containers_beside");
        judge(&machine, program.arg(situation).env("PARVUM_CREDIT", "65536"), 7);
    }
}
