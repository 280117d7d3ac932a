//! A stream socket between two tasks of one host.
//!
//! One task makes a pair of sockets, and the daemon hands one end to the other task. A frame is its header, whose own word is
//! the payload's length, and the payload. It is the smallest transport with sockets. Builds for development have it, so that
//! tests show what such a transport costs; installed libraries do not.

#![forbid(unsafe_code)]

use parvum_stream::sockets::{Connection, Handed};
use parvum_stream::{Inbox, Outbox, Quiet};
use parvum_transport::{Gather, Limits, Link, Needs, Refused, Route, Sink, Transport};
use parvum_wire::Header;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;

/// The longest payload of one frame.
const FRAME: usize = 32 << 10;

/// The transport.
pub const TRANSPORT: Transport = Transport {
    route: Route::new(7),
    name: "unix",
    limits: Limits { frame: FRAME, eager: FRAME, single_copy: false, buffered: true },
    needs: Needs { one_host: true, daemons: false },
};

/// How its links are made.
pub struct Unix;

impl Handed for Unix {
    fn make(&self) -> io::Result<(Connection, OwnedFd)> {
        let (own, other) = UnixStream::pair()?;
        Ok((connection(own)?, other.into()))
    }

    fn take(&self, end: OwnedFd) -> io::Result<Connection> {
        connection(end.into())
    }
}

fn connection(stream: UnixStream) -> io::Result<Connection> {
    stream.set_nonblocking(true)?;
    let socket = stream.try_clone().ok().map(OwnedFd::from);
    let link = UnixLink { stream, inbox: Inbox::new(4 * FRAME), outbox: Outbox::default() };
    // The system has all data as soon as the socket has taken it, so a task that ends need not wait for it.
    Ok(Connection { link: Box::new(link), socket, gate: None, acknowledged: false })
}

/// One end of a connection.
struct UnixLink {
    stream: UnixStream,
    inbox: Inbox,
    outbox: Outbox,
}

impl UnixLink {
    /// Gives whole frames that are in the inbox.
    fn deliver(&mut self, most: usize, sink: &mut dyn Sink) -> Result<usize, Refused> {
        for taken in 0..most {
            let bytes = self.inbox.bytes();
            let Some(head) = bytes.first_chunk() else { return Ok(taken) };
            let (header, length, _) = Header::decode(head).map_err(|_| Refused::Closed)?;
            let length = length as usize;
            if length > FRAME {
                return Err(Refused::Closed);
            }
            let Some(payload) = bytes.get(Header::SIZE..Header::SIZE + length) else { return Ok(taken) };
            sink.frame(&header, payload);
            self.inbox.consume(Header::SIZE + length);
        }
        Ok(most)
    }
}

impl Link for UnixLink {
    fn limits(&self) -> Limits {
        TRANSPORT.limits
    }

    fn send(&mut self, header: &Header, payload: Gather<'_>) -> Result<(), Refused> {
        let header = header.encode(payload.len() as u32, 0);
        self.outbox.write(&mut Quiet(self.stream.as_fd()), &header, payload)
    }

    fn receive(&mut self, most: usize, sink: &mut dyn Sink) -> Result<usize, Refused> {
        let mut taken = self.deliver(most, sink)?;
        while taken < most && self.inbox.fill(&mut &self.stream) {
            taken += self.deliver(most - taken, sink)?;
        }
        if taken == 0 && self.inbox.is_closed() { Err(Refused::Closed) } else { Ok(taken) }
    }

    fn flush(&mut self) -> Result<bool, Refused> {
        self.outbox.flush(&mut Quiet(self.stream.as_fd()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parvum_transport::conformance::{self, Pair};
    use std::io::Write;

    #[test]
    fn unix_transport_passes_conformance() {
        conformance::run(&TRANSPORT, || {
            let (left, other) = Unix.make().expect("a pair");
            let right = Unix.take(other).expect("the other end");
            Pair { left: left.link, right: right.link, keep: Box::new((left.socket, right.socket)) }
        });
    }

    #[test]
    fn frame_that_is_too_long_closes_the_link() {
        let (own, other) = Unix.make().expect("a pair");
        let mut link = own.link;
        let header = Header::answer(parvum_wire::Kind::Credit, 0, 0).encode(FRAME as u32 + 1, 0);
        UnixStream::from(other).write_all(&header).expect("sent");
        assert_eq!(link.receive(9, &mut |_: &Header, _: &[u8]| panic!("delivered")), Err(Refused::Closed));
    }
}
