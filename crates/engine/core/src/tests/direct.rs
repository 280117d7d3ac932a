//! The short way of short messages.

use super::basics::{outgoing, send, tagged};
use super::simulated::{Nature, ONE, OTHER, pair};
use crate::{
    Buffering, Counter, Counters, Destination, Engine, Envelope, Look, Outgoing, Pattern, RequestId, Room,
    Sent, Settings, Short, UserBuffer,
};
use parvum_wire::Tid;

/// The result of a look, and the length of the received message.
fn take(engine: &mut Engine, pattern: &Pattern, room: &mut [u8]) -> (Look, u64) {
    assert!(engine.is_quiet());
    let mut envelope = Envelope::NONE;
    let look = engine.take_next(pattern, &mut Room::Memory(room), &mut envelope);
    (look, envelope.length)
}

fn taken((look, length): (Look, u64)) -> u64 {
    assert_eq!(look, Look::Taken);
    length
}

#[test]
fn awaited_message_goes_straight_to_its_buffer() {
    let (mut a, mut b) = pair(Nature::QUICK);
    let (pattern, mut room) = (Pattern { from: Some(a.me()), ..tagged(7) }, [0; 8]);
    assert_eq!(take(&mut b, &pattern, &mut room).0, Look::Nothing);
    assert_eq!(send(&mut a, outgoing(b.me(), 7, &[b"seven"])), Ok(Sent::Now));
    assert_eq!(taken(take(&mut b, &pattern, &mut room)), 5);
    assert_eq!(&room[..5], b"seven");
    let count = |counter| b.ledger().read(counter);
    assert_eq!([Counter::Received, Counter::Expected, Counter::Unexpected].map(count), [1, 1, 0]);
    assert_eq!([Counter::ReceivedBytes, Counter::CopiedOut, Counter::BufferedHere].map(count), [5, 5, 0]);
    assert!(b.is_quiet());
}

#[test]
fn look_takes_one_message_and_keeps_order() {
    let (mut a, mut b) = pair(Nature::QUICK);
    for number in 0..5u8 {
        assert_eq!(send(&mut a, outgoing(b.me(), 1, &[&[number]])), Ok(Sent::Now));
    }
    let mut room = [9];
    for number in 0..5u8 {
        assert_eq!(taken(take(&mut b, &Pattern::ANY, &mut room)), 1);
        assert_eq!(room, [number]);
    }
    assert_eq!(take(&mut b, &Pattern::ANY, &mut room).0, Look::Nothing);
}

#[test]
fn unmatched_message_takes_the_normal_path() {
    let (mut a, mut b) = pair(Nature::QUICK);
    assert_eq!(send(&mut a, outgoing(b.me(), 1, &[b"one"])), Ok(Sent::Now));
    assert_eq!(send(&mut a, outgoing(b.me(), 2, &[b"two"])), Ok(Sent::Now));
    let mut room = [0; 8];
    assert_eq!(take(&mut b, &tagged(2), &mut room).0, Look::Other);
    assert!(!b.is_quiet(), "a message that came before must be found first");
    for (tag, words) in [(1, b"one"), (2, b"two")] {
        let id = b.post(tagged(tag), Destination::Block, false, false);
        b.progress();
        let completed = b.completed(id).expect("it has come");
        assert_eq!(completed.block.expect("a block").bytes(), words);
    }
    assert!(b.is_quiet());
}

#[test]
fn direct_message_longer_than_buffer_is_truncated() {
    let (mut a, mut b) = pair(Nature::QUICK);
    assert_eq!(send(&mut a, outgoing(b.me(), 1, &[b"abcdef"])), Ok(Sent::Now));
    let mut room = [0; 4];
    assert_eq!(taken(take(&mut b, &Pattern::ANY, &mut room)), 6);
    assert_eq!(&room, b"abcd");
}

#[test]
fn message_too_long_for_inline_arrives_in_block() {
    let (mut a, mut b) = pair(Nature::QUICK);
    let data: Vec<u8> = (0..200).collect();
    assert_eq!(send(&mut a, outgoing(b.me(), 1, &[&data])), Ok(Sent::Now));
    let (mut inside, mut block) = ([0; 64], None);
    let mut room = Room::Inside { inside: &mut inside, block: &mut block };
    let mut envelope = Envelope::NONE;
    assert_eq!(b.take_next(&Pattern::ANY, &mut room, &mut envelope), Look::Taken);
    assert_eq!(envelope.length, 200);
    assert_eq!(block.expect("a block").bytes(), data);
}

#[test]
fn offer_is_refused_by_direct_receive() {
    let (mut a, mut b) = pair(Nature::QUICK);
    let never = Outgoing { buffering: Buffering::Never, ..outgoing(b.me(), 1, &[b"here"]) };
    assert!(matches!(send(&mut a, never), Ok(Sent::Later(_))));
    assert_eq!(take(&mut b, &Pattern::ANY, &mut [0; 8]).0, Look::Other);
    assert!(!b.is_quiet());
}

#[test]
fn short_send_succeeds_at_once_or_fails() {
    let (mut a, mut b) = pair(Nature::QUICK);
    let to = b.me();
    let short = |a: &mut Engine, over, buffering| {
        a.send_short(to, over, Short { tag: 3, context: 4, meta: 5, data: b"short", buffering })
    };
    assert!(!short(&mut a, OTHER, Buffering::BySize), "joined over another route");
    assert!(!short(&mut a, ONE, Buffering::Never) && !short(&mut a, ONE, Buffering::OrDiscard));
    assert!(take(&mut b, &Pattern::ANY, &mut [0; 8]).0 == Look::Nothing);
    assert!(short(&mut a, ONE, Buffering::AtReceiver));
    let (mut envelope, mut memory) = (Envelope::NONE, [0; 8]);
    assert_eq!(b.take_next(&Pattern::ANY, &mut Room::Memory(&mut memory), &mut envelope), Look::Taken);
    let Envelope { from, tag, context, meta, length, .. } = envelope;
    assert_eq!((from, tag, context, meta, length, &memory[..5]), (a.me(), 3, 4, 5, 5, &b"short"[..]));
    assert_eq!([Counter::Sent, Counter::SentBytes, Counter::CopiedIn].map(|c| a.ledger().read(c)), [1, 5, 5]);
    // A message in the queue goes first.
    let never = Outgoing { buffering: Buffering::Never, ..outgoing(b.me(), 1, &[b"here"]) };
    assert!(matches!(send(&mut a, never), Ok(Sent::Later(_))));
    a.peer_gone(b.me());
    assert!(!short(&mut a, ONE, Buffering::BySize), "nobody there");
}

/// A receive of this task from itself, and its room.
fn own_receive(engine: &mut Engine, tag: i32, room: &mut [u8]) -> RequestId {
    let pattern = Pattern { from: Some(engine.me()), ..tagged(tag) };
    // SAFETY: the tests keep their memory until the receive is over.
    let buffer = unsafe { UserBuffer::new(room.as_mut_ptr(), room.len()) };
    engine.post(pattern, Destination::User(buffer), false, false)
}

#[test]
fn message_to_oneself_meets_its_posted_receive_without_the_link() {
    let mut engine = Engine::new(Tid(1), Settings::default(), Counters::private());
    let me = engine.me();
    for number in 0..200u8 {
        let mut room = [0; 4];
        let posted = own_receive(&mut engine, 3, &mut room);
        assert_eq!(send(&mut engine, outgoing(me, 3, &[&[number; 4]])), Ok(Sent::Now));
        // One in 64 goes through the link, and is there after the next look.
        assert!(engine.is_over(posted) || number.is_multiple_of(64), "{number}");
        engine.progress();
        assert!(engine.completed(posted).is_some());
        assert_eq!(room, [number; 4]);
    }
    assert_eq!(engine.ledger().read(Counter::Sent), 200);
    assert_eq!(engine.ledger().read(Counter::Received), 200);
}

#[test]
fn messages_to_oneself_keep_their_order() {
    let mut engine = Engine::new(Tid(1), Settings::default(), Counters::private());
    let me = engine.me();
    let give = |engine: &mut Engine, tag: i32, byte: u8| {
        let data = [byte];
        assert!(matches!(send(engine, outgoing(me, tag, &[&data])), Ok(Sent::Now)));
    };
    // The first message waits in the link for a receive, and the second message may not pass it.
    give(&mut engine, 3, 1);
    let (mut first, mut second) = ([0; 1], [0; 1]);
    let one = own_receive(&mut engine, 3, &mut first);
    give(&mut engine, 3, 2);
    let two = own_receive(&mut engine, 3, &mut second);
    engine.progress();
    assert!(engine.completed(one).is_some() && engine.completed(two).is_some());
    assert_eq!((first, second), ([1], [2]));
    // A receive of another tag takes nothing.
    let mut other = [0; 1];
    let posted = own_receive(&mut engine, 4, &mut other);
    give(&mut engine, 3, 3);
    engine.progress();
    assert!(!engine.is_over(posted));
    give(&mut engine, 4, 4);
    engine.progress();
    assert!(engine.completed(posted).is_some());
    assert_eq!(other, [4]);
}

#[test]
fn short_message_to_oneself_does_not_cut_a_long_one() {
    const LONG: usize = 3 << 19;
    let mut engine = Engine::new(Tid(1), Settings::default(), Counters::private());
    let me = engine.me();
    for steps in 0..8 {
        let (mut long, mut short, data) = (vec![0; LONG], [0; 4], vec![steps; LONG]);
        let first = own_receive(&mut engine, 3, &mut long);
        let sent = send(&mut engine, outgoing(me, 3, &[&data])).expect("there is a way to oneself");
        // Some frames of the long message have come, and others have not.
        (0..steps).for_each(|_| {
            engine.progress();
        });
        let second = own_receive(&mut engine, 4, &mut short);
        assert!(send(&mut engine, outgoing(me, 4, &[&[steps; 4]])).is_ok());
        (0..20).for_each(|_| {
            engine.progress();
        });
        assert!(engine.completed(first).is_some() && engine.completed(second).is_some(), "{steps} steps");
        assert!(long == data && short == [steps; 4]);
        if let Sent::Later(sent) = sent {
            engine.test(sent);
        }
    }
}

/// The program is wrong, but its task must not end by this.
#[test]
fn message_from_the_memory_of_its_own_receive_is_copied_first() {
    let mut engine = Engine::new(Tid(1), Settings::default(), Counters::private());
    let me = engine.me();
    for number in 0..4u8 {
        let mut room = [number; 8];
        let posted = own_receive(&mut engine, 3, &mut room[2..]);
        // SAFETY: plain bytes, which the engine writes only through a copy.
        let data = unsafe { std::slice::from_raw_parts(room.as_ptr(), 6) };
        assert!(matches!(send(&mut engine, outgoing(me, 3, &[data])), Ok(Sent::Now)));
        engine.progress();
        assert!(engine.completed(posted).is_some());
        assert_eq!(room, [number; 8]);
    }
}
