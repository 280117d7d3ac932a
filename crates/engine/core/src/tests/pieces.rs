//! Data that lies in pieces, on either side.

use super::basics::{outgoing, send, tagged};
use super::simulated::{Nature, ONE, Random, pair, run_until_quiet};
use crate::{Buffering, Counter, Destination, Engine, Outgoing, Pattern, RequestId, Sent, UserPieces};

/// Every second part of some memory is a message's, the parts between are not.
struct Striped {
    memory: Vec<u8>,
    parts: Vec<(usize, usize)>,
}

const UNTOUCHED: u8 = 0xee;

impl Striped {
    /// Room for `length` bytes in parts of up to `most`.
    fn new(length: usize, most: u64, random: &mut Random) -> Striped {
        let (mut parts, mut at, mut left) = (Vec::new(), 0, length);
        while left > 0 {
            let part = (1 + random.below(most) as usize).min(left);
            parts.push((at, part));
            at += part + 1 + random.below(most) as usize;
            left -= part;
        }
        Striped { memory: vec![UNTOUCHED; at + 1], parts }
    }

    fn room(&mut self) -> Destination {
        let start = self.memory.as_mut_ptr();
        // SAFETY: the parts lie apart, and the tests keep the memory until the receive is over.
        let pieces = unsafe {
            UserPieces::new(self.parts.iter().map(|&(at, length)| (start.wrapping_add(at), length)))
        };
        Destination::Pieces(Box::new(pieces))
    }

    fn fill(&mut self, data: &[u8]) {
        let mut rest = data;
        for &(at, length) in &self.parts {
            let (now, later) = rest.split_at(length);
            self.memory[at..at + length].copy_from_slice(now);
            rest = later;
        }
    }

    fn pieces(&self) -> Vec<&[u8]> {
        self.parts.iter().map(|&(at, length)| &self.memory[at..at + length]).collect()
    }

    fn data(&self) -> Vec<u8> {
        self.pieces().concat()
    }

    /// Whether only the message's parts were written.
    fn is_clean(&self) -> bool {
        let mut memory = self.memory.clone();
        self.parts.iter().for_each(|&(at, length)| memory[at..at + length].fill(UNTOUCHED));
        memory.iter().all(|byte| *byte == UNTOUCHED)
    }
}

fn data(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at * 31 % 241) as u8).collect()
}

/// One message from pieces into pieces; what the receiver's engine counted.
fn pass(nature: Nature, length: usize, most: u64, buffering: Buffering, posted: bool, seed: u64) -> Engine {
    let mut random = Random::new(seed);
    let (mut a, mut b) = pair(nature);
    let (mut from, mut into) =
        (Striped::new(length, most, &mut random), Striped::new(length, most, &mut random));
    let data = data(length);
    from.fill(&data);
    let pieces = from.pieces();
    let post = |b: &mut Engine, into: &mut Striped| b.post(tagged(1), into.room(), false, false);
    let mut receive: Option<RequestId> = posted.then(|| post(&mut b, &mut into));
    let sent = send(&mut a, Outgoing { buffering, ..outgoing(b.me(), 1, &pieces) }).expect("it is sent");
    run_until_quiet(&mut [&mut a, &mut b]);
    let receive = *receive.get_or_insert_with(|| post(&mut b, &mut into));
    run_until_quiet(&mut [&mut a, &mut b]);
    if let Sent::Later(sent) = sent {
        assert!(a.is_over(sent), "the sender's memory is free");
    }
    let completed = b.completed(receive).expect("it is received");
    assert_eq!(completed.envelope.length, length as u64);
    assert_eq!(into.data(), data, "length {length}, parts of up to {most}, {buffering:?}, seed {seed}");
    assert!(into.is_clean(), "nothing between the parts is touched");
    b
}

#[test]
fn pieces_arrive_in_pieces_on_any_link() {
    let natures = [
        Nature::QUICK,
        Nature { single_copy: false, ..Nature::QUICK },
        Nature { refuse_pull: 1, ..Nature::QUICK },
        Nature { lends: Some(0), ..Nature::QUICK },
        Nature { lends: Some(700), ..Nature::QUICK },
        Nature { delay: 3, capacity: 2, ..Nature::QUICK },
    ];
    let mut seed = 0;
    for nature in natures {
        for buffering in [Buffering::BySize, Buffering::Never, Buffering::AtSender, Buffering::AtReceiver] {
            for (length, most) in [(1, 1), (200, 7), (5_000, 64), (100_000, 9_000), (300_000, 100_000)] {
                for posted in [true, false] {
                    seed += 1;
                    pass(nature, length, most, buffering, posted, seed);
                }
            }
        }
    }
}

#[test]
fn long_pieces_are_copied_once_to_their_destination() {
    let b = pass(Nature::QUICK, 400_000, 30_000, Buffering::Never, true, 7);
    assert_eq!(b.ledger().read(Counter::PulledBytes), 400_000);
    assert_eq!(b.ledger().read(Counter::CopiedOut), 0);
    // A thousand short ones are left to the processor.
    let b = pass(Nature::QUICK, 100_000, 100, Buffering::Never, true, 8);
    assert_eq!(b.ledger().read(Counter::PulledBytes), 0);
}

#[test]
fn data_beyond_pieces_is_dropped_and_length_reported() {
    for nature in [Nature::QUICK, Nature { single_copy: false, ..Nature::QUICK }] {
        for length in [40, 50_000] {
            let (mut a, mut b) = pair(nature);
            let data = data(length);
            let mut into = Striped::new(length - 7, 13_000, &mut Random::new(length as u64));
            let receive = b.post(Pattern::ANY, into.room(), false, false);
            let _ = send(&mut a, Outgoing { buffering: Buffering::Never, ..outgoing(b.me(), 1, &[&data]) });
            run_until_quiet(&mut [&mut a, &mut b]);
            assert_eq!(b.completed(receive).expect("over").envelope.length, length as u64);
            assert_eq!(into.data(), data[..length - 7]);
            assert!(into.is_clean());
        }
    }
}

#[test]
fn forged_piece_list_is_not_followed() {
    use super::simulated::{half_pipe, tid};
    use parvum_transport::{Gather, Link};
    use parvum_wire::frame::{LISTED_SHIFT, Offer};
    use parvum_wire::{Header, Kind};

    let (mut a, mut into) =
        (super::simulated::engine(1, 1 << 20), Striped::new(5_000, 900, &mut Random::new(3)));
    let mut far = half_pipe(&mut a, tid(2), ONE);
    let receive = a.post(Pattern::ANY, into.room(), false, false);
    // Two places of more than there is.
    let lie = [into.memory.as_ptr() as u64, u64::MAX, into.memory.as_ptr() as u64, 6_000];
    let offer = Offer { cookie: 1 | 2 << LISTED_SHIFT, address: lie.as_ptr() as u64 };
    let header = Header { kind: Kind::Offer, length: 5_000, ..Header::answer(Kind::Offer, 5_000, 0) };
    far.send(&header, Gather::new(&[&offer.encode()])).expect("room");
    a.progress();
    assert!(!a.is_over(receive), "it asks for the data instead");
    let mut answers = Vec::new();
    let _ = far.receive(8, &mut |header: &Header, _: &[u8]| answers.push(header.kind));
    assert_eq!(answers, [Kind::Clear]);
}
