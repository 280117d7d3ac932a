//! Sends that wait for each other, and receives that are given up.

use crate::tests::basics::{bytes_of, outgoing, send, tagged};
use crate::tests::simulated::{Nature, ONE, engine, join, pair, run_until_quiet};
use crate::{
    Buffering, Counter, Destination, Engine, KeepOutcome, Outcome, Outgoing, Pattern, Received, RequestId,
    Sent,
};

const CREDIT: u64 = 10_000;
const LIMIT: u64 = 1 << 20;

fn two(nature: Nature) -> (Engine, Engine) {
    let (mut a, mut b) = (engine(1, CREDIT), engine(2, CREDIT));
    join(&mut a, &mut b, ONE, nature);
    (a, b)
}

/// Sends as PVM does: the sender keeps a copy.
fn send_copy(from: &mut Engine, to: &Engine, tag: i32, data: &[u8]) -> Sent {
    let pieces = [data];
    let message = Outgoing { buffering: Buffering::AtSender, ..outgoing(to.me(), tag, &pieces) };
    send(from, message).expect("it is there")
}

/// Sends numbered messages until one must wait.
fn flood(from: &mut Engine, to: &mut Engine) -> (i32, RequestId) {
    for number in 0.. {
        if let Sent::Later(held) = send_copy(from, to, number, &[number as u8; 1000]) {
            run_until_quiet(&mut [from, to]);
            return (number, held);
        }
        run_until_quiet(&mut [from, to]);
    }
    unreachable!("credit ends")
}

#[test]
fn tasks_that_flood_each_other_both_continue() {
    let (mut a, mut b) = two(Nature::QUICK);
    let (last, held) = flood(&mut a, &mut b);
    assert!(a.is_held_up(held));
    assert_eq!(
        a.keep(held, LIMIT),
        KeepOutcome::NotNeeded,
        "nobody waits for this one: the receiver may just be slow"
    );
    let (_, back) = flood(&mut b, &mut a);
    assert_eq!(a.keep(held, LIMIT), KeepOutcome::Yes);
    assert!(matches!(a.test(held), Received::Over(Outcome::Sent)));
    assert_eq!(send_copy(&mut a, &b, last + 1, &[0; 1000]), Sent::Now, "the next one need not wait again");
    assert_eq!(b.keep(back, LIMIT), KeepOutcome::Yes);
    for number in 0..=last {
        let id = b.post(Pattern::ANY, Destination::Block, false, false);
        run_until_quiet(&mut [&mut a, &mut b]);
        assert_eq!(bytes_of(&mut b, id), [number as u8; 1000], "in order");
    }
    assert!(!a.is_behind(b.me()), "the credit came back, and what was kept has left");
}

#[test]
fn send_beyond_memory_is_refused_without_trace() {
    let (mut a, mut b) = two(Nature::QUICK);
    let (last, held) = flood(&mut a, &mut b);
    flood(&mut b, &mut a);
    assert_eq!(a.keep(held, 100), KeepOutcome::Full);
    assert!(a.refuse(held));
    assert!(matches!(a.test(held), Received::Over(Outcome::NoMemory(_))));
    for _ in 0..last {
        let id = b.post(Pattern::ANY, Destination::Block, false, false);
        run_until_quiet(&mut [&mut a, &mut b]);
        assert_eq!(bytes_of(&mut b, id).len(), 1000);
    }
    assert_eq!(
        send_copy(&mut a, &b, 99, &[1; 10]),
        Sent::Now,
        "there is credit again, and no gap in the order"
    );
    let id = b.post(Pattern::ANY, Destination::Block, false, false);
    run_until_quiet(&mut [&mut a, &mut b]);
    assert_eq!(bytes_of(&mut b, id), [1; 10]);
}

#[test]
fn awaited_message_arrives_despite_used_up_credit() {
    let (mut a, mut b) = two(Nature::QUICK);
    let wanted = b.post(tagged(1000), Destination::Block, false, false);
    let (last, held) = flood(&mut a, &mut b);
    assert!(!a.is_over(held));
    assert!(b.lend_credit(LIMIT));
    run_until_quiet(&mut [&mut a, &mut b]);
    assert!(matches!(a.test(held), Received::Over(Outcome::Sent)));
    assert_eq!(send_copy(&mut a, &b, 1000, b"wanted"), Sent::Now);
    run_until_quiet(&mut [&mut a, &mut b]);
    assert_eq!(bytes_of(&mut b, wanted), b"wanted");
    assert!(!b.lend_credit(LIMIT), "what was lent is not used up");
    assert!(!b.lend_credit(0), "there is no memory for more");
    for _ in 0..=last {
        let id = b.post(Pattern::ANY, Destination::Block, false, false);
        run_until_quiet(&mut [&mut a, &mut b]);
        bytes_of(&mut b, id);
    }
    // The lent credit has been repaid: the credit is the same as before.
    let (again, _) = flood(&mut a, &mut b);
    assert!((last - 1..=last + 1).contains(&again), "{again} messages, {last} before");
}

#[test]
fn cancelled_receive_returns_message_in_order() {
    let (mut a, mut b) = pair(Nature::QUICK);
    let posted = b.post(tagged(2), Destination::Block, false, false);
    for tag in 1..=3 {
        assert_eq!(send_copy(&mut a, &b, tag, &[tag as u8; 5]), Sent::Now);
    }
    run_until_quiet(&mut [&mut a, &mut b]);
    assert!(b.is_over(posted));
    b.give_up(posted);
    assert!(!b.is_known(posted));
    for tag in 1..=3u8 {
        let id = b.post(Pattern::ANY, Destination::Block, false, false);
        assert_eq!(bytes_of(&mut b, id), [tag; 5]);
    }
    let never = b.post(tagged(9), Destination::Block, false, false);
    b.give_up(never);
    assert!(!b.is_known(never));
    assert_eq!(send_copy(&mut a, &b, 9, b"nine"), Sent::Now);
    run_until_quiet(&mut [&mut a, &mut b]);
    assert!(b.probe(&tagged(9)).is_some(), "nobody waits for it any more");
}

#[test]
fn message_in_flight_to_cancelled_receive_is_requeued() {
    let (mut a, mut b) = two(Nature { single_copy: false, ..Nature::QUICK });
    let posted = b.post(Pattern::ANY, Destination::Block, false, false);
    let data: Vec<u8> = (0..5_000).map(|at| at as u8).collect();
    let pieces = [&data[..]];
    let message = Outgoing { buffering: Buffering::Never, ..outgoing(b.me(), 1, &pieces) };
    let Ok(Sent::Later(sent)) = send(&mut a, message) else { panic!("it is offered") };
    b.progress();
    assert!(!b.is_over(posted) && !b.cancel(posted), "matched, and its data is on the way");
    b.give_up(posted);
    run_until_quiet(&mut [&mut a, &mut b]);
    assert!(a.is_over(sent));
    assert_eq!(b.ledger().read(Counter::Received), 1);
    let id = b.post(Pattern::ANY, Destination::Block, false, false);
    assert_eq!(bytes_of(&mut b, id), data);
}
