//! Shared memory: the bare cache line, the ring of cells, the link with its bell, the engine, and a receiver that sleeps.

use crate::duel::{End, Layer, TOGETHER, layer};
use crate::engines;
use parvum_control::ControlBlock;
use parvum_shm::ring::{Consumer, Producer, RingMemory};
use parvum_shm::{Peer, PeerBell, Segment, ShmLink};
use parvum_transport::{Gather, Link};
use parvum_wire::{Header, Kind};
use rustix::event::{EventfdFlags, eventfd};
use std::fmt::Display;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// All of them, the lowest first.
pub fn layers() -> Result<Vec<Layer>, String> {
    let cells = Arc::new([const { Line(AtomicU32::new(0)) }; 2]);
    let cell = |mine: usize| Cell { lines: cells.clone(), mine, sent: 0, received: 0 };
    let rings = Arc::new([Ring::fresh(), Ring::fresh()]);
    let ring = |mine: usize| RingEnd {
        rings: rings.clone(),
        mine,
        producer: Producer::default(),
        consumer: Consumer::default(),
        sent: 0,
        received: 0,
    };
    let (awake, asleep, joined) = (pair(false)?, pair(false)?, pair(false)?);
    let awake = awake.map(|side| Awake { side, sent: 0, received: 0 });
    let [first, second] = asleep.map(|side| Asleep(Awake { side, sent: 0, received: 0 }));
    let [lead, follow] = awake;
    let [left, right] = joined.map(|side| side.link);
    let (left, right) = engines::short(parvum_shm::TRANSPORT.route, Box::new(left), Box::new(right));
    Ok(vec![
        layer("shm", "cell", TOGETHER, cell(0), cell(1)),
        layer("shm", "ring", TOGETHER, ring(0), ring(1)),
        layer("shm", "link", TOGETHER, lead, follow),
        layer("shm", "engine", TOGETHER, left, right),
        layer("shm", "link, receiver asleep", 1, first, second),
    ])
}

/// An empty message as the engine sends it.
pub fn header(order: u32) -> Header {
    Header { kind: Kind::Start, flags: 0, tag: 7, context: 0, length: 0, meta: 0, order }
}

/// Alone in its cache line, and in the one that the processor fetches with it.
#[repr(align(128))]
struct Line(AtomicU32);

/// One writes a word, the other looks at it: less no message can cost.
struct Cell {
    lines: Arc<[Line; 2]>,
    mine: usize,
    sent: u32,
    received: u32,
}

impl End for Cell {
    #[inline]
    fn send(&mut self) {
        self.sent = self.sent.wrapping_add(1);
        // Release: partner of the acquire in `receive`.
        self.lines[self.mine].0.store(self.sent, Ordering::Release);
    }

    #[inline]
    fn receive(&mut self) {
        self.received = self.received.wrapping_add(1);
        // Acquire: partner of the release in `send`.
        while self.lines[1 - self.mine].0.load(Ordering::Acquire) != self.received {
            std::hint::spin_loop();
        }
    }
}

/// As in a pair's segment.
type Ring = RingMemory<27, 229, 1024>;

/// A frame is written into a cell of a ring, and read out of it.
struct RingEnd {
    rings: Arc<[Ring; 2]>,
    mine: usize,
    producer: Producer,
    consumer: Consumer,
    sent: u32,
    received: u32,
}

impl End for RingEnd {
    #[inline]
    fn send(&mut self) {
        let header = header(self.sent);
        self.sent = self.sent.wrapping_add(1);
        while self.producer.send(self.rings[self.mine].ring(), &header, Gather::EMPTY).is_err() {
            std::hint::spin_loop();
        }
    }

    #[inline]
    fn receive(&mut self) {
        let expected = self.received;
        self.received = expected.wrapping_add(1);
        let mut take = |header: &Header, _: &[u8]| assert_eq!(header.order, expected);
        while self.consumer.receive(self.rings[1 - self.mine].ring(), 1, &mut take).expect("whole frames")
            == 0
        {
            std::hint::spin_loop();
        }
    }
}

/// One end of a link, and the page whose door its peer rings at.
pub(crate) struct Side {
    pub(crate) link: ShmLink,
    page: Arc<ControlBlock>,
}

/// Both ends of a link between two tasks that are this process. `is_single_copy`: each may read the memory of the other.
pub(crate) fn pair(is_single_copy: bool) -> Result<[Side; 2], String> {
    let failed = |why: &dyn Display| format!("no shared memory: {why}");
    let (made, file) = Segment::create().map_err(|why| failed(&why))?;
    let opened = Segment::open(file).map_err(|why| failed(&why))?;
    let page = || ControlBlock::create().map(|(page, _)| Arc::new(page)).map_err(|why| failed(&why));
    let pages = [page()?, page()?];
    let peer = |of: usize| -> Result<Peer, String> {
        Ok(Peer {
            control_block: pages[of].clone(),
            bell: PeerBell::Event(eventfd(0, EventfdFlags::CLOEXEC).map_err(|why| failed(&why))?),
        })
    };
    Ok([
        Side { link: ShmLink::new(made, peer(1)?, is_single_copy), page: pages[0].clone() },
        Side { link: ShmLink::new(opened, peer(0)?, is_single_copy), page: pages[1].clone() },
    ])
}

/// Who sends looks at the receiver's door, and nobody is behind it.
struct Awake {
    side: Side,
    sent: u32,
    received: u32,
}

impl Awake {
    /// Whether the next message was there.
    #[inline]
    fn took(&mut self) -> bool {
        let expected = self.received;
        let mut take = |header: &Header, _: &[u8]| assert_eq!(header.order, expected);
        let taken = self.side.link.receive(1, &mut take).expect("the link stands") > 0;
        self.received = expected.wrapping_add(u32::from(taken));
        taken
    }
}

impl End for Awake {
    #[inline]
    fn send(&mut self) {
        let header = header(self.sent);
        self.sent = self.sent.wrapping_add(1);
        while self.side.link.send(&header, Gather::EMPTY).is_err() {
            std::hint::spin_loop();
        }
    }

    #[inline]
    fn receive(&mut self) {
        while !self.took() {
            std::hint::spin_loop();
        }
    }
}

/// The same, but whoever waits sleeps at once, and must be woken.
struct Asleep(Awake);

impl End for Asleep {
    fn send(&mut self) {
        self.0.send();
    }

    fn receive(&mut self) {
        while !self.0.took() {
            let rings = self.0.side.page.fall_asleep();
            if self.0.took() {
                self.0.side.page.stay_awake();
                return;
            }
            self.0.side.page.sleep(rings, Some(Duration::from_secs(1)));
            self.0.side.page.stay_awake();
        }
    }
}
