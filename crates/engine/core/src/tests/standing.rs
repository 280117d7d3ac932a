//! Receives that are posted again under the same id.

use super::basics::{bytes_of, outgoing, send, tagged};
use super::simulated::{Nature, pair, run_until_quiet};
use crate::{Destination, Engine, Outcome, Pattern, Received, RequestId};

/// Takes the message of a receive, which then rests.
fn take(engine: &mut Engine, id: RequestId) -> Vec<u8> {
    match engine.take_and_rest(id) {
        Received::Over(Outcome::Received(completed)) => completed.block.expect("a block").bytes().to_vec(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn standing_receive_gets_messages_in_order_under_one_id() {
    let (mut a, mut b) = pair(Nature::QUICK);
    let id = b.post(tagged(1), Destination::Block, false, false);
    for number in 0..5u8 {
        let _ = send(&mut a, outgoing(b.me(), 1, &[&[number]]));
    }
    for number in 0..5u8 {
        run_until_quiet(&mut [&mut a, &mut b]);
        assert!(b.is_over(id));
        assert_eq!(take(&mut b, id), [number]);
        // A resting receive is known, and gets no message.
        run_until_quiet(&mut [&mut a, &mut b]);
        assert!(b.is_known(id) && !b.is_over(id));
        assert!(matches!(b.take_and_rest(id), Received::Pending) && matches!(b.test(id), Received::Pending));
        assert!(b.resume(id, tagged(1), Destination::Block));
    }
    assert!(!b.is_over(id) && !b.resume(id, tagged(1), Destination::Block), "it is posted already");
}

#[test]
fn resumed_receive_matches_message_that_came_meanwhile() {
    let (mut a, mut b) = pair(Nature::QUICK);
    let id = b.post(Pattern::ANY, Destination::Block, false, false);
    let _ = send(&mut a, outgoing(b.me(), 1, &[b"first"]));
    run_until_quiet(&mut [&mut a, &mut b]);
    assert_eq!(take(&mut b, id), b"first");
    let _ = send(&mut a, outgoing(b.me(), 2, &[b"second"]));
    run_until_quiet(&mut [&mut a, &mut b]);
    // Another receive takes it, because the first rests.
    let other = b.post(Pattern::ANY, Destination::Block, false, false);
    assert_eq!(bytes_of(&mut b, other), b"second");
    let _ = send(&mut a, outgoing(b.me(), 3, &[b"third"]));
    run_until_quiet(&mut [&mut a, &mut b]);
    assert!(b.resume(id, tagged(3), Destination::Block) && b.is_over(id));
    assert_eq!(take(&mut b, id), b"third");
}

#[test]
fn resting_receive_can_be_cancelled_and_given_up() {
    let (mut a, mut b) = pair(Nature::QUICK);
    for gives_up in [false, true] {
        let id = b.post(Pattern::ANY, Destination::Block, false, false);
        let _ = send(&mut a, outgoing(b.me(), 1, &[b"word"]));
        run_until_quiet(&mut [&mut a, &mut b]);
        assert_eq!(take(&mut b, id), b"word");
        if gives_up {
            b.give_up(id);
        } else {
            assert!(b.cancel(id));
            assert!(matches!(b.test(id), Received::Over(Outcome::Cancelled)));
        }
        assert!(!b.is_known(id) && !b.cancel(id) && !b.resume(id, Pattern::ANY, Destination::Block));
    }
}
