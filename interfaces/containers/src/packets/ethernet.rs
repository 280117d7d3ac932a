//! A network like Ethernet: packets of 1400 bytes of data, which may be lost, repeated or swapped; and multicast.

use super::faults::Faults;
use super::port::{Address, Limits, NameServer, NetworkDriver, Port, Transfer};
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::rc::Rc;

/// User messages above this are cut: what fits beside headers into a packet of 1514 bytes.
const FRAGMENT: usize = 1400;

/// A station's number, or all that listen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Station {
    /// One.
    One(u32),
    /// Every other one.
    All,
}

impl Address for Station {
    fn is_multicast(&self) -> bool {
        *self == Station::All
    }
}

/// The cable: what lies in it for each station, and the names that are known on it.
#[derive(Default)]
pub struct Ethernet {
    faults: Faults,
    queues: BTreeMap<u32, VecDeque<(Station, Vec<u8>)>>,
    names: HashMap<String, (Station, u32)>,
    transmissions: u64,
}

/// One station's port to it. It is its own transfer and driver.
pub struct EthernetPort {
    own: u32,
    names: Names,
    transfer: Tap,
}

/// The names on the cable.
pub struct Names(Rc<RefCell<Ethernet>>);

/// Where packets go in and out.
pub struct Tap {
    own: u32,
    cable: Rc<RefCell<Ethernet>>,
}

impl Ethernet {
    /// A cable with such faults, and nobody on it.
    pub fn new(faults: Faults) -> Rc<RefCell<Ethernet>> {
        Rc::new(RefCell::new(Ethernet { faults, ..Ethernet::default() }))
    }

    /// How many packets were put onto it; a multicast is one.
    pub fn transmissions(&self) -> u64 {
        self.transmissions
    }

    /// A station is switched off: what is sent to it is lost.
    pub fn switch_off(&mut self, station: u32) {
        self.queues.remove(&station);
    }
}

impl EthernetPort {
    /// A station on the cable.
    pub fn new(cable: &Rc<RefCell<Ethernet>>, own: u32) -> EthernetPort {
        cable.borrow_mut().queues.insert(own, VecDeque::new());
        EthernetPort { own, names: Names(cable.clone()), transfer: Tap { own, cable: cable.clone() } }
    }
}

impl NameServer<Station> for Names {
    fn bind(&mut self, name: &str, at: Station, container: u32) -> bool {
        let names = &mut self.0.borrow_mut().names;
        let is_free = !names.contains_key(name);
        if is_free {
            names.insert(name.to_owned(), (at, container));
        }
        is_free
    }

    fn unbind(&mut self, name: &str) -> bool {
        self.0.borrow_mut().names.remove(name).is_some()
    }

    fn lookup(&mut self, name: &str) -> Option<(Station, u32)> {
        self.0.borrow().names.get(name).copied()
    }
}

impl Transfer<Station> for Tap {
    fn limits(&self) -> Limits {
        Limits { fragment: FRAGMENT, reliable: false, in_place: false }
    }

    fn send(&mut self, to: Station, header: &[u8], part: &[u8]) {
        let Ethernet { faults, queues, transmissions, .. } = &mut *self.cable.borrow_mut();
        *transmissions += 1;
        let own = self.own;
        let hears = |station: u32| match to {
            Station::One(one) => station == one,
            Station::All => station != own,
        };
        for (_, queue) in queues.iter_mut().filter(|(station, _)| hears(**station)) {
            let fate = faults.next();
            for _ in 0..fate.copies {
                let at = queue.len().saturating_sub(fate.overtakes);
                queue.insert(at, (Station::One(own), [header, part].concat()));
            }
        }
    }

    fn receive(&mut self, room: &mut [u8]) -> Option<(Station, usize)> {
        let (from, packet) = self.cable.borrow_mut().queues.get_mut(&self.own)?.pop_front()?;
        let length = packet.len().min(room.len());
        room[..length].copy_from_slice(&packet[..length]);
        Some((from, length))
    }
}

impl NetworkDriver for Tap {}

impl Port for EthernetPort {
    type Address = Station;
    type Names = Names;
    type Transfer = Tap;

    fn own(&self) -> Station {
        Station::One(self.own)
    }

    fn names(&mut self) -> &mut Names {
        &mut self.names
    }

    fn transfer(&mut self) -> &mut Tap {
        &mut self.transfer
    }

    fn buffers(&self, size: usize) -> super::NetworkBufferFreeList {
        // 32 to receive and 16 to send, as on the machine of the paper.
        super::NetworkBufferFreeList::new(size, 48, true)
    }
}
