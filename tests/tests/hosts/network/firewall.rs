//! A firewall that drops TCP between hosts, and lets the daemons' UDP pass: messages go through the daemons.

use parvum_tests::bed::Bed;
use parvum_tests::stage::program;

#[test]
fn messages_pass_through_daemons_if_tcp_is_dropped() {
    let Some(bed) = Bed::of(2) else { return };
    bed.join_all();
    bed[1].drop_tcp();
    bed[0].check("across", &["ring"], "auto");
    bed[0].check("order", &[], "auto");
    bed[0].await_idle();
}

#[test]
fn thread_works_while_another_connects_to_dropped_port() {
    let Some(bed) = Bed::of(2) else { return };
    bed.join_all();
    bed[1].drop_tcp();
    let path = program("mpi_beside");
    let path = path.to_str().expect("a plain path");
    // One rank on each host.
    let said = bed[0].succeed(&["parvum", "run", "-n", "2", "-N", "1", path, "silent", "MPI_Ssend"]);
    assert_eq!(said.matches("good: ").count(), 1, "{said}");
    bed[0].await_idle();
}
