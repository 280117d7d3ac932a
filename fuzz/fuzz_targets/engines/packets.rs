//! Packets of a network, as they come to a node with containers.

#![no_main]

use packets::{Address, Limits, NameServer, NetworkDriver, Node, Port, Transfer};
use containers::{Bounds, Protocol};
use libfuzzer_sys::fuzz_target;
use std::collections::VecDeque;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place(u8);
impl Address for Place {}

struct Names;
impl NameServer<Place> for Names {
    fn bind(&mut self, _: &str, _: Place, _: u32) -> bool {
        true
    }
    fn unbind(&mut self, _: &str) -> bool {
        true
    }
    fn lookup(&mut self, _: &str) -> Option<(Place, u32)> {
        Some((Place(1), 1))
    }
}

const FRAGMENT: usize = 64;

/// What has come.
struct Network(VecDeque<(Place, Vec<u8>)>);
impl Transfer<Place> for Network {
    fn limits(&self) -> Limits {
        Limits { fragment: FRAGMENT, reliable: false, in_place: false }
    }
    fn send(&mut self, _: Place, _: &[u8], _: &[u8]) {}
    fn receive(&mut self, room: &mut [u8]) -> Option<(Place, usize)> {
        let (from, packet) = self.0.pop_front()?;
        let length = packet.len().min(room.len());
        room[..length].copy_from_slice(&packet[..length]);
        Some((from, length))
    }
}
impl NetworkDriver for Network {}

struct Wire(Names, Network);
impl Port for Wire {
    type Address = Place;
    type Names = Names;
    type Transfer = Network;
    fn own(&self) -> Place {
        Place(0)
    }
    fn names(&mut self) -> &mut Names {
        &mut self.0
    }
    fn transfer(&mut self) -> &mut Network {
        &mut self.1
    }
}

fuzz_target!(|input: &[u8]| {
    let mut node = Node::new(Wire(Names, Network(VecDeque::new())));
    let container = node.create(Bounds::default());
    node.join(3, container);
    let to = node.lookup("there").expect("bound");
    let (mut now, mut room) = (1, [0; 1000]);
    let _ = node.send(now, &to, &[7; 300], Protocol::Reliable);
    let mut rest = input;
    // From whom, how much later, and how long.
    while let Some(([from, later, length], behind)) = rest.split_first_chunk::<3>() {
        let (packet, behind) = behind.split_at(behind.len().min(usize::from(*length)));
        rest = behind;
        node.port().transfer().0.push_back((Place(from % 4), packet.to_vec()));
        now += u64::from(*later) * 1000;
        node.poll(now);
        if from & 128 != 0 {
            let _ = node.receive(container, &mut room);
        }
    }
    node.poll(now + 1_000_000);
    node.destroy(container);
});
