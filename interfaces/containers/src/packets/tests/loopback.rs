//! A whole port for a network that leads back to oneself: what a new port takes, and no more.

use super::content;
use crate::packets::{
    Address, Limits, NameServer, NetworkBufferFreeList, NetworkDriver, Node, Port, Transfer,
};
use crate::{Bounds, Error, Protocol};
use std::collections::{HashMap, VecDeque};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Here,
    /// The far end of the loop, which is here too.
    There,
}
impl Address for Place {}

impl NameServer<Place> for HashMap<String, u32> {
    fn bind(&mut self, name: &str, _: Place, container: u32) -> bool {
        self.insert(name.to_owned(), container).is_none()
    }
    fn unbind(&mut self, name: &str) -> bool {
        self.remove(name).is_some()
    }
    fn lookup(&mut self, name: &str) -> Option<(Place, u32)> {
        self.get(name).map(|container| (Place::There, *container))
    }
}

struct Loop(VecDeque<Vec<u8>>);

impl Transfer<Place> for Loop {
    fn limits(&self) -> Limits {
        Limits { fragment: 10, reliable: true, in_place: false }
    }
    fn send(&mut self, _: Place, header: &[u8], part: &[u8]) {
        self.0.push_back([header, part].concat());
    }
    fn receive(&mut self, room: &mut [u8]) -> Option<(Place, usize)> {
        let packet = self.0.pop_front()?;
        room[..packet.len()].copy_from_slice(&packet);
        Some((Place::There, packet.len()))
    }
}
impl NetworkDriver for Loop {}

struct Loopback(HashMap<String, u32>, Loop);

impl Port for Loopback {
    type Address = Place;
    type Names = HashMap<String, u32>;
    type Transfer = Loop;
    fn own(&self) -> Place {
        Place::Here
    }
    fn names(&mut self) -> &mut Self::Names {
        &mut self.0
    }
    fn transfer(&mut self) -> &mut Loop {
        &mut self.1
    }
    fn buffers(&self, size: usize) -> NetworkBufferFreeList {
        NetworkBufferFreeList::new(size, 32, false)
    }
}

#[test]
fn a_new_port_needs_an_address_names_and_a_transfer() {
    let mut node = Node::new(Loopback(HashMap::new(), Loop(VecDeque::new())));
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
fn what_stays_here_needs_buffers_and_is_refused_without() {
    let mut node = Node::new(Loopback(HashMap::new(), Loop(VecDeque::new())));
    let container = node.create(Bounds::default());
    node.join(1, container);
    let to = node.group(Place::Here, 1);
    let send = |node: &mut Node<Loopback>, length| node.send(0, &to, &content(1, length), Protocol::Datagram);
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
