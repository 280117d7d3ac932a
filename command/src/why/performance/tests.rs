//! Tasks whose counters tests choose, and the sentences about them.

use super::*;
use crate::why::costs::tests::costs;
use parvum_wire::Tid;
use serde_json::json;

const MIB: u64 = 1 << 20;

fn pair(peer: i32, route: u8, counts: &[(Counter, u64)]) -> PairRow {
    let mut counters = vec![0; 24];
    for (counter, count) in counts {
        counters[*counter as usize] = *count;
    }
    PairRow { peer: Tid(peer), route, counters, reasons: [0; 8], waited: 0 }
}

fn task(pairs: Vec<PairRow>) -> TaskRow {
    let mut row = crate::top::sample::tests::picture(&[(0x40001, 3)], 9).tasks.remove(0);
    let routes = ["itself", "shm", "", "tcp", "", "", "", ""].map(String::from).to_vec();
    row.sight = Some(Box::new(Sight { pairs, routes, age: 1_000_000_000, ..Sight::default() }));
    row
}

fn told(row: &TaskRow, costs: Option<&Costs>) -> String {
    lines(row, &[], costs).join("\n")
}

#[test]
fn long_messages_name_their_protocol_and_the_cost_of_the_others() {
    let row = task(vec![pair(
        0x40002,
        1,
        &[
            (Counter::Sent, 12),
            (Counter::SentBytes, 2 * MIB + 80),
            (Counter::SentCopied, 2),
            (Counter::BufferedAtSender, 2 * MIB),
            (Counter::LongBytes, 2 * MIB),
        ],
    )]);
    let length = MIB as usize;
    let cheap = costs(&[(Protocol::Lent, length, 90_000), (Protocol::InPlace, length, 60_000)]);
    let text = told(&row, Some(&cheap));
    assert!(text.contains("10 messages of 8 B on average: eager, two copies through the ring."), "{text}");
    assert!(
        text.contains(
            "2 messages of 1048 kB on average: through memory of both, two copies at the same time."
        ),
        "{text}"
    );
    assert!(text.contains("this way 90 us, in place 60 us."), "{text}");
    assert!(text.contains("In place saves about 30 us a message"), "{text}");
    let dear = costs(&[(Protocol::Lent, length, 90_000), (Protocol::InPlace, length, 85_000)]);
    assert!(!told(&row, Some(&dear)).contains("saves"), "a tenth less is no reason to change a program");
    let json = as_json(&row, Some(&cheap));
    assert_eq!(json["peers"][0]["long"]["messages"][0]["protocol"], "lent");
    assert_eq!(json["peers"][0]["long"]["messages"][0]["costs"][1]["nanoseconds"], 60_000);
    assert_eq!(json["peers"][0]["short"], json!({ "messages": 10, "bytes": 80 }));
}

#[test]
fn protocols_of_one_peer_have_lengths_of_their_own() {
    let counts = [
        (Counter::Sent, 1010),
        (Counter::SentBytes, 8000 + 10 * MIB),
        (Counter::SentInPlace, 1000),
        (Counter::InPlaceBytes, 8000),
        (Counter::SentCopied, 10),
        (Counter::BufferedAtSender, 10 * MIB),
        (Counter::LongBytes, 8000 + 10 * MIB),
    ];
    let row = task(vec![pair(0x40002, 1, &counts)]);
    let text = told(&row, None);
    assert!(text.contains("10 messages of 1048 kB on average: through memory of both"), "{text}");
    assert!(text.contains("1000 messages of 8 B on average: in place, one copy."), "{text}");
    assert_eq!(as_json(&row, None)["peers"][0]["long"]["messages"][1]["mean_bytes"], 8);
}

#[test]
fn unexpected_messages_are_told_with_the_bytes_copied_once_more() {
    let counts = [(Counter::Expected, 1), (Counter::Unexpected, 9), (Counter::ArrivedBytes, 9 * MIB)];
    let kept = [&counts[..], &[(Counter::BufferedHere, 9 * MIB)]].concat();
    let text = told(&task(vec![pair(0x40002, 1, &kept)]), None);
    assert!(text.contains("From t40002: 10 messages, 9437 kB; 9 found no posted receive."), "{text}");
    assert!(text.contains("saves that copy"), "{text}");
    assert!(!told(&task(vec![pair(0x40002, 1, &counts)]), None).contains("saves that copy"));
}

#[test]
fn messages_over_tcp_have_a_reason_and_no_costs_of_shared_memory() {
    let mut over_tcp =
        pair(0x80001, 3, &[(Counter::Sent, 4), (Counter::SentBytes, 80), (Counter::CreditStalls, 2)]);
    (over_tcp.reasons[1], over_tcp.waited) = (2, 300_000_000);
    let some = costs(&[(Protocol::Eager, 64, 100)]);
    let text = told(&task(vec![over_tcp]), Some(&some));
    assert!(
        text.contains("Shared memory: no: the peer is on another host, and hosts share no memory."),
        "{text}"
    );
    assert!(text.contains("4 messages of 20 B on average: in one frame."), "{text}");
    assert!(text.contains("2 sends waited, because t80001 had not received earlier messages."), "{text}");
    assert!(text.contains("slept 30 % of its time for messages of t80001"), "{text}");
}

#[test]
fn quiet_and_unknown_tasks_have_a_sentence() {
    assert!(told(&task(vec![]), None).contains("It has exchanged no messages."));
    let mut row = task(vec![]);
    row.sight = None;
    assert!(told(&row, None).contains("has not enrolled yet"));
    assert_eq!(as_json(&row, None)["age_ns"], 0, "all fields of the schema are there");
    let many = (0..8).map(|at| pair(0x40002 + at, 1, &[(Counter::Sent, 1)])).collect();
    assert!(told(&task(many), None).contains("3 peers more: `parvum info t40001` lists all."));
}
