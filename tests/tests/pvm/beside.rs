//! No thread stands still because another one waits in a call of PVM's: each call that waits, in each situation of its partner.

use parvum_tests::TestMachine;
use parvum_tests::beside::judge;

fn works_beside(situation: &str) {
    let machine = TestMachine::up();
    for route in ["shm", "tcp"] {
        eprintln!("over {route}");
        let mut program = machine.program("beside");
        program.arg(situation).env("PARVUM_CREDIT", "65536").env("PARVUM_ROUTE", route);
        judge(&machine, &mut program, if situation == "long" { 12 } else { 10 });
    }
}

#[test]
fn thread_works_while_another_waits_for_partner_or_credit() {
    works_beside("silent");
}

#[test]
fn thread_works_while_another_waits_for_stopped_partner() {
    works_beside("stopped");
}

#[test]
fn thread_works_while_daemon_is_stopped() {
    works_beside("daemon");
}

#[test]
fn thread_works_while_another_transfers_256_mib() {
    if parvum_tests::is_left_out() {
        return;
    }
    works_beside("long");
}
