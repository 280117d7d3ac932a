//! No thread stands still because another one waits in a call of TreadMarks, or for a page: in each situation of its partner.

use super::processes;
use parvum_tests::TestMachine;
use parvum_tests::beside::judge;

#[test]
fn thread_works_while_another_waits_for_page() {
    let machine = TestMachine::up();
    for protocol in ["auto", "lazy", "home"] {
        for situation in ["silent", "stopped", "daemon"] {
            eprintln!("{protocol}, {situation}");
            judge(&machine, &mut processes(&machine, 2, protocol, &["tmk_beside", situation]), 4);
        }
    }
}
