//! The way of long messages, learnt from their times.

use super::basics::{outgoing, send, tagged};
use super::simulated::{Nature, TOGETHER, pair, run_until_quiet};
use crate::{Counter, Destination, Engine, Pattern, Sent, UserBuffer};
use std::cell::Cell;

const LENDS: Nature = Nature { lends: Some(0), ..Nature::QUICK };
const LENGTH: usize = 64 << 10;

thread_local! {
    static NOW: Cell<u64> = const { Cell::new(0) };
    static STEP: Cell<u64> = const { Cell::new(1) };
}

/// A clock that goes on by a step with each look.
fn clock() -> u64 {
    NOW.set(NOW.get() + STEP.get());
    NOW.get()
}

/// Passes messages from one engine to the other. Their times depend on their way. How many went in place.
fn pass(a: &mut Engine, b: &mut Engine, messages: u8, waits: bool, (lent, in_place): (u64, u64)) -> u32 {
    let mut room = vec![0; LENGTH];
    let mut count = 0;
    for fill in 0..messages {
        let data = vec![fill; LENGTH];
        let pattern = Pattern { from: Some(a.me()), context: Some(0), ..tagged(3) };
        // SAFETY: the memory is there until the receive is over.
        let buffer = unsafe { UserBuffer::new(room.as_mut_ptr(), room.len()) };
        let posted = b.post(pattern, Destination::User(buffer), false, false);
        if waits {
            b.start_waiting(posted);
        }
        let sent = send(a, outgoing(b.me(), 3, &[&data])).expect("the peer is joined");
        STEP.set(if matches!(sent, Sent::Later(_)) { in_place } else { lent });
        count += u32::from(matches!(sent, Sent::Later(_)));
        run_until_quiet(&mut [&mut *a, &mut *b]);
        if let Sent::Later(sent) = sent {
            a.test(sent);
        }
        assert!(b.completed(posted).is_some() && room == data, "message {fill}");
    }
    count
}

#[test]
fn waiting_receiver_gets_messages_by_the_faster_way() {
    let (mut a, mut b) = pair(LENDS);
    b.learn_by(clock);
    let in_place = pass(&mut a, &mut b, 60, true, (9000, 100));
    assert!(in_place > 50, "{in_place} of 60 in place");
    let (mut a, mut b) = pair(LENDS);
    b.learn_by(clock);
    let in_place = pass(&mut a, &mut b, 60, true, (100, 9000));
    assert_eq!(in_place, 4, "as many as were tried");
}

#[test]
fn sender_never_waits_for_a_receiver_that_does_not_wait() {
    let (mut a, mut b) = pair(LENDS);
    b.learn_by(clock);
    assert!(pass(&mut a, &mut b, 60, true, (9000, 100)) > 50);
    assert_eq!(pass(&mut a, &mut b, 60, false, (9000, 100)), 0);
}

#[test]
fn engine_without_a_clock_learns_nothing() {
    let (mut a, mut b) = pair(LENDS);
    assert_eq!(pass(&mut a, &mut b, 60, true, (9000, 100)), 0);
}

#[test]
fn protocols_of_long_messages_are_counted() {
    let (mut a, mut b) = pair(LENDS);
    b.learn_by(clock);
    let in_place = u64::from(pass(&mut a, &mut b, 60, true, (9000, 100)));
    let read = |counter| a.ledger().read(counter);
    assert_eq!(read(Counter::SentInPlace), in_place);
    assert_eq!(read(Counter::SentCopied), 60 - in_place);
    assert_eq!(read(Counter::InPlaceBytes), in_place * LENGTH as u64);
    assert_eq!(read(Counter::LongBytes), 60 * LENGTH as u64);
    let (mut a, mut b) = pair(Nature { single_copy: false, ..Nature::QUICK });
    pass(&mut a, &mut b, 3, false, (1, 1));
    assert_eq!(a.ledger().read(Counter::SentCopied), 3);
}

#[test]
fn sender_of_another_tag_does_not_wait() {
    let (mut a, mut b) = pair(LENDS);
    b.learn_by(clock);
    assert!(pass(&mut a, &mut b, 60, true, (9000, 100)) > 50);
    let (data, mut room) = (vec![1; LENGTH], vec![0; LENGTH]);
    for bit in 0..31 {
        let pattern = Pattern { from: Some(a.me()), context: Some(0), ..tagged(1 << bit) };
        // SAFETY: the memory is there until the receive is cancelled.
        let buffer = unsafe { UserBuffer::new(room.as_mut_ptr(), room.len()) };
        let posted = b.post(pattern, Destination::User(buffer), false, false);
        b.start_waiting(posted);
        for other in (0..31).filter(|other| *other != bit) {
            let sent = send(&mut a, outgoing(b.me(), 1 << other, &[&data]));
            assert_eq!(sent, Ok(Sent::Now), "bits {bit} and {other}");
            let taken = b.post(tagged(1 << other), Destination::Block, false, false);
            run_until_quiet(&mut [&mut a, &mut b]);
            assert!(b.completed(taken).is_some());
            // The published word is about the next message now.
            b.start_waiting(posted);
        }
        assert!(b.cancel(posted));
        b.test(posted);
    }
}

#[test]
fn thread_that_copies_for_the_engine_keeps_to_the_learnt_way() {
    const LONG: usize = 1 << 20;
    // Ticks by lent memory, in place alone, and in place by both.
    for (times, fewest, most) in [([9000, 100, 5000], 4, 8), ([9000, 5000, 100], 80, 96)] {
        let (mut a, mut b) = pair(LENDS);
        b.learn_by(clock);
        b.leave_copies_of(1);
        TOGETHER.set(0);
        let (data, mut room) = (vec![1; LONG], vec![0; LONG]);
        for _ in 0..100 {
            let pattern = Pattern { from: Some(a.me()), context: Some(0), ..tagged(3) };
            // SAFETY: the memory is there until the receive is over.
            let buffer = unsafe { UserBuffer::new(room.as_mut_ptr(), room.len()) };
            let posted = b.post(pattern, Destination::User(buffer), false, false);
            b.start_waiting(posted);
            let sent = send(&mut a, outgoing(b.me(), 3, &[&data])).expect("the peer is joined");
            let before = TOGETHER.get();
            for _ in 0..8 {
                b.progress();
                while let Some(mut copy) = b.take_copy(|_| true) {
                    copy.run();
                    let way = match sent {
                        Sent::Now => 0,
                        Sent::Later(_) => 1 + usize::from(TOGETHER.get() > before),
                    };
                    STEP.set(times[way]);
                    b.end_copy(copy);
                }
                a.progress();
            }
            assert!(b.completed(posted).is_some());
            if let Sent::Later(sent) = sent {
                a.test(sent);
            }
        }
        let count = TOGETHER.get();
        assert!((fewest..=most).contains(&count), "{count} copies by both, with times {times:?}");
    }
}
