//! Damage on purpose, between QUIC and the socket: for tests, and for users
//! who want to see what a bad network does to their programs.
//!
//! A [`Faults`] is a handle; give it to [`crate::Settings::faults`], keep a
//! clone, and turn it at run time. A mesh without one has the plain socket.

use crate::socket::plain;
use quinn::udp::{RecvMeta, Transmit};
use quinn::{AsyncUdpSocket, UdpPoller};
use std::collections::HashSet;
use std::io::{self, IoSliceMut};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

/// How bad the way out is. Each datagram sent has its own luck.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rates {
    /// The share that is lost, 0 to 1.
    pub loss: f64,
    /// Every datagram is late by this at least,
    pub delay: Duration,
    /// and by up to this more, each its own: so they overtake each other.
    pub jitter: Duration,
}

#[derive(Debug)]
struct State {
    random: u64,
    rates: Rates,
    cut: HashSet<SocketAddr>,
    lost: u64,
    delayed: u64,
}

/// The handle of a layer of damage. The seed decides the luck of the first,
/// second, third datagram and so on.
#[derive(Clone, Debug)]
pub struct Faults(Arc<Mutex<State>>);

impl Faults {
    /// No damage yet.
    pub fn new(seed: u64) -> Faults {
        let (rates, cut) = (Rates::default(), HashSet::new());
        Faults(Arc::new(Mutex::new(State { random: seed, rates, cut, lost: 0, delayed: 0 })))
    }

    /// Sets loss and delay, from now on.
    pub fn set(&self, rates: Rates) {
        self.state().rates = rates;
    }

    /// Lets nothing through to or from that address; port 0 means all of its ports.
    pub fn cut(&self, peer: SocketAddr) {
        self.state().cut.insert(plain(peer));
    }

    /// Undoes [`Faults::cut`] of the same address.
    pub fn heal(&self, peer: SocketAddr) {
        self.state().cut.remove(&plain(peer));
    }

    /// How many datagrams were lost, and delayed, on purpose.
    pub fn counts(&self) -> (u64, u64) {
        let state = self.state();
        (state.lost, state.delayed)
    }

    pub(crate) fn wrap(&self, inner: Arc<dyn AsyncUdpSocket>) -> Arc<dyn AsyncUdpSocket> {
        Arc::new(FaultySocket { faults: self.clone(), inner })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

enum Fate {
    Lost,
    Now,
    Late(Duration),
}

impl State {
    /// A number from 0 to below 1.
    fn luck(&mut self) -> f64 {
        (parvum_seed::next(&mut self.random) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn is_cut(&self, peer: SocketAddr) -> bool {
        if self.cut.is_empty() {
            return false;
        }
        let peer = plain(peer);
        self.cut.contains(&peer) || self.cut.contains(&SocketAddr::new(peer.ip(), 0))
    }

    fn fate(&mut self, peer: SocketAddr) -> Fate {
        // Two numbers for each datagram, so that one setting does not shift the luck of another.
        let (loss, late) = (self.luck(), self.luck());
        if self.is_cut(peer) || loss < self.rates.loss {
            self.lost = self.lost.saturating_add(1);
            return Fate::Lost;
        }
        let delay = self.rates.delay.saturating_add(self.rates.jitter.mul_f64(late));
        if delay.is_zero() {
            return Fate::Now;
        }
        self.delayed = self.delayed.saturating_add(1);
        Fate::Late(delay)
    }
}

#[derive(Debug)]
struct FaultySocket {
    faults: Faults,
    inner: Arc<dyn AsyncUdpSocket>,
}

impl AsyncUdpSocket for FaultySocket {
    fn create_io_poller(self: Arc<Self>) -> Pin<Box<dyn UdpPoller>> {
        self.inner.clone().create_io_poller()
    }

    fn try_send(&self, transmit: &Transmit<'_>) -> io::Result<()> {
        let fate = self.faults.state().fate(transmit.destination);
        match fate {
            Fate::Lost => Ok(()),
            Fate::Now => self.inner.try_send(transmit),
            Fate::Late(delay) => {
                let (inner, contents) = (self.inner.clone(), transmit.contents.to_vec());
                let (destination, ecn, src_ip) = (transmit.destination, transmit.ecn, transmit.src_ip);
                tokio::spawn(async move {
                    tokio::time::sleep(delay).await;
                    let contents = &contents[..];
                    let late = Transmit { destination, ecn, contents, segment_size: None, src_ip };
                    // A full socket loses it: that is what networks do.
                    let _ = inner.try_send(&late);
                });
                Ok(())
            }
        }
    }

    fn poll_recv(
        &self,
        cx: &mut Context<'_>,
        bufs: &mut [IoSliceMut<'_>],
        meta: &mut [RecvMeta],
    ) -> Poll<io::Result<usize>> {
        let received = ready!(self.inner.poll_recv(cx, bufs, meta))?;
        let mut state = self.faults.state();
        for datagram in meta.iter_mut().take(received) {
            if state.is_cut(datagram.addr) {
                state.lost = state.lost.saturating_add(1);
                // QUIC passes over what has no bytes.
                datagram.len = 0;
            }
        }
        Poll::Ready(Ok(received))
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.inner.local_addr()
    }

    // max_transmit_segments stays 1: each datagram comes alone and has its own luck.

    fn max_receive_segments(&self) -> usize {
        self.inner.max_receive_segments()
    }

    fn may_fragment(&self) -> bool {
        self.inner.may_fragment()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_repeat_for_same_seed() {
        let peer = "192.0.2.1:1".parse().expect("an address");
        let fates = |seed| {
            let faults = Faults::new(seed);
            faults.set(Rates { loss: 0.3, ..Rates::default() });
            (0..200).map(|_| matches!(faults.state().fate(peer), Fate::Lost)).collect::<Vec<_>>()
        };
        assert_eq!(fates(1), fates(1));
        assert_ne!(fates(1), fates(2));
        let lost = fates(1).into_iter().filter(|lost| *lost).count();
        assert!((30..90).contains(&lost), "{lost} of 200 lost at 0.3");
    }

    #[test]
    fn cut_without_port_cuts_every_port_of_both_families() {
        let faults = Faults::new(0);
        faults.cut("192.0.2.1:0".parse().expect("an address"));
        let cut = |peer: &str| faults.state().is_cut(peer.parse().expect("an address"));
        assert!(cut("192.0.2.1:7") && cut("[::ffff:192.0.2.1]:8") && !cut("192.0.2.2:7"));
        faults.heal("192.0.2.1:0".parse().expect("an address"));
        assert!(!faults.state().is_cut("192.0.2.1:7".parse().expect("an address")));
    }
}
