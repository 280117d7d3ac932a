//! Messages between hosts, over each route: none lost, doubled, out of order or changed.

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
fn ring_of_two_hosts_works() {
    over(&["auto", "tcp", "routed"], 2, &[&["across", "ring"]]);
}

#[test]
fn ring_of_four_hosts_works() {
    over(&["tcp", "routed"], 4, &[&["across", "ring"]]);
}

#[test]
fn slow_receiver_gets_all_messages() {
    let floods: &[&[&str]] = &[&["across", "flood", "3000", "1000"], &["across", "flood", "25", "4000000"]];
    over(&["tcp", "routed"], 2, floods);
}

#[test]
fn message_to_many_tasks_arrives_on_three_hosts() {
    over(&["auto", "tcp", "routed"], 3, &[&["across", "fan"]]);
}

#[test]
fn multicast_crosses_each_link_once() {
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
fn messages_keep_order_between_hosts() {
    over(&["auto", "tcp", "routed"], 3, &[&["order"]]);
}

#[test]
fn messages_keep_order_when_routes_change_between_hosts() {
    over(&["auto"], 3, &[&["order", "switch"]]);
}

/// In how many packets a listener on the wire could read what a program sent to the other host.
fn readable(bed: &Bed, route: &str) -> u64 {
    let mut listener = Running::start(&mut bed[0].program("sniff"));
    listener.told("listening");
    bed[0].check("across", &["flood", "2000", "1000"], route);
    listener.close_input();
    let said = listener.finish(String::new);
    let number = |line: &str| said.lines().find_map(|said| said.strip_prefix(line)?.trim().parse().ok());
    assert!(number("seen").is_some_and(|seen: u64| seen > 50), "it heard nothing: {said}");
    number("read").expect("it says so")
}

#[test]
fn traffic_between_hosts_is_encrypted_unless_disabled() {
    let Some(bed) = Bed::of(2) else { return };
    bed.join_all();
    assert_eq!(["auto", "tcp", "routed"].map(|route| readable(&bed, route)), [0; 3]);
    let shown = |bed: &Bed| bed[0].succeed(&["parvum", "hosts", "-v"]);
    assert!(shown(&bed).contains("All that passes between hosts is encrypted"), "{}", shown(&bed));

    let Some(bed) = Bed::of(2) else { return };
    bed[0].set("PARVUM_ENCRYPT", "no");
    bed.join_all();
    assert!(readable(&bed, "tcp") > 50, "the listener can not read, or there was nothing to read");
    assert_eq!(readable(&bed, "routed"), 0);
    assert!(shown(&bed).contains("tasks of two hosts speak in clear"), "{}", shown(&bed));
}

#[test]
fn host_that_requires_encryption_refuses_cleartext_machine() {
    let Some(bed) = Bed::of(2) else { return };
    bed[0].set("PARVUM_ENCRYPT", "no");
    bed[1].set("PARVUM_ENCRYPT", "yes");
    bed[0].succeed(&["parvum", "up"]);
    let refused = bed[0].parvum(&["add", "beta"]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && said.contains("E-ENCRYPT"), "{said}");
    assert_eq!(bed[0].knows(), ["alpha"]);
}

/// Programs that were written for one host and do not care.
#[test]
fn programs_for_one_host_run_on_several() {
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
fn tasks_in_large_number_run_on_three_hosts() {
    over(&["auto", "tcp", "routed"], 3, &[&["many"]]);
}
