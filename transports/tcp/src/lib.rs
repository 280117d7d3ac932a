//! A TCP connection between two tasks.
//!
//! The daemon makes the listener, sends its address, and gives both tasks a token. The connecting task sends its id and
//! a [`proof`] that it has the token. The accepting task sends a proof too, before its first frame. A frame is its
//! header, whose own word is the payload's length, and the payload. Between hosts all that follows the greeting is
//! [sealed].

#![forbid(unsafe_code)]
// Peers choose the bytes that this crate reads. A length of theirs must end in an error, not in a panic.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

mod called;
pub mod proof;
pub mod sealed;

pub use crate::called::Tcp;

use crate::proof::{End, NONCE, PROOF};
use crate::sealed::{Opener, Opening, RECORD, Sealer};
use parvum_stream::readiness::Gate;
use parvum_stream::{Inbox, Outbox, Quiet};
use parvum_transport::{Gather, Limits, Link, Needs, Refused, Route, Sink, Transport};
use parvum_wire::{Header, Kind, Tid};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::net::{SocketFlags, accept_with};
use std::io::{self, IoSliceMut, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// The longest payload of one frame.
const FRAME: usize = 256 << 10;
/// The transport.
pub const TRANSPORT: Transport = Transport {
    route: Route::new(2),
    name: "tcp",
    limits: Limits { frame: FRAME, eager: FRAME, single_copy: false, buffered: true },
    needs: Needs { one_host: false, daemons: false },
};

/// The bytes that are read at once into memory of the link; longer payloads are read straight to their destination.
const INBOX: usize = 128 << 10;
/// Fewer bytes than this are not worth a place of their own.
const WORTH_A_PLACE: usize = 4 << 10;
/// After a frame of this length, the next frame may be long too. Only its beginning is read into memory of the link,
/// because one more system call costs less than copying the rest.
const LONG: usize = 32 << 10;
/// The longest payload of a frame without data.
const SHORT: usize = 1 << 10;
/// How long a connection may take: the system tries at once, after one second and after three. A firewall that drops
/// packets sends no error. Messages wait for this time before they take the next route.
const PATIENCE: Duration = Duration::from_secs(4);
/// Bytes of a greeting: tid, nonce and proof.
pub const HELLO: usize = 4 + NONCE + PROOF;

/// One end of a connection.
pub struct TcpLink {
    stream: TcpStream,
    gate: Gate,
    inbox: Inbox,
    /// Bytes still to come of the frame whose beginning was given away.
    rest: usize,
    /// The last frame with data was [`LONG`].
    long: bool,
    outbox: Outbox,
    /// The proof that the other end must send before its data is accepted.
    awaited: Option<Awaited>,
    /// Encrypts the data that this end sends, if the connection is encrypted.
    sealer: Option<Box<Sealer>>,
    /// Decrypts the data of the other end, after its proof.
    opener: Option<Box<Opener>>,
}

/// The greeting that was sent, to which an answer is due.
struct Awaited {
    token: [u8; 16],
    me: Tid,
    nonce: [u8; NONCE],
}

/// Connects to a task at `address` and shows who one is; `encrypted` as the
/// daemon said to both. Blocks until the connection stands, which needs the
/// other host but not the other task.
pub fn connect(address: &str, me: Tid, token: &[u8; 16], encrypted: bool) -> io::Result<TcpLink> {
    let address: SocketAddr = address.parse().map_err(|_| io::ErrorKind::InvalidInput)?;
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    let mut nonce = [0; NONCE];
    rustix::rand::getrandom(&mut nonce, rustix::rand::GetRandomFlags::empty())?;
    let mut hello = [0; HELLO];
    hello[..4].copy_from_slice(&me.0.to_le_bytes());
    hello[4..4 + NONCE].copy_from_slice(&nonce);
    hello[4 + NONCE..].copy_from_slice(&proof::make(End::Caller, token, me, &nonce));
    stream.write_all(&hello)?;
    let awaited = Some(Awaited { token: *token, me, nonce });
    let sealer = encrypted.then(|| Box::new(Sealer::new(End::Caller, token, me, &nonce)));
    Ok(TcpLink { awaited, sealer, ..TcpLink::new(stream)? })
}

/// A connection that has come and not yet shown who it is.
pub struct Greeting(TcpLink);

/// Accepts the next connection from the nonblocking `listener`: [`io::ErrorKind::WouldBlock`] if there is none.
pub fn accept(listener: impl AsFd) -> io::Result<Greeting> {
    let socket: OwnedFd = accept_with(listener, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK)?;
    TcpLink::new(TcpStream::from(socket)).map(Greeting)
}

/// The first message of a new connection.
pub enum Heard {
    /// Nothing whole yet.
    NotYet(Greeting),
    /// It closed first.
    Nothing,
    /// The identity that the caller claims.
    Hello(Caller),
}

/// A connection that has identified itself, without proof yet.
pub struct Caller {
    /// The id that it claims.
    pub from: Tid,
    nonce: [u8; NONCE],
    proof: [u8; PROOF],
    link: TcpLink,
}

impl Caller {
    /// Whether it has this token.
    pub fn has(&self, token: &[u8; 16]) -> bool {
        proof::holds(End::Caller, token, self.from, &self.nonce, &self.proof)
    }

    /// The connection; shows the caller that this end has the token as well. `encrypted` as the daemon said to both.
    pub fn admit(mut self, token: &[u8; 16], encrypted: bool) -> TcpLink {
        let proof = proof::make(End::Listener, token, self.from, &self.nonce);
        // If the connection is already broken, its first use reports the error.
        let _ = self.link.outbox.write(&mut Quiet(self.link.stream.as_fd()), &proof, Gather::EMPTY);
        if encrypted {
            self.link.sealer = Some(Box::new(Sealer::new(End::Listener, token, self.from, &self.nonce)));
            self.link.open_what_follows(End::Caller, token, self.from, &self.nonce);
        }
        self.link
    }
}

impl Greeting {
    /// The socket, for poll(2).
    pub fn socket(&self) -> BorrowedFd<'_> {
        self.0.socket()
    }

    /// Listens, without blocking.
    pub fn heard(mut self) -> Heard {
        self.0.inbox.fill(&mut &self.0.stream);
        let Some(hello) = self.0.inbox.bytes().first_chunk::<HELLO>() else {
            return if self.0.inbox.is_closed() { Heard::Nothing } else { Heard::NotYet(self) };
        };
        let (from, nonce, proof) = decode_hello(hello);
        self.0.inbox.consume(HELLO);
        Heard::Hello(Caller { from, nonce, proof, link: self.0 })
    }
}

/// Takes a greeting apart; every one has a meaning, though its proof may not hold.
pub fn decode_hello(hello: &[u8; HELLO]) -> (Tid, [u8; NONCE], [u8; PROOF]) {
    let (mut nonce, mut proof) = ([0; NONCE], [0; PROOF]);
    nonce.copy_from_slice(&hello[4..4 + NONCE]);
    proof.copy_from_slice(&hello[4 + NONCE..]);
    (Tid(i32::from_le_bytes([hello[0], hello[1], hello[2], hello[3]])), nonce, proof)
}

impl TcpLink {
    fn new(stream: TcpStream) -> io::Result<TcpLink> {
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        let (inbox, outbox) = (Inbox::new(INBOX), Outbox::default());
        let gate = Gate::default();
        Ok(TcpLink {
            stream,
            gate,
            inbox,
            rest: 0,
            long: false,
            outbox,
            awaited: None,
            sealer: None,
            opener: None,
        })
    }

    /// From here on the data is encrypted by `end`, also the data in the inbox.
    fn open_what_follows(&mut self, end: End, token: &[u8; 16], caller: Tid, nonce: &[u8; NONCE]) {
        let come = self.inbox.bytes();
        self.opener = Some(Box::new(Opener::new(end, token, caller, nonce, come)));
        self.inbox.consume(come.len());
    }

    /// The socket, for poll(2).
    pub fn socket(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }

    /// Whether it is worth a read, for [`Readiness`](parvum_stream::readiness::Readiness).
    pub fn gate(&self) -> &Gate {
        &self.gate
    }

    /// Gives what is in the inbox to `sink`: whole frames, and of a long one with data what has come.
    fn deliver(&mut self, most: usize, sink: &mut dyn Sink) -> Result<usize, Refused> {
        if let Some(Awaited { token, me, nonce }) = &self.awaited {
            let Some(shown) = self.inbox.bytes().first_chunk::<PROOF>() else { return Ok(0) };
            if !proof::holds(End::Listener, token, *me, nonce, shown) {
                return Err(Refused::Closed);
            }
            let (token, me, nonce) = (*token, *me, *nonce);
            self.inbox.consume(PROOF);
            self.awaited = None;
            if self.sealer.is_some() {
                self.open_what_follows(End::Listener, &token, me, &nonce);
                self.fill(sink);
            }
        }
        for taken in 0..most {
            let bytes = self.inbox.bytes();
            if self.rest > 0 {
                let part = bytes.get(..self.rest).unwrap_or(bytes);
                let count = part.len();
                if count == 0 {
                    return Ok(taken);
                }
                sink.frame(&Header::answer(Kind::More, 0, 0), part);
                self.rest = self.rest.saturating_sub(count);
                self.inbox.consume(count);
                continue;
            }
            let Some((head, behind)) = bytes.split_first_chunk() else { return Ok(taken) };
            let (header, length, _) = Header::decode(head).map_err(|_| Refused::Closed)?;
            let length = length as usize;
            let has_data = matches!(header.kind, Kind::Start | Kind::Answer | Kind::More);
            if length > if has_data { FRAME } else { SHORT } {
                return Err(Refused::Closed);
            }
            let payload = behind.get(..length).unwrap_or(behind);
            let here = payload.len();
            if here < length && (!has_data || length < WORTH_A_PLACE) {
                return Ok(taken);
            }
            sink.frame(&header, payload);
            self.rest = length.saturating_sub(here);
            if has_data {
                self.long = length >= LONG;
            }
            self.inbox.consume(here.saturating_add(Header::SIZE));
        }
        Ok(most)
    }

    /// Reads once. Whether anything came.
    fn fill(&mut self, sink: &mut dyn Sink) -> bool {
        // In this case the opener has no data either: before it asks the kernel, it decrypts all data that it has.
        if self.gate.is_shut() {
            return false;
        }
        let stream = Guarded { stream: &self.stream, gate: &self.gate };
        let mut source = match &mut self.opener {
            None => Source::Clear(stream),
            Some(opener) => Source::Sealed(opener.opening(stream)),
        };
        if self.rest >= WORTH_A_PLACE && self.inbox.bytes().is_empty() && !self.inbox.is_closed() {
            let room = sink.room(self.rest);
            if !room.is_empty() {
                let count = self.inbox.fill_behind(room, &mut source);
                sink.filled(count);
                self.rest = self.rest.saturating_sub(count);
                return count > 0;
            }
        }
        let most = if self.long && self.inbox.bytes().is_empty() { WORTH_A_PLACE } else { INBOX };
        self.inbox.fill_some(most, &mut source)
    }

    /// Seals a frame, in records of which each leaves before the next is sealed.
    fn send_sealed(&mut self, header: &[u8], payload: Gather<'_>) -> Result<(), Refused> {
        let Some(sealer) = &mut self.sealer else { return Err(Refused::Closed) };
        let mut to = Quiet(self.stream.as_fd());
        let out = self.outbox.behind(&mut to)?;
        let mut from = RECORD.saturating_sub(header.len());
        sealer.seal(header, payload.part(0, from), out);
        while from < payload.len() {
            self.outbox.flush(&mut to)?;
            sealer.seal(&[], payload.part(from, RECORD), self.outbox.further());
            from = from.saturating_add(RECORD);
        }
        self.outbox.flush(&mut to).map(|_| ())
    }
}

/// The source of the frames.
enum Source<'a> {
    Clear(Guarded<'a>),
    Sealed(Opening<'a, Guarded<'a>>),
}

/// The stream, which is not read again after the kernel has reported that there is no data.
struct Guarded<'a> {
    stream: &'a TcpStream,
    gate: &'a Gate,
}

impl Guarded<'_> {
    fn heeding<T>(&self, read: io::Result<T>) -> io::Result<T> {
        if read.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock) {
            self.gate.shut();
        }
        read
    }
}

impl Read for Guarded<'_> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        self.heeding((&mut &*self.stream).read(room))
    }

    fn read_vectored(&mut self, rooms: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        self.heeding((&mut &*self.stream).read_vectored(rooms))
    }
}

impl Read for Source<'_> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        match self {
            Source::Clear(stream) => stream.read(room),
            Source::Sealed(opening) => opening.read(room),
        }
    }

    fn read_vectored(&mut self, rooms: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        match self {
            Source::Clear(stream) => stream.read_vectored(rooms),
            Source::Sealed(opening) => opening.read_vectored(rooms),
        }
    }
}

impl Link for TcpLink {
    fn limits(&self) -> Limits {
        TRANSPORT.limits
    }

    fn send(&mut self, header: &Header, payload: Gather<'_>) -> Result<(), Refused> {
        let header = header.encode(payload.len() as u32, 0);
        if self.sealer.is_some() {
            return self.send_sealed(&header, payload);
        }
        self.outbox.write(&mut Quiet(self.stream.as_fd()), &header, payload)
    }

    fn receive(&mut self, most: usize, sink: &mut dyn Sink) -> Result<usize, Refused> {
        let mut taken = self.deliver(most, sink)?;
        while taken < most && self.fill(sink) {
            // Data that is already at its destination counts too.
            taken = taken.saturating_add(self.deliver(most.saturating_sub(taken), sink)?.max(1));
            if self.inbox.has_emptied() {
                // A waiting caller asks again: a system call without data costs as much as this message.
                break;
            }
        }
        if taken == 0 && self.inbox.is_closed() { Err(Refused::Closed) } else { Ok(taken) }
    }

    fn stands(&self) -> bool {
        self.awaited.is_none()
    }

    fn look_anew(&mut self) {
        self.gate.open();
    }

    fn flush(&mut self) -> Result<bool, Refused> {
        self.outbox.flush(&mut Quiet(self.stream.as_fd()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parvum_stream::readiness::Readiness;
    use parvum_transport::conformance::{self, Pair};
    use std::net::TcpListener;

    const ME: Tid = Tid(0x40001);

    fn listener() -> (TcpListener, String) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        listener.set_nonblocking(true).expect("a socket");
        let address = listener.local_addr().expect("bound").to_string();
        (listener, address)
    }

    fn pair() -> (TcpLink, TcpLink) {
        pair_with([7; 16], false)
    }

    /// The listener shows that it has `token`; the caller has another than [7; 16] in no test.
    fn pair_with(token: [u8; 16], encrypted: bool) -> (TcpLink, TcpLink) {
        let (listener, address) = listener();
        let left = connect(&address, ME, &[7; 16], encrypted).expect("connected");
        let mut greeting = loop {
            if let Ok(greeting) = accept(&listener) {
                break greeting;
            }
        };
        loop {
            match greeting.heard() {
                Heard::NotYet(again) => greeting = again,
                Heard::Nothing => panic!("closed"),
                Heard::Hello(caller) => {
                    assert_eq!(caller.from, ME);
                    assert!(caller.has(&[7; 16]) && !caller.has(&[8; 16]));
                    return (left, caller.admit(&token, encrypted));
                }
            }
        }
    }

    #[test]
    fn tcp_transport_passes_conformance_plain_and_encrypted() {
        for encrypted in [false, true] {
            conformance::run(&TRANSPORT, || {
                let (left, right) = pair_with([7; 16], encrypted);
                Pair { left: Box::new(left), right: Box::new(right), keep: Box::new(()) }
            });
        }
    }

    /// A link that is one of several which are asked for together.
    struct Asking {
        link: TcpLink,
        all: Readiness,
        _another: (TcpLink, TcpLink),
    }

    impl Asking {
        fn new(link: TcpLink) -> Asking {
            let (mut all, another) = (Readiness::new().expect("a descriptor"), pair());
            for one in [&link, &another.0] {
                all.take_in(one.socket(), one.gate()).expect("a socket");
            }
            Asking { link, all, _another: another }
        }
    }

    impl Link for Asking {
        fn limits(&self) -> Limits {
            self.link.limits()
        }
        fn send(&mut self, header: &Header, payload: Gather<'_>) -> Result<(), Refused> {
            self.link.send(header, payload)
        }
        fn receive(&mut self, most: usize, sink: &mut dyn Sink) -> Result<usize, Refused> {
            self.all.ask();
            self.link.receive(most, sink)
        }
        fn stands(&self) -> bool {
            self.link.stands()
        }
        fn flush(&mut self) -> Result<bool, Refused> {
            self.link.flush()
        }
    }

    #[test]
    fn tcp_transport_with_shared_polling_passes_conformance() {
        for encrypted in [false, true] {
            conformance::run(&TRANSPORT, || {
                let (left, right) = pair_with([7; 16], encrypted);
                let (left, right) = (Asking::new(left), Asking::new(right));
                Pair { left: Box::new(left), right: Box::new(right), keep: Box::new(()) }
            });
        }
    }

    #[test]
    fn idle_link_is_not_read_until_data_arrives() {
        for encrypted in [false, true] {
            let (mut left, right) = pair_with([7; 16], encrypted);
            let mut right = Asking::new(right);
            let mut seen = 0;
            let mut look = |right: &mut Asking| {
                right.receive(9, &mut |_: &Header, payload: &[u8]| seen += payload.len()).map(|_| seen)
            };
            for round in 1..=3 {
                while !right.link.gate.is_shut() {
                    look(&mut right).expect("open");
                }
                left.send(&Header::answer(Kind::Credit, 1, 2), Gather::new(&[b"some"])).expect("room");
                while look(&mut right).expect("open") < 4 * round {}
            }
            // Its end too, right behind the last data or later.
            for _ in 0..100 {
                look(&mut right).expect("open");
            }
            assert!(right.link.gate.is_shut());
            left.send(&Header::answer(Kind::Credit, 1, 2), Gather::new(&[b"last"])).expect("room");
            drop(left);
            while look(&mut right).is_ok() {}
            assert_eq!(seen, 16);
        }
    }

    #[test]
    fn last_data_is_read_without_query_of_all_links() {
        for encrypted in [false, true] {
            let (mut left, right) = pair_with([7; 16], encrypted);
            let mut link = Asking::new(right);
            let mut seen = 0;
            while !link.link.gate.is_shut() {
                link.receive(9, &mut |_: &Header, _: &[u8]| panic!("delivered")).expect("open");
            }
            left.send(&Header::answer(Kind::Credit, 1, 2), Gather::new(&[b"last"])).expect("room");
            drop(left);
            // The end of the peer is known from elsewhere, before anybody asks for all links.
            let mut look = || link.link.receive(9, &mut |_: &Header, payload: &[u8]| seen += payload.len());
            assert_eq!(look(), Ok(0));
            link.link.look_anew();
            let mut look = || link.link.receive(9, &mut |_: &Header, payload: &[u8]| seen += payload.len());
            while look().is_ok() {}
            assert_eq!(seen, 4);
        }
    }

    #[test]
    fn single_link_is_always_read() {
        let (left, mut right) = pair();
        right.receive(9, &mut |_: &Header, _: &[u8]| panic!("delivered")).expect("open");
        assert!(!right.gate.is_shut() && !left.gate.is_shut());
    }

    #[test]
    fn data_before_end_arrives_then_link_closes() {
        let (mut left, mut right) = pair();
        let header = Header::answer(parvum_wire::Kind::Credit, 1, 2);
        left.send(&header, Gather::new(&[b"last"])).expect("room");
        drop(left);
        let mut seen = 0;
        let end = loop {
            match right.receive(9, &mut |_: &Header, payload: &[u8]| seen += payload.len()) {
                Ok(_) => {}
                Err(why) => break why,
            }
        };
        assert_eq!((seen, end), (4, Refused::Closed));
    }

    #[test]
    fn listener_without_token_delivers_nothing() {
        for encrypted in [false, true] {
            let (mut left, mut right) = pair_with([6; 16], encrypted);
            let header = Header::answer(parvum_wire::Kind::Credit, 1, 2);
            right.send(&header, Gather::new(&[b"believe me"])).expect("room");
            assert_eq!(end_of_silence(&mut left), Refused::Closed);
        }
    }

    /// How a link ends that brings no frame.
    fn end_of_silence(link: &mut TcpLink) -> Refused {
        loop {
            match link.receive(9, &mut |_: &Header, _: &[u8]| panic!("delivered")) {
                Ok(_) => {}
                Err(why) => return why,
            }
        }
    }

    #[test]
    fn cleartext_is_refused_by_encrypted_end() {
        let (mut left, mut right) = pair_with([7; 16], true);
        left.sealer = None;
        let header = Header::answer(parvum_wire::Kind::Credit, 1, 2);
        left.send(&header, Gather::new(&[b"believe me"])).expect("room");
        assert_eq!(end_of_silence(&mut right), Refused::Closed);
    }

    #[test]
    fn garbage_closes_the_link() {
        for encrypted in [false, true] {
            let (left, mut right) = pair_with([7; 16], encrypted);
            (&left.stream).write_all(&[0xee; 64]).expect("sent");
            assert_eq!(end_of_silence(&mut right), Refused::Closed);
        }
    }

    #[test]
    fn silent_caller_is_refused() {
        let (listener, address) = listener();
        drop(TcpStream::connect(address).expect("connected"));
        let mut greeting = loop {
            if let Ok(greeting) = accept(&listener) {
                break greeting;
            }
        };
        while let Heard::NotYet(again) = greeting.heard() {
            greeting = again;
        }
    }
}
