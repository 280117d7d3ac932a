//! The simulation of small machines, held to what it shows of large ones: that nobody has to talk to everybody.

#![forbid(unsafe_code)]

mod daemon;
mod net;
mod story;
mod world;

use story::measure;

#[test]
fn messages_per_host_do_not_grow_with_machine() {
    let small = measure(64, 7).expect("they agree");
    let large = measure(128, 7).expect("they agree");
    let lost = |part: &story::Part| part.bills.messages;
    for (name, small, large) in [("join", &small.join, &large.join), ("fail", &small.fail, &large.fail)] {
        assert!(lost(large) < 1.5 * lost(small) + 10.0, "{name}: {small:?}, then {large:?}");
    }
    // An idle machine costs a host the same, however many hosts there are.
    assert!(large.join.bills.watched <= small.join.bills.watched + 0.5, "{:?}", large.join);
    assert!(large.join.bills.most_watched <= 2 + 2 + 6, "{:?}", large.join);
    // A few for those who vote, and a share of theirs with all.
    assert!(large.join.bills.links < 20.0, "{:?}", large.join);
    // The leader sends the whole table to each host once, and not more than a few times that.
    let table = large.join.bills.bytes;
    assert!((large.join.bills.most_bytes as f64) < 2.0 * 128.0 * table, "{:?}", large.join);
    assert!(table < 128.0 * 1024.0, "a host costs each other host under 1 KiB: {:?}", large.join);
}

#[test]
fn removal_of_a_tenth_stays_within_promised_bounds() {
    let measured = measure(96, 3).expect("they agree");
    // Silence is noticed within a second, and losses of one cause are counted together for a quarter more.
    assert!(measured.fail.seconds < 1.3, "{:?}", measured.fail);
    // An election lies between.
    let lead = measured.lead.expect("enough are left");
    assert!(lead.seconds < 2.0, "{lead:?}");
}

#[test]
fn simulation_repeats_for_same_seed() {
    let story = || {
        let measured = measure(24, 5).expect("they agree");
        [measured.join, measured.fail, measured.lead.expect("enough are left")]
            .map(|part| (part.seconds, part.bills.messages, part.bills.most_bytes))
    };
    assert_eq!(story(), story());
}
