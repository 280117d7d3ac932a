//! Task, daemon, task: the route that always exists.
//!
//! A task has one connection to its daemon for routed frames, whatever number of peers it reaches that way. On this
//! connection a frame has a length, the peer's id, the header and the payload. The daemon replaces the receiver's id by
//! the sender's id, and forwards the frame. It reads no further from a task whose receiver is behind, so a flood ends
//! in this side's [`Refused::Full`]. After the last frame of a task that is gone comes one without header and payload.

#![forbid(unsafe_code)]
// Peers choose the bytes that this crate reads. A length of theirs must end in an error, not in a panic.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use parvum_stream::{Inbox, Outbox, Quiet};
use parvum_transport::{Alike, Gather, Limits, Link, Needs, Refused, Route, Sink, Transport};
use parvum_wire::control::{MAX_ROUTED, ROUTED_HEADER};
use parvum_wire::routed::{BARE, Share};
use parvum_wire::{Header, Tid};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use std::collections::HashSet;
use std::io;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The longest payload of one frame.
const FRAME: usize = 32 << 10;
const _: () = assert!(FRAME + Header::SIZE <= MAX_ROUTED);

/// The transport.
pub const TRANSPORT: Transport = Transport {
    route: Route::new(3),
    name: "routed",
    limits: Limits { frame: FRAME, eager: FRAME, single_copy: false, buffered: true },
    needs: Needs { one_host: false, daemons: true },
};

/// A task's connection to its daemon for routed frames.
pub struct Hub {
    shared: Arc<Mutex<Shared>>,
    socket: OwnedFd,
}

struct Shared {
    stream: UnixStream,
    inbox: Inbox,
    outbox: Outbox,
    /// The data that the daemon keeps, for frames to other receivers.
    kept: Option<Alike>,
    /// Peers that have a link.
    linked: HashSet<Tid>,
    /// Peers whose route has ended, until a call asks for them.
    ended: HashSet<Tid>,
}

/// The data that has come and is not taken yet. The data is in memory of this process. The socket is not readable for
/// it, so it would leave a sleeper asleep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waiting {
    /// No data, or an incomplete frame.
    Nothing,
    /// A frame whose link is to be asked.
    Frame,
    /// A frame from a task without a link.
    Stranger(Tid),
}

/// A frame at the front of the inbox: its sender, and its end.
struct Front {
    from: Tid,
    end: usize,
}

impl Front {
    /// Whether this is what comes after the last frame of its sender.
    fn is_last(&self) -> bool {
        self.end == ROUTED_HEADER
    }
}

impl Hub {
    /// Takes over the connection.
    pub fn new(socket: OwnedFd) -> io::Result<Hub> {
        let stream = UnixStream::from(socket);
        stream.set_nonblocking(true)?;
        let socket = stream.try_clone()?.into();
        let inbox = Inbox::new(4 * FRAME);
        let shared = Shared {
            stream,
            inbox,
            outbox: Outbox::default(),
            kept: None,
            linked: HashSet::new(),
            ended: HashSet::new(),
        };
        Ok(Hub { shared: Arc::new(Mutex::new(shared)), socket })
    }

    /// The socket, for poll(2).
    pub fn socket(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// A link to `peer`.
    pub fn link(&self, peer: Tid) -> RoutedLink {
        lock(&self.shared).linked.insert(peer);
        RoutedLink { peer, shared: self.shared.clone() }
    }

    /// The state of the front, behind which all other data queues. A broken connection has no data.
    pub fn waiting(&self) -> Waiting {
        let mut shared = lock(&self.shared);
        loop {
            match shared.front() {
                Ok(Some(front)) if shared.linked.contains(&front.from) => return Waiting::Frame,
                // The end of an unused route.
                Ok(Some(front)) if front.is_last() => shared.end_of(&front),
                Ok(Some(front)) => return Waiting::Stranger(front.from),
                _ => return Waiting::Nothing,
            }
        }
    }

    /// Whether the last frame from the peer has come. Returns true only once.
    pub fn has_ended(&self, peer: Tid) -> bool {
        lock(&self.shared).ended.remove(&peer)
    }
}

fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    /// The frame at the front, reading when none is whole.
    fn front(&mut self) -> Result<Option<Front>, Refused> {
        loop {
            if let Some(front) = self.whole()? {
                return Ok(Some(front));
            }
            if !self.inbox.fill(&mut &self.stream) {
                return if self.inbox.is_closed() { Err(Refused::Closed) } else { Ok(None) };
            }
        }
    }

    /// Takes the end of a route off the front.
    fn end_of(&mut self, front: &Front) {
        self.inbox.consume(front.end);
        self.ended.insert(front.from);
    }

    fn whole(&self) -> Result<Option<Front>, Refused> {
        let bytes = self.inbox.bytes();
        let Some(head) = bytes.first_chunk::<ROUTED_HEADER>() else { return Ok(None) };
        let length = u32::from_le_bytes([head[0], head[1], head[2], head[3]]) as usize;
        let from = Tid(i32::from_le_bytes([head[4], head[5], head[6], head[7]]));
        // The length counts the id.
        let end = length.saturating_add(4);
        let whole = ROUTED_HEADER + Header::SIZE..=ROUTED_HEADER + Header::SIZE + FRAME;
        if end != ROUTED_HEADER && !whole.contains(&end) {
            return Err(Refused::Closed);
        }
        Ok((bytes.len() >= end).then_some(Front { from, end }))
    }
}

/// The route to one peer.
pub struct RoutedLink {
    peer: Tid,
    shared: Arc<Mutex<Shared>>,
}

impl RoutedLink {
    /// Writes a frame of `length` bytes of data, or what stands for it.
    fn write(
        &self,
        header: &Header,
        length: usize,
        payload: Gather<'_>,
        share: Share,
    ) -> Result<(), Refused> {
        let mut head = [0; BARE];
        let size = share.mark(payload.len().saturating_add(BARE - 4) as u32);
        head[..4].copy_from_slice(&size.to_le_bytes());
        head[4..8].copy_from_slice(&self.peer.0.to_le_bytes());
        head[8..].copy_from_slice(&header.encode(length as u32, 0));
        let Shared { stream, outbox, .. } = &mut *lock(&self.shared);
        outbox.write(&mut Quiet(stream.as_fd()), &head, payload)
    }
}

impl Link for RoutedLink {
    fn limits(&self) -> Limits {
        TRANSPORT.limits
    }

    fn send(&mut self, header: &Header, payload: Gather<'_>) -> Result<(), Refused> {
        self.write(header, payload.len(), payload, Share::No)
    }

    fn send_alike(&mut self, header: &Header, payload: Gather<'_>, data: Alike) -> Result<(), Refused> {
        if lock(&self.shared).kept == Some(data) {
            return self.write(header, payload.len(), Gather::EMPTY, Share::Again);
        }
        self.write(header, payload.len(), payload, Share::Keep)?;
        lock(&self.shared).kept = Some(data);
        Ok(())
    }

    fn receive(&mut self, most: usize, sink: &mut dyn Sink) -> Result<usize, Refused> {
        let shared = &mut *lock(&self.shared);
        for taken in 0..most {
            let front = match shared.front() {
                Ok(Some(front)) if front.from == self.peer && (!front.is_last() || taken == 0) => front,
                Ok(_) => return Ok(taken),
                Err(_) if taken > 0 => return Ok(taken),
                Err(why) => return Err(why),
            };
            if front.is_last() {
                shared.end_of(&front);
                return Err(Refused::Closed);
            }
            let frame = shared.inbox.bytes().get(ROUTED_HEADER..front.end).unwrap_or_default();
            let understood = frame.split_first_chunk().and_then(|(head, payload)| {
                let (header, ..) = Header::decode(head).ok()?;
                sink.frame(&header, payload);
                Some(())
            });
            // This also removes invalid frames, because others queue behind them.
            shared.inbox.consume(front.end);
            if understood.is_none() {
                return Err(Refused::Closed);
            }
        }
        Ok(most)
    }

    fn flush(&mut self) -> Result<bool, Refused> {
        let Shared { stream, outbox, .. } = &mut *lock(&self.shared);
        outbox.flush(&mut Quiet(stream.as_fd()))
    }
}

impl Drop for RoutedLink {
    fn drop(&mut self) {
        lock(&self.shared).linked.remove(&self.peer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parvum_transport::conformance::{self, Pair};
    use std::io::Write;

    const LEFT: Tid = Tid(0x40001);
    const RIGHT: Tid = Tid(0x40002);

    /// Two hubs joined directly: each finds the other's frames under the id it
    /// wrote itself, so both ends are called alike.
    fn hubs() -> (Hub, Hub) {
        let (a, b) = UnixStream::pair().expect("a pair");
        (Hub::new(a.into()).expect("a hub"), Hub::new(b.into()).expect("a hub"))
    }

    #[test]
    fn route_end_is_remembered_even_if_unused() {
        let (a, b) = UnixStream::pair().expect("a pair");
        let hub = Hub::new(b.into()).expect("a hub");
        let last = [&4u32.to_le_bytes()[..], &LEFT.0.to_le_bytes()].concat();
        (&a).write_all(&last).expect("sent");
        assert!(hub.waiting() == Waiting::Nothing && hub.has_ended(LEFT) && !hub.has_ended(LEFT));
        let mut link = hub.link(LEFT);
        (&a).write_all(&last).expect("sent");
        assert_eq!(link.receive(9, &mut |_: &Header, _: &[u8]| {}), Err(Refused::Closed));
        assert!(hub.has_ended(LEFT) && !hub.has_ended(RIGHT));
    }

    #[test]
    fn routed_transport_passes_conformance() {
        conformance::run(&TRANSPORT, || {
            let (a, b) = hubs();
            let (left, right) = (a.link(LEFT), b.link(LEFT));
            Pair { left: Box::new(left), right: Box::new(right), keep: Box::new((a, b)) }
        });
    }

    #[test]
    fn frames_of_unknown_peer_wait_for_link() {
        let (a, b) = hubs();
        let header = Header::answer(parvum_wire::Kind::Credit, 0, 0);
        a.link(RIGHT).send(&header, Gather::new(&[b"hello"])).expect("room");
        let mut other = b.link(LEFT);
        assert_eq!(other.receive(9, &mut |_: &Header, _: &[u8]| panic!("not for it")), Ok(0));
        assert_eq!(b.waiting(), Waiting::Stranger(RIGHT));
        let mut seen = Vec::new();
        assert_eq!(
            b.link(RIGHT).receive(9, &mut |_: &Header, payload: &[u8]| seen.extend_from_slice(payload)),
            Ok(1)
        );
        assert_eq!(seen, b"hello");
        assert_eq!(b.waiting(), Waiting::Nothing);
    }

    /// A thread that falls asleep checks its links, and then looks for strangers. Data that comes in between is in the
    /// inbox, not in the socket.
    #[test]
    fn frame_after_link_check_is_reported() {
        let (a, b) = hubs();
        let mut link = b.link(LEFT);
        let mut others = b.link(RIGHT);
        let takes = |link: &mut RoutedLink| link.receive(9, &mut |_: &Header, _: &[u8]| {});
        assert_eq!(takes(&mut link), Ok(0));
        let header = Header::answer(parvum_wire::Kind::Credit, 0, 0);
        a.link(LEFT).send(&header, Gather::new(&[b"hello"])).expect("room");
        assert_eq!(takes(&mut others), Ok(0), "it has read what is the other's");
        assert_eq!(b.waiting(), Waiting::Frame);
        assert_eq!((takes(&mut link), b.waiting()), (Ok(1), Waiting::Nothing));
    }

    #[test]
    fn peer_end_closes_its_link_only() {
        let (a, b) = UnixStream::pair().expect("a pair");
        let hub = Hub::new(b.into()).expect("a hub");
        let (mut left, mut right) = (hub.link(LEFT), hub.link(RIGHT));
        let last = [4i32.to_le_bytes(), LEFT.0.to_le_bytes()].concat();
        (&a).write_all(&last).expect("sent");
        assert_eq!(hub.waiting(), Waiting::Frame);
        assert_eq!(right.receive(9, &mut |_: &Header, _: &[u8]| panic!("delivered")), Ok(0));
        assert_eq!(left.receive(9, &mut |_: &Header, _: &[u8]| panic!("delivered")), Err(Refused::Closed));
        assert_eq!(right.receive(9, &mut |_: &Header, _: &[u8]| panic!("delivered")), Ok(0));
        drop(left);
        (&a).write_all(&last).expect("sent");
        assert_eq!(hub.waiting(), Waiting::Nothing);
    }

    #[test]
    fn unknown_frame_closes_its_link_only() {
        let (a, b) = UnixStream::pair().expect("a pair");
        let hub = Hub::new(b.into()).expect("a hub");
        let (mut left, mut right) = (hub.link(LEFT), hub.link(RIGHT));
        let frame = |from: Tid, header: [u8; Header::SIZE]| {
            let size = (ROUTED_HEADER - 4 + Header::SIZE) as u32;
            [&size.to_le_bytes()[..], &from.0.to_le_bytes(), &header].concat()
        };
        let known = Header::answer(parvum_wire::Kind::Credit, 0, 0).encode(0, 0);
        (&a).write_all(&frame(LEFT, [0xff; Header::SIZE])).expect("sent");
        (&a).write_all(&frame(RIGHT, known)).expect("sent");
        let takes = |link: &mut RoutedLink| link.receive(9, &mut |_: &Header, _: &[u8]| {});
        assert_eq!(takes(&mut left), Err(Refused::Closed));
        drop(left);
        assert_eq!((hub.waiting(), takes(&mut right)), (Waiting::Frame, Ok(1)));
        assert_eq!(hub.waiting(), Waiting::Nothing);
    }

    #[test]
    fn impossible_length_closes_the_link() {
        for length in [0u32, 3, 5, 35, u32::MAX] {
            let (a, b) = UnixStream::pair().expect("a pair");
            let hub = Hub::new(b.into()).expect("a hub");
            (&a).write_all(&length.to_le_bytes()).expect("sent");
            (&a).write_all(&[0; 64]).expect("sent");
            assert_eq!(
                hub.link(LEFT).receive(9, &mut |_: &Header, _: &[u8]| panic!("delivered")),
                Err(Refused::Closed)
            );
        }
    }
}
