//! The network between simulated hosts, and what it costs a host to use it.
//!
//! A daemon is one thread: it handles one message after the other, and so a host that tells all others something has
//! to tell them one after the other. What it sends waits for the wire, then for the network, then for the receiver's
//! wire and its daemon. Messages from one host to another arrive in order, as they do on a stream.

use std::collections::HashMap;

/// Nanoseconds since the simulation began.
pub type Now = u64;

/// One way through a local network: from this, up to twice this.
const LATENCY: Now = 100_000;
/// A wire of 1 Gbit/s.
const NS_PER_BYTE: Now = 8;
/// What QUIC, UDP, IP and Ethernet add to each packet, and how much of ours a packet carries.
const HEADERS: u64 = 90;
const PACKET: u64 = 1200;
/// A daemon's work for a message, at either end.
const HANDLING: Now = 10_000;
/// Its work for a new connection: keys and certificates, at either end.
const GREETING: Now = 500_000;

/// Numbers from a seed.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice(seed)
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        parvum_seed::next(&mut self.0) % bound
    }
}

/// Messages and their bytes, as they were encoded.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bill {
    pub messages: u64,
    pub bytes: u64,
}

impl Bill {
    fn add(&mut self, bytes: u64) {
        self.messages += 1;
        self.bytes += bytes;
    }
}

/// One host's side of the network.
#[derive(Default)]
pub struct Port {
    /// When the daemon has done what it has to do.
    daemon_free: Now,
    /// When all that it sends, and all that it gets, is through its wire.
    out_free: Now,
    in_free: Now,
    /// The hosts it is connected with, and when the last message for each arrives there.
    pub links: HashMap<u32, Now>,
    /// What it has sent and what it has got.
    pub sent: Bill,
    pub got: Bill,
}

fn on_the_wire(bytes: u64) -> Now {
    (bytes + bytes.div_ceil(PACKET) * HEADERS) * NS_PER_BYTE
}

impl Port {
    /// Sends so many bytes to another host; when they are at its wire.
    pub fn send(&mut self, now: Now, to: u32, bytes: u64, dice: &mut Dice) -> Now {
        self.sent.add(bytes);
        let is_new = !self.links.contains_key(&to);
        let work = if is_new { HANDLING + GREETING } else { HANDLING };
        self.daemon_free = self.daemon_free.max(now) + work;
        self.out_free = self.out_free.max(self.daemon_free) + on_the_wire(bytes);
        // A new connection takes a round trip before the first message may go.
        let ways = if is_new { 3 } else { 1 };
        let arrives = self.out_free + ways * (LATENCY + dice.below(LATENCY));
        let last = self.links.entry(to).or_default();
        *last = arrives.max(*last);
        *last
    }

    /// So many bytes are at the wire; when the daemon has read them and does what follows.
    pub fn get(&mut self, now: Now, from: u32, bytes: u64) -> Now {
        self.got.add(bytes);
        let is_new = !self.links.contains_key(&from);
        self.links.entry(from).or_default();
        self.in_free = self.in_free.max(now) + on_the_wire(bytes);
        let work = if is_new { HANDLING + GREETING } else { HANDLING };
        self.daemon_free = self.daemon_free.max(self.in_free) + work;
        self.daemon_free
    }
}
