//! When frames arrive: the logic of the relay, without devices and without a clock of its own.
//!
//! A frame waits in its port's queue until its link is free, occupies it for its time on the air, and arrives a lag later. On a shared medium
//! all ports have one link and take turns; at a switch each port has one for each direction, and a frame whose link from the switch is busy waits
//! in the switch, not in the way of those behind it, until the memory there is full. A link that became free in the past is used from then on, so
//! that a relay that wakes late loses nothing of the rate.

use super::emulated::Emulated;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::time::{Duration, Instant};

/// Frames that a port's queue takes; the rest waits in the host.
pub const QUEUE: usize = 16;

/// Bytes that wait at a switch for one link; then whoever has more for it waits with all it has.
const SWITCH: usize = 512 << 10;

type Address = [u8; 6];

/// All links.
#[derive(Debug)]
pub struct Medium {
    network: Emulated,
    ports: Vec<Port>,
    /// Where a host was last heard.
    places: HashMap<Address, usize>,
    /// When the shared link is free.
    free: Instant,
    /// Whose turn it is to be looked at first.
    turn: usize,
    under_way: BinaryHeap<Reverse<Arrival>>,
    numbers: u64,
    random: u64,
}

#[derive(Debug)]
struct Port {
    queue: VecDeque<(Instant, Vec<u8>)>,
    /// When its link towards the switch is free, and that from it.
    up: Instant,
    down: Instant,
}

/// A frame that comes to a port.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Arrival {
    /// When.
    pub at: Instant,
    number: u64,
    /// Where.
    pub port: usize,
    /// What.
    pub frame: Vec<u8>,
}

impl Medium {
    /// A network without hosts.
    pub fn new(network: Emulated, now: Instant) -> Medium {
        Medium {
            network,
            ports: Vec::new(),
            places: HashMap::new(),
            free: now,
            turn: 0,
            under_way: BinaryHeap::new(),
            numbers: 0,
            random: 1994,
        }
    }

    /// Adds a host; gives its port.
    pub fn add(&mut self, now: Instant) -> usize {
        self.ports.push(Port { queue: VecDeque::new(), up: now, down: now });
        self.ports.len() - 1
    }

    /// Whether a port's queue takes another frame.
    pub fn has_room(&self, port: usize) -> bool {
        self.ports[port].queue.len() < QUEUE
    }

    /// A host sends a frame.
    pub fn send(&mut self, port: usize, frame: Vec<u8>, now: Instant) {
        if frame.len() < 14 {
            return;
        }
        if let Ok(from) = Address::try_from(&frame[6..12]) {
            self.places.insert(from, port);
        }
        self.ports[port].queue.push_back((now, frame));
    }

    /// Moves on to this moment, and gives what has arrived until then, in order.
    pub fn arrived(&mut self, now: Instant) -> Vec<Arrival> {
        while let Some((port, start)) = self.next_start(now) {
            let Some((_, frame)) = self.ports[port].queue.pop_front() else { break };
            self.begin(port, start, frame);
        }
        let mut arrived = Vec::new();
        while self.under_way.peek().is_some_and(|Reverse(next)| next.at <= now) {
            arrived.extend(self.under_way.pop().map(|Reverse(next)| next));
        }
        arrived
    }

    /// When something happens next.
    pub fn next(&self) -> Option<Instant> {
        let waiting = (0..self.ports.len()).filter_map(|port| self.start(port)).min();
        let coming = self.under_way.peek().map(|Reverse(next)| next.at);
        waiting.into_iter().chain(coming).min()
    }

    /// The port whose head begins first, if that is now or before; ports that could at the same time take turns.
    fn next_start(&mut self, now: Instant) -> Option<(usize, Instant)> {
        let count = self.ports.len();
        let turns = (0..count).map(|at| (self.turn + at) % count);
        let (start, port) = turns
            .filter_map(|port| Some((self.start(port)?, port)))
            .reduce(|first, other| if other.0 < first.0 { other } else { first })?;
        if start > now {
            return None;
        }
        self.turn = (port + 1) % count;
        Some((port, start))
    }

    /// When a port's first frame could begin: its link and, at a switch, that of whom it goes to must be free.
    fn start(&self, port: usize) -> Option<Instant> {
        let (came, frame) = self.ports[port].queue.front()?;
        if self.network.shared {
            return Some(self.free.max(*came));
        }
        let start = self.ports[port].up.max(*came);
        let to = self.places.get(&frame[..6]).filter(|to| **to != port);
        // The switch has a place for it once all but so much before it has gone down its link.
        let room = self.network.airtime(SWITCH);
        let place = to.and_then(|to| self.ports[*to].down.checked_sub(room));
        Some(place.map_or(start, |place| place.max(start)))
    }

    fn begin(&mut self, port: usize, start: Instant, frame: Vec<u8>) {
        let end = start + self.network.airtime(frame.len());
        let to = self.places.get(&frame[..6]).copied();
        let mut leaves = end;
        if self.network.shared {
            self.free = end;
        } else {
            self.ports[port].up = end;
            if let Some(to) = to {
                // The switch passes on what has begun to come.
                leaves = end.max(self.ports[to].down + self.network.airtime(frame.len()));
                self.ports[to].down = leaves;
            }
        }
        if self.is_lost() {
            return;
        }
        let at = leaves + self.network.lag();
        match to {
            Some(to) if to == port => {}
            Some(to) => self.deliver(at, to, frame),
            // Whom nobody has heard yet, and all: everybody.
            None => {
                for to in (0..self.ports.len()).filter(|to| *to != port) {
                    self.deliver(at, to, frame.clone());
                }
            }
        }
    }

    fn deliver(&mut self, at: Instant, port: usize, frame: Vec<u8>) {
        self.numbers += 1;
        self.under_way.push(Reverse(Arrival { at, number: self.numbers, port, frame }));
    }

    fn is_lost(&mut self) -> bool {
        if self.network.loss == 0.0 {
            return false;
        }
        // The same frames are lost each time.
        (parvum_seed::next(&mut self.random) as f64 / u64::MAX as f64) < self.network.loss
    }
}

/// The longest time without a look at what is new.
pub const IDLE: Duration = Duration::from_millis(500);

#[cfg(test)]
mod tests {
    use super::*;

    fn network(text: &str) -> Emulated {
        Emulated::parse("test", text).expect("well made")
    }

    fn frame(from: u8, to: u8, bytes: usize) -> Vec<u8> {
        let mut frame = vec![0; bytes];
        (frame[5], frame[11]) = (to, from);
        frame
    }

    /// A medium whose hosts have all been heard, and the moment from which it is quiet.
    fn medium(text: &str, hosts: u8) -> (Medium, Instant) {
        let began = Instant::now();
        let mut medium = Medium::new(network(text), began);
        for host in 0..hosts {
            medium.add(began);
            medium.places.insert([0, 0, 0, 0, 0, host], host.into());
        }
        (medium, began)
    }

    const TEN: &str = "rate = 8\ndelay = 500\noverhead = 0\nmedium = ";

    #[test]
    fn frame_takes_its_airtime_and_delay() {
        let (mut medium, began) = medium(&format!("{TEN}switch"), 2);
        medium.send(0, frame(0, 1, 1000), began);
        let ms = |us: u64| began + Duration::from_micros(us);
        assert!(medium.arrived(ms(1499)).is_empty());
        assert_eq!(medium.next(), Some(ms(1500)));
        let arrived = medium.arrived(ms(1500));
        assert_eq!((arrived.len(), arrived[0].port, arrived[0].at), (1, 1, ms(1500)));
        assert_eq!(medium.next(), None);
    }

    /// The same when each sends one to each of its others in turn.
    fn throughput_in_turns(text: &str, pairs: &[(u8, u8)]) -> Vec<usize> {
        let (mut medium, began) = medium(text, 4);
        let (mut counts, mut next) = (vec![0; 4], [0; 4]);
        for step in 0..=270 {
            let now = began + Duration::from_micros(step * 3700);
            for from in 0..4 {
                let own: Vec<u8> = pairs.iter().filter(|pair| pair.0 == from).map(|pair| pair.1).collect();
                while medium.has_room(from.into()) {
                    let to = own[next[usize::from(from)] % own.len()];
                    next[usize::from(from)] += 1;
                    medium.send(from.into(), frame(from, to, 1000), now);
                }
            }
            medium.arrived(now).iter().for_each(|arrival| counts[arrival.port] += 1);
        }
        counts
    }

    /// How many frames of 1000 bytes each host was sent within a second, when these send as much as they can.
    fn throughput(text: &str, pairs: &[(u8, u8)]) -> Vec<usize> {
        let (mut medium, began) = medium(text, 4);
        let mut counts = vec![0; 4];
        // It wakes late, and not in step with the frames.
        for step in 0..=270 {
            let now = began + Duration::from_micros(step * 3700);
            for (from, to) in pairs {
                while medium.has_room((*from).into()) {
                    medium.send((*from).into(), frame(*from, *to, 1000), now);
                }
            }
            medium.arrived(now).iter().for_each(|arrival| counts[arrival.port] += 1);
        }
        counts
    }

    #[test]
    fn shared_medium_divides_throughput_and_switch_does_not() {
        let near = |count: usize, wanted: usize| count.abs_diff(wanted) <= wanted / 50;
        let shared = format!("{TEN}shared");
        assert!(near(throughput(&shared, &[(0, 1)])[1], 1000));
        let both = throughput(&shared, &[(0, 1), (2, 3)]);
        assert!(near(both[1], 500) && near(both[3], 500), "{both:?}");
        let quarters = throughput(&shared, &[(0, 1), (1, 0), (2, 3), (3, 2)]);
        assert!(quarters.iter().all(|count| near(*count, 250)), "{quarters:?}");
        let switched = format!("{TEN}switch");
        let both = throughput(&switched, &[(0, 1), (1, 0), (2, 3)]);
        assert!([both[0], both[1], both[3]].iter().all(|count| near(*count, 1000)), "{both:?}");
        let one = throughput(&switched, &[(0, 3), (1, 3)]);
        assert!(near(one[3], 1000), "a receiver's link is one: {one:?}");
    }

    /// Each sends to each other in turn: a link is busy all the time, in both directions.
    #[test]
    fn switch_links_carry_full_rate_in_parallel() {
        let all: Vec<(u8, u8)> =
            (1..4).flat_map(|step| (0..4).map(move |from| (from, (from + step) % 4))).collect();
        let counts = throughput_in_turns(&format!("{TEN}switch"), &all);
        assert!(counts.iter().all(|count| (950..=1001).contains(count)), "{counts:?}");
    }

    /// Who waits for a link that all want does so without losing a frame, however long.
    #[test]
    fn full_switch_holds_back_senders_without_loss() {
        let (mut medium, began) = medium(&format!("{TEN}switch"), 3);
        let mut sent = 0;
        for _ in 0..1000 {
            for from in [0, 1] {
                if medium.has_room(from) {
                    medium.send(from, frame(from as u8, 2, 1000), began);
                    sent += 1;
                }
            }
            medium.arrived(began);
        }
        // The first of each is under way; what waits is bounded by the queues and the switch.
        assert!(sent <= 2 * QUEUE + 2 + SWITCH / 1000, "{sent}");
        let last = began + Duration::from_millis(2 * sent as u64 + 10);
        assert_eq!(medium.arrived(last).len(), sent);
    }

    #[test]
    fn frames_keep_order_and_broadcasts_reach_all() {
        let (mut medium, began) = medium("rate = 100\ndelay = 10", 3);
        for size in [60, 1500, 100] {
            medium.send(0, frame(0, 1, size), began);
        }
        medium.send(0, frame(0, 255, 64), began);
        let arrived = medium.arrived(began + IDLE);
        let sizes: Vec<usize> = arrived.iter().filter(|a| a.port == 1).map(|a| a.frame.len()).collect();
        assert_eq!(sizes, [60, 1500, 100, 64]);
        assert_eq!(arrived.iter().filter(|a| a.port == 2).count(), 1);
        assert!(arrived.iter().all(|a| a.port != 0));
    }

    #[test]
    fn medium_loses_configured_share() {
        let (mut medium, began) = medium("loss = 0.1", 2);
        let arrived: usize = (0..1000)
            .map(|_| {
                medium.send(0, frame(0, 1, 100), began);
                medium.arrived(began).len()
            })
            .sum();
        assert!((850..=950).contains(&arrived), "{arrived}");
    }
}
