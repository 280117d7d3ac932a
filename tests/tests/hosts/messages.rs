//! Messages between hosts, over each route: none lost, doubled, out of order or changed.

use parvum_tests::alive;
use parvum_tests::bed::Bed;
use parvum_tests::running::Running;

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
fn what_goes_to_many_crosses_each_link_once() {
    const SENT: u64 = 5 << 20;
    let Some(bed) = Bed::of(3) else { return };
    bed.join_all();
    for route in ["auto", "routed"] {
        let before = bed[0].sent();
        // Five messages of 1 MiB to two tasks on each host.
        bed[0].check("across", &["fan"], route);
        let sent = bed[0].sent() - before;
        assert!(sent > 2 * SENT, "{sent} over {route}: to both of the others");
        assert!(sent < 3 * SENT, "{sent} over {route}: once to each, and little else");
    }
}

#[test]
fn their_order() {
    over(&["auto", "tcp", "routed"], 3, &[&["order"]]);
}

#[test]
fn their_order_when_routes_change() {
    over(&["auto"], 3, &[&["order", "switch"]]);
}

/// Whether a program that sends to another host was ever seen to have a TCP connection.
fn seen_to_connect(bed: &Bed) -> bool {
    let mut program = bed[0].program("across");
    program.args(["flood", "60000", "1000"]).env("PARVUM_ROUTE", "tcp");
    let mut flood = Running::start(&mut program);
    let mut seen = false;
    let is_over = loop {
        // State 01: established.
        let table = bed[0].succeed(&["cat", "/proc/net/tcp"]);
        seen |= table.lines().any(|line| line.split_whitespace().nth(3) == Some("01"));
        if !alive(flood.pid()) || seen {
            break !seen;
        }
    };
    if !is_over {
        flood.kill();
    }
    bed[0].await_idle();
    seen
}

#[test]
fn nothing_passes_in_clear_when_that_is_asked_for() {
    for encrypted in [false, true] {
        let Some(bed) = Bed::of(2) else { return };
        if encrypted {
            bed[0].set("PARVUM_ENCRYPT", "yes");
        }
        bed.join_all();
        assert_eq!(seen_to_connect(&bed), !encrypted);
        bed[1].check("across", &["ring"], "auto");
    }
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
