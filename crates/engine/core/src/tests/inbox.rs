//! Many peers and an inbox: the engine polls only peers that have marked new data.

use super::simulated::ONE;
use crate::{Counters, Destination, Engine, Outcome, Pattern, Received, Settings, TagMatch};
use parvum_transport::{Gather, Inbox, Limits, Link, Refused, Sink};
use parvum_wire::{Header, Kind, Tid};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

/// The writes of one task's peers, all in one process.
#[derive(Default)]
struct Written {
    is_open: bool,
    marks: VecDeque<u32>,
    /// Looks at links.
    looks: usize,
}

type Shared = Arc<Mutex<Written>>;

struct Marks(Shared);

impl Inbox for Marks {
    fn places(&self) -> u32 {
        64
    }
    fn open(&mut self) {
        self.0.lock().expect("one thread").is_open = true;
    }
    fn next(&mut self) -> Option<u32> {
        self.0.lock().expect("one thread").marks.pop_front()
    }
}

/// A peer's end: numbers that are on their way, its place, and how many messages it has sent.
#[derive(Default)]
struct Peer {
    under_way: VecDeque<u8>,
    place: u32,
    sent: u32,
}

struct Far {
    shared: Shared,
    peer: Arc<Mutex<Peer>>,
    taken: u32,
}

impl Link for Far {
    fn limits(&self) -> Limits {
        Limits { frame: 64, eager: 64, single_copy: false, buffered: false }
    }
    fn send(&mut self, _: &Header, _: Gather<'_>) -> Result<(), Refused> {
        Ok(())
    }
    fn receive(&mut self, most: usize, sink: &mut dyn Sink) -> Result<usize, Refused> {
        self.shared.lock().expect("one thread").looks += 1;
        for count in 0..most {
            let Some(number) = self.peer.lock().expect("one thread").under_way.pop_front() else {
                return Ok(count);
            };
            let (kind, order) = (Kind::Start, self.taken);
            let header = Header { kind, flags: 0, tag: 1, context: 0, length: 1, meta: 0, order };
            self.taken += 1;
            sink.frame(&header, &[number]);
        }
        Ok(most)
    }
    fn set_place(&mut self, place: u32) -> bool {
        self.peer.lock().expect("one thread").place = place;
        true
    }
}

struct Bench {
    engine: Engine,
    shared: Shared,
    peers: Vec<Arc<Mutex<Peer>>>,
}

impl Bench {
    fn new() -> Bench {
        let shared = Shared::default();
        let mut engine = Engine::new(Tid(0x40001), Settings::default(), Counters::private());
        engine.set_inbox(Box::new(Marks(shared.clone())));
        Bench { engine, shared, peers: Vec::new() }
    }

    fn join(&mut self) {
        let peer = Arc::<Mutex<Peer>>::default();
        let link = Far { shared: self.shared.clone(), peer: peer.clone(), taken: 0 };
        self.engine.attach(Tid(0x40002 + self.peers.len() as i32), ONE, Box::new(link));
        self.peers.push(peer);
    }

    fn send(&mut self, from: usize, number: u8) {
        let mut peer = self.peers[from].lock().expect("one thread");
        peer.under_way.push_back(number);
        peer.sent += 1;
        let mut shared = self.shared.lock().expect("one thread");
        if shared.is_open {
            shared.marks.push_back(peer.place);
        }
    }

    fn receive(&mut self) -> Option<u8> {
        let any = Pattern { from: None, tag: TagMatch::Any, context: None };
        let id = self.engine.post(any, Destination::Block, false, false);
        while self.engine.progress() {}
        match self.engine.test(id) {
            Received::Over(Outcome::Received(completed)) => completed.block.map(|block| block.bytes()[0]),
            _ => {
                self.engine.cancel(id);
                self.engine.test(id);
                None
            }
        }
    }

    fn looks(&self) -> usize {
        std::mem::take(&mut self.shared.lock().expect("one thread").looks)
    }
}

#[test]
fn polls_do_not_grow_with_number_of_peers() {
    let mut counts = Vec::new();
    for peers in [20, 60] {
        let mut bench = Bench::new();
        (0..peers).for_each(|_| bench.join());
        assert!(bench.shared.lock().expect("one thread").is_open);
        assert_eq!(bench.receive(), None);
        bench.looks();
        bench.send(peers - 1, 7);
        assert_eq!(bench.receive(), Some(7));
        counts.push(bench.looks());
    }
    assert!(counts[0] == counts[1] && counts[0] <= 4, "{counts:?}");
}

#[test]
fn inbox_finds_messages_sent_before_it_opened() {
    let mut bench = Bench::new();
    (0..3).for_each(|_| bench.join());
    bench.send(1, 5);
    (3..40).for_each(|_| bench.join());
    assert_eq!(bench.receive(), Some(5));
    assert_eq!(bench.receive(), None);
}

#[test]
fn inbox_finds_peers_without_place_and_takes_flood() {
    let mut bench = Bench::new();
    // More than there are places: the last are polled.
    (0..80).for_each(|_| bench.join());
    bench.receive();
    bench.peers[30].lock().expect("one thread").place = 0;
    for round in 0..100 {
        for from in [30, 20, 79] {
            bench.send(from, round);
        }
    }
    let mut sums = [0u32; 2];
    while let Some(number) = bench.receive() {
        sums[0] += 1;
        sums[1] += u32::from(number);
    }
    assert_eq!(sums, [300, 3 * 4950]);
}

#[test]
fn inbox_is_not_opened_for_few_peers() {
    let mut bench = Bench::new();
    (0..8).for_each(|_| bench.join());
    bench.send(3, 9);
    assert_eq!(bench.receive(), Some(9));
    assert!(!bench.shared.lock().expect("one thread").is_open);
}
