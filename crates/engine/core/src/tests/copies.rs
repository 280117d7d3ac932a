//! Copies by threads: the engine continues during the copy, and loses nothing when the peer goes.

use super::basics::{bytes_of, outgoing, send, tagged};
use super::simulated::{Nature, ONE, Scissors, engine, join, run_until_quiet};
use crate::{Copy, Destination, Engine, Outcome, Pattern, Received, RequestId, Sent};

/// A receiver that leaves copies of 2,000 bytes to threads, and a sender.
fn pair(nature: Nature) -> (Engine, Engine, Scissors) {
    let (mut receiver, mut sender) = (engine(1, 1 << 20), engine(2, 1 << 20));
    receiver.leave_copies_of(2_000);
    let scissors = join(&mut receiver, &mut sender, ONE, nature);
    (receiver, sender, scissors)
}

/// A matched message of 5,000 bytes whose copy no thread has taken.
fn matched(
    receiver: &mut Engine,
    sender: &mut Engine,
    pattern: Pattern,
    data: &[u8],
) -> (RequestId, RequestId) {
    let id = receiver.post(pattern, Destination::Block, false, false);
    let Ok(Sent::Later(sent)) = send(sender, outgoing(receiver.me(), 1, &[data])) else { panic!("offered") };
    run_until_quiet(&mut [receiver, sender]);
    assert!(!receiver.is_over(id) && receiver.has_copies() && receiver.has_copy_for(id));
    (id, sent)
}

fn take(receiver: &mut Engine, id: RequestId) -> Copy {
    receiver.take_copy(|wanted| wanted == id).expect("nobody has taken the copy")
}

#[test]
fn engine_receives_while_a_thread_copies() {
    let (mut receiver, mut sender, _scissors) = pair(Nature::QUICK);
    let data = vec![7; 5_000];
    let (id, sent) = matched(&mut receiver, &mut sender, tagged(1), &data);
    let mut copy = take(&mut receiver, id);
    assert!(!receiver.has_copies(), "each copy is made once");
    let other = receiver.post(tagged(2), Destination::Block, false, false);
    let _ = send(&mut sender, outgoing(receiver.me(), 2, &[b"short"]));
    run_until_quiet(&mut [&mut receiver, &mut sender]);
    assert_eq!(bytes_of(&mut receiver, other), b"short");
    assert!(!receiver.is_over(id) && !sender.is_over(sent));
    assert!(!receiver.cancel(id), "a thread writes to the receive's memory");
    copy.run();
    assert!(receiver.end_copy(copy));
    assert_eq!(bytes_of(&mut receiver, id), data);
    run_until_quiet(&mut [&mut receiver, &mut sender]);
    assert!(sender.is_over(sent));
}

#[test]
fn threads_copy_two_messages_concurrently() {
    let (mut receiver, mut sender, _scissors) = pair(Nature::QUICK);
    let (one, two) = (vec![1; 5_000], vec![2; 6_000]);
    let (first, _) = matched(&mut receiver, &mut sender, tagged(1), &one);
    let (second, _) = matched(&mut receiver, &mut sender, tagged(1), &two);
    let (mut a, mut b) = (take(&mut receiver, first), take(&mut receiver, second));
    std::thread::scope(|scope| {
        scope.spawn(|| a.run());
        scope.spawn(|| b.run());
    });
    assert!(receiver.end_copy(b) && receiver.end_copy(a));
    assert_eq!(bytes_of(&mut receiver, first), one);
    assert_eq!(bytes_of(&mut receiver, second), two);
}

#[test]
fn copy_in_portions_transfers_whole_message() {
    let (mut receiver, mut sender, _scissors) = pair(Nature::QUICK);
    let data: Vec<u8> = (0..5_001u32).map(|at| at as u8).collect();
    let (id, _) = matched(&mut receiver, &mut sender, tagged(1), &data);
    let mut portions = 0;
    while let Some(mut copy) = receiver.take_any_copy() {
        copy.run();
        receiver.end_copy(copy);
        portions += 1;
    }
    run_until_quiet(&mut [&mut receiver, &mut sender]);
    assert_eq!(bytes_of(&mut receiver, id), data);
    assert_eq!(portions, 2, "2,000 bytes, 2,000 bytes; the engine copies the rest by itself");
}

#[test]
fn engine_detaches_dead_sender_after_copy_returns() {
    let (mut receiver, mut sender, scissors) = pair(Nature::QUICK);
    let from = Pattern { from: Some(sender.me()), ..Pattern::ANY };
    let (id, _) = matched(&mut receiver, &mut sender, from, &vec![7; 5_000]);
    let mut copy = take(&mut receiver, id);
    scissors.cut(usize::MAX);
    receiver.peer_gone(sender.me());
    assert!(!receiver.is_over(id), "a thread writes to the receive's memory");
    copy.run();
    receiver.end_copy(copy);
    assert!(matches!(receiver.test(id), Received::Over(Outcome::Gone(peer)) if peer == sender.me()));
    assert!(receiver.is_gone(sender.me()) && !receiver.is_pulling());
}

#[test]
fn pending_copy_is_made_when_its_sender_leaves() {
    let (mut receiver, mut sender, scissors) = pair(Nature { lends: Some(0), ..Nature::QUICK });
    let data = vec![9; 5_000];
    let id = receiver.post(Pattern::ANY, Destination::Block, false, false);
    assert_eq!(
        send(&mut sender, outgoing(receiver.me(), 1, &[&data])),
        Ok(Sent::Now),
        "its sender has copied it"
    );
    receiver.progress();
    assert!(receiver.has_copy_for(id));
    scissors.cut(usize::MAX);
    receiver.peer_gone(sender.me());
    assert_eq!(bytes_of(&mut receiver, id), data);
}

#[test]
fn copy_of_half_filled_memory_waits_for_next_progress() {
    let (mut receiver, mut sender, _scissors) = pair(Nature { lends: Some(10), ..Nature::QUICK });
    let data = vec![9; 5_000];
    let id = receiver.post(Pattern::ANY, Destination::Block, false, false);
    let _ = send(&mut sender, outgoing(receiver.me(), 1, &[&data]));
    let mut rounds = 0;
    while !receiver.is_over(id) {
        receiver.progress();
        rounds += 1;
        while let Some(mut copy) = receiver.take_copy(|_| true) {
            copy.run();
            receiver.end_copy(copy);
        }
        assert!(rounds < 1_000);
    }
    assert!(rounds > 100, "10 bytes a round are filled in");
    assert_eq!(bytes_of(&mut receiver, id), data);
}
