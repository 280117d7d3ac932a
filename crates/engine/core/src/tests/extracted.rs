//! Messages that are taken out of matching before they are received.

use super::basics::{bytes_of, outgoing, send, tagged};
use super::simulated::{Nature, ONE, engine, join, pair, run_until_quiet};
use crate::{Buffering, Destination, Outcome, Outgoing, Pattern, Received};

#[test]
fn extracted_message_belongs_to_extractor_only() {
    for length in [5, 100_000] {
        for buffering in [Buffering::BySize, Buffering::Never, Buffering::AtReceiver] {
            let (mut a, mut b) = pair(Nature::QUICK);
            let (first, second) = (vec![1; length], vec![2; length]);
            for data in [&first, &second] {
                let _ = send(&mut a, Outgoing { buffering, ..outgoing(b.me(), 1, &[data]) });
            }
            run_until_quiet(&mut [&mut a, &mut b]);
            let (id, envelope) = b.extract(&tagged(1)).expect("it is here");
            assert_eq!(envelope.length, length as u64);
            // Other calls see the message after it.
            let (other, _) = b.probe(&Pattern::ANY).expect("the second");
            assert_ne!(other, id);
            let plain = b.post(Pattern::ANY, Destination::Block, false, false);
            let mine = b.receive_message(id, Destination::Block).expect("nobody has it");
            run_until_quiet(&mut [&mut a, &mut b]);
            assert_eq!(bytes_of(&mut b, plain), second);
            assert_eq!(bytes_of(&mut b, mine), first);
            assert!(b.receive_message(id, Destination::Block).is_none(), "once");
        }
    }
}

#[test]
fn requeued_message_regains_position_or_matches_newer_receive() {
    let (mut a, mut b) = pair(Nature::QUICK);
    for data in [b"first", b"later"] {
        let _ = send(&mut a, outgoing(b.me(), 1, &[data]));
    }
    run_until_quiet(&mut [&mut a, &mut b]);
    let (id, _) = b.extract(&Pattern::ANY).expect("the first");
    assert!(b.put_back(id) && !b.put_back(id), "once");
    let next = b.post(Pattern::ANY, Destination::Block, false, false);
    assert_eq!(bytes_of(&mut b, next), b"first");
    let (id, _) = b.extract(&Pattern::ANY).expect("the second");
    let waits = b.post(tagged(1), Destination::Block, false, false);
    assert!(!b.is_over(waits));
    assert!(b.put_back(id));
    assert_eq!(bytes_of(&mut b, waits), b"later");
}

#[test]
fn extracted_message_of_gone_sender_is_whole_or_fails() {
    let (mut a, mut b) = (engine(1, 1 << 20), engine(2, 1 << 20));
    let scissors = join(&mut a, &mut b, ONE, Nature::QUICK);
    let long = vec![3; 100_000];
    let _ = send(&mut a, outgoing(b.me(), 1, &[b"short"]));
    let _ = send(&mut a, Outgoing { buffering: Buffering::Never, ..outgoing(b.me(), 2, &[&long]) });
    run_until_quiet(&mut [&mut a, &mut b]);
    let (short, _) = b.extract(&tagged(1)).expect("here");
    let (with_sender, _) = b.extract(&tagged(2)).expect("announced");
    scissors.cut(0);
    b.peer_gone(a.me());
    let short = b.receive_message(short, Destination::Block).expect("it was whole");
    assert_eq!(bytes_of(&mut b, short), b"short");
    let lost = b.receive_message(with_sender, Destination::Block).expect("it was taken out");
    assert!(matches!(b.test(lost), Received::Over(Outcome::Gone(gone)) if gone == a.me()));
    assert!(b.receive_message(with_sender, Destination::Block).is_none());
}

#[test]
fn leaving_sender_hands_over_extracted_message() {
    let (mut a, mut b) = pair(Nature::QUICK);
    let long = vec![9; 50_000];
    let _ = send(&mut a, outgoing(b.me(), 1, &[&long]));
    run_until_quiet(&mut [&mut a, &mut b]);
    let (id, _) = b.extract(&Pattern::ANY).expect("announced");
    a.leave();
    run_until_quiet(&mut [&mut a, &mut b]);
    assert_eq!(a.unfinished(), 0, "nothing keeps it here");
    b.peer_gone(a.me());
    let mine = b.receive_message(id, Destination::Block).expect("nobody has it");
    assert_eq!(bytes_of(&mut b, mine), long);
}
