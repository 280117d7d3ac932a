//! All hosts, and virtual time.
//!
//! The agreement runs on tokio, whose clock stands still here. When no task has anything to do the world
//! takes the next event, and sets the clock to its time.

use super::daemon::Daemon;
use super::net::{Bill, Dice, Now, Port};
use parvum_agreement::{Bytes, Standing};
use parvum_machine::state::{Change, Input};
use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet};
use std::future::Future;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::task::LocalSet;
use tokio::time::Instant;

const SECOND: Now = 1_000_000_000;
/// The product's time between two questions to a host that is watched, or owes an answer; and the number of unanswered
/// questions after which a host is lost.
const QUESTION: Now = SECOND / 5;
const UNANSWERED: Now = 3;
/// A host that does not answer at all cannot be connected with after this: the product's bound.
const DEADLINE: Now = 5 * SECOND;
/// A daemon is started over there in this to twice this; so many at a time, as the product does.
const START: Now = 100_000_000;
const AT_ONCE: usize = 128;
/// Timers of tokio's are no finer.
const STEP: Now = 1_000_000;

/// What happens at a time.
pub enum Event {
    /// A message is at the wire of its receiver.
    Arrives {
        from: u32,
        to: u32,
        bytes: Bytes,
    },
    /// The receiver's daemon has read it.
    IsRead {
        from: u32,
        to: u32,
        bytes: Bytes,
    },
    Tick(u32),
    /// A host has had no answer from another for a moment.
    Doubts {
        host: u32,
        about: u32,
    },
    /// A host finds another lost.
    Loses {
        host: u32,
        lost: u32,
    },
    /// A daemon was started on behalf of another host.
    Started {
        by: u32,
        number: u32,
        life: u64,
        name: String,
    },
    /// A host is busier than it was.
    Load(u32, u32),
}

struct Scheduled(Now, u64, Event);

impl PartialEq for Scheduled {
    fn eq(&self, other: &Scheduled) -> bool {
        (self.0, self.1) == (other.0, other.1)
    }
}
impl Eq for Scheduled {}
impl PartialOrd for Scheduled {
    fn partial_cmp(&self, other: &Scheduled) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Scheduled {
    fn cmp(&self, other: &Scheduled) -> std::cmp::Ordering {
        (self.0, self.1).cmp(&(other.0, other.1))
    }
}

/// What all hosts together, and the busiest, have sent and got.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bills {
    /// Of a host, on the average.
    pub messages: f64,
    pub bytes: f64,
    /// Of the host that has most.
    pub most_messages: u64,
    pub most_bytes: u64,
    /// Connections of a host, on the average and at most.
    pub links: f64,
    pub most_links: usize,
    /// Hosts that a host watches, and that watch it, on the average and at most. Each is asked five times a second.
    pub watched: f64,
    pub most_watched: usize,
}

pub struct World {
    pub dice: RefCell<Dice>,
    hosts: RefCell<BTreeMap<u32, Rc<Daemon>>>,
    ports: RefCell<HashMap<u32, Port>>,
    events: RefCell<BinaryHeap<Reverse<Scheduled>>>,
    scheduled: Cell<u64>,
    began: Instant,
    idle: Arc<Notify>,
    decoded: RefCell<HashMap<u64, Rc<Change>>>,
    /// When those that are being started will have been.
    starts: RefCell<BinaryHeap<Reverse<Now>>>,
    /// Hosts that try to connect with a dead host, or ask a dead host.
    trying: RefCell<HashSet<(u32, u32)>>,
    /// The hosts that each host watches.
    watched: RefCell<BTreeMap<u32, BTreeSet<u32>>>,
    /// How many hosts each table shall have, and the hosts whose table has not.
    wanted: Cell<usize>,
    lacking: RefCell<HashSet<u32>>,
    /// How many hosts were added, when the adder has its answer.
    answer: Cell<Option<usize>>,
}

/// Runs a simulation to its end.
pub fn simulate<T, F: Future<Output = T>>(seed: u64, story: impl FnOnce(Rc<World>) -> F) -> T {
    let idle = Arc::new(Notify::new());
    let wake = idle.clone();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        // Before the thread would sleep, all tasks wait for something.
        .on_thread_park(move || wake.notify_one())
        .build()
        .expect("a runtime without sockets");
    let local = LocalSet::new();
    local.block_on(&runtime, async move {
        let world = Rc::new(World::new(seed, idle));
        let result = story(world.clone()).await;
        world.hosts.borrow().values().for_each(|host| host.end());
        result
    })
}

impl World {
    fn new(seed: u64, idle: Arc<Notify>) -> World {
        World {
            dice: RefCell::new(Dice::new(seed)),
            hosts: Default::default(),
            ports: Default::default(),
            events: Default::default(),
            scheduled: Cell::new(0),
            began: Instant::now(),
            idle,
            decoded: Default::default(),
            starts: Default::default(),
            trying: Default::default(),
            watched: Default::default(),
            wanted: Cell::new(0),
            lacking: Default::default(),
            answer: Cell::new(None),
        }
    }

    pub fn now(&self) -> Now {
        self.began.elapsed().as_nanos() as Now
    }

    pub fn host(&self, host: u32) -> Option<Rc<Daemon>> {
        self.hosts.borrow().get(&host).cloned()
    }

    pub fn alive(&self) -> Vec<u32> {
        self.hosts.borrow().keys().copied().collect()
    }

    pub fn leader(&self) -> Option<u32> {
        let hosts = self.hosts.borrow();
        hosts.values().find(|host| host.standing.get() == Standing::Leading).map(|host| host.host)
    }

    pub fn schedule(&self, at: Now, event: Event) {
        self.scheduled.set(self.scheduled.get() + 1);
        self.events.borrow_mut().push(Reverse(Scheduled(at, self.scheduled.get(), event)));
    }

    pub fn come(self: &Rc<World>, daemon: Rc<Daemon>) {
        self.ports.borrow_mut().insert(daemon.host, Port::default());
        self.lacking.borrow_mut().insert(daemon.host);
        self.hosts.borrow_mut().insert(daemon.host, daemon);
    }

    /// The person who adds hosts has an answer: so many are in the machine.
    pub fn answered(&self, added: usize) {
        self.answer.set(Some(added));
    }

    pub fn take_answer(&self) -> Option<usize> {
        self.answer.take()
    }

    /// All hosts read the same changes.
    pub fn decoded(&self, index: u64, decode: impl FnOnce() -> Change) -> Rc<Change> {
        self.decoded.borrow_mut().entry(index).or_insert_with(|| Rc::new(decode())).clone()
    }

    /// From now on every table shall have so many hosts.
    pub fn want(&self, hosts: usize) {
        self.wanted.set(hosts);
        let lacking = |host: &&Rc<Daemon>| host.known.get() != hosts;
        *self.lacking.borrow_mut() =
            self.hosts.borrow().values().filter(lacking).map(|host| host.host).collect();
    }

    /// A host's table has changed.
    pub fn look_at(&self, host: &Daemon) {
        if host.known.get() == self.wanted.get() {
            self.lacking.borrow_mut().remove(&host.host);
        } else {
            self.lacking.borrow_mut().insert(host.host);
        }
    }

    /// Whether every table has the hosts that it shall have.
    pub fn agrees(&self) -> bool {
        self.lacking.borrow().is_empty() && self.hosts.borrow().len() == self.wanted.get()
    }

    pub fn send(&self, from: u32, to: u32, bytes: Bytes) {
        let (mut ports, mut dice) = (self.ports.borrow_mut(), self.dice.borrow_mut());
        let Some(port) = ports.get_mut(&from) else { return };
        if self.hosts.borrow().contains_key(&to) {
            let at = port.send(self.now(), to, bytes.len() as u64, &mut dice);
            self.schedule(at, Event::Arrives { from, to, bytes });
        } else if port.links.contains_key(&to) {
            // It is not known to be dead yet, and owes an answer from now on.
            port.send(self.now(), to, bytes.len() as u64, &mut dice);
            let next = dice.below(QUESTION);
            drop((ports, dice));
            self.ask_the_dead(from, to, next);
        } else if self.trying.borrow_mut().insert((from, to)) {
            self.schedule(self.now() + DEADLINE, Event::Loses { host: from, lost: to });
        }
    }

    /// Starts a daemon on another host.
    pub fn start(&self, by: u32, number: u32, life: u64, name: String) {
        let mut starts = self.starts.borrow_mut();
        let turn = if starts.len() < AT_ONCE { None } else { starts.pop() };
        let turn = turn.map_or(self.now(), |Reverse(free)| free.max(self.now()));
        let at = turn + START + self.dice.borrow_mut().below(START);
        starts.push(Reverse(at));
        self.schedule(at, Event::Started { by, number, life, name });
    }

    /// These hosts die at this moment.
    pub fn kill(&self, dead: &[u32]) {
        for host in dead {
            if let Some(daemon) = self.hosts.borrow_mut().remove(host) {
                daemon.end();
            }
            self.lacking.borrow_mut().remove(host);
        }
        for lost in dead {
            self.ports.borrow_mut().remove(lost);
            self.watched.borrow_mut().remove(lost);
        }
        for lost in dead {
            let watches = |(host, watched): (&u32, &BTreeSet<u32>)| watched.contains(lost).then_some(*host);
            let watchers: Vec<u32> = self.watched.borrow().iter().filter_map(watches).collect();
            for host in watchers {
                let next = self.dice.borrow_mut().below(QUESTION);
                self.ask_the_dead(host, *lost, next);
            }
        }
    }

    /// A host asks a dead one after so long, and again; it gets no answer.
    fn ask_the_dead(&self, host: u32, lost: u32, next: Now) {
        let is_linked = self.ports.borrow().get(&host).is_some_and(|port| port.links.contains_key(&lost));
        if is_linked && self.trying.borrow_mut().insert((host, lost)) {
            let first = self.now() + next;
            self.schedule(first + QUESTION, Event::Doubts { host, about: lost });
            self.schedule(first + UNANSWERED * QUESTION, Event::Loses { host, lost });
        }
    }

    /// A host watches these from now on, and connects with them.
    pub fn watch(&self, host: u32, watched: BTreeSet<u32>) {
        let before = self.watched.borrow_mut().insert(host, watched.clone()).unwrap_or_default();
        for new in watched.difference(&before) {
            if self.hosts.borrow().contains_key(new) {
                let mut ports = self.ports.borrow_mut();
                for (one, other) in [(host, *new), (*new, host)] {
                    if let Some(port) = ports.get_mut(&one) {
                        port.links.entry(other).or_default();
                    }
                }
            } else {
                self.ask_the_dead(host, *new, 0);
            }
        }
    }

    /// A host asks others at once.
    pub fn probe(&self, host: u32, others: &[u32]) {
        let dead: Vec<u32> =
            others.iter().copied().filter(|other| !self.hosts.borrow().contains_key(other)).collect();
        for other in dead {
            // The question of now counts, and the next comes at some time within a step.
            let is_linked =
                self.ports.borrow().get(&host).is_some_and(|port| port.links.contains_key(&other));
            if is_linked && self.trying.borrow_mut().insert((host, other)) {
                let next = self.now() + self.dice.borrow_mut().below(QUESTION);
                self.schedule(next, Event::Doubts { host, about: other });
                self.schedule(next + (UNANSWERED - 1) * QUESTION, Event::Loses { host, lost: other });
            }
        }
    }

    /// Lets time pass until this is so; false when it is not before then.
    pub async fn pass(self: &Rc<World>, until: Now, is_so: impl Fn(&World) -> bool) -> bool {
        loop {
            self.idle.notified().await;
            if is_so(self) {
                return true;
            }
            let now = self.now();
            if now >= until {
                return false;
            }
            let due = self.events.borrow().peek().map_or(until, |Reverse(next)| next.0).min(until);
            if due > now {
                tokio::time::advance(Duration::from_nanos((due - now).min(STEP))).await;
            } else {
                let next = self.events.borrow_mut().pop();
                next.into_iter().for_each(|Reverse(Scheduled(_, _, event))| self.happen(now, event));
            }
        }
    }

    fn happen(self: &Rc<World>, now: Now, event: Event) {
        match event {
            Event::Arrives { from, to, bytes } => {
                if let Some(port) = self.ports.borrow_mut().get_mut(&to) {
                    let at = port.get(now, from, bytes.len() as u64);
                    self.schedule(at, Event::IsRead { from, to, bytes });
                }
            }
            Event::IsRead { from, to, bytes } => {
                if let Some(host) = self.host(to) {
                    host.hear(from, &bytes);
                }
            }
            Event::Tick(host) => {
                if let Some(host) = self.host(host) {
                    host.tick(now);
                }
            }
            Event::Doubts { host, about } => {
                if let Some(host) = self.host(host) {
                    host.doubt(about);
                }
            }
            Event::Loses { host, lost } => {
                self.trying.borrow_mut().remove(&(host, lost));
                if let Some(port) = self.ports.borrow_mut().get_mut(&host) {
                    port.links.remove(&lost);
                }
                if let Some(host) = self.host(host) {
                    host.lose(lost);
                }
            }
            Event::Started { by, number, life, name } => {
                let Some(home) = self.host(by) else { return };
                let daemon = Daemon::new(self, number, life, &name, vec![home.record()]);
                let record = daemon.record();
                self.come(daemon.clone());
                daemon.start_to_agree(false);
                let busy = 25 * (1 + self.dice.borrow_mut().below(8) as u32);
                let at = now + self.dice.borrow_mut().below(SECOND);
                self.schedule(at, Event::Load(number, busy));
                home.input(Input::Fetched { number, life, result: Ok(record) });
            }
            Event::Load(host, load) => {
                if let Some(host) = self.host(host) {
                    host.input(Input::Load(load));
                }
            }
        }
    }

    /// What was sent and got since this was last asked.
    pub fn take_bills(&self) -> Bills {
        let mut bills = Bills::default();
        let mut ports = self.ports.borrow_mut();
        let (mut all, mut links) = (Bill::default(), 0);
        for port in ports.values_mut() {
            let (sent, got): (Bill, Bill) = (std::mem::take(&mut port.sent), std::mem::take(&mut port.got));
            let (messages, bytes) = (sent.messages + got.messages, sent.bytes + got.bytes);
            all.messages += messages;
            all.bytes += bytes;
            links += port.links.len();
            bills.most_messages = bills.most_messages.max(messages);
            bills.most_bytes = bills.most_bytes.max(bytes);
            bills.most_links = bills.most_links.max(port.links.len());
        }
        let mut pairs: HashMap<u32, usize> = HashMap::new();
        for (host, watched) in self.watched.borrow().iter() {
            for other in watched {
                *pairs.entry(*host).or_default() += 1;
                *pairs.entry(*other).or_default() += 1;
            }
        }
        bills.most_watched = pairs.values().copied().max().unwrap_or(0);
        bills.watched = pairs.values().sum::<usize>() as f64 / ports.len().max(1) as f64;
        let mean = |sum: u64| sum as f64 / ports.len().max(1) as f64;
        (bills.messages, bills.bytes, bills.links) =
            (mean(all.messages), mean(all.bytes), mean(links as u64));
        bills
    }
}
