//! A network that leads back to oneself: what a new port takes, and no more.

use super::port::{Address, Limits, NameServer, NetworkDriver, Port, Transfer};
use containers::buffers::NetworkBufferFreeList;
use std::collections::{HashMap, VecDeque};

/// Where things are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// The one node.
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

/// What is under way.
pub struct Loop {
    packets: VecDeque<Vec<u8>>,
    fragment: usize,
}

impl Transfer<Place> for Loop {
    fn limits(&self) -> Limits {
        Limits { fragment: self.fragment, reliable: true, in_place: false }
    }
    fn send(&mut self, _: Place, header: &[u8], part: &[u8]) {
        self.packets.push_back([header, part].concat());
    }
    fn receive(&mut self, room: &mut [u8]) -> Option<(Place, usize)> {
        let packet = self.packets.pop_front()?;
        room[..packet.len()].copy_from_slice(&packet);
        Some((Place::There, packet.len()))
    }
}
impl NetworkDriver for Loop {}

/// The port.
pub struct LoopbackPort {
    names: HashMap<String, u32>,
    transfer: Loop,
    buffers: usize,
}

impl LoopbackPort {
    /// A loop whose packets have so many bytes of a message, and so many buffers, for ever.
    pub fn new(fragment: usize, buffers: usize) -> LoopbackPort {
        let transfer = Loop { packets: VecDeque::new(), fragment };
        LoopbackPort { names: HashMap::new(), transfer, buffers }
    }
}

impl Port for LoopbackPort {
    type Address = Place;
    type Names = HashMap<String, u32>;
    type Transfer = Loop;
    fn own(&self) -> Place {
        Place::Here
    }
    fn names(&mut self) -> &mut Self::Names {
        &mut self.names
    }
    fn transfer(&mut self) -> &mut Loop {
        &mut self.transfer
    }
    fn buffers(&self, size: usize) -> NetworkBufferFreeList {
        NetworkBufferFreeList::new(size, self.buffers, false)
    }
}
