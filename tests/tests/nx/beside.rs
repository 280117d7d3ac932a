//! No thread stands still because another one waits in a call of NX: each call that waits, in each situation of its partner.

use parvum_tests::TestMachine;
use parvum_tests::beside::{judge, situations};
use parvum_tests::stage::program;

#[test]
fn thread_works_while_another_waits_in_a_call() {
    let machine = TestMachine::up();
    for situation in situations() {
        eprintln!("{situation}");
        let mut command = machine.command(&["run", "-n", "2"]);
        machine.as_user(&mut command);
        command.arg(program("nx_beside")).arg(situation).env("PARVUM_CREDIT", "65536");
        judge(&machine, &mut command, 10);
    }
}
