//! The fate of messages and receives when a peer goes, or sends invalid data.

use crate::tests::basics::{bytes_of, outgoing, send, tagged};
use crate::tests::simulated::{
    Nature, ONE, OTHER, THIRD, engine, half_pipe, join, pair, run_until_quiet, tid,
};
use crate::{
    Buffering, Counter, Destination, Engine, Outcome, Outgoing, Pattern, Received, RequestId, SendError, Sent,
};
use parvum_transport::{Gather, Link};
use parvum_wire::{Header, Kind, Tid};

#[test]
fn messages_before_death_are_received_then_error() {
    let (mut a, mut b) = (engine(1, 1 << 20), engine(2, 1 << 20));
    let scissors = join(&mut a, &mut b, ONE, Nature::QUICK);
    let data = vec![1; 5_000];
    let _ = send(&mut b, outgoing(a.me(), 1, &[b"small"]));
    let _ = send(&mut b, outgoing(a.me(), 2, &[&data]));
    let Ok(Sent::Later(offered)) = send(&mut a, outgoing(b.me(), 3, &[&data])) else { panic!("offered") };
    let waiting = a.post(Pattern { from: Some(b.me()), ..tagged(9) }, Destination::Block, false, false);
    scissors.cut(2);
    let gone = b.me();
    a.peer_gone(gone);
    assert!(matches!(a.test(offered), Received::Over(Outcome::Gone(tid)) if tid == gone));
    assert!(matches!(a.test(waiting), Received::Over(Outcome::Gone(_))));
    let first = a.post(Pattern::ANY, Destination::Block, false, false);
    assert_eq!(bytes_of(&mut a, first), b"small");
    assert_eq!(a.ledger().read(Counter::Lost), 1, "the offered message died with its sender");
    assert_eq!(send(&mut a, outgoing(gone, 1, &[b"x"])), Err(SendError::Gone(gone)));
}

/// The receiver of a message that its sender was still filling in when it died, and the sender's last whole message.
fn died_filling(pattern: Pattern, into: fn() -> Destination) -> (Engine, Tid, RequestId) {
    let (mut a, mut b) = (engine(1, 1 << 20), engine(2, 1 << 20));
    let nature = Nature { lends: Some(1_000), ..Nature::QUICK };
    let scissors = join(&mut a, &mut b, ONE, nature);
    let half = vec![1; 100_000];
    let received = a.post(pattern, into(), false, false);
    let _ = send(&mut b, outgoing(a.me(), 7, &[&half]));
    for _ in 0..20 {
        a.progress();
    }
    assert!(!a.is_over(received) && a.is_pulling(), "half of it is there");
    scissors.cut(usize::MAX);
    a.peer_gone(b.me());
    (a, b.me(), received)
}

#[test]
fn wildcard_receive_survives_sender_death_mid_message() {
    for into in [|| Destination::Block, || Destination::Lazily] {
        let (mut a, gone, received) = died_filling(Pattern::ANY, into);
        assert!(!a.is_over(received) && !a.is_pulling());
        assert_eq!(a.ledger().read(Counter::Lost), 1);
        // It is the oldest receive still, and takes what comes next from whomever.
        let younger = a.post(Pattern::ANY, Destination::Block, false, false);
        let notice = crate::Envelope { from: gone, tag: 9, context: 0, meta: 0, length: 0, order: None };
        a.inject(notice, b"it has ended");
        assert_eq!(bytes_of(&mut a, received), b"it has ended");
        assert!(!a.is_over(younger));
    }
}

#[test]
fn named_receive_fails_when_sender_dies_mid_message() {
    let (mut a, gone, received) =
        died_filling(Pattern { from: Some(tid(2)), ..Pattern::ANY }, || Destination::Block);
    assert!(matches!(a.test(received), Received::Over(Outcome::Gone(tid)) if tid == gone));
}

#[test]
fn cancelled_receive_leaves_half_filled_message_in_place() {
    let (mut a, mut b) = pair(Nature { lends: Some(1_000), ..Nature::QUICK });
    let long = vec![1; 100_000];
    let _ = send(&mut a, outgoing(b.me(), 1, &[&long]));
    let _ = send(&mut a, outgoing(b.me(), 1, &[b"second"]));
    for _ in 0..20 {
        b.progress();
    }
    let hasty = b.post(Pattern::ANY, Destination::Block, false, false);
    b.progress();
    assert!(b.is_pulling() && b.cancel(hasty), "nobody waits for the sender");
    let patient = b.post(Pattern::ANY, Destination::Block, false, false);
    run_until_quiet(&mut [&mut a, &mut b]);
    assert_eq!(bytes_of(&mut b, patient), long);
    assert_eq!(a.unfinished(), 0);
}

#[test]
fn filled_data_survives_death_of_sender() {
    let (mut a, mut b) = (engine(1, 1 << 20), engine(2, 1 << 20));
    let scissors = join(&mut a, &mut b, ONE, Nature { lends: Some(0), ..Nature::QUICK });
    let data = vec![5; 100_000];
    let _ = send(&mut b, outgoing(a.me(), 1, &[&data]));
    let _ = send(&mut b, outgoing(a.me(), 2, &[&data]));
    let first = a.post(tagged(1), Destination::Lazily, false, false);
    a.progress();
    let remote = a.completed(first).expect("over").remote.expect("where it lies");
    scissors.cut(usize::MAX);
    a.peer_gone(b.me());
    let mut out = vec![0; data.len()];
    assert_eq!(a.read_remote(&remote, 0, &mut out), Ok(()));
    assert_eq!(out, data);
    a.release_remote(remote);
    let second = a.post(Pattern::ANY, Destination::Block, false, false);
    assert_eq!(bytes_of(&mut a, second), data);
    assert_eq!(a.ledger().read(Counter::Lost), 0);
}

#[test]
fn receive_stops_at_message_lost_with_sender() {
    let (mut a, mut b) = (engine(1, 1 << 20), engine(2, 1 << 20));
    let scissors = join(&mut a, &mut b, ONE, Nature::QUICK);
    let long = vec![1; 5_000];
    let _ = send(&mut b, outgoing(a.me(), 1, &[b"first"]));
    let _ = send(&mut b, outgoing(a.me(), 1, &[&long]));
    let _ = send(&mut b, outgoing(a.me(), 1, &[b"third"]));
    scissors.cut(usize::MAX);
    a.peer_gone(b.me());
    let first = a.post(Pattern::ANY, Destination::Block, false, false);
    assert_eq!(bytes_of(&mut a, first), b"first");
    assert!(a.probe(&Pattern::ANY).is_none(), "the long one lay in its sender's memory");
    assert_eq!(a.ledger().read(Counter::Lost), 2);
}

#[test]
fn receive_stops_at_message_whose_fetch_finds_death() {
    let (mut a, mut b) = (engine(1, 1 << 20), engine(2, 1 << 20));
    let scissors = join(&mut a, &mut b, ONE, Nature::QUICK);
    let long = vec![1; 100_000];
    for _ in 0..3 {
        let _ = send(&mut b, Outgoing { buffering: Buffering::Never, ..outgoing(a.me(), 7, &[&long]) });
    }
    let _ = send(&mut b, outgoing(a.me(), 8, &[b"short"]));
    for _ in 0..20 {
        a.progress();
        b.progress();
    }
    assert!(a.find(|_, message| message.tag == 8).is_some());
    scissors.cut(usize::MAX);
    // The task does not know this yet.
    let received = a.post(Pattern::ANY, Destination::Block, false, false);
    for _ in 0..20 {
        a.progress();
    }
    assert!(!a.is_over(received) && !a.is_pulling() && a.is_gone(b.me()));
    assert!(a.probe(&Pattern::ANY).is_none());
    a.peer_gone(b.me());
    let notice = crate::Envelope { from: b.me(), tag: 9, context: 0, meta: 0, length: 0, order: None };
    a.inject(notice, b"it has ended");
    assert_eq!(bytes_of(&mut a, received), b"it has ended");
}

#[test]
fn impossible_length_is_harmless() {
    let mut b = engine(2, 1 << 20);
    let mut wire = half_pipe(&mut b, tid(1), ONE);
    let start = |order: u32, length: u64| Header {
        kind: Kind::Start,
        flags: 0,
        tag: 1,
        context: 0,
        length,
        meta: 0,
        order,
    };
    let posted = b.post(Pattern::ANY, Destination::Block, false, false);
    wire.send(&start(0, 1 << 62), Gather::new(&[b"begins"])).expect("room");
    wire.send(&Header { kind: Kind::More, ..start(0, 0) }, Gather::new(&[b"goes on"])).expect("room");
    b.progress();
    assert!(
        matches!(b.test(posted), Received::Over(Outcome::NoMemory(envelope)) if envelope.length > 1 << 40)
    );
    // Over another route, so that it is not the first one's continuation.
    let mut other = half_pipe(&mut b, tid(1), OTHER);
    other.send(&start(1, u64::MAX), Gather::new(&[b"begins"])).expect("room");
    b.progress();
    let unexpected = b.post(Pattern::ANY, Destination::Block, false, false);
    assert!(matches!(b.test(unexpected), Received::Over(Outcome::NoMemory(_))));
    let mut third = half_pipe(&mut b, tid(1), THIRD);
    third.send(&start(2, 4), Gather::new(&[b"last"])).expect("room");
    let last = b.post(Pattern::ANY, Destination::Block, false, false);
    b.progress();
    assert_eq!(bytes_of(&mut b, last), b"last");
}

#[test]
fn slots_of_gone_peers_are_reused() {
    let mut a = engine(1, 1 << 20);
    for life in 0..1000 {
        let local = 2 + life % 2;
        let mut b = engine(local, 1 << 20);
        let _scissors = join(&mut a, &mut b, ONE, Nature::QUICK);
        assert!(!a.is_gone(b.me()), "the number is another's now");
        let _ = send(&mut b, outgoing(a.me(), 1, &[b"from a life"]));
        let _ = send(&mut a, outgoing(b.me(), 1, &[b"to it"]));
        run_until_quiet(&mut [&mut a, &mut b]);
        let heard = b.post(Pattern::ANY, Destination::Block, false, false);
        assert_eq!(bytes_of(&mut b, heard), b"to it");
        a.peer_gone(b.me());
        assert!(a.is_gone(b.me()));
        // Its messages are still received, while the next task has its id.
        if life > 0 {
            let heard = a.post(Pattern::ANY, Destination::Block, false, false);
            assert_eq!(bytes_of(&mut a, heard), b"from a life");
        }
    }
    assert!(a.all_peers().len() <= 3, "{} places", a.all_peers().len());
}

#[test]
fn observer_sees_sends_to_all_peers_and_their_end() {
    let [mut a, mut b, mut c] = [1, 2, 3].map(|local| engine(local, 1 << 20));
    join(&mut a, &mut b, ONE, Nature::QUICK);
    join(&mut a, &mut c, ONE, Nature::QUICK);
    let data = vec![1; 5_000];
    for to in [b.me(), c.me(), c.me()] {
        let _ = send(&mut a, outgoing(to, 1, &[&data]));
    }
    let waiting = |engine: &Engine| engine.ledger().read(Counter::WaitingSends);
    assert_eq!(waiting(&a), 3);
    let _ = c.post(Pattern::ANY, Destination::Block, false, false);
    run_until_quiet(&mut [&mut a, &mut b, &mut c]);
    assert_eq!(waiting(&a), 2);
    a.peer_gone(c.me());
    assert_eq!(waiting(&a), 1);
}
