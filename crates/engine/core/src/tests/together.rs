//! Very long data for a receiver that waits for it: offered in place, though there is memory that could be lent.

use super::basics::{outgoing, send, tagged};
use super::simulated::{Nature, pair, run_until_quiet};
use crate::{Counter, Destination, Engine, Outgoing, Pattern, RequestId, Sent, UserBuffer, UserPieces};

const LENDS: Nature = Nature { lends: Some(0), ..Nature::QUICK };
const LONG: usize = (4 << 20) + 5;

/// A message in a context, as MPI's are.
fn message<'a>(to: &Engine, tag: i32, context: u32, pieces: &'a [&'a [u8]]) -> Outgoing<'a> {
    Outgoing { context, ..outgoing(to.me(), tag, pieces) }
}

fn post(engine: &mut Engine, from: &Engine, tag: i32, context: u32, room: &mut [u8]) -> RequestId {
    let pattern = Pattern { from: Some(from.me()), context: Some(context), ..tagged(tag) };
    // SAFETY: the tests keep their memory until the receive is over.
    let buffer = unsafe { UserBuffer::new(room.as_mut_ptr(), room.len()) };
    engine.post(pattern, Destination::User(buffer), false, false)
}

fn is_lent(engine: &Engine) -> bool {
    engine.ledger().read(Counter::BufferedAtSender) > 0
}

#[test]
fn awaited_message_is_copied_once_while_sender_waits() {
    for context in [0, 7] {
        let (mut a, mut b) = pair(LENDS);
        let (data, mut room) = (vec![5; LONG], vec![0; LONG]);
        let wanted = post(&mut b, &a, 3, context, &mut room);
        b.start_waiting(wanted);
        let Ok(Sent::Later(sent)) = send(&mut a, message(&b, 3, context, &[&data])) else {
            panic!("offered in place")
        };
        assert!(!a.is_over(sent), "its memory may be read");
        run_until_quiet(&mut [&mut a, &mut b]);
        assert!(a.is_over(sent) && b.is_over(wanted) && !is_lent(&a));
        assert_eq!(room, data);
        assert_eq!(b.ledger().read(Counter::PulledBytes), LONG as u64);
        assert_eq!(a.unfinished(), 0);
    }
}

#[test]
fn message_without_waiter_is_buffered() {
    let data = vec![5; LONG];
    // Another tag, another context, too little room for the message, and a posted receive whose task computes.
    for (tag, context, length, waits) in
        [(4, 7, LONG, true), (3, 8, LONG, true), (3, 7, 1000, true), (3, 7, LONG, false)]
    {
        let (mut a, mut b) = pair(LENDS);
        let mut room = vec![0; LONG];
        let posted = post(&mut b, &a, tag, context, &mut room[..length]);
        if waits {
            b.start_waiting(posted);
        }
        let sent = send(&mut a, message(&b, 3, 7, &[&data]));
        assert_eq!(sent, Ok(Sent::Now), "{tag} {context} {length} {waits}");
        assert!(is_lent(&a));
        b.cancel(posted);
    }
}

#[test]
fn ended_wait_is_ignored() {
    let (mut a, mut b) = pair(LENDS);
    let (data, mut room) = (vec![5; LONG], vec![0; LONG]);
    let posted = post(&mut b, &a, 3, 7, &mut room);
    b.start_waiting(posted);
    b.end_waiting(posted);
    assert_eq!(send(&mut a, message(&b, 3, 7, &[&data])), Ok(Sent::Now));
    run_until_quiet(&mut [&mut a, &mut b]);
    assert!(b.is_over(posted) && room == data);
    // A receive whose message has come is not published either.
    let posted = post(&mut b, &a, 3, 7, &mut room);
    b.start_waiting(posted);
    assert!(matches!(send(&mut a, message(&b, 3, 7, &[&data])), Ok(Sent::Later(_))));
    run_until_quiet(&mut [&mut a, &mut b]);
    assert_eq!(send(&mut a, message(&b, 3, 7, &[&data])), Ok(Sent::Now));
    // A cancelled receive is not published either.
    let (mut a, mut b) = pair(LENDS);
    let posted = post(&mut b, &a, 3, 7, &mut room);
    assert!(b.start_waiting(posted) && b.cancel(posted));
    assert_eq!(send(&mut a, message(&b, 3, 7, &[&data])), Ok(Sent::Now));
}

#[test]
fn message_in_pieces_is_not_passed_in_place() {
    let (mut a, mut b) = pair(LENDS);
    let (data, mut room) = (vec![5; LONG], vec![0; LONG]);
    let posted = post(&mut b, &a, 3, 7, &mut room);
    assert!(b.start_waiting(posted));
    let (one, other) = data.split_at(LONG / 2);
    assert_eq!(send(&mut a, message(&b, 3, 7, &[one, other])), Ok(Sent::Now));
    run_until_quiet(&mut [&mut a, &mut b]);
    assert!(b.is_over(posted) && room == data);
    let (one, other) = room.split_at_mut(LONG / 2);
    // SAFETY: `room` outlives the receive.
    let pieces = unsafe { UserPieces::new([one, other].map(|part| (part.as_mut_ptr(), part.len()))) };
    let pattern = Pattern { from: Some(a.me()), context: Some(7), ..tagged(3) };
    let posted = b.post(pattern, Destination::Pieces(Box::new(pieces)), false, false);
    assert!(!b.start_waiting(posted));
}

#[test]
fn message_of_cancelled_receive_goes_to_next_receive() {
    let (mut a, mut b) = pair(LENDS);
    let (data, mut room) = (vec![5; LONG], vec![0; LONG]);
    let wanted = post(&mut b, &a, 3, 7, &mut room);
    b.start_waiting(wanted);
    let Ok(Sent::Later(sent)) = send(&mut a, message(&b, 3, 7, &[&data])) else { panic!("in place") };
    assert!(b.cancel(wanted));
    run_until_quiet(&mut [&mut a, &mut b]);
    assert!(!a.is_over(sent), "nobody has it");
    let wanted = post(&mut b, &a, 3, 7, &mut room);
    run_until_quiet(&mut [&mut a, &mut b]);
    assert!(a.is_over(sent) && b.is_over(wanted));
    assert_eq!(room, data);
}
