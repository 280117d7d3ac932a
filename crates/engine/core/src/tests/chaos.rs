//! Long random conversations, each from a seed: nothing lost, doubled, changed or reordered.

use super::simulated::{Nature, ONE, OTHER, Random, Scissors, engine, join, run_until_quiet};
use crate::{
    Block, Buffering, Completion, Copy, Counter, Destination, Engine, Envelope, Look, Outcome, Outgoing,
    Pattern, Received, RequestId, Room, Sent, TagMatch,
};

const TAGS: u64 = 3;
const CREDIT: u64 = 40_000;

/// A receive under way.
struct Posted {
    id: RequestId,
    pattern: Pattern,
    /// It claims its message before it copies it.
    claims: bool,
}

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
    receiving: Vec<Posted>,
    /// Numbers received, for each tag, in order.
    received: Vec<Vec<u32>>,
    discardable: Vec<u32>,
    /// Messages received by the short way.
    directly: u32,
    /// Long copies that threads have taken.
    copies: Vec<Copy>,
    copied: usize,
    /// Claims settled, receives cancelled, operations ended by the peer's death.
    claimed: usize,
    cancelled: usize,
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
            copies: Vec::new(),
            copied: 0,
            claimed: 0,
            cancelled: 0,
            told_gone: 0,
        }
    }

    fn send(&mut self, to: parvum_wire::Tid, random: &mut Random) {
        if random.one_in(4) {
            let route = if random.one_in(2) { ONE } else { OTHER };
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
        let completion = if random.one_in(3) { Completion::Matched } else { Completion::Copied };
        let pieces = [&data[..2], &data[2..]];
        let whole = [&data[..]];
        let pieces: &[&[u8]] = if random.one_in(2) { &pieces } else { &whole };
        let context = context_of(number);
        let message = Outgoing { to, tag, context, meta: number, pieces, keep: None, buffering, completion };
        // SAFETY: `data` is kept in `sending` until the request is over.
        let sent = unsafe { self.engine.send(message) };
        if let Some(loan) = self.engine.take_unfilled() {
            pieces.iter().for_each(|piece| loan.fill(piece));
        }
        match sent {
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
        // From the only peer: if the receive names the peer, it is published to the peer.
        let from = if random.one_in(2) { self.peer } else { None };
        let context = if random.one_in(3) { Some(random.below(2) as u32) } else { None };
        let tag = tag.map_or(TagMatch::Any, TagMatch::Exactly);
        let pattern = Pattern { from, tag, context };
        if self.engine.is_quiet() && random.one_in(2) {
            self.look_directly(&pattern);
            return;
        }
        self.post(pattern, random.one_in(3));
        if random.one_in(8) {
            // Cancels one of them; afterwards all is as if it was never posted.
            let at = random.below(self.receiving.len() as u64) as usize;
            if self.engine.cancel(self.receiving[at].id) {
                self.cancelled += 1;
                let Posted { id, .. } = self.receiving.swap_remove(at);
                assert!(matches!(self.engine.test(id), Received::Over(Outcome::Cancelled)));
            }
        }
    }

    fn post(&mut self, pattern: Pattern, claims: bool) {
        let id = match claims {
            true => self.engine.claim(pattern, Destination::Block, false),
            false => self.engine.post(pattern, Destination::Block, false, false),
        };
        self.receiving.push(Posted { id, pattern, claims });
    }

    /// Copies what a receive has claimed, as often as not.
    fn settle_one(&mut self, random: &mut Random) {
        let claims = self.receiving.iter().filter(|posted| posted.claims);
        if let Some(oldest) = claims.map(|posted| posted.id).find(|&id| self.engine.is_claim(id))
            && random.one_in(2)
        {
            self.claimed += 1;
            self.engine.fetch_claim(oldest);
        }
    }

    /// A thread takes a copy, or gives one back: in any order, and long after it was taken.
    fn copy(&mut self, random: &mut Random) {
        if random.one_in(2) {
            let portion = random.one_in(2);
            let copy = if portion { self.engine.take_any_copy() } else { self.engine.take_copy(|_| true) };
            self.copies.extend(copy);
        } else if !self.copies.is_empty() {
            let at = random.below(self.copies.len() as u64) as usize;
            self.end_copy(at);
        }
    }

    fn end_copy(&mut self, at: usize) {
        let mut copy = self.copies.swap_remove(at);
        copy.run();
        self.copied += 1;
        self.engine.end_copy(copy);
    }

    /// Makes all copies that are left. Whether there were any.
    fn copy_all(&mut self) -> bool {
        let mut any = false;
        while !self.copies.is_empty() {
            self.end_copy(0);
            any = true;
        }
        while let Some(copy) = self.engine.take_copy(|_| true) {
            self.copies.push(copy);
            self.end_copy(0);
            any = true;
        }
        any
    }

    /// Receives by the short way what is there to be received so, and nothing else.
    fn look_directly(&mut self, pattern: &Pattern) {
        let (mut inside, mut block) = ([0; 64], None);
        let mut room = Room::Inside { inside: &mut inside, block: &mut block };
        let mut envelope = Envelope::NONE;
        if self.engine.take_next(pattern, &mut room, &mut envelope) != Look::Taken {
            return;
        }
        assert!(pattern.matches(&envelope) && envelope.context == context_of(envelope.meta), "not asked for");
        let length = envelope.length as usize;
        let data = block.as_ref().map_or(&inside[..length.min(Block::INLINE)], Block::bytes);
        assert!(data == &contents(envelope.meta, length)[..], "message {} changed", envelope.meta);
        self.received[envelope.tag as usize].push(envelope.meta);
        self.directly += 1;
        block.into_iter().for_each(|block| drop(self.engine.recycle(block)));
    }

    /// Does not wait longer for one of the sends that ask, half of the time: changes its memory at once.
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
        receiving.retain(|&Posted { id, pattern, .. }| match engine.test(id) {
            Received::Pending => true,
            Received::Over(Outcome::Received(completed)) => {
                let (envelope, block) = (completed.envelope, completed.block.expect("a block"));
                let as_asked = pattern.matches(&envelope) && envelope.context == context_of(envelope.meta);
                assert!(as_asked, "seed {seed}: {envelope:?} for {pattern:?}");
                let expected = contents(envelope.meta, envelope.length as usize);
                let wrong = block.bytes().iter().zip(&expected[..]).position(|(a, b)| a != b);
                assert!(
                    wrong.is_none(),
                    "seed {seed}: {envelope:?} changed at {wrong:?} of {}",
                    block.bytes().len()
                );
                received[envelope.tag as usize].push(envelope.meta);
                engine.recycle(block);
                false
            }
            Received::Over(Outcome::Gone(gone)) => {
                assert_eq!(pattern.from, Some(gone), "seed {seed}: a receive from anybody was told");
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

fn context_of(number: u32) -> u32 {
    number / 7 % 2
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
        lends: random.one_in(2).then(|| random.below(3) * 500),
        unasked: false,
    }
}

/// The counts of a conversation: claims settled, receives cancelled, operations ended by death, copies made by threads.
fn conversation(seed: u64, deadly: bool) -> [usize; 4] {
    let mut random = Random::new(seed);
    let (mut a, mut b) = (Side::new(1), Side::new(2));
    let scissors: Vec<Scissors> = [ONE, OTHER]
        .into_iter()
        .map(|route| join(&mut a.engine, &mut b.engine, route, nature(&mut random)))
        .collect();
    let (a_tid, b_tid) = (a.engine.me(), b.engine.me());
    (a.peer, b.peer) = (Some(b_tid), Some(a_tid));
    if random.one_in(2) {
        let least = 1 + random.below(10_000) as usize;
        a.engine.leave_copies_of(least);
        b.engine.leave_copies_of(least);
    }
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
        a.copy(&mut random);
        b.copy(&mut random);
        a.settle_one(&mut random);
        b.settle_one(&mut random);
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
        a.engine.fetch_claims();
        b.engine.fetch_claims();
        run_until_quiet(&mut [&mut a.engine, &mut b.engine]);
        while a.copy_all() | b.copy_all() {
            run_until_quiet(&mut [&mut a.engine, &mut b.engine]);
        }
        a.collect(seed);
        b.collect(seed);
        let left = |side: &Side| side.engine.find(|_, _| true).is_some() || !side.sending.is_empty();
        if !left(&a) && !left(&b) {
            break;
        }
        for side in [&mut a, &mut b] {
            side.post(Pattern::ANY, false);
        }
    }
    check(seed, &a, &b, deadly);
    check(seed, &b, &a, deadly);
    let both = |count: fn(&Side) -> usize| count(&a) + count(&b);
    [
        both(|side| side.claimed),
        both(|side| side.cancelled),
        both(|side| side.told_gone),
        both(|side| side.copied),
    ]
}

fn check(seed: u64, from: &Side, to: &Side, deadly: bool) {
    assert!(from.sending.is_empty(), "seed {seed}: {} sends never ended", from.sending.len());
    assert_eq!(from.engine.unfinished(), 0, "seed {seed}: data is still kept");
    if deadly {
        let waits_for_the_dead = to.receiving.iter().filter(|posted| posted.pattern.from.is_some()).count();
        assert_eq!(waits_for_the_dead, 0, "seed {seed}: receives from the dead that were not told");
    }
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

fn add(some: [usize; 4], more: [usize; 4]) -> [usize; 4] {
    std::array::from_fn(|at| some[at] + more[at])
}

#[test]
fn conversations_lose_no_message() {
    let all = (1..=400).map(|seed| conversation(seed, false)).reduce(add).expect("some");
    assert!(all[0] > 50 && all[1] > 1000 && all[3] > 1000, "{all:?}");
    assert_eq!(all[2], 0, "nobody died");
}

#[test]
fn death_in_conversation_ends_every_operation() {
    let all = (1..=400).map(|seed| conversation(seed, true)).reduce(add).expect("some");
    assert!(all[2] > 1000 && all[3] > 1000, "{all:?}");
}

/// With one receive at a time, messages come in the order sent, whatever routes they took.
#[test]
fn single_receives_return_messages_in_send_order() {
    let mut directly = 0;
    for seed in 1..=200 {
        let mut random = Random::new(seed);
        let (mut a, mut b) = (Side::new(1), Side::new(2));
        let _shm = join(&mut a.engine, &mut b.engine, ONE, nature(&mut random));
        let _routed = join(&mut a.engine, &mut b.engine, OTHER, nature(&mut random));
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
                b.look_directly(&Pattern::ANY);
                came += b.directly - before;
                a.collect(seed);
                continue;
            } else if b.receiving.is_empty() {
                // For any message: a receive for one tag may wait behind others' full credit.
                b.post(Pattern::ANY, false);
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
