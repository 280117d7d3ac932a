//! Messages between hosts, over each route: none lost, doubled, out of order or changed.

use parvum_tests::bed::Bed;

fn over(routes: &[&str], hosts: usize, programs: &[&[&str]]) {
    let Some(bed) = Bed::of(hosts) else { return };
    bed.join_all();
    for route in routes {
        for words in programs {
            eprintln!("{words:?} over {route}");
            bed[0].check(words[0], &words[1..], route);
        }
    }
    bed[0].await_idle();
}

#[test]
fn a_ring_of_two_hosts() {
    over(&["auto", "tcp", "routed"], 2, &[&["across", "ring"]]);
}

#[test]
fn a_ring_of_four_hosts() {
    over(&["tcp", "routed"], 4, &[&["across", "ring"]]);
}

#[test]
fn a_receiver_that_is_slow() {
    let floods: &[&[&str]] = &[&["across", "flood", "3000", "1000"], &["across", "flood", "25", "4000000"]];
    over(&["tcp", "routed"], 2, floods);
}

#[test]
fn one_message_to_many() {
    over(&["auto", "tcp", "routed"], 3, &[&["across", "fan"]]);
}

#[test]
fn their_order() {
    over(&["auto", "tcp", "routed"], 3, &[&["order"]]);
}

#[test]
fn their_order_when_routes_change() {
    over(&["auto"], 3, &[&["order", "switch"]]);
}

/// Programs that were written for one host and do not care.
#[test]
fn programs_of_one_host() {
    let programs: &[&[&str]] = &[
        &["pack"],
        &["calls"],
        &["leave"],
        &["farewell"],
        &["forks"],
        &["ahead"],
        &["corners"],
        &["handlers"],
        &["trace"],
    ];
    over(&["auto", "tcp", "routed"], 3, programs);
}

#[test]
fn sixty_four_tasks_on_three_hosts() {
    over(&["auto", "tcp", "routed"], 3, &[&["many"]]);
}
