//! A network like Ethernet: packets of 1400 bytes of data, which may be lost, repeated or swapped; and multicast.

use super::faults::Faults;
use super::names::{Shared, SharedNames, lock};
use super::port::{Address, Limits, NetworkDriver, Port, Transfer};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};

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
    names: SharedNames<Station>,
    transmissions: u64,
}

/// One station's port to it. It is its own transfer and driver.
pub struct EthernetPort {
    own: u32,
    names: SharedNames<Station>,
    transfer: Tap,
}

/// Where packets go in and out.
pub struct Tap {
    own: u32,
    cable: Shared<Ethernet>,
}

impl Ethernet {
    /// A cable with such faults, and nobody on it.
    pub fn new(faults: Faults) -> Arc<Mutex<Ethernet>> {
        Arc::new(Mutex::new(Ethernet { faults, ..Ethernet::default() }))
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
    pub fn new(cable: &Arc<Mutex<Ethernet>>, own: u32) -> EthernetPort {
        let names = {
            let mut cable = lock(cable);
            cable.queues.insert(own, VecDeque::new());
            cable.names.clone()
        };
        EthernetPort { own, names, transfer: Tap { own, cable: cable.clone() } }
    }
}

impl Transfer<Station> for Tap {
    fn limits(&self) -> Limits {
        Limits { fragment: FRAGMENT, reliable: false, in_place: false }
    }

    fn send(&mut self, to: Station, header: &[u8], part: &[u8]) {
        let Ethernet { faults, queues, transmissions, .. } = &mut *lock(&self.cable);
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
        let (from, packet) = lock(&self.cable).queues.get_mut(&self.own)?.pop_front()?;
        let length = packet.len().min(room.len());
        room[..length].copy_from_slice(&packet[..length]);
        Some((from, length))
    }
}

impl NetworkDriver for Tap {}

impl Port for EthernetPort {
    type Address = Station;
    type Names = SharedNames<Station>;
    type Transfer = Tap;

    fn own(&self) -> Station {
        Station::One(self.own)
    }

    fn names(&mut self) -> &mut SharedNames<Station> {
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
