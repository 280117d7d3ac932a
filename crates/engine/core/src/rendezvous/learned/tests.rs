//! Messages whose times depend on their way.

use super::*;

const SHORT: u64 = 64 << 10;
const MIB: u64 = 1 << 20;

fn way(learned: &Learned, length: u64) -> Way {
    match learned.wanted() & 1 << class(length) {
        0 => Way::Lent,
        _ if learned.copies_alone(length) => Way::Alone,
        _ => Way::Together,
    }
}

/// Passes messages whose time depends on their way. How many went by each way.
fn pass(learned: &mut Learned, length: u64, messages: u32, time: impl Fn(Way) -> u64) -> [u32; 3] {
    let mut now = 0;
    let mut counts = [0; 3];
    for order in 0..messages {
        let way = way(learned, length);
        counts[way as usize] += 1;
        learned.begin(order, now);
        now += time(way);
        learned.end(order, length, way, now);
    }
    counts
}

/// Times of the three ways.
fn times(lent: u64, alone: u64, together: u64) -> impl Fn(Way) -> u64 {
    move |way| [lent, alone, together][way as usize]
}

#[test]
fn classes_are_powers_of_two_from_16_kib() {
    assert_eq!([0, 1, 16 << 10, 32 << 10, SHORT, MIB, 4 * MIB].map(class), [0, 0, 0, 1, 2, 6, 8]);
    assert_eq!([8 * MIB, 1 << 40, u64::MAX].map(class), [9, 9, 9]);
    assert_eq!(Learned::UNKNOWN, 0b11_0000_0000);
    assert_eq!(Learned::new().wanted(), Learned::UNKNOWN, "long messages are in place at first");
    assert!(!Learned::new().copies_alone(4 * MIB));
}

#[test]
fn fastest_way_is_found_and_kept() {
    let mut learned = Learned::new();
    assert_eq!(pass(&mut learned, SHORT, 8, times(9000, 4000, 0)), [4, 4, 0], "both are tried");
    let [lent, alone, _] = pass(&mut learned, SHORT, 640, times(9000, 4000, 0));
    assert!(alone > 620 && lent > 0, "{lent} {alone}: the other is tried now and then");
    for (fastest, times) in [(0, times(40, 90, 90)), (1, times(90, 40, 50)), (2, times(90, 50, 40))] {
        let scaled = |way| times(way) * 1000;
        for length in [MIB, 4 * MIB] {
            let counts = pass(&mut Learned::new(), length, 640, scaled);
            assert!(counts[fastest] > 610 && counts.iter().all(|count| *count > 3), "{counts:?}");
        }
    }
    // A tenth less is not worth a wait of the sender.
    let [lent, ..] = pass(&mut Learned::new(), SHORT, 640, times(10_000, 9500, 0));
    assert!(lent > 610, "{lent}");
}

#[test]
fn changed_program_changes_the_way() {
    let mut learned = Learned::new();
    pass(&mut learned, SHORT, 100, times(4000, 9000, 0));
    let [_, alone, _] = pass(&mut learned, SHORT, 2000, times(9000, 4000, 0));
    assert!(alone > 1800, "{alone}");
    let [lent, ..] = pass(&mut learned, SHORT, 2000, times(4000, 9000, 0));
    assert!(lent > 1900, "{lent}");
}

#[test]
fn one_interrupted_message_changes_nothing() {
    let mut learned = Learned::new();
    pass(&mut learned, SHORT, 50, times(9000, 4000, 0));
    learned.begin(1, 0);
    learned.end(1, SHORT, Way::Alone, 90_000_000);
    assert_eq!(way(&learned, SHORT), Way::Alone);
    // Another message than the timed one ends nothing.
    learned.begin(2, 0);
    learned.end(3, SHORT, Way::Lent, 1);
    assert_eq!(way(&learned, SHORT), Way::Alone);
}

#[test]
fn sender_looks_longer_only_after_a_message_in_place() {
    let mut learned = Learned::new();
    pass(&mut learned, SHORT, 50, times(9000, 4000, 0));
    assert!(learned.begins_look(SHORT), "the peer has sent in place");
    assert!(!learned.begins_look(SHORT), "and nothing since");
    assert!(!learned.begins_look(MIB));
    for _ in 0..8 {
        learned.ends_look(false);
    }
    let looks = (0..1000).filter(|&order| {
        learned.begin(order, 0);
        learned.end(order, SHORT, Way::Alone, 4000);
        let looks = learned.begins_look(SHORT);
        if looks {
            learned.ends_look(false);
        }
        looks
    });
    assert!((1..10).contains(&looks.count()), "in vain so often, it looks seldom");
    learned.ends_look(true);
    pass(&mut learned, SHORT, 1, times(9000, 4000, 0));
    assert!(learned.begins_look(SHORT));
}
