//! Nodes on networks that exist nowhere, in a time that the tests make.

mod calls;
mod loopback;
mod messages;

use super::{CubePort, Ethernet, EthernetPort, Faults, Node, Now, Port};
use std::sync::{Arc, Mutex};

/// Some nodes, and the time.
struct World<P: Port> {
    nodes: Vec<Node<P>>,
    now: Now,
}

impl<P: Port> World<P> {
    /// Lets time pass until it is so; a step is a tenth of a millisecond.
    fn until(&mut self, what: &str, mut is_so: impl FnMut(&mut World<P>) -> bool) {
        let end = self.now + 100_000_000;
        while !is_so(self) {
            assert!(self.now < end, "never: {what}");
            self.pass(100);
        }
    }

    fn pass(&mut self, time: Now) {
        self.now += time;
        self.nodes.iter_mut().for_each(|node| node.poll(self.now));
    }
}

fn ethernet(count: u32, faults: Faults) -> (World<EthernetPort>, Arc<Mutex<Ethernet>>) {
    let cable = Ethernet::new(faults);
    let nodes = (0..count).map(|own| Node::new(EthernetPort::new(&cable, own))).collect();
    (World { nodes, now: 0 }, cable)
}

fn cube(count: u16) -> (World<CubePort>, Arc<Mutex<super::Cube>>) {
    let cube = super::Cube::new();
    let nodes = (0..count).map(|own| Node::new(CubePort::new(&cube, own))).collect();
    (World { nodes, now: 0 }, cube)
}

/// What a message of that number and length holds.
fn content(number: usize, length: usize) -> Vec<u8> {
    (0..length).map(|at| (at * 31 + at / 255 + number * 7) as u8).collect()
}
