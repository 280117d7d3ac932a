//! The UDP socket of a mesh.
//!
//! As quinn's own for tokio, but watched for input only: a socket says that it has room again each time a
//! datagram has left, and each time the daemon would be woken for nothing. That it has none is rare.

#![allow(unsafe_code)]

use quinn::udp::{RecvMeta, Transmit, UdpSocketState};
use quinn::{AsyncUdpSocket, UdpPoller};
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, socket_with, sockopt};
use std::fmt;
use std::future::Future;
use std::io::{self, IoSliceMut};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Enough for what arrives while the daemon does something else, at 10 Gbit/s
/// for 3 ms. The system gives what it allows (`net.core.rmem_max`).
const BUFFER: usize = 4 << 20;

/// Opens it. `::` takes IPv4 too; on a host without IPv6 it becomes `0.0.0.0`.
pub(crate) fn open(ip: IpAddr, port: u16) -> io::Result<UdpSocket> {
    match open_one(SocketAddr::new(ip, port)) {
        Err(error)
            if ip.is_ipv6()
                && ip.is_unspecified()
                && matches!(
                    rustix::io::Errno::from_io_error(&error),
                    Some(rustix::io::Errno::AFNOSUPPORT | rustix::io::Errno::ADDRNOTAVAIL)
                ) =>
        {
            open_one(SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), port))
        }
        opened => opened,
    }
}

fn open_one(address: SocketAddr) -> io::Result<UdpSocket> {
    let family = if address.is_ipv6() { AddressFamily::INET6 } else { AddressFamily::INET };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(family, SocketType::DGRAM, flags, None)?;
    if address.is_ipv6() {
        // The default is the administrator's to choose; we want both.
        sockopt::set_ipv6_v6only(&socket, !address.ip().is_unspecified())?;
    }
    // Smaller buffers are slower, not wrong.
    let _ = sockopt::set_socket_recv_buffer_size(&socket, BUFFER);
    let _ = sockopt::set_socket_send_buffer_size(&socket, BUFFER);
    bind(&socket, &address)?;
    Ok(socket.into())
}

/// Gives the socket to the runtime.
pub(crate) fn watched(socket: UdpSocket) -> io::Result<Arc<dyn AsyncUdpSocket>> {
    let state = UdpSocketState::new((&socket).into())?;
    let address = socket.local_addr()?;
    let fd = register(socket.into(), Interest::READABLE)?;
    Ok(Arc::new(Watched { fd, state, address, full: AtomicBool::new(false) }))
}

fn register(fd: OwnedFd, interest: Interest) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: the descriptor must stay the same and open while it is registered. An `OwnedFd` names one
    // descriptor for life, and nobody but the `AsyncFd` can close it.
    Ok(unsafe { AsyncFd::register_with_interest(fd, interest) }?)
}

#[derive(Debug)]
struct Watched {
    fd: AsyncFd<OwnedFd>,
    state: UdpSocketState,
    address: SocketAddr,
    /// The socket has refused a datagram, and has had no room since.
    full: AtomicBool,
}

impl AsyncUdpSocket for Watched {
    fn create_io_poller(self: Arc<Self>) -> Pin<Box<dyn UdpPoller>> {
        Box::pin(Room { socket: self, waiting: None })
    }

    fn try_send(&self, transmit: &Transmit) -> io::Result<()> {
        let sent = self.state.send(self.fd.get_ref().into(), transmit);
        if matches!(&sent, Err(error) if error.kind() == io::ErrorKind::WouldBlock) {
            // Relaxed: a hint. Who misses it tries to send, and is refused.
            self.full.store(true, Ordering::Relaxed);
        }
        sent
    }

    fn poll_recv(
        &self,
        cx: &mut Context<'_>,
        bufs: &mut [IoSliceMut<'_>],
        meta: &mut [RecvMeta],
    ) -> Poll<io::Result<usize>> {
        loop {
            let mut guard = ready!(self.fd.poll_read_ready(cx))?;
            if let Ok(done) = guard.try_io(|fd| self.state.recv(fd.get_ref().into(), bufs, meta)) {
                return Poll::Ready(done);
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.address)
    }

    fn max_transmit_segments(&self) -> usize {
        self.state.max_gso_segments()
    }

    fn max_receive_segments(&self) -> usize {
        self.state.gro_segments()
    }

    fn may_fragment(&self) -> bool {
        self.state.may_fragment()
    }
}

/// Waits for room in the socket, for one sender.
struct Room {
    socket: Arc<Watched>,
    waiting: Option<Pin<Box<dyn Future<Output = io::Result<()>> + Send + Sync>>>,
}

impl UdpPoller for Room {
    fn poll_writable(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        // quinn asks before each datagram. Relaxed, as above.
        if this.waiting.is_none() && !this.socket.full.load(Ordering::Relaxed) {
            return Poll::Ready(Ok(()));
        }
        let waiting = match &mut this.waiting {
            Some(waiting) => waiting,
            empty => {
                // The runtime knows a descriptor by its number, so this is another.
                let other = register(this.socket.fd.get_ref().try_clone()?, Interest::WRITABLE)?;
                empty.insert(Box::pin(async move { other.writable().await.map(drop) }))
            }
        };
        let done = ready!(waiting.as_mut().poll(cx));
        this.waiting = None;
        this.socket.full.store(false, Ordering::Relaxed);
        Poll::Ready(done)
    }
}

impl fmt::Debug for Room {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Room").field("socket", &self.socket).finish_non_exhaustive()
    }
}

/// An address as people write it: `::ffff:192.0.2.1` is 192.0.2.1.
pub(crate) fn plain(address: SocketAddr) -> SocketAddr {
    match address.ip().to_canonical() {
        IpAddr::V4(ip) => SocketAddr::new(ip.into(), address.port()),
        IpAddr::V6(_) => address,
    }
}
