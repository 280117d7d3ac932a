//! The port that leads back to oneself.

use super::content;
use crate::header::{Header, Kind};
use crate::loopback::Place;
use crate::{LoopbackPort, Node, Port, Transfer};
use containers::{Bounds, Error, Protocol};

#[test]
fn new_port_needs_address_names_and_transfer() {
    let mut node = Node::new(LoopbackPort::new(10, 32));
    let container = node.create(Bounds::default());
    node.bind("me", container).expect("free");
    let to = node.lookup("me").expect("bound");
    for number in 0..20 {
        node.send(0, &to, &content(number, number * 5), Protocol::Reliable).expect("sent");
    }
    let mut room = [0; 100];
    for number in 0..20 {
        let mut got = node.receive(container, &mut room);
        for _ in 0..3 {
            node.poll(0);
            got = got.or_else(|_| node.receive(container, &mut room));
        }
        let (length, _) = got.expect("it has come");
        assert_eq!(room[..length], content(number, number * 5));
    }
    let server = node.lookup("me").expect("bound");
    let mut call = node.call(0, &server, b"question").expect("sent");
    node.poll(0);
    let (length, sender) = node.receive(container, &mut room).expect("it has come");
    assert_eq!(&room[..length], b"question");
    node.reply(0, &sender, b"answer").expect("sent");
    node.poll(0);
    let answered = node.answer(0, &mut call, &mut room, &mut Default::default());
    assert_eq!((answered, &room[..6]), (Some(Ok(6)), &b"answer"[..]));
}

#[test]
fn local_group_message_without_buffers_is_refused() {
    let mut node = Node::new(LoopbackPort::new(10, 32));
    let container = node.create(Bounds::default());
    node.join(1, container);
    let to = node.group(Place::Here, 1);
    let send =
        |node: &mut Node<LoopbackPort>, length| node.send(0, &to, &content(1, length), Protocol::Datagram);
    assert_eq!(send(&mut node, 321), Err(Error::NoBuffer), "33 parts of 10 bytes");
    assert_eq!(send(&mut node, 320), Ok(()));
    assert_eq!(send(&mut node, 1), Err(Error::NoBuffer), "all 32 are in use");
    let mut room = [0; 320];
    assert_eq!(node.receive(container, &mut room).map(|got| got.0), Ok(320));
    assert_eq!(send(&mut node, 1), Ok(()));
    assert_eq!(node.receive(container, &mut room).map(|got| got.0), Ok(1));
    assert_eq!(node.receive(container, &mut room), Err(Error::Empty), "nothing of what was refused");
    assert_eq!(node.pool().in_use(), 0);
}

/// Found by the fuzz target `packets`.
#[test]
fn fragment_at_highest_number_is_ignored() {
    let mut node = Node::new(LoopbackPort::new(10, 32));
    let container = node.create(Bounds::default());
    let kinds = [Kind::Reliable, Kind::Datagram, Kind::Answer, Kind::Full, Kind::Gone];
    for (kind, fragment) in kinds.into_iter().flat_map(|kind| [(kind, u32::MAX), (kind, 7)]) {
        let (conversation, sequence, call) = (5, 0, 0);
        let header = Header {
            kind,
            conversation,
            sequence,
            container,
            call,
            fragment,
            fragments: 0,
            length: u32::MAX,
        };
        node.port().transfer().send(Place::Here, &header.encode(), b"eight by");
        node.poll(1);
    }
    assert_eq!(node.receive(container, &mut [0; 100]).err(), Some(Error::Empty));
}
