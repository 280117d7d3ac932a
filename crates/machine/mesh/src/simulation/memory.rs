//! A network in the memory of one process, for tests in virtual time.
//!
//! A datagram is there as soon as it was sent, so nothing depends on when the kernel moves it: with tokio's paused
//! clock, what happens is a matter of order alone. Bad weather comes from [`crate::Faults`], as over UDP.

use quinn::udp::{RecvMeta, Transmit};
use quinn::{AsyncUdpSocket, UdpPoller};
use std::collections::{HashMap, VecDeque};
use std::io::{self, IoSliceMut};
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// What waits at one endpoint at most, in bytes; more is lost, as a socket's buffer loses it.
const BUFFER: usize = 4 << 20;

/// The endpoints that reach each other; give a clone to each mesh by [`crate::Settings::network`].
#[derive(Clone, Debug, Default)]
pub struct MemoryNetwork(Arc<Mutex<HashMap<u16, Inbox>>>);

#[derive(Debug, Default)]
struct Inbox {
    datagrams: VecDeque<(SocketAddr, Vec<u8>)>,
    bytes: usize,
    reader: Option<Waker>,
}

impl MemoryNetwork {
    /// A network of nobody yet.
    pub fn new() -> MemoryNetwork {
        MemoryNetwork::default()
    }

    /// A new endpoint, at a port that nobody had before.
    pub(crate) fn open(&self) -> io::Result<Arc<dyn AsyncUdpSocket>> {
        let mut inboxes = self.inboxes();
        let port = inboxes.keys().max().map_or(Some(1), |last| last.checked_add(1));
        let port = port.ok_or_else(|| io::Error::from(io::ErrorKind::AddrNotAvailable))?;
        inboxes.insert(port, Inbox::default());
        Ok(Arc::new(Endpoint { network: self.clone(), address: (Ipv4Addr::LOCALHOST, port).into() }))
    }

    fn inboxes(&self) -> MutexGuard<'_, HashMap<u16, Inbox>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug)]
struct Endpoint {
    network: MemoryNetwork,
    address: SocketAddr,
}

impl AsyncUdpSocket for Endpoint {
    fn create_io_poller(self: Arc<Self>) -> Pin<Box<dyn UdpPoller>> {
        Box::pin(AlwaysRoom)
    }

    fn try_send(&self, transmit: &Transmit<'_>) -> io::Result<()> {
        let mut inboxes = self.network.inboxes();
        let to = inboxes.get_mut(&transmit.destination.port());
        if let Some(inbox) = to.filter(|inbox| inbox.bytes.saturating_add(transmit.contents.len()) <= BUFFER)
        {
            inbox.bytes = inbox.bytes.saturating_add(transmit.contents.len());
            inbox.datagrams.push_back((self.address, transmit.contents.to_vec()));
            inbox.reader.take().into_iter().for_each(Waker::wake);
        }
        Ok(())
    }

    fn poll_recv(
        &self,
        cx: &mut Context<'_>,
        bufs: &mut [IoSliceMut<'_>],
        meta: &mut [RecvMeta],
    ) -> Poll<io::Result<usize>> {
        let mut inboxes = self.network.inboxes();
        let inbox = inboxes.get_mut(&self.address.port()).ok_or(io::ErrorKind::NotConnected)?;
        let mut received = 0usize;
        for (buffer, meta) in bufs.iter_mut().zip(meta) {
            let Some((addr, bytes)) = inbox.datagrams.pop_front() else { break };
            inbox.bytes = inbox.bytes.saturating_sub(bytes.len());
            let len = bytes.len().min(buffer.len());
            buffer.iter_mut().zip(&bytes).for_each(|(to, from)| *to = *from);
            *meta = RecvMeta { addr, len, stride: len, ..RecvMeta::default() };
            received = received.saturating_add(1);
        }
        if received == 0 {
            inbox.reader = Some(cx.waker().clone());
            return Poll::Pending;
        }
        Poll::Ready(Ok(received))
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.address)
    }

    fn may_fragment(&self) -> bool {
        false
    }
}

/// Dropped endpoints take nothing more; their numbers are not used again while a later one lives.
impl Drop for Endpoint {
    fn drop(&mut self) {
        self.network.inboxes().insert(self.address.port(), Inbox { bytes: BUFFER, ..Inbox::default() });
    }
}

#[derive(Debug)]
struct AlwaysRoom;

impl UdpPoller for AlwaysRoom {
    fn poll_writable(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
