//! A network like a hypercube's: pages of 4096 bytes, nothing is lost, and the sender's own memory is read.

use super::names::{Shared, SharedNames, lock};
use super::port::{Address, Limits, NetworkDriver, Port, Transfer};
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};

/// The one size of buffers.
const PAGE: usize = 4096;

/// A node of the cube.
impl Address for u16 {}

/// What is under way between the nodes of a cube: what the hardware reads at one end and writes at the other.
#[derive(Default)]
pub struct Cube {
    channels: HashMap<u16, VecDeque<(u16, Vec<u8>)>>,
    names: SharedNames<u16>,
    dead: Vec<u16>,
}

/// A node's port.
pub struct CubePort {
    own: u16,
    names: SharedNames<u16>,
    channel: Channel,
}

/// A node's channels.
pub struct Channel {
    own: u16,
    cube: Shared<Cube>,
}

impl Cube {
    /// A cube at rest.
    pub fn new() -> Arc<Mutex<Cube>> {
        Arc::default()
    }

    /// A node fails; the others notice.
    pub fn fail(&mut self, node: u16) {
        self.dead.push(node);
    }
}

impl CubePort {
    /// The port of a node.
    pub fn new(cube: &Arc<Mutex<Cube>>, own: u16) -> CubePort {
        CubePort { own, names: lock(cube).names.clone(), channel: Channel { own, cube: cube.clone() } }
    }
}

impl Transfer<u16> for Channel {
    fn limits(&self) -> Limits {
        Limits { fragment: PAGE, reliable: true, in_place: true }
    }

    fn send(&mut self, to: u16, header: &[u8], part: &[u8]) {
        // The hardware's work, not a copy of the program's: it reads the page, which is locked until this returns.
        let packet = [header, part].concat();
        lock(&self.cube).channels.entry(to).or_default().push_back((self.own, packet));
    }

    fn receive(&mut self, room: &mut [u8]) -> Option<(u16, usize)> {
        // The hardware writes into the empty buffer that was set up for it.
        let (from, packet) = lock(&self.cube).channels.get_mut(&self.own)?.pop_front()?;
        let length = packet.len().min(room.len());
        room[..length].copy_from_slice(&packet[..length]);
        Some((from, length))
    }

    fn is_gone(&self, node: u16) -> bool {
        lock(&self.cube).dead.contains(&node)
    }
}

impl NetworkDriver for Channel {}

impl Port for CubePort {
    type Address = u16;
    type Names = SharedNames<u16>;
    type Transfer = Channel;

    fn own(&self) -> u16 {
        self.own
    }

    fn names(&mut self) -> &mut SharedNames<u16> {
        &mut self.names
    }

    fn transfer(&mut self) -> &mut Channel {
        &mut self.channel
    }
}
