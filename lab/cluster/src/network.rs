//! The network: full-duplex links into one switch, as long as a message takes on them.

/// Rates and lengths. Times are in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Network {
    /// Bytes a second of each link, each way.
    pub rate: f64,
    /// From the end of a frame at the sender to its end at the receiver, beside the time on the receiver's link.
    pub latency: f64,
    /// Bytes of data in a frame.
    pub frame: f64,
    /// Bytes that each frame has beside them: headers, preamble and gap.
    pub beside: f64,
}

/// 100 Mbit/s Ethernet with UDP and one switch: 1472 bytes in a frame, and 66 beside them.
pub const PAPER: Network = Network { rate: 12.5e6, latency: 40e-6, frame: 1472.0, beside: 66.0 };

/// How long the links are busy, in the course of a run.
pub(crate) struct Links {
    network: Network,
    /// When each node's link is free again: to the switch, and from it.
    out: Vec<f64>,
    into: Vec<f64>,
    pub(crate) messages: u64,
    pub(crate) bytes: u64,
}

impl Links {
    pub(crate) fn new(network: Network, nodes: usize) -> Links {
        Links { network, out: vec![0.0; nodes], into: vec![0.0; nodes], messages: 0, bytes: 0 }
    }

    /// A message goes out at `now` at the earliest; when all of it has come.
    pub(crate) fn carry(&mut self, now: f64, from: usize, to: usize, bytes: usize) -> f64 {
        self.messages += 1;
        self.bytes += bytes as u64;
        let Network { rate, latency, frame, beside } = self.network;
        let frames = (bytes as f64 / frame).ceil().max(1.0);
        let busy = (bytes as f64 + frames * beside) / rate;
        let first = (bytes as f64).min(frame) + beside;
        let begins = now.max(self.out[from]);
        self.out[from] = begins + busy;
        // The switch passes a frame on when it has all of it, and frames to one node one after the other.
        let reaches = (begins + latency + first / rate).max(self.into[to]);
        self.into[to] = reaches + busy;
        self.into[to]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn megabyte_takes_time_of_its_frames() {
        let mut links = Links::new(PAPER, 3);
        let came = links.carry(0.0, 0, 1, 1_000_000);
        // 680 frames of at most 1538 bytes at 12.5 MB/s.
        assert!((0.083..0.085).contains(&came), "{came}");
        // Another to somebody else waits for the sender's link, and one from somebody else for the receiver's.
        assert!(links.carry(0.0, 0, 2, 1000) > came - 0.001);
        assert!(links.carry(0.0, 2, 1, 1000) > came);
        assert_eq!((links.messages, links.bytes), (3, 1_002_000));
    }

    #[test]
    fn short_message_takes_latency_and_two_frames() {
        let mut links = Links::new(PAPER, 2);
        let came = links.carry(1.0, 0, 1, 8) - 1.0;
        assert!((came - (40e-6 + 2.0 * 74.0 / 12.5e6)).abs() < 1e-9, "{came}");
    }
}
