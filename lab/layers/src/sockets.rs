//! A TCP connection on the loopback: bare, as a link, and with the engine on it. Nobody sleeps: as a task of Parvum's does
//! while it spins, whoever waits asks the kernel again and again.

use crate::duel::{End, Layer, layer};
use crate::engines;
use crate::shared::header;
use parvum_tcp::{Heard, TcpLink, accept, connect};
use parvum_transport::{Gather, Link};
use parvum_wire::{Header, Tid};
use std::fmt::Display;
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

/// All of them, the lowest first.
pub fn layers() -> Result<Vec<Layer>, String> {
    let [lead, follow] = sockets()?.map(Socket);
    let [first, second] = pair(false)?.map(|link| Stream { link, sent: 0, received: 0 });
    let [left, right] = pair(false)?;
    let [near, far] = pair(true)?.map(|link| Stream { link, sent: 0, received: 0 });
    let (left, right) = engines::posted(parvum_tcp::TRANSPORT.route, Box::new(left), Box::new(right));
    Ok(vec![
        layer("tcp", "socket", 1, lead, follow),
        layer("tcp", "link", 1, first, second),
        layer("tcp", "encrypted link", 1, near, far),
        layer("tcp", "engine", 1, left, right),
    ])
}

fn failed(why: impl Display) -> String {
    format!("no TCP connection to this host itself: {why}")
}

/// Two connected sockets that do not block.
fn sockets() -> Result<[TcpStream; 2], String> {
    let listener = TcpListener::bind("127.0.0.1:0").map_err(failed)?;
    let called = TcpStream::connect(listener.local_addr().map_err(failed)?).map_err(failed)?;
    let (taken, _) = listener.accept().map_err(failed)?;
    for socket in [&called, &taken] {
        socket.set_nodelay(true).and_then(|()| socket.set_nonblocking(true)).map_err(failed)?;
    }
    Ok([called, taken])
}

/// Two links over a connection, made as tasks make it.
pub fn pair(encrypted: bool) -> Result<[TcpLink; 2], String> {
    const TOKEN: [u8; 16] = [7; 16];
    let listener = TcpListener::bind("127.0.0.1:0").map_err(failed)?;
    listener.set_nonblocking(true).map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?.to_string();
    let called = connect(&address, Tid(0x40001), &TOKEN, encrypted).map_err(failed)?;
    let begun = Instant::now();
    let mut greeting = None;
    loop {
        if begun.elapsed() > Duration::from_secs(5) {
            return Err(failed("nobody called"));
        }
        match greeting.take().or_else(|| accept(&listener).ok()).map(|greeting| greeting.heard()) {
            Some(Heard::Hello(caller)) => return Ok([called, caller.admit(&TOKEN, encrypted)]),
            Some(Heard::NotYet(again)) => greeting = Some(again),
            Some(Heard::Nothing) => return Err(failed("it was closed at once")),
            None => std::thread::yield_now(),
        }
    }
}

/// As many bytes as a frame of Parvum's has without data.
struct Socket(TcpStream);

impl End for Socket {
    fn send(&mut self) {
        let sent = self.0.write(&[1; Header::SIZE]).expect("the socket takes a frame");
        assert_eq!(sent, Header::SIZE);
    }

    fn receive(&mut self) {
        let (mut bytes, mut filled) = ([0; Header::SIZE], 0);
        while filled < bytes.len() {
            match self.0.read(&mut bytes[filled..]) {
                Ok(0) => panic!("the connection was closed"),
                Ok(count) => filled += count,
                Err(why) if why.kind() == ErrorKind::WouldBlock => std::hint::spin_loop(),
                Err(why) => panic!("the connection broke: {why}"),
            }
        }
    }
}

/// Frames over the connection.
struct Stream {
    link: TcpLink,
    sent: u32,
    received: u32,
}

impl End for Stream {
    fn send(&mut self) {
        self.link.send(&header(self.sent), Gather::EMPTY).expect("the link takes a frame");
        self.sent = self.sent.wrapping_add(1);
        while !self.link.flush().expect("the link stands") {}
    }

    fn receive(&mut self) {
        let expected = self.received;
        let mut taken = false;
        // The link counts as a frame also what it heard of who is at its other end.
        while !taken {
            let mut take = |header: &Header, _: &[u8]| {
                assert_eq!(header.order, expected);
                taken = true;
            };
            self.link.receive(1, &mut take).expect("the link stands");
        }
        self.received = expected.wrapping_add(1);
    }
}
