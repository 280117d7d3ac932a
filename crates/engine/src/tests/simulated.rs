//! Links between engines in one process: with bounds, delay, refused copies and sudden death.

use crate::{Engine, Ledger, Settings};
use parvum_transport::{Gather, Limits, Link, PullRefused, Refused, Route, Sink};
use parvum_wire::{Header, Tid};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

/// A small generator of reproducible numbers (xorshift64*).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % bound
    }

    pub(crate) fn one_in(&mut self, chances: u64) -> bool {
        self.below(chances) == 0
    }
}

/// How a link behaves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nature {
    pub(crate) frame: usize,
    pub(crate) eager: usize,
    pub(crate) capacity: usize,
    /// Frames become visible this many polls after they were sent.
    pub(crate) delay: u64,
    pub(crate) single_copy: bool,
    /// Every n-th pull is refused, though pulls were announced; 0 for none.
    pub(crate) refuse_pull: u64,
}

impl Nature {
    pub(crate) const QUICK: Nature =
        Nature { frame: 1024, eager: 256, capacity: 64, delay: 0, single_copy: true, refuse_pull: 0 };
}

#[derive(Default)]
struct Wire {
    frames: VecDeque<(u64, Header, Vec<u8>)>,
    cut: bool,
    /// Polls of the receiving end so far: the wire's clock.
    now: u64,
    /// What the receiving end awaits.
    awaited: u64,
}

/// One end of a simulated link.
pub(crate) struct SimulatedLink {
    nature: Nature,
    out: Arc<Mutex<Wire>>,
    incoming: Arc<Mutex<Wire>>,
    pulls: u64,
}

impl Link for SimulatedLink {
    fn limits(&self) -> Limits {
        let Nature { frame, eager, single_copy, .. } = self.nature;
        Limits { frame, eager, single_copy, buffered: false }
    }

    fn send(&mut self, header: &Header, payload: Gather<'_>) -> Result<(), Refused> {
        assert!(payload.len() <= self.nature.frame, "a frame over the limit");
        let mut out = self.out.lock().unwrap();
        if out.cut {
            return Err(Refused::Closed);
        }
        if out.frames.len() >= self.nature.capacity {
            return Err(Refused::Full);
        }
        let mut bytes = vec![0; payload.len()];
        payload.copy_to(&mut bytes);
        let due = out.now + self.nature.delay;
        out.frames.push_back((due, *header, bytes));
        Ok(())
    }

    fn receive(&mut self, most: usize, sink: &mut dyn Sink) -> Result<usize, Refused> {
        self.incoming.lock().unwrap().now += 1;
        for taken in 0..most {
            let frame = {
                let mut incoming = self.incoming.lock().unwrap();
                match incoming.frames.front() {
                    Some((due, ..)) if *due <= incoming.now || incoming.cut => incoming.frames.pop_front(),
                    None if incoming.cut && taken == 0 => return Err(Refused::Closed),
                    _ => None,
                }
            };
            let Some((_, header, bytes)) = frame else { return Ok(taken) };
            sink.frame(&header, &bytes);
        }
        Ok(most)
    }

    fn await_message(&mut self, word: u64) {
        self.incoming.lock().unwrap().awaited = word;
    }

    fn awaited(&self) -> u64 {
        self.out.lock().unwrap().awaited
    }

    fn can_pull(&self, _address: u64) -> bool {
        self.nature.single_copy && self.nature.refuse_pull == 0
    }

    fn pull(&mut self, address: u64, into: &mut [u8]) -> Result<(), PullRefused> {
        self.pulls += 1;
        if self.nature.refuse_pull > 0 && self.pulls.is_multiple_of(self.nature.refuse_pull) {
            return Err(PullRefused::NotPermitted);
        }
        if self.incoming.lock().unwrap().cut {
            return Err(PullRefused::Gone);
        }
        // SAFETY: both engines live in this test; the sender keeps offered memory until `Done`.
        let data = unsafe { std::slice::from_raw_parts(address as *const u8, into.len()) };
        into.copy_from_slice(data);
        Ok(())
    }
}

/// Lets a test kill both directions of a link.
pub(crate) struct Scissors(Arc<Mutex<Wire>>, Arc<Mutex<Wire>>);

impl Scissors {
    /// Cuts the link: frames under way from the second engine to the first, or
    /// the other way, are lost from the `keep`-th on.
    pub(crate) fn cut(&self, keep: usize) {
        for wire in [&self.0, &self.1] {
            let mut wire = wire.lock().unwrap();
            wire.cut = true;
            wire.frames.truncate(keep);
        }
    }
}

pub(crate) fn tid(local: u32) -> Tid {
    Tid::new(1, local).expect("in range")
}

pub(crate) fn engine(local: u32, credit: u64) -> Engine {
    Engine::new(tid(local), Settings { credit }, Ledger::private())
}

/// Joins two engines over one more route.
pub(crate) fn join(a: &mut Engine, b: &mut Engine, route: Route, nature: Nature) -> Scissors {
    let (there, back) = (Arc::<Mutex<Wire>>::default(), Arc::<Mutex<Wire>>::default());
    let end = |out: &Arc<Mutex<Wire>>, incoming: &Arc<Mutex<Wire>>| {
        Box::new(SimulatedLink { nature, out: out.clone(), incoming: incoming.clone(), pulls: 0 })
    };
    a.attach(b.me(), route, end(&there, &back));
    b.attach(a.me(), route, end(&back, &there));
    Scissors(there, back)
}

/// Two engines, joined.
pub(crate) fn pair(nature: Nature) -> (Engine, Engine) {
    let (mut a, mut b) = (engine(1, 1 << 20), engine(2, 1 << 20));
    join(&mut a, &mut b, Route::Shm, nature);
    (a, b)
}

/// Lets both engines work until neither moves for a while.
pub(crate) fn settle(engines: &mut [&mut Engine]) {
    let mut quiet = 0;
    while quiet < 50 {
        let mut moved = false;
        for engine in engines.iter_mut() {
            moved |= engine.progress();
        }
        quiet = if moved { 0 } else { quiet + 1 };
    }
}
