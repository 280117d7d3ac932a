//! The hosts of the machine, as all agree on them, and those that are coming.

use super::coming::{Addition, Fetching};
use parvum_wire::control::HostRecord;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// The hosts of the machine, and those that are coming.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct Table {
    pub hosts: Hosts,
    /// The last life that was given to a host.
    pub last_life: u64,
    /// Hosts being started, by number.
    pub fetching: BTreeMap<u32, Fetching>,
    /// Who waits for them.
    pub additions: Vec<Addition>,
}

/// All hosts by number, and by life: a machine may have thousands, and each change names the life that has proposed it.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(from = "BTreeMap<u32, Rc<HostRecord>>", into = "BTreeMap<u32, Rc<HostRecord>>")]
pub(super) struct Hosts {
    by_number: BTreeMap<u32, Rc<HostRecord>>,
    number_of: HashMap<u64, u32>,
}

impl From<BTreeMap<u32, Rc<HostRecord>>> for Hosts {
    fn from(by_number: BTreeMap<u32, Rc<HostRecord>>) -> Hosts {
        let number_of = by_number.values().map(|host| (host.life, host.number)).collect();
        Hosts { by_number, number_of }
    }
}

impl From<Hosts> for BTreeMap<u32, Rc<HostRecord>> {
    fn from(hosts: Hosts) -> BTreeMap<u32, Rc<HostRecord>> {
        hosts.by_number
    }
}

impl Hosts {
    /// Puts a host in; the one that had its number before is out.
    pub fn insert(&mut self, host: Rc<HostRecord>) -> Option<Rc<HostRecord>> {
        let before = self.remove(host.number);
        self.number_of.insert(host.life, host.number);
        self.by_number.insert(host.number, host);
        before
    }

    pub fn remove(&mut self, number: u32) -> Option<Rc<HostRecord>> {
        let host = self.by_number.remove(&number)?;
        self.number_of.remove(&host.life);
        Some(host)
    }

    pub fn get(&self, number: u32) -> Option<&HostRecord> {
        self.by_number.get(&number).map(|host| &**host)
    }

    /// The number of the host that lives this life.
    pub fn number_of(&self, life: u64) -> Option<u32> {
        self.number_of.get(&life).copied()
    }

    /// Whether it is there, in this life.
    pub fn lives(&self, number: u32, life: u64) -> bool {
        self.number_of(life) == Some(number)
    }

    pub fn iter(&self) -> impl Iterator<Item = &HostRecord> {
        self.by_number.values().map(|host| &**host)
    }

    pub fn shared(&self) -> impl Iterator<Item = &Rc<HostRecord>> {
        self.by_number.values()
    }

    pub fn numbers(&self) -> impl Iterator<Item = u32> {
        self.by_number.keys().copied()
    }

    pub fn len(&self) -> usize {
        self.by_number.len()
    }
}
