//! Links between engines in one process: with bounds, delay, refused copies and sudden death.

use crate::{Counters, Engine, Settings};
use parvum_transport::{
    Gather, Kept, Limits, Link, Loan, PullRefused, Puller, Refused, RemoteMemory, Route, Sink, show_pulled,
};
use parvum_wire::{Header, Tid};
use std::cell::Cell;
use std::collections::VecDeque;
use std::io::IoSliceMut;
use std::sync::atomic::{AtomicU64, Ordering};
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
    /// Whether the link lends memory. The number is the bytes that become visible with each poll; 0: all at once.
    pub(crate) lends: Option<u64>,
    /// The link shows nothing before [`Link::look_anew`]: the last query was before the messages.
    pub(crate) unasked: bool,
}

impl Nature {
    pub(crate) const QUICK: Nature = Nature {
        frame: 1024,
        eager: 256,
        capacity: 64,
        delay: 0,
        single_copy: true,
        refuse_pull: 0,
        lends: None,
        unasked: false,
    };
}

#[derive(Default)]
struct Wire {
    frames: VecDeque<(u64, Header, Vec<u8>)>,
    cut: bool,
    /// Nothing more is put in. Its contents arrive when they are due, and then the end.
    ended: bool,
    /// Polls of the receiving end so far: the wire's clock.
    now: u64,
    /// The messages that the receiving end awaits and waits for.
    awaited: u64,
    wanted: u64,
    loans: Vec<Arc<Memory>>,
}

/// Memory that was lent to a message. The receiving end sees it grow.
struct Memory {
    address: u64,
    rate: u64,
    born: u64,
    /// As `Wire::now` was when the sender died.
    died: Mutex<Option<u64>>,
    data: Mutex<Vec<u8>>,
    length: usize,
}

const LENT: u64 = 1 << 63;

impl Memory {
    fn visible(&self, now: u64) -> usize {
        let filled = self.data.lock().unwrap().len();
        let until = self.died.lock().unwrap().unwrap_or(now);
        if self.rate == 0 { filled } else { filled.min(((until - self.born) * self.rate) as usize) }
    }
}

/// The sender's hold on it.
struct Lent(Arc<Memory>);

impl Loan for Lent {
    fn address(&self) -> u64 {
        self.0.address
    }

    fn fill_by(&self, length: usize, write: &mut dyn FnMut(&mut [u8])) {
        let mut data = self.0.data.lock().unwrap();
        let (from, end) = (data.len(), data.len() + length);
        data.resize(end, 0);
        data[from..].chunks_mut(1000).for_each(write);
    }

    fn filled(&self) -> &[u8] {
        // SAFETY: it is filled once, at once, and stays as long as the loan.
        unsafe {
            let data = self.0.data.lock().unwrap();
            std::slice::from_raw_parts(data.as_ptr(), data.len())
        }
    }
}

impl Kept for Memory {
    fn read(&self, from: usize, into: &mut [u8]) {
        into.copy_from_slice(&self.data.lock().unwrap()[from..from + into.len()]);
    }
}

/// One end of a simulated link.
pub(crate) struct SimulatedLink {
    nature: Nature,
    out: Arc<Mutex<Wire>>,
    incoming: Arc<Mutex<Wire>>,
    pulls: Arc<AtomicU64>,
}

thread_local! {
    /// Copies that both ends could have made.
    pub(crate) static TOGETHER: Cell<u32> = const { Cell::new(0) };
}

/// The reader of the other end's memory, without the link.
struct Pulls(SimulatedLink);

impl Puller for Pulls {
    fn pull(&self, from: &[RemoteMemory], into: &mut [IoSliceMut<'_>]) -> Result<usize, PullRefused> {
        self.0.read(from, into)
    }

    fn pull_together(
        &self,
        _: u64,
        _: u64,
        from: &[RemoteMemory],
        into: &mut [u8],
    ) -> Result<(), PullRefused> {
        TOGETHER.set(TOGETHER.get() + 1);
        self.pull(from, &mut [IoSliceMut::new(into)]).map(|_| ())
    }

    fn show(&self, from: RemoteMemory, take: &mut dyn FnMut(&[u8])) -> Result<usize, PullRefused> {
        show_pulled(from, take, |place, portion| self.pull(&[place], &mut [IoSliceMut::new(portion)]))
    }

    fn can_pull(&self, address: u64) -> bool {
        self.0.can_pull(address)
    }
}

impl SimulatedLink {
    /// The same end once more.
    fn again(&self) -> SimulatedLink {
        let SimulatedLink { nature, out, incoming, pulls } = self;
        SimulatedLink { nature: *nature, out: out.clone(), incoming: incoming.clone(), pulls: pulls.clone() }
    }

    fn read(&self, from: &[RemoteMemory], into: &mut [IoSliceMut<'_>]) -> Result<usize, PullRefused> {
        if let [RemoteMemory { address, length }] = *from
            && address & LENT != 0
        {
            let incoming = self.incoming.lock().unwrap();
            let (block, within) = (address >> 32 << 32, address as u32 as usize);
            let memory = incoming.loans.iter().find(|memory| memory.address == block);
            let memory = memory.ok_or(PullRefused::NotPermitted)?;
            assert!(within + length <= memory.length, "more than was lent");
            let mut there = length.min(memory.visible(incoming.now).saturating_sub(within));
            let mut done = 0;
            for room in into {
                let part = room.len().min(there);
                memory.read(within + done, &mut room[..part]);
                (done, there) = (done + part, there - part);
            }
            return Ok(done);
        }
        let pulls = self.pulls.fetch_add(1, Ordering::Relaxed) + 1;
        if self.nature.refuse_pull > 0 && pulls.is_multiple_of(self.nature.refuse_pull) {
            return Err(PullRefused::NotPermitted);
        }
        let (cut, ended) = {
            let incoming = self.incoming.lock().unwrap();
            (incoming.cut, incoming.ended)
        };
        if cut || ended {
            return Err(PullRefused::Gone);
        }
        // SAFETY: both engines live in this test; the sender keeps offered memory until `Done`.
        let piece = |place: &RemoteMemory| unsafe {
            std::slice::from_raw_parts(place.address as *const u8, place.length)
        };
        let data: Vec<u8> = from.iter().flat_map(piece).copied().collect();
        let mut done = 0;
        for room in into {
            let part = room.len().min(data.len() - done);
            room[..part].copy_from_slice(&data[done..done + part]);
            done += part;
        }
        Ok(done)
    }
}

impl Link for SimulatedLink {
    fn limits(&self) -> Limits {
        let Nature { frame, eager, single_copy, .. } = self.nature;
        Limits { frame, eager, single_copy, buffered: false }
    }

    fn send(&mut self, header: &Header, payload: Gather<'_>) -> Result<(), Refused> {
        assert!(payload.len() <= self.nature.frame, "a frame over the limit");
        let mut out = self.out.lock().unwrap();
        if out.cut || out.ended {
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

    fn look_anew(&mut self) {
        self.nature.unasked = false;
    }

    fn receive(&mut self, most: usize, sink: &mut dyn Sink) -> Result<usize, Refused> {
        if self.nature.unasked {
            return Ok(0);
        }
        self.incoming.lock().unwrap().now += 1;
        for taken in 0..most {
            let frame = {
                let mut incoming = self.incoming.lock().unwrap();
                match incoming.frames.front() {
                    Some((due, ..)) if *due <= incoming.now || incoming.cut => incoming.frames.pop_front(),
                    None if (incoming.cut || incoming.ended) && taken == 0 => return Err(Refused::Closed),
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

    fn want_message(&mut self, word: u64) {
        self.incoming.lock().unwrap().wanted = word;
    }

    fn wanted(&self) -> u64 {
        self.out.lock().unwrap().wanted
    }

    fn can_pull(&self, address: u64) -> bool {
        address & LENT == 0 && self.nature.single_copy && self.nature.refuse_pull == 0
    }

    fn lends(&self, address: u64) -> bool {
        self.incoming.lock().unwrap().loans.iter().any(|memory| memory.address == address)
    }

    fn kept(&mut self, address: u64, length: usize) -> Option<Arc<dyn Kept>> {
        let incoming = self.incoming.lock().unwrap();
        let memory = incoming.loans.iter().find(|memory| memory.address == address)?;
        (memory.visible(incoming.now) >= length).then(|| memory.clone() as Arc<dyn Kept>)
    }

    fn lend(&mut self, length: usize) -> Option<Arc<dyn Loan>> {
        let rate = self.nature.lends?;
        let mut out = self.out.lock().unwrap();
        out.loans.retain(|memory| Arc::strong_count(memory) > 1);
        // Common to all links: a link must not find a block of another link.
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed) & 0x7fff_ffff;
        let (address, born) = (LENT | count << 32, out.now);
        let (died, data) = Default::default();
        let memory = Arc::new(Memory { address, rate, born, died, data, length });
        out.loans.push(memory.clone());
        Some(Arc::new(Lent(memory)))
    }

    fn pull(&mut self, from: &[RemoteMemory], into: &mut [IoSliceMut<'_>]) -> Result<usize, PullRefused> {
        self.read(from, into)
    }

    fn puller(&mut self) -> Option<Arc<dyn Puller>> {
        Some(Arc::new(Pulls(self.again())))
    }
}

/// Lets a test kill both directions of a link.
pub(crate) struct Scissors(Arc<Mutex<Wire>>, Arc<Mutex<Wire>>);

impl Scissors {
    /// Ends the link as a stream ends: what is on its way arrives, and the end behind it.
    pub(crate) fn end(&self) {
        for wire in [&self.0, &self.1] {
            wire.lock().unwrap().ended = true;
        }
    }

    /// Cuts the link: frames under way from the second engine to the first, or
    /// the other way, are lost from the `keep`-th on.
    pub(crate) fn cut(&self, keep: usize) {
        for wire in [&self.0, &self.1] {
            let mut wire = wire.lock().unwrap();
            wire.cut = true;
            let now = wire.now;
            wire.loans.iter().for_each(|memory| *memory.died.lock().unwrap() = Some(now.max(memory.born)));
            wire.frames.truncate(keep);
        }
    }
}

/// The simulated routes.
pub(crate) const ONE: Route = Route::new(1);
pub(crate) const OTHER: Route = Route::new(2);
pub(crate) const THIRD: Route = Route::new(3);

pub(crate) fn tid(local: u32) -> Tid {
    Tid::new(1, local).expect("in range")
}

pub(crate) fn engine(local: u32, credit: u64) -> Engine {
    Engine::new(tid(local), Settings { credit }, Counters::private())
}

/// Joins two engines over one more route.
pub(crate) fn join(a: &mut Engine, b: &mut Engine, route: Route, nature: Nature) -> Scissors {
    let (there, back) = (Arc::<Mutex<Wire>>::default(), Arc::<Mutex<Wire>>::default());
    let end = |out: &Arc<Mutex<Wire>>, incoming: &Arc<Mutex<Wire>>| {
        Box::new(SimulatedLink {
            nature,
            out: out.clone(),
            incoming: incoming.clone(),
            pulls: Arc::default(),
        })
    };
    a.attach(b.me(), route, end(&there, &back));
    b.attach(a.me(), route, end(&back, &there));
    Scissors(there, back)
}

/// Two engines, joined.
pub(crate) fn pair(nature: Nature) -> (Engine, Engine) {
    let (mut a, mut b) = (engine(1, 1 << 20), engine(2, 1 << 20));
    join(&mut a, &mut b, ONE, nature);
    (a, b)
}

/// Lets both engines work until neither moves for a while.
pub(crate) fn run_until_quiet(engines: &mut [&mut Engine]) {
    let mut quiet = 0;
    while quiet < 50 {
        let mut moved = false;
        for engine in engines.iter_mut() {
            if engine.has_askers() {
                engine.answer_askers();
                moved = true;
            }
            moved |= engine.progress();
        }
        quiet = if moved { 0 } else { quiet + 1 };
    }
}

/// The far end of a link to `engine`, for a test that plays the peer by itself.
pub(crate) fn half_pipe(engine: &mut Engine, peer: Tid, route: Route) -> SimulatedLink {
    let (there, back) = (Arc::<Mutex<Wire>>::default(), Arc::<Mutex<Wire>>::default());
    let end = |out: &Arc<Mutex<Wire>>, incoming: &Arc<Mutex<Wire>>| SimulatedLink {
        nature: Nature::QUICK,
        out: out.clone(),
        incoming: incoming.clone(),
        pulls: Arc::default(),
    };
    engine.attach(peer, route, Box::new(end(&there, &back)));
    end(&back, &there)
}
