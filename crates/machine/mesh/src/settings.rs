//! What can be set, and how it becomes quinn's settings.

use crate::{Faults, MemoryNetwork};
use quinn::{TransportConfig, VarInt};
use std::net::{IpAddr, Ipv6Addr};
use std::time::Duration;

/// The protocol of this release, between daemons.
pub const PROTOCOL: u16 = 6;

/// What can be set for a mesh. All daemons of a machine should use the same.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where to listen. The default, `::`, is every address of IPv6 and IPv4;
    /// a host without IPv6 gets `0.0.0.0`.
    pub bind: IpAddr,
    /// The UDP port; 0 lets the system choose.
    pub port: u16,
    /// A silent peer that is watched, or owes an answer, is down after this time at the latest.
    pub detect: Duration,
    /// How long [`crate::Mesh::connect`] may take.
    pub deadline: Duration,
    /// The longest control message, in bytes.
    pub max_message: usize,
    /// How many bytes may wait to be sent to one peer before
    /// [`crate::Mesh::send`] refuses. An empty queue takes any message.
    pub outbox: usize,
    /// How many bytes of received messages may wait in [`crate::Events`]; then
    /// the peers are slowed.
    pub inbox: usize,
    /// What a peer may have sent on one stream that the reader has not taken:
    /// the memory one stream can cost. 2 MiB fill 10 Gbit/s up to a round trip
    /// of 1.6 ms.
    pub stream_window: u32,
    /// How many streams a peer may have open to us; the next waits. With the
    /// window it bounds the memory one peer can cost (256 * 2 MiB = 512 MiB,
    /// if every single reader sleeps), and so no number of slow readers stops
    /// the others.
    pub streams: u32,
    /// The protocol to speak: [`PROTOCOL`].
    pub protocol: u16,
    /// The release, for people.
    pub release: String,
    /// The host's name, for people.
    pub name: String,
    /// Damage on purpose; none is installed without it.
    pub faults: Option<Faults>,
    /// Datagrams stay in this process, instead of going over UDP.
    pub network: Option<MemoryNetwork>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            bind: Ipv6Addr::UNSPECIFIED.into(),
            port: 0,
            detect: Duration::from_secs(1),
            deadline: Duration::from_secs(5),
            max_message: 64 << 20,
            outbox: 128 << 20,
            inbox: 128 << 20,
            stream_window: 2 << 20,
            streams: 256,
            protocol: PROTOCOL,
            release: env!("CARGO_PKG_VERSION").to_owned(),
            name: String::new(),
            faults: None,
            network: None,
        }
    }
}

/// The control stream shares the connection's window with the streams.
const CONTROL_WINDOW: u64 = 8 << 20;
/// The longest time between two packets of a connection.
const KEEP_ALIVE: Duration = Duration::from_secs(20);
/// Bytes of unread datagrams. Quinn counts some bytes for an empty datagram too, and drops the oldest.
const DATAGRAMS: usize = 64;
/// What may be on its way, unacknowledged: 10 Gbit/s up to 13 ms.
const SEND_WINDOW: u64 = 16 << 20;

impl Settings {
    pub(crate) fn transport(&self) -> TransportConfig {
        let mut config = TransportConfig::default();
        let window =
            u64::from(self.streams).saturating_mul(self.stream_window.into()).saturating_add(CONTROL_WINDOW);
        config
            // This is for peers that nobody watches. While a mesh dials, silence may last as long as the whole attempt.
            .max_idle_timeout(Some(self.idle().try_into().unwrap_or(VarInt::MAX.into())))
            // Three keep-alives may be lost. Firewalls and address translation forget connections after 30 s of silence.
            .keep_alive_interval(Some(self.idle().mul_f64(0.3).min(KEEP_ALIVE)))
            // Before the first measurement, retries come after three of these:
            // a lost first packet must not cost a second.
            .initial_rtt(Duration::from_millis(50))
            .max_concurrent_bidi_streams(VarInt::from_u32(1))
            .max_concurrent_uni_streams(VarInt::from_u32(self.streams))
            .stream_receive_window(VarInt::from_u32(self.stream_window))
            .receive_window(VarInt::from_u64(window).unwrap_or(VarInt::MAX))
            .send_window(SEND_WINDOW)
            // Empty datagrams ask for a sign of life (`watching`). Nobody reads them.
            .datagram_receive_buffer_size(Some(DATAGRAMS));
        config
    }

    /// The silence after which quinn gives up a peer that nobody watches.
    pub(crate) fn idle(&self) -> Duration {
        self.detect.saturating_mul(60).max(self.deadline.saturating_mul(2))
    }

    /// The time between two questions to a peer, and between two looks at all links.
    pub(crate) fn step(&self) -> Duration {
        self.detect.mul_f64(0.2)
    }
}
