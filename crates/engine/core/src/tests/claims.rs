//! Receives that take a message now and copy it later.

use super::basics::{bytes_of, outgoing, send, tagged};
use super::simulated::{Nature, ONE, join, pair, run_until_quiet};
use crate::{
    Buffering, Counter, Destination, Engine, Envelope, Outgoing, Pattern, RequestId, TagMatch, UserBuffer,
};

fn claim(engine: &mut Engine, tag: i32, room: &mut [u8]) -> RequestId {
    // SAFETY: the tests keep the memory until the receive is over.
    let buffer = unsafe { UserBuffer::new(room.as_mut_ptr(), room.len()) };
    engine.claim(tagged(tag), Destination::User(buffer), false)
}

#[test]
fn claimed_message_is_exclusive_and_copied_on_settle() {
    for length in [5, 100_000] {
        let (mut a, mut b) = pair(Nature::QUICK);
        let data = vec![7; length];
        let _ = send(&mut a, Outgoing { buffering: Buffering::AtReceiver, ..outgoing(b.me(), 1, &[&data]) });
        run_until_quiet(&mut [&mut a, &mut b]);
        let mut room = vec![0; length];
        let claimed = claim(&mut b, 1, &mut room);
        assert!(b.probe(&Pattern::ANY).is_none(), "it is hidden");
        run_until_quiet(&mut [&mut a, &mut b]);
        assert!(!b.is_over(claimed) && b.is_claim(claimed));
        assert_eq!(b.ledger().read(Counter::CopiedFromHere), 0);
        b.fetch_claims();
        assert!(b.is_over(claimed) && b.claims() == 0);
        assert_eq!(room, data);
        assert_eq!(b.ledger().read(Counter::CopiedFromHere), length as u64);
        assert_eq!(b.ledger().read(Counter::BufferedHere), length as u64);
    }
}

#[test]
fn message_after_claim_goes_to_claim_buffer() {
    let (mut a, mut b) = pair(Nature::QUICK);
    let mut room = vec![0; 100_000];
    let claimed = claim(&mut b, 1, &mut room);
    assert!(!b.is_claim(claimed), "nothing has come");
    let data = vec![9; 100_000];
    let _ = send(&mut a, Outgoing { buffering: Buffering::AtReceiver, ..outgoing(b.me(), 1, &[&data]) });
    run_until_quiet(&mut [&mut a, &mut b]);
    assert!(b.is_over(claimed));
    assert_eq!(room, data);
    assert_eq!(b.ledger().read(Counter::BufferedHere) + b.ledger().read(Counter::CopiedFromHere), 0);
}

#[test]
fn claim_on_message_still_at_sender_completes_at_once() {
    let (mut a, mut b) = pair(Nature::QUICK);
    let data = vec![3; 100_000];
    let _ = send(&mut a, Outgoing { buffering: Buffering::Never, ..outgoing(b.me(), 1, &[&data]) });
    run_until_quiet(&mut [&mut a, &mut b]);
    let mut room = vec![0; 100_000];
    let claimed = claim(&mut b, 1, &mut room);
    assert!(b.is_over(claimed) && b.claims() == 0);
    assert_eq!(room, data);
}

#[test]
fn abandoned_claim_leaves_message_to_others() {
    let (mut a, mut b) = pair(Nature::QUICK);
    for data in [b"first", b"later"] {
        let _ = send(&mut a, outgoing(b.me(), 1, &[data]));
    }
    run_until_quiet(&mut [&mut a, &mut b]);
    let mut room = [0; 5];
    let claimed = claim(&mut b, 1, &mut room);
    assert!(b.cancel(claimed));
    b.test(claimed);
    let next = b.post(tagged(1), Destination::Block, false, false);
    assert_eq!(b.completed(next).expect("over").block.expect("a block").bytes(), b"first");
    assert_eq!(room, [0; 5]);
}

#[test]
fn claim_on_partial_message_waits_for_all_parts() {
    for dies in [false, true] {
        let nature = Nature { single_copy: false, frame: 100, eager: 100, capacity: 3, ..Nature::QUICK };
        let (mut a, mut b) = (super::simulated::engine(1, 1 << 20), super::simulated::engine(2, 1 << 20));
        let scissors = join(&mut a, &mut b, ONE, nature);
        let data = vec![4; 5000];
        let _ = send(&mut a, outgoing(b.me(), 1, &[&data]));
        b.progress();
        let mut room = vec![0; 5000];
        let claimed = claim(&mut b, 1, &mut room);
        assert!(b.is_claim(claimed));
        if dies {
            scissors.cut(0);
            b.peer_gone(a.me());
            assert!(!b.is_over(claimed) && !b.is_claim(claimed));
            b.inject(Envelope { tag: 1, ..Envelope::NONE }, b"other");
            assert!(b.is_over(claimed));
            assert_eq!(room[..5], *b"other");
        } else {
            b.fetch_claim(claimed);
            run_until_quiet(&mut [&mut a, &mut b]);
            assert!(b.is_over(claimed));
            assert_eq!(room, data);
        }
    }
}

#[test]
fn tag_set_matches_named_tags_and_rest() {
    let among = |few, last| Pattern { tag: TagMatch::Among { few, last }, ..Pattern::ANY };
    let matches = |pattern: Pattern, tag| {
        let (mut a, mut b) = pair(Nature::QUICK);
        let _ = send(&mut a, outgoing(b.me(), tag, &[b"x"]));
        run_until_quiet(&mut [&mut a, &mut b]);
        b.probe(&pattern).is_some()
    };
    assert!(matches(among(1 << 3 | 1 << 5, 999), 3) && matches(among(1 << 3 | 1 << 5, 999), 5));
    assert!(!matches(among(1 << 3, 999), 4) && !matches(among(1 << 3, 999), 30));
    assert!(matches(among(1 << 30, 999), 30) && matches(among(1 << 30, 999), 999));
    assert!(!matches(among(1 << 30, 999), 1000) && !matches(among(1 << 30, 999), 29));
    assert!(!matches(among(u32::MAX, 999), -1));
}

#[test]
fn abandoned_claim_restores_message_position() {
    let (mut a, mut b) = pair(Nature::QUICK);
    for text in [b"first", b"other", b"third"] {
        let tag = if text == b"other" { 2 } else { 1 };
        let _ = send(&mut a, outgoing(b.me(), tag, &[text]));
    }
    run_until_quiet(&mut [&mut a, &mut b]);
    let mut room = [[0; 5]; 2];
    let [first, third] = &mut room;
    let (_kept, given_up) = (claim(&mut b, 1, first), claim(&mut b, 1, third));
    assert!(b.cancel(given_up));
    let order: Vec<_> = std::iter::from_fn(|| {
        let (id, envelope) = b.probe(&Pattern::ANY)?;
        b.receive_message(id, Destination::Block)?;
        Some(envelope.tag)
    })
    .collect();
    assert_eq!(order, [2, 1], "the third came after the other");
}

#[test]
fn receive_posted_after_claim_gets_abandoned_message() {
    let (mut a, mut b) = pair(Nature::QUICK);
    let _ = send(&mut a, Outgoing { buffering: Buffering::AtReceiver, ..outgoing(b.me(), 1, &[b"one"]) });
    run_until_quiet(&mut [&mut a, &mut b]);
    let mut room = [0; 3];
    let claimed = claim(&mut b, 1, &mut room);
    let posted = b.post(tagged(1), Destination::Block, false, false);
    assert!(!b.is_over(posted));
    assert!(b.cancel(claimed));
    run_until_quiet(&mut [&mut a, &mut b]);
    assert_eq!(bytes_of(&mut b, posted), b"one");
}

#[test]
fn abandoned_messages_keep_their_order() {
    for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2], [2, 0, 1]] {
        let (mut a, mut b) = pair(Nature::QUICK);
        for tag in 1..=4 {
            let _ = send(&mut a, outgoing(b.me(), tag, &[b"text"]));
        }
        run_until_quiet(&mut [&mut a, &mut b]);
        let received = [1, 2, 3].map(|tag| b.post(tagged(tag), Destination::Block, false, false));
        for at in order {
            assert!(b.is_over(received[at]));
            b.give_up(received[at]);
        }
        for tag in 1..=4 {
            let (_, first) = b.probe(&Pattern::ANY).expect("it is there again");
            assert_eq!(first.tag, tag, "{order:?}");
            let id = b.post(Pattern::ANY, Destination::Block, false, false);
            assert_eq!(bytes_of(&mut b, id), b"text");
        }
    }
}
