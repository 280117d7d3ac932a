//! One promise of the engine at a time.

use super::simulated::{Nature, ONE, OTHER, engine, join, pair, run_until_quiet, tid};
use crate::{
    Buffering, Completion, Counter, Destination, Engine, Outcome, Outgoing, Pattern, Received, RequestId,
    SendError, Sent, TagMatch, UserBuffer,
};
use parvum_wire::Tid;

pub(super) fn outgoing<'a>(to: Tid, tag: i32, pieces: &'a [&'a [u8]]) -> Outgoing<'a> {
    let (buffering, completion) = (Buffering::BySize, Completion::Copied);
    Outgoing { to, tag, context: 0, meta: 0, pieces, keep: None, buffering, completion }
}

pub(super) fn send(from: &mut Engine, message: Outgoing<'_>) -> Result<Sent, SendError> {
    // SAFETY: the tests keep their data until the end.
    unsafe { from.send(message) }
}

pub(super) fn tagged(tag: i32) -> Pattern {
    Pattern { tag: TagMatch::Exactly(tag), ..Pattern::ANY }
}

pub(super) fn bytes_of(engine: &mut Engine, id: RequestId) -> Vec<u8> {
    let completed = engine.completed(id).expect("the receive is over");
    completed.block.expect("a block").bytes().to_vec()
}

#[test]
fn short_message_is_sent_at_once_and_matched() {
    let (mut a, mut b) = pair(Nature::QUICK);
    assert_eq!(send(&mut a, outgoing(b.me(), 7, &[b"seven"])), Ok(Sent::Now));
    assert_eq!(send(&mut a, outgoing(b.me(), 8, &[b"ei", b"ght"])), Ok(Sent::Now));
    let eight = b.post(tagged(8), Destination::Block, false, false);
    run_until_quiet(&mut [&mut a, &mut b]);
    assert_eq!(bytes_of(&mut b, eight), b"eight");
    let seven = b.post(Pattern { from: Some(a.me()), ..Pattern::ANY }, Destination::Block, false, false);
    assert_eq!(bytes_of(&mut b, seven), b"seven");
    assert_eq!(b.ledger().read(Counter::Expected), 1);
    assert_eq!(b.ledger().read(Counter::Unexpected), 1);
}

#[test]
fn long_message_is_copied_once_if_link_permits() {
    let (mut a, mut b) = pair(Nature::QUICK);
    let data = vec![42; 100_000];
    let Ok(Sent::Later(sent)) = send(&mut a, outgoing(b.me(), 1, &[&data])) else { panic!("offered") };
    let mut room = vec![0; 100_000];
    // SAFETY: `room` outlives the receive.
    let buffer = unsafe { UserBuffer::new(room.as_mut_ptr(), room.len()) };
    let received = b.post(Pattern::ANY, Destination::User(buffer), false, false);
    run_until_quiet(&mut [&mut a, &mut b]);
    assert!(a.is_over(sent) && b.is_over(received));
    assert_eq!(room, data);
    assert_eq!(b.ledger().read(Counter::PulledBytes), 100_000);
    assert_eq!(a.ledger().read(Counter::CopiedIn) + b.ledger().read(Counter::CopiedOut), 0);
}

#[test]
fn data_left_at_sender_is_read_in_pieces_then_released() {
    let (mut a, mut b) = pair(Nature { lends: Some(0), ..Nature::QUICK });
    let data: Vec<u8> = (0..100_000u32).map(|i| i as u8).collect();
    assert_eq!(send(&mut a, outgoing(b.me(), 1, &[&data])), Ok(Sent::Now));
    let received = b.post(Pattern::ANY, Destination::Lazily, false, false);
    run_until_quiet(&mut [&mut a, &mut b]);
    let remote = b.completed(received).expect("over").remote.expect("where it lies");
    assert_eq!(a.unfinished(), 1, "the data is still needed");
    let mut part = [0; 1000];
    assert_eq!(b.read_remote(&remote, 99_000, &mut part), Ok(()));
    assert_eq!(part, data[99_000..]);
    assert!(b.read_remote(&remote, 99_001, &mut part).is_err(), "past the end");
    b.release_remote(remote);
    run_until_quiet(&mut [&mut a, &mut b]);
    assert_eq!(a.unfinished(), 0);
}

#[test]
fn sender_memory_is_left_in_place_only_by_reference() {
    let (mut a, mut b) = pair(Nature::QUICK);
    let data = vec![6; 100_000];
    let Ok(Sent::Later(sent)) = send(&mut a, outgoing(b.me(), 1, &[&data])) else { panic!("offered") };
    let received = b.post(Pattern::ANY, Destination::ByReference, false, false);
    run_until_quiet(&mut [&mut a, &mut b]);
    let remote = b.completed(received).expect("over").remote.expect("where it lies");
    assert!(!a.is_over(sent), "the data is still needed");
    let mut part = [0; 1000];
    assert_eq!(b.read_remote(&remote, 99_000, &mut part), Ok(()));
    assert_eq!(part, data[99_000..]);
    b.release_remote(remote);
    run_until_quiet(&mut [&mut a, &mut b]);
    assert!(a.is_over(sent));
    let _ = send(&mut a, outgoing(b.me(), 1, &[&data]));
    let received = b.post(Pattern::ANY, Destination::Lazily, false, false);
    run_until_quiet(&mut [&mut a, &mut b]);
    assert_eq!(bytes_of(&mut b, received), data);
}

#[test]
fn data_left_at_sender_may_be_fetched_whole_later() {
    fetched_whole(Nature { lends: Some(0), ..Nature::QUICK }, Destination::Lazily);
    fetched_whole(Nature::QUICK, Destination::ByReference);
}

fn fetched_whole(nature: Nature, into: Destination) {
    let (mut a, mut b) = pair(nature);
    let data = vec![6; 100_000];
    let _ = send(&mut a, outgoing(b.me(), 1, &[&data]));
    let received = b.post(Pattern::ANY, into, false, false);
    run_until_quiet(&mut [&mut a, &mut b]);
    let remote = b.completed(received).expect("over").remote.expect("where it lies");
    let fetched = b.fetch_remote(remote);
    run_until_quiet(&mut [&mut a, &mut b]);
    assert_eq!(bytes_of(&mut b, fetched), data);
    for counter in [Counter::Received, Counter::Pulled] {
        assert_eq!(b.ledger().read(counter), 1, "one message: {counter:?}");
    }
    for counter in [Counter::ReceivedBytes, Counter::PulledBytes] {
        assert_eq!(b.ledger().read(counter), 100_000, "{counter:?}");
    }
    assert_eq!(a.unfinished(), 0);
}

#[test]
fn refused_single_copy_falls_back_to_streaming() {
    let (mut a, mut b) = pair(Nature { refuse_pull: 1, ..Nature::QUICK });
    let data: Vec<u8> = (0..100_000u32).map(|i| i as u8).collect();
    let _ = send(&mut a, outgoing(b.me(), 1, &[&data]));
    let received = b.post(Pattern::ANY, Destination::Block, false, false);
    run_until_quiet(&mut [&mut a, &mut b]);
    assert_eq!(bytes_of(&mut b, received), data);
    assert_eq!(b.ledger().read(Counter::Pulled), 0);
    assert_eq!(a.unfinished(), 0);
}

#[test]
fn long_message_streams_in_small_frames_without_single_copy() {
    let (mut a, mut b) =
        pair(Nature { single_copy: false, frame: 100, eager: 100, capacity: 3, ..Nature::QUICK });
    let data: Vec<u8> = (0..10_001u32).map(|i| (i * 7) as u8).collect();
    let _ = send(&mut a, outgoing(b.me(), 1, &[&data]));
    run_until_quiet(&mut [&mut a, &mut b]);
    let _ = send(&mut a, outgoing(b.me(), 2, &[b"after"]));
    let second = b.post(tagged(2), Destination::Block, false, false);
    let first = b.post(tagged(1), Destination::Block, false, false);
    run_until_quiet(&mut [&mut a, &mut b]);
    assert_eq!(bytes_of(&mut b, first), data);
    assert_eq!(bytes_of(&mut b, second), b"after");
}

#[test]
fn send_that_never_buffers_waits_for_receive() {
    let (mut a, mut b) = pair(Nature::QUICK);
    let message = Outgoing { buffering: Buffering::Never, ..outgoing(b.me(), 1, &[b"x"]) };
    let Ok(Sent::Later(sent)) = send(&mut a, message) else { panic!("must wait") };
    run_until_quiet(&mut [&mut a, &mut b]);
    assert!(!a.is_over(sent));
    let received = b.post(Pattern::ANY, Destination::Block, false, false);
    run_until_quiet(&mut [&mut a, &mut b]);
    assert!(a.is_over(sent));
    assert_eq!(bytes_of(&mut b, received), b"x");
    assert_eq!(b.ledger().read(Counter::BufferedHere), 0);
}

#[test]
fn leaving_sender_hands_over_unrequested_messages() {
    for refuse_pull in [0, 1] {
        let (mut a, mut b) = pair(Nature { refuse_pull, ..Nature::QUICK });
        let data: Vec<u8> = (0..100_000u32).map(|i| (i * 3) as u8).collect();
        for tag in 0..3 {
            let _ = send(&mut a, outgoing(b.me(), tag, &[&data]));
        }
        run_until_quiet(&mut [&mut a, &mut b]);
        assert_eq!(a.unfinished(), 3, "the data waits where it is");
        a.leave();
        run_until_quiet(&mut [&mut a, &mut b]);
        assert_eq!(a.unfinished(), 0);
        assert_eq!(b.ledger().read(Counter::WaitingBytes), 300_000);
        let last = b.post(tagged(2), Destination::Block, false, false);
        let first = b.post(tagged(0), Destination::Block, false, false);
        drop(a);
        assert_eq!(bytes_of(&mut b, last), data);
        assert_eq!(bytes_of(&mut b, first), data);
        assert_eq!(b.ledger().read(Counter::WaitingBytes), 100_000);
    }
}

#[test]
fn leaving_sender_hands_over_in_send_order() {
    const COUNT: usize = 40;
    // The link is full of offers, so that what is said to hand them over stays where it can be seen.
    let (mut a, b) = pair(Nature { capacity: COUNT, ..Nature::QUICK });
    let data = vec![1; 50_000];
    for tag in 0..COUNT as i32 {
        let sent = send(&mut a, Outgoing { buffering: Buffering::Never, ..outgoing(b.me(), tag, &[&data]) });
        assert!(matches!(sent, Ok(Sent::Later(_))));
    }
    a.leave();
    let answers = a.all_peers().iter().flat_map(|peer| &peer.state.outbox.answers);
    let said: Vec<u64> = answers.map(|answer| answer.header.length).collect();
    assert_eq!(said.len(), COUNT);
    assert!(said.is_sorted(), "the cookies grow with each message: {said:?}");
}

#[test]
fn send_buffered_at_sender_completes_at_once() {
    let (mut a, mut b) = pair(Nature::QUICK);
    let mut data = vec![1; 50_000];
    let to = b.me();
    let sent = send(&mut a, Outgoing { buffering: Buffering::AtSender, ..outgoing(to, 1, &[&data]) });
    assert_eq!(sent, Ok(Sent::Now));
    data.fill(2);
    let received = b.post(Pattern::ANY, Destination::Block, false, false);
    run_until_quiet(&mut [&mut a, &mut b]);
    assert!(bytes_of(&mut b, received).iter().all(|&byte| byte == 1));
    assert_eq!(a.ledger().read(Counter::BufferedAtSender), 50_000);
    assert_eq!(a.unfinished(), 0);
}

#[test]
fn message_buffered_at_receiver_completes_before_receive() {
    let (mut a, mut b) = pair(Nature::QUICK);
    let data = vec![9; 50_000];
    let pieces: [&[u8]; 1] = [&data];
    let message = Outgoing { buffering: Buffering::AtReceiver, ..outgoing(b.me(), 1, &pieces) };
    let Ok(Sent::Later(sent)) = send(&mut a, message) else { panic!("offered") };
    run_until_quiet(&mut [&mut a, &mut b]);
    assert!(a.is_over(sent));
    assert_eq!(b.ledger().read(Counter::BufferedHere), 50_000);
    let received = b.post(Pattern::ANY, Destination::Block, false, false);
    assert_eq!(bytes_of(&mut b, received), data);
}

#[test]
fn discardable_message_is_dropped_without_receive() {
    let (mut a, mut b) = pair(Nature::QUICK);
    let force = |to| Outgoing { buffering: Buffering::OrDiscard, ..outgoing(to, 1, &[b"now"]) };
    let _ = send(&mut a, force(b.me()));
    run_until_quiet(&mut [&mut a, &mut b]);
    assert_eq!(b.ledger().read(Counter::Discarded), 1);
    let received = b.post(Pattern::ANY, Destination::Block, false, false);
    let _ = send(&mut a, force(b.me()));
    run_until_quiet(&mut [&mut a, &mut b]);
    assert_eq!(bytes_of(&mut b, received), b"now");
}

#[test]
fn message_longer_than_buffer_is_truncated() {
    let (mut a, mut b) = pair(Nature::QUICK);
    for length in [100, 5_000] {
        let data = vec![3; length];
        let mut room = [0u8; 10];
        // SAFETY: `room` outlives the receive.
        let buffer = unsafe { UserBuffer::new(room.as_mut_ptr(), room.len()) };
        let received = b.post(Pattern::ANY, Destination::User(buffer), false, false);
        let _ = send(&mut a, outgoing(b.me(), 1, &[&data]));
        run_until_quiet(&mut [&mut a, &mut b]);
        let completed = b.completed(received).expect("over");
        assert!(completed.is_cut(10));
        assert_eq!(completed.envelope.length, length as u64);
        assert_eq!(room, [3; 10]);
    }
}

#[test]
fn credit_bounds_buffered_bytes_in_flood() {
    let credit = 10_000;
    let (mut a, mut b) = (engine(1, credit), engine(2, credit));
    join(&mut a, &mut b, ONE, Nature { capacity: 1000, ..Nature::QUICK });
    let data = [5; 100];
    let mut sent = 0;
    while let Ok(Sent::Now) = send(&mut a, outgoing(b.me(), 1, &[&data])) {
        sent += 1;
        run_until_quiet(&mut [&mut a, &mut b]);
        assert!(b.ledger().read(Counter::WaitingBytes) <= credit + 100);
    }
    assert!(sent > 10 && sent < 100, "{sent} messages");
    assert_eq!(a.ledger().read(Counter::CreditStalls), 1);
    for _ in 0..=sent {
        let received = b.post(Pattern::ANY, Destination::Block, false, false);
        run_until_quiet(&mut [&mut a, &mut b]);
        assert_eq!(bytes_of(&mut b, received), data);
    }
    assert_eq!(a.unfinished(), 0);
}

#[test]
fn messages_keep_order_when_route_changes() {
    let (mut a, mut b) = (engine(1, 1 << 20), engine(2, 1 << 20));
    join(&mut a, &mut b, OTHER, Nature { delay: 40, ..Nature::QUICK });
    join(&mut a, &mut b, ONE, Nature::QUICK);
    for round in 0..20u8 {
        assert!(a.prefer(b.me(), if round % 2 == 0 { OTHER } else { ONE }));
        let _ = send(&mut a, outgoing(b.me(), 1, &[&[round]]));
    }
    for round in 0..20u8 {
        let received = b.post(Pattern::ANY, Destination::Block, false, false);
        run_until_quiet(&mut [&mut a, &mut b]);
        assert_eq!(bytes_of(&mut b, received), [round]);
    }
}

#[test]
fn probe_leaves_message_and_matched_probe_names_it() {
    let (mut a, mut b) = pair(Nature::QUICK);
    for byte in [1u8, 2] {
        let _ = send(&mut a, outgoing(b.me(), 4, &[&[byte]]));
    }
    run_until_quiet(&mut [&mut a, &mut b]);
    let (first, envelope) = b.probe(&tagged(4)).expect("arrived");
    assert_eq!((envelope.tag, envelope.length, envelope.from), (4, 1, a.me()));
    assert_eq!(b.probe(&tagged(4)).map(|(id, _)| id), Some(first));
    let (second, _) = b.find(|id, _| id != first).expect("two arrived");
    let received = b.receive_message(second, Destination::Block).expect("still there");
    assert_eq!(bytes_of(&mut b, received), [2]);
    assert!(b.receive_message(second, Destination::Block).is_none());
    assert!(b.probe(&tagged(5)).is_none());
}

#[test]
fn cancelled_receive_takes_no_message() {
    let (mut a, mut b) = pair(Nature::QUICK);
    let received = b.post(Pattern::ANY, Destination::Block, false, false);
    assert!(b.cancel(received));
    assert!(matches!(b.test(received), Received::Over(Outcome::Cancelled)));
    assert!(!b.is_known(received));
    let _ = send(&mut a, outgoing(b.me(), 1, &[b"kept"]));
    run_until_quiet(&mut [&mut a, &mut b]);
    let next = b.post(Pattern::ANY, Destination::Block, false, false);
    assert!(!b.cancel(next), "it is over");
    assert_eq!(bytes_of(&mut b, next), b"kept");
}

#[test]
fn handler_precedes_other_receives_and_is_announced() {
    let (mut a, mut b) = pair(Nature::QUICK);
    let plain = b.post(Pattern::ANY, Destination::Block, false, false);
    let handler = b.post(tagged(3), Destination::Block, true, true);
    let _ = send(&mut a, outgoing(b.me(), 3, &[b"for the handler"]));
    run_until_quiet(&mut [&mut a, &mut b]);
    assert_eq!(b.next_completed(), Some(handler));
    assert_eq!(b.next_completed(), None);
    assert!(!b.is_over(plain));
}

#[test]
fn task_sends_to_itself() {
    let mut a = engine(1, 1 << 20);
    let data = vec![8; 3 << 20];
    let me = a.me();
    let Ok(sent) = send(&mut a, outgoing(me, 1, &[&data])) else { panic!("to oneself") };
    let received = a.post(Pattern::ANY, Destination::Block, false, false);
    run_until_quiet(&mut [&mut a]);
    assert_eq!(bytes_of(&mut a, received), data);
    let Sent::Later(sent) = sent else { panic!("too long for the queue") };
    assert!(a.is_over(sent));
}

#[test]
fn send_to_unattached_task_fails() {
    let mut a = engine(1, 1 << 20);
    assert_eq!(send(&mut a, outgoing(tid(9), 1, &[b"x"])), Err(SendError::NotAttached(tid(9))));
}

#[test]
fn injected_message_is_received_like_any_other() {
    let mut a = engine(1, 1 << 20);
    let notice = crate::Envelope { from: tid(5), tag: 99, context: 0, meta: 1, length: 0, order: None };
    a.inject(notice, b"gone");
    let received = a.post(tagged(99), Destination::Block, false, false);
    let completed = a.completed(received).expect("over");
    assert_eq!((completed.envelope.from, completed.envelope.length), (tid(5), 4));
}

#[test]
fn multicast_reaches_all_peers_in_parts() {
    let [mut a, mut b, mut c, mut d] = [1, 2, 3, 4].map(|local| engine(local, 1 << 20));
    let slow = Nature { capacity: 2, delay: 3, ..Nature::QUICK };
    let route = OTHER;
    join(&mut a, &mut b, route, slow);
    join(&mut a, &mut c, route, Nature { delay: 0, ..slow });
    let way_to_d = join(&mut a, &mut d, route, slow);
    let data: Vec<u8> = (0..50_000u32).map(|at| (at % 251) as u8).collect();
    let to = [(b.me(), 1), (c.me(), 7), (d.me(), 1), (tid(9), 1)];
    let pieces = [&data[..]];
    let message = Outgoing { buffering: Buffering::AtSender, ..outgoing(b.me(), 1, &pieces) };
    // SAFETY: the data stays until the end.
    let sent = unsafe { a.multicast(&to, route, &message) };
    assert_eq!(sent, [Ok(Sent::Now), Ok(Sent::Now), Ok(Sent::Now), Err(SendError::NotAttached(tid(9)))]);
    assert_eq!(
        send(&mut a, Outgoing { buffering: Buffering::AtSender, ..outgoing(c.me(), 2, &[b"behind"]) }),
        Ok(Sent::Now)
    );
    // If the reader ends in the middle, the others still get the data.
    way_to_d.cut(1);
    let receives = [&mut b, &mut c].map(|it| it.post(Pattern::ANY, Destination::Block, false, false));
    let behind = c.post(Pattern::ANY, Destination::Block, false, false);
    run_until_quiet(&mut [&mut a, &mut b, &mut c]);
    assert!(bytes_of(&mut b, receives[0]) == data && bytes_of(&mut c, receives[1]) == data);
    assert_eq!(bytes_of(&mut c, behind), b"behind");
    assert!(!a.is_behind_at_all());
}

#[test]
fn multicast_has_tag_per_peer_and_allows_repeats() {
    let [mut a, mut b] = [1, 2].map(|local| engine(local, 1 << 20));
    join(&mut a, &mut b, OTHER, Nature { capacity: 2, delay: 3, ..Nature::QUICK });
    let mut data: Vec<u8> = (0..20_000u32).map(|at| (at % 251) as u8).collect();
    let wanted = data.clone();
    let to = [7, 8, 9].map(|tag| (b.me(), tag));
    {
        let pieces = [&data[..]];
        let message = Outgoing { buffering: Buffering::AtSender, ..outgoing(b.me(), 1, &pieces) };
        // SAFETY: all are over when this returns: what has not left is copied.
        let sent = unsafe { a.multicast(&to, OTHER, &message) };
        assert_eq!(sent, [Ok(Sent::Now); 3]);
    }
    data.fill(0);
    let receives = [9, 7, 8].map(|tag| b.post(tagged(tag), Destination::Block, false, false));
    run_until_quiet(&mut [&mut a, &mut b]);
    assert!(receives.into_iter().all(|receive| bytes_of(&mut b, receive) == wanted));
}

#[test]
fn send_blocked_on_one_link_does_not_block_others() {
    let (mut a, mut b, mut c) = (engine(1, 1 << 20), engine(2, 1 << 20), engine(3, 1 << 20));
    join(&mut a, &mut b, ONE, Nature::QUICK);
    join(&mut a, &mut c, OTHER, Nature::QUICK);
    let waiting = |a: &Engine| {
        let peers = [tid(2), tid(3), tid(1)];
        peers.map(|peer| [ONE, OTHER].map(|route| a.waits_for_room(peer, route)))
    };
    assert_eq!(waiting(&a), [[false; 2]; 3]);
    // More messages than there is room for, to a receiver that does not look.
    while !a.has_output() {
        send(&mut a, outgoing(tid(2), 1, &[b"data"])).expect("it is kept");
    }
    a.progress();
    assert_eq!(waiting(&a), [[true, false], [false, false], [true, false]]);
    run_until_quiet(&mut [&mut a, &mut b, &mut c]);
    assert_eq!(waiting(&a), [[false; 2]; 3]);
}
