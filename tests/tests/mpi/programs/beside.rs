//! No thread stands still because another one waits or copies: each call that waits, in each situation of its partner.

use parvum_tests::TestMachine;
use parvum_tests::beside::judge;
use parvum_tests::stage::program;

fn works_beside(situation: &str, credit: Option<&str>, calls: usize) {
    let machine = TestMachine::up();
    let file = program("mpi_beside");
    let mut command = machine.command(&["run", "-n", "2", file.to_str().expect("a plain path"), situation]);
    judge(&machine, command.envs(credit.map(|bytes| ("PARVUM_CREDIT", bytes))), calls);
}

#[test]
fn thread_works_while_another_waits_for_silent_partner() {
    works_beside("silent", None, 25);
}

#[test]
fn thread_works_while_another_waits_for_stopped_partner() {
    works_beside("stopped", None, 25);
}

#[test]
fn thread_works_while_daemon_is_stopped() {
    works_beside("daemon", None, 25);
}

#[test]
fn thread_works_while_another_transfers_256_mib() {
    if parvum_tests::is_left_out() {
        return;
    }
    works_beside("long", None, 25);
}

#[test]
fn thread_works_while_another_has_no_credit() {
    works_beside("credit", Some("65536"), 25);
}
