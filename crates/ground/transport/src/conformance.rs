//! The contract of [`Link`] as a suite that every transport runs.
//!
//! A transport gives a closure that makes a connected pair, both ends in this
//! process; the suite does the rest. That a peer vanishes in the middle of a frame needs
//! a second process, and lives with each transport.

use crate::{Gather, Link, Refused, Sink, Transport};
use parvum_wire::{Header, Kind};
use std::any::Any;
use std::time::{Duration, Instant};

/// Two ends of one link.
pub struct Pair {
    /// One end.
    pub left: Box<dyn Link>,
    /// The other.
    pub right: Box<dyn Link>,
    /// Whatever must live as long as the pair does.
    pub keep: Box<dyn Any>,
}

/// Runs the whole suite; panics at the first promise that is not kept.
pub fn run(transport: &Transport, make: impl Fn() -> Pair) {
    links_keep_to_what_was_registered(transport, make());
    frames_arrive_unchanged_and_in_order(make());
    every_length_up_to_the_limit_arrives(make());
    a_full_link_refuses_and_recovers(make());
    both_directions_are_independent(make());
    receive_takes_no_more_than_asked(make());
    pieces_arrive_joined(make());
    what_was_taken_arrives_when_the_sender_lets_go(make());
    who_is_let_go_of_may_send_on(make());
}

fn links_keep_to_what_was_registered(transport: &Transport, pair: Pair) {
    for link in [pair.left, pair.right] {
        let limits = link.limits();
        assert!(transport.allows(&limits), "{}: {limits:?} beyond {:?}", transport.name, transport.limits);
        assert!(limits.eager <= limits.frame, "a short message is one frame: {limits:?}");
    }
}

/// How long the suite waits for bytes that are on their way.
const PATIENCE: Duration = Duration::from_secs(10);

fn header(order: u32, length: usize) -> Header {
    Header {
        kind: if order.is_multiple_of(3) { Kind::Start } else { Kind::More },
        flags: order as u16,
        tag: -(order as i32),
        context: order ^ 0x5555_5555,
        length: length as u64,
        meta: order.rotate_left(8),
        order,
    }
}

fn pattern(order: u32, length: usize) -> Vec<u8> {
    (0..length).map(|i| (i as u32).wrapping_mul(31).wrapping_add(order) as u8).collect()
}

/// Sends as much as is taken now; says whether it was.
fn offer(link: &mut dyn Link, order: u32, length: usize) -> bool {
    let bytes = pattern(order, length);
    match link.send(&header(order, length), Gather::new(&[&bytes])) {
        Ok(()) => true,
        Err(Refused::Full) => false,
        Err(Refused::Closed) => panic!("the link closed by itself"),
    }
}

/// Receives until `count` frames have come, checking each against its order number.
fn expect(from: &mut dyn Link, to: &mut dyn Link, first: u32, lengths: &[usize]) {
    let deadline = Instant::now() + PATIENCE;
    let mut joined = Joined { first, lengths, next: 0, part: Vec::new(), room: Vec::new() };
    while joined.next < lengths.len() {
        from.flush().expect("open");
        to.receive(usize::MAX, &mut joined).expect("open");
        assert!(Instant::now() < deadline, "{} of {} frames came", joined.next, lengths.len());
    }
}

/// Joins the parts of frames, and checks each frame against its order number.
struct Joined<'a> {
    first: u32,
    lengths: &'a [usize],
    /// Which frame is awaited or under way.
    next: usize,
    /// What has come of it.
    part: Vec<u8>,
    room: Vec<u8>,
}

impl Joined<'_> {
    fn add(&mut self, payload: &[u8]) {
        self.part.extend_from_slice(payload);
        let (order, length) = (self.first + self.next as u32, self.lengths[self.next]);
        if self.part.len() >= length {
            assert!(self.part == pattern(order, length), "payload of frame {}", self.next);
            self.part.clear();
            self.next += 1;
        }
    }
}

impl Sink for Joined<'_> {
    fn frame(&mut self, seen: &Header, payload: &[u8]) {
        match self.part.is_empty() {
            true => {
                let order = self.first + self.next as u32;
                assert_eq!(*seen, header(order, self.lengths[self.next]), "frame {}", self.next);
            }
            false => assert_eq!(seen.kind, Kind::More, "the rest of frame {}", self.next),
        }
        self.add(payload);
    }

    fn room(&mut self, length: usize) -> &mut [u8] {
        // Less than there is to come, every other time.
        self.room.resize(if self.part.len().is_multiple_of(2) { length } else { length / 2 }, 0);
        &mut self.room
    }

    fn filled(&mut self, length: usize) {
        let room = std::mem::take(&mut self.room);
        self.add(&room[..length]);
    }
}

fn frames_arrive_unchanged_and_in_order(pair: Pair) {
    let Pair { mut left, mut right, keep: _keep } = pair;
    for order in 0..5_000 {
        let length = (order as usize * 7) % 100;
        assert!(offer(&mut *left, order, length), "frame {order} refused by an empty link");
        expect(&mut *left, &mut *right, order, &[length]);
    }
}

fn every_length_up_to_the_limit_arrives(pair: Pair) {
    let Pair { mut left, mut right, keep: _keep } = pair;
    let limit = left.limits().frame;
    let lengths = [0, 1, 7, 8, 31, 32, 33, 63, 64, 65, 1000, 4095, 4096, 4097, limit - 1, limit];
    for (order, &length) in lengths.iter().filter(|&&length| length <= limit).enumerate() {
        assert!(offer(&mut *left, order as u32, length), "{length} bytes refused by an empty link");
        expect(&mut *left, &mut *right, order as u32, &[length]);
    }
}

fn a_full_link_refuses_and_recovers(pair: Pair) {
    let Pair { mut left, mut right, keep: _keep } = pair;
    let length = left.limits().frame.min(5_000);
    let mut order = 0;
    for _round in 0..3 {
        let first = order;
        while order - first < 100_000 && offer(&mut *left, order, length) {
            order += 1;
        }
        assert!(order - first < 100_000, "a link without a bound");
        assert!(order > first, "an empty link refused");
        expect(&mut *left, &mut *right, first, &vec![length; (order - first) as usize]);
    }
}

fn both_directions_are_independent(pair: Pair) {
    let Pair { mut left, mut right, keep: _keep } = pair;
    while offer(&mut *left, 0, 64) {}
    assert!(offer(&mut *right, 7, 64), "a full link refused the other direction");
    expect(&mut *right, &mut *left, 7, &[64]);
}

fn receive_takes_no_more_than_asked(pair: Pair) {
    let Pair { mut left, mut right, keep: _keep } = pair;
    for order in 0..4 {
        assert!(offer(&mut *left, order, 8));
    }
    let deadline = Instant::now() + PATIENCE;
    let mut seen = 0;
    while seen < 4 {
        left.flush().expect("open");
        let got = right.receive(1, &mut |_: &Header, _: &[u8]| seen += 1).expect("open");
        assert!(got <= 1, "asked for one frame, got {got}");
        assert!(Instant::now() < deadline);
    }
    assert_eq!(right.receive(1, &mut |_: &Header, _: &[u8]| ()), Ok(0));
}

fn pieces_arrive_joined(pair: Pair) {
    let Pair { mut left, mut right, keep: _keep } = pair;
    let bytes = pattern(0, 300);
    let pieces = [&bytes[..1], &bytes[1..1], &bytes[1..200], &bytes[200..]];
    left.send(&header(0, 300), Gather::new(&pieces)).expect("room");
    expect(&mut *left, &mut *right, 0, &[300]);
}

/// A link has no farewell of its own: one end is dropped, and what had left it is still to be had.
fn what_was_taken_arrives_when_the_sender_lets_go(pair: Pair) {
    let Pair { mut left, mut right, keep: _keep } = pair;
    let lengths = [8, 300, 0, 5_000.min(left.limits().frame)];
    for (order, &length) in lengths.iter().enumerate() {
        assert!(offer(&mut *left, order as u32, length));
    }
    let deadline = Instant::now() + PATIENCE;
    while !left.flush().expect("open") {
        assert!(Instant::now() < deadline, "it does not leave");
    }
    drop(left);
    let mut joined = Joined { first: 0, lengths: &lengths, next: 0, part: Vec::new(), room: Vec::new() };
    while joined.next < lengths.len() {
        right.receive(usize::MAX, &mut joined).expect("not closed before all is given");
        assert!(Instant::now() < deadline, "{} of {} frames came", joined.next, lengths.len());
    }
    // Either the link knows of the end or it does not, which is the daemon's to tell: never another frame.
    for _ in 0..100 {
        let after = right.receive(usize::MAX, &mut |_: &Header, _: &[u8]| panic!("a frame that nobody sent"));
        assert!(matches!(after, Ok(0) | Err(Refused::Closed)), "{after:?}");
    }
}

/// To send to an end that is no more fills the link or finds it closed; it harms nobody.
fn who_is_let_go_of_may_send_on(pair: Pair) {
    let Pair { left, mut right, keep: _keep } = pair;
    drop(left);
    let bytes = pattern(0, 1_000);
    for order in 0..100_000 {
        match right.send(&header(order, 1_000), Gather::new(&[&bytes])) {
            Ok(()) => {}
            Err(Refused::Full | Refused::Closed) => return,
        }
    }
    panic!("a link without a bound");
}
