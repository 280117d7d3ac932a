//! Long random conversations, each from a seed: nothing lost, doubled, changed or reordered.

use super::simulated::{Nature, Random, Scissors, engine, join, settle};
use crate::{
    Block, Buffering, Completion, Counter, Engine, Envelope, Into, Look, Outcome, Outgoing, Pattern,
    Received, RequestId, Room, Sent, TagMatch,
};
use parvum_transport::Route;

const TAGS: u64 = 3;
const CREDIT: u64 = 40_000;

/// One side of the conversation.
struct Side {
    engine: Engine,
    /// Messages sent so far, which is also the number of the next one.
    sent: u32,
    /// Sends under way, with the memory they use.
    sending: Vec<(RequestId, Box<[u8]>)>,
    peer: Option<parvum_wire::Tid>,
    /// Sends that ask, and may be over.
    asking: Vec<RequestId>,
    receiving: Vec<(RequestId, Option<i32>)>,
    /// Numbers received, for each tag, in order.
    received: Vec<Vec<u32>>,
    discardable: Vec<u32>,
    /// Messages received by the short way.
    directly: u32,
    told_gone: usize,
}

impl Side {
    fn new(local: u32) -> Side {
        Side {
            engine: engine(local, CREDIT),
            sent: 0,
            sending: Vec::new(),
            peer: None,
            asking: Vec::new(),
            receiving: Vec::new(),
            received: vec![Vec::new(); TAGS as usize],
            discardable: Vec::new(),
            directly: 0,
            told_gone: 0,
        }
    }

    fn send(&mut self, to: parvum_wire::Tid, random: &mut Random) {
        if random.one_in(4) {
            let route = if random.one_in(2) { Route::Shm } else { Route::Routed };
            self.engine.prefer(to, route);
        }
        let number = self.sent;
        let tag = (number % TAGS as u32) as i32;
        let length = match random.below(4) {
            0 => 4 + random.below(20),
            1 => 4 + random.below(300),
            2 => 4 + random.below(3_000),
            _ => 4 + random.below(30_000),
        };
        let data = contents(number, length as usize);
        let buffering = match random.below(6) {
            0 => Buffering::Never,
            1 => Buffering::AtSender,
            2 => Buffering::AtReceiver,
            5 => Buffering::SenderIfUnposted,
            3 if random.one_in(4) => Buffering::OrDiscard,
            _ => Buffering::BySize,
        };
        let completion = if random.one_in(3) { Completion::Matched } else { Completion::Reusable };
        let pieces = [&data[..2], &data[2..]];
        let whole = [&data[..]];
        let pieces: &[&[u8]] = if random.one_in(2) { &pieces } else { &whole };
        let message =
            Outgoing { to, tag, context: 0, meta: number, pieces, keep: None, buffering, completion };
        // SAFETY: `data` is kept in `sending` until the request is over.
        match unsafe { self.engine.send(message) } {
            Ok(Sent::Now) => {}
            Ok(Sent::Later(request)) => {
                self.sending.push((request, data));
                if buffering == Buffering::SenderIfUnposted {
                    self.asking.push(request);
                }
            }
            // The credit is used up: the number was not given away.
            Err(_) => return,
        }
        if buffering == Buffering::OrDiscard {
            self.discardable.push(number);
        }
        self.sent += 1;
    }

    fn receive(&mut self, random: &mut Random) {
        let tag = (!random.one_in(3)).then(|| random.below(TAGS) as i32);
        // From the one peer that there is: said so, the receive is published to it.
        let from = if random.one_in(2) { self.peer } else { None };
        let pattern = match tag {
            Some(tag) => Pattern { from, tag: TagMatch::Exactly(tag), ..Pattern::ANY },
            None => Pattern { from, ..Pattern::ANY },
        };
        if self.engine.is_quiet() && random.one_in(2) {
            self.look_directly(&pattern, tag);
            return;
        }
        let id = self.engine.post(pattern, Into::Block, false, false);
        self.receiving.push((id, tag));
    }

    /// Receives by the short way what is there to be received so, and nothing else.
    fn look_directly(&mut self, pattern: &Pattern, tag: Option<i32>) {
        let (mut inside, mut block) = ([0; 64], None);
        let mut room = Room::Inside { inside: &mut inside, block: &mut block };
        let mut envelope = Envelope::NONE;
        if self.engine.take_next(pattern, &mut room, &mut envelope) != Look::Taken {
            return;
        }
        assert!(tag.is_none_or(|tag| tag == envelope.tag), "wrong tag");
        let length = envelope.length as usize;
        let data = block.as_ref().map_or(&inside[..length.min(Block::INLINE)], Block::bytes);
        assert!(data == &contents(envelope.meta, length)[..], "message {} changed", envelope.meta);
        self.received[envelope.tag as usize].push(envelope.meta);
        self.directly += 1;
        block.into_iter().for_each(|block| self.engine.recycle(block));
    }

    /// Loses patience with one of the sends that ask, as often as not: its memory is changed at once.
    fn lose_patience(&mut self, random: &mut Random) {
        let (Some(to), Some(at)) = (self.peer, self.asking.pop()) else { return };
        if random.one_in(2) && self.engine.keep_at_sender(to, at) {
            let sends = self.sending.iter_mut().filter(|(id, _)| *id == at);
            sends.for_each(|(_, data)| data.fill(0xee));
        }
    }

    /// Takes what is over and checks it.
    fn collect(&mut self, seed: u64) {
        let Side { engine, receiving, received, told_gone, .. } = self;
        receiving.retain(|&(id, tag)| match engine.test(id) {
            Received::Pending => true,
            Received::Over(Outcome::Received(completed)) => {
                let (envelope, block) = (completed.envelope, completed.block.expect("a block"));
                assert!(tag.is_none_or(|tag| tag == envelope.tag), "seed {seed}: wrong tag");
                let expected = contents(envelope.meta, envelope.length as usize);
                assert!(block.bytes() == &expected[..], "seed {seed}: message {} changed", envelope.meta);
                received[envelope.tag as usize].push(envelope.meta);
                engine.recycle(block);
                false
            }
            Received::Over(Outcome::Gone(_)) => {
                *told_gone += 1;
                false
            }
            Received::Over(other) => panic!("seed {seed}: {other:?}"),
        });
        self.sending.retain(|(id, _)| match self.engine.test(*id) {
            Received::Pending => true,
            Received::Over(Outcome::Sent) => false,
            Received::Over(Outcome::Gone(_)) => {
                self.told_gone += 1;
                false
            }
            Received::Over(other) => panic!("seed {seed}: {other:?}"),
        });
    }
}

fn contents(number: u32, length: usize) -> Box<[u8]> {
    (0..length).map(|i| (number as usize * 131 + i * 7) as u8).collect()
}

fn nature(random: &mut Random) -> Nature {
    let frame = 64 + random.below(2_000) as usize;
    Nature {
        frame,
        eager: random.below(frame as u64 + 1) as usize,
        capacity: 1 + random.below(20) as usize,
        delay: random.below(30),
        single_copy: random.one_in(2),
        refuse_pull: random.below(4),
    }
}

fn conversation(seed: u64, deadly: bool) {
    let mut random = Random::new(seed);
    let (mut a, mut b) = (Side::new(1), Side::new(2));
    let scissors: Vec<Scissors> = [Route::Shm, Route::Routed]
        .into_iter()
        .map(|route| join(&mut a.engine, &mut b.engine, route, nature(&mut random)))
        .collect();
    let (a_tid, b_tid) = (a.engine.me(), b.engine.me());
    (a.peer, b.peer) = (Some(b_tid), Some(a_tid));
    let steps = 300 + random.below(700);
    for _ in 0..steps {
        match random.below(10) {
            0 | 1 if a.sending.len() < 8 => a.send(b_tid, &mut random),
            2 | 3 if b.sending.len() < 8 => b.send(a_tid, &mut random),
            4 | 5 => a.receive(&mut random),
            6 | 7 => b.receive(&mut random),
            8 => {
                a.engine.progress();
                a.lose_patience(&mut random);
            }
            _ => {
                b.engine.progress();
                b.lose_patience(&mut random);
            }
        }
        a.collect(seed);
        b.collect(seed);
        for side in [&a, &b] {
            let waiting = side.engine.ledger().read(Counter::WaitingBytes);
            assert!(waiting <= CREDIT + 30_100, "seed {seed}: {waiting} bytes wait");
        }
    }
    if deadly {
        let keep = random.below(10) as usize;
        scissors.iter().for_each(|scissors| scissors.cut(keep));
        a.engine.peer_gone(b_tid);
        b.engine.peer_gone(a_tid);
    }
    // Receive everything that is left.
    for _ in 0..3_000 {
        settle(&mut [&mut a.engine, &mut b.engine]);
        a.collect(seed);
        b.collect(seed);
        let left = |side: &Side| side.engine.probe(&Pattern::ANY).is_some() || !side.sending.is_empty();
        if !left(&a) && !left(&b) {
            break;
        }
        for side in [&mut a, &mut b] {
            let id = side.engine.post(Pattern::ANY, Into::Block, false, false);
            side.receiving.push((id, None));
        }
    }
    check(seed, &a, &b, deadly);
    check(seed, &b, &a, deadly);
}

fn check(seed: u64, from: &Side, to: &Side, deadly: bool) {
    assert!(from.sending.is_empty(), "seed {seed}: {} sends never ended", from.sending.len());
    assert_eq!(from.engine.unfinished(), 0, "seed {seed}: data is still kept");
    let mut total = 0;
    for numbers in &to.received {
        total += numbers.len() as u64;
        let doubled = numbers.iter().collect::<std::collections::HashSet<_>>().len() < numbers.len();
        assert!(!doubled, "seed {seed}: doubled");
    }
    let discarded = to.engine.ledger().read(Counter::Discarded);
    if !deadly {
        let missing = |number: &u32| !to.received.iter().any(|numbers| numbers.contains(number));
        let missing: Vec<u32> = (0..from.sent).filter(missing).collect();
        assert_eq!(
            total + discarded,
            u64::from(from.sent),
            "seed {seed}: of {missing:?} only {discarded} were discarded"
        );
        assert!(discarded <= from.discardable.len() as u64);
    }
}

#[test]
fn conversations_lose_nothing() {
    for seed in 1..=400 {
        conversation(seed, false);
    }
}

#[test]
fn death_in_a_conversation_ends_every_operation() {
    for seed in 1..=400 {
        conversation(seed, true);
    }
}

/// With one receive at a time, messages come in the order sent, whatever routes they took.
#[test]
fn one_receive_at_a_time_sees_the_order_sent() {
    let mut directly = 0;
    for seed in 1..=200 {
        let mut random = Random::new(seed);
        let (mut a, mut b) = (Side::new(1), Side::new(2));
        let _shm = join(&mut a.engine, &mut b.engine, Route::Shm, nature(&mut random));
        let _routed = join(&mut a.engine, &mut b.engine, Route::Routed, nature(&mut random));
        let to = b.engine.me();
        let mut came = 0;
        // The slowest link brings a small frame every 30 polls.
        for _ in 0..1_000_000 {
            let discarded = b.engine.ledger().read(Counter::Discarded) as u32;
            if a.sent == 100 && came + discarded == 100 {
                break;
            }
            if a.sent < 100 && a.sending.len() < 8 {
                a.send(to, &mut random);
            }
            a.engine.progress();
            if b.receiving.is_empty() && b.engine.is_quiet() && !random.one_in(16) {
                let before = b.directly;
                b.look_directly(&Pattern::ANY, None);
                came += b.directly - before;
                a.collect(seed);
                continue;
            } else if b.receiving.is_empty() {
                // For any message: a receive for one tag may wait behind others' full credit.
                let id = b.engine.post(Pattern::ANY, Into::Block, false, false);
                b.receiving.push((id, None));
            }
            b.engine.progress();
            a.collect(seed);
            let before: usize = b.received.iter().map(Vec::len).sum();
            b.collect(seed);
            let after: usize = b.received.iter().map(Vec::len).sum();
            came += (after - before) as u32;
        }
        for numbers in &b.received {
            assert!(numbers.is_sorted(), "seed {seed}: {numbers:?} out of order");
        }
        let discarded = b.engine.ledger().read(Counter::Discarded) as u32;
        assert_eq!(came + discarded, 100, "seed {seed}: something did not come");
        directly += b.directly;
    }
    assert!(directly > 50, "the short way was taken {directly} times only");
}
