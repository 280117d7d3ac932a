//! Every interface across hosts: its programs check themselves.

use parvum_tests::bed::Bed;
use parvum_tests::stage::program;

/// Runs programs, started together as so many nodes on two hosts, over each route.
fn nodes_of_two_hosts(programs: &[(&str, &str, &[&str])]) {
    let Some(bed) = Bed::of(2) else { return };
    bed.join_all();
    for route in ["auto", "routed"] {
        for (name, nodes, words) in programs {
            eprintln!("{name} over {route}");
            let path = program(name);
            let path = path.to_str().expect("a plain path");
            let setting = format!("PARVUM_ROUTE={route}");
            let run = ["env", &setting, "parvum", "run", "-n", nodes, path];
            bed[0].succeed(&[&run[..], words].concat());
        }
    }
    bed[0].await_idle();
}

#[test]
fn nx_on_two_hosts() {
    nodes_of_two_hosts(&[("nx_points", "3", &[]), ("nx_global", "5", &[])]);
}

#[test]
fn cmmd_on_two_hosts() {
    nodes_of_two_hosts(&[
        ("cmmd_matching", "3", &[]),
        ("cmmd_global", "5", &["5"]),
        ("cmmd_exchange", "2", &["async"]),
        ("cmmd_errors", "2", &[]),
    ]);
}

/// Checks 1 to 4 of CMMD, where an answer takes as long as the way.
#[test]
fn who_buffers_with_cmmd_on_two_hosts() {
    nodes_of_two_hosts(&[("cmmd_buffering", "2", &["sockets"])]);
}

/// A run whose tasks are of several interfaces at the same time.
#[test]
fn tasks_of_three_interfaces_talk_over_two_hosts() {
    nodes_of_two_hosts(&[("interfaces_mixed", "3", &[])]);
}

#[test]
fn a_letter_goes_through_three_interfaces_on_two_hosts() {
    nodes_of_two_hosts(&[("letter", "3", &[])]);
}
