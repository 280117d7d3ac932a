//! The run: nodes in the order of their time.

use crate::network::{Links, Network};
use crate::pages::PAGE;
use crate::station::{Costs, State, Station};
use parvum_consistency::{Access, Letter, Node, Progress, Setup};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What a program does next. Places are bytes of the shared memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    /// Computes for so many seconds.
    Compute(f64),
    /// Reads so many bytes of the shared memory.
    Read {
        /// From there.
        at: usize,
        /// So many.
        bytes: usize,
    },
    /// Changes them.
    Write {
        /// From there.
        at: usize,
        /// So many.
        bytes: usize,
    },
    /// Takes a lock.
    Acquire(u32),
    /// Gives it back.
    Release(u32),
    /// Waits for all at a barrier.
    Barrier(u32),
    /// Sends a message.
    Send {
        /// To that node.
        to: usize,
        /// So long.
        bytes: usize,
    },
    /// Waits for a message.
    Receive,
}

/// A program: the same for all nodes, which tell themselves apart by their number.
pub trait Program {
    /// What the node does next; nothing when it is done. `mail`: the node whose message is the next that it may receive.
    fn next(&mut self, node: usize, mail: Option<usize>) -> Option<Step>;
}

/// What came of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Outcome {
    /// When the last node was done.
    pub seconds: f64,
    /// Messages of all nodes together.
    pub messages: u64,
    /// Bytes of them, without headers of the network.
    pub bytes: u64,
}

/// What happens at a time.
enum Event {
    /// A program goes on.
    Resume(usize),
    /// A message of the protocol comes.
    Letter { to: usize, from: usize, bytes: Vec<u8> },
    /// A message of a program's comes.
    Mail { to: usize, from: usize },
}

/// Nodes and what lies between them.
pub struct World<P> {
    program: P,
    stations: Vec<Station>,
    links: Links,
    costs: Costs,
    /// Times in nanoseconds, and numbers of events: those of the same time keep their order.
    queue: BinaryHeap<Reverse<(u64, u64)>>,
    events: std::collections::HashMap<u64, Event>,
    count: u64,
    last: f64,
}

impl<P: Program> World<P> {
    /// Nodes that run this program, by that setup of the shared memory.
    pub fn new(program: P, setup: Setup, network: Network, costs: Costs) -> World<P> {
        assert_eq!(setup.page_bytes, PAGE, "pages of the machines of then");
        let stations = (0..setup.nodes).map(|own| Station::new(Node::new(setup, own))).collect();
        let links = Links::new(network, setup.nodes);
        let (queue, events) = Default::default();
        World { program, stations, links, costs, queue, events, count: 0, last: 0.0 }
    }

    /// Runs all to their ends.
    ///
    /// # Panics
    /// When nodes wait for each other in a circle, or the program breaks the protocol's rules.
    pub fn run(mut self) -> Outcome {
        for node in 0..self.stations.len() {
            self.plan(0.0, Event::Resume(node));
        }
        while let Some(Reverse((time, number))) = self.queue.pop() {
            let now = time as f64 * 1e-9;
            match self.events.remove(&number).expect("planned") {
                Event::Resume(node) => self.resume(node, now),
                Event::Letter { to, from, bytes } => self.serve(to, from, &bytes, now),
                Event::Mail { to, from } => self.deliver(to, from, now),
            }
        }
        let ended = self.stations.iter().filter(|station| station.state == State::Ended).count();
        assert_eq!(ended, self.stations.len(), "some wait for ever");
        Outcome { seconds: self.last, messages: self.links.messages, bytes: self.links.bytes }
    }

    fn plan(&mut self, at: f64, event: Event) {
        self.count += 1;
        self.queue.push(Reverse(((at * 1e9) as u64, self.count)));
        self.events.insert(self.count, event);
    }

    /// The node's program goes on then.
    fn go_on(&mut self, node: usize, at: f64) {
        self.stations[node].state = State::Runs;
        self.plan(at, Event::Resume(node));
    }

    /// A program's turn, until it needs time or somebody else.
    fn resume(&mut self, node: usize, now: f64) {
        let station = &mut self.stations[node];
        let stolen = std::mem::take(&mut station.stolen);
        if stolen > 0.0 {
            return self.plan(now + stolen, Event::Resume(node));
        }
        let mail = station.mail.front().copied();
        let Some(step) = station.next.take().or_else(|| self.program.next(node, mail)) else {
            self.stations[node].state = State::Ended;
            self.last = self.last.max(now);
            return;
        };
        match step {
            Step::Compute(seconds) => self.go_on(node, now + seconds),
            Step::Read { at, bytes } => self.touch(node, now, (at, bytes), Access::Read),
            Step::Write { at, bytes } => self.touch(node, now, (at, bytes), Access::Write),
            Step::Acquire(lock) => self.call(node, now, None, |it| it.node.acquire(lock, &mut it.pages)),
            Step::Release(lock) => self.call(node, now, None, |it| it.node.release(lock, &mut it.pages)),
            Step::Barrier(number) => self.call(node, now, None, |it| it.node.barrier(number, &mut it.pages)),
            Step::Send { to, bytes } => {
                let over = now + self.costs.message + bytes as f64 * self.costs.byte;
                let comes = self.links.carry(over, node, to, bytes);
                self.plan(comes, Event::Mail { to, from: node });
                self.go_on(node, over);
            }
            Step::Receive => match self.stations[node].mail.pop_front() {
                Some(_) => self.go_on(node, now + self.costs.message),
                None => self.stations[node].state = State::Listens,
            },
        }
    }

    /// Touches memory page by page: those that are open at once, and the first that is not by a fault.
    fn touch(&mut self, node: usize, now: f64, (at, bytes): (usize, usize), wanted: Access) {
        let station = &mut self.stations[node];
        let (mut from, end) = (at, at + bytes);
        while from < end {
            let page = (from / PAGE) as u32;
            let until = end.min((page as usize + 1) * PAGE);
            if station.pages.access(page) < wanted {
                let (at, bytes) = (from, end - from);
                let again = match wanted {
                    Access::Write => Step::Write { at, bytes },
                    _ => Step::Read { at, bytes },
                };
                let fault = self.costs.fault;
                return self
                    .call(node, now + fault, Some(again), |it| it.node.fault(page, wanted, &mut it.pages));
            }
            if wanted == Access::Write {
                station.pages.change(page, from % PAGE, from % PAGE + (until - from));
            }
            from = until;
        }
        self.go_on(node, now);
    }

    /// A call of the protocol's. When it is over the program takes the step `again`, or its next.
    fn call(
        &mut self,
        node: usize,
        now: f64,
        again: Option<Step>,
        call: impl FnOnce(&mut Station) -> Result<Progress, parvum_consistency::Fault>,
    ) {
        let station = &mut self.stations[node];
        let before = station.node.counts();
        call(station).expect("the program keeps the rules");
        let over = now + self.costs.between(before, station.node.counts());
        let over = self.post(node, over);
        let station = &mut self.stations[node];
        if station.node.is_waiting() {
            station.state = State::Waits(again);
        } else {
            station.next = again;
            self.go_on(node, over);
        }
    }

    /// Sends what the node has to say; when it has done so.
    fn post(&mut self, from: usize, mut now: f64) -> f64 {
        for Letter { to, bytes, .. } in self.stations[from].node.outbox() {
            now += self.costs.message + bytes.len() as f64 * self.costs.byte;
            let comes = self.links.carry(now, from, to, bytes.len());
            self.plan(comes, Event::Letter { to, from, bytes });
        }
        now
    }

    /// A node takes in a message of the protocol, whatever its program does.
    fn serve(&mut self, to: usize, from: usize, bytes: &[u8], now: f64) {
        let station = &mut self.stations[to];
        let begins = now.max(station.serves);
        let before = station.node.counts();
        station.node.receive(from, bytes, &mut station.pages).expect("nodes keep the rules");
        let work = self.costs.between(before, station.node.counts());
        let taken = begins + self.costs.message + bytes.len() as f64 * self.costs.byte + work;
        let over = self.post(to, taken);
        let station = &mut self.stations[to];
        station.serves = over;
        match station.state {
            State::Waits(again) if !station.node.is_waiting() => {
                station.next = again;
                self.go_on(to, over);
            }
            State::Runs => station.stolen += over - begins,
            State::Waits(_) | State::Listens | State::Ended => {}
        }
    }

    fn deliver(&mut self, to: usize, from: usize, now: f64) {
        let station = &mut self.stations[to];
        station.mail.push_back(from);
        if station.state == State::Listens {
            station.mail.pop_front();
            let over = now.max(station.serves) + self.costs.message;
            self.go_on(to, over);
        }
    }
}
