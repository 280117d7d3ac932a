//! The UDP socket of a mesh.

use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, socket_with, sockopt};
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};

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

/// An address as people write it: `::ffff:192.0.2.1` is 192.0.2.1.
pub(crate) fn plain(address: SocketAddr) -> SocketAddr {
    match address.ip().to_canonical() {
        IpAddr::V4(ip) => SocketAddr::new(ip.into(), address.port()),
        IpAddr::V6(_) => address,
    }
}
