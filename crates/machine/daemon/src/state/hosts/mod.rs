//! Several hosts: what is known of them, and what their daemons do together.
//!
//! - `passing`: what concerns one host is asked of its daemon; words between daemons.
//! - `agreed`: what concerns no single host (groups, mailbox, parts, the table of hosts) every daemon keeps. It
//!   changes by changes that all agree on, in one order.
//! - `coming`: hosts come and go.
//! - `losses`: hosts that do not answer.
//! - `loads`: how busy they are.
//! - `watching`: which hosts are checked all the time.
//! - `table`: the hosts, by number and by life.

mod agreed;
mod coming;
mod loads;
mod losses;
mod passing;
mod table;
mod watching;

#[cfg(test)]
mod several;

pub use agreed::{Change, Fetched};

use super::*;
use parvum_agreement::{Member, Standing};
use parvum_wire::control::TaskRow;
use std::collections::BTreeSet;

/// What is known of the machine's hosts, and what is under way with them.
#[derive(Default)]
pub(super) struct Others {
    me: u32,
    life: u64,
    /// What all agree on.
    agreed: table::Table,
    /// Whether changes are agreed with others. The first host of a machine decides alone until it adds another.
    agrees: bool,
    standing: Standing,
    /// The hosts whose daemons vote.
    voters: Vec<u32>,
    /// Which life led when the change that is being made was agreed.
    leader: u64,
    /// This host is in the table; and all know that it has what is kept.
    arrived: bool,
    /// The host that is adding this one.
    home: Option<HostRecord>,
    known_to_have_arrived: bool,
    /// Requests of own clients that are proposed and not agreed yet.
    proposed: BTreeSet<(ClientId, RequestId)>,
    /// Tasks of this host that are gone, which is not agreed yet; whether they were runners.
    ending: BTreeMap<Tid, bool>,
    /// Lives of hosts that this one is fetching.
    fetches: BTreeSet<u64>,
    /// Those of them that have come, or will not, and when the others hear of it.
    fetched: Vec<Fetched>,
    pub(super) fetched_until: Option<Now>,
    /// Hosts that say that they have arrived, and when the others hear of it.
    arrivals: BTreeSet<u32>,
    pub(super) arrivals_until: Option<Now>,
    /// Hosts that do not answer and are still in the table.
    silent: BTreeSet<u32>,
    /// Hosts that do not reach each other, the lower first, and until when that is borne.
    apart: BTreeMap<(u32, u32), Now>,
    /// The hosts that are checked all the time, and whether this may have changed.
    watched: BTreeSet<u32>,
    pub(super) watch_is_stale: bool,
    /// When this daemon last asked all hosts for a sign of life.
    surveyed: Option<Now>,
    /// When this daemon last passed a doubt on.
    doubted: Option<Now>,
    /// When the silent ones are taken out, or the one that leads hears of them.
    pub(super) patience: Option<Now>,
    /// How late this daemon has lately been called.
    lateness: Now,
    loads: BTreeMap<u32, u32>,
    /// Hosts whose load has changed, and not all others have heard so; when they will.
    untold: BTreeSet<u32>,
    pub(super) loads_at: Option<Now>,
    /// Requests passed on, by whom they were asked.
    asked: BTreeMap<(ClientId, RequestId), u32>,
    /// What hosts have said that are not in the table yet.
    early: BTreeMap<u32, Vec<Between>>,
    /// Lists that several hosts add to.
    gathered: BTreeMap<(ClientId, RequestId), Gathered>,
    /// Hosts that want to hear of the end of tasks of this one.
    wanted: BTreeMap<Tid, BTreeSet<u32>>,
}

struct Gathered {
    rows: Vec<TaskRow>,
    missing: BTreeSet<u32>,
}

impl Others {
    pub(super) fn begin(&mut self, own: HostRecord, others: Vec<HostRecord>) {
        // One that was invited by others agrees with them from the beginning.
        self.agrees = !others.is_empty();
        self.arrived = others.is_empty();
        self.known_to_have_arrived = self.arrived;
        (self.me, self.life) = (own.number, own.life);
        self.watch_is_stale = true;
        self.agreed.last_life = own.life;
        self.home = others.first().cloned();
        for host in others.into_iter().chain([own]) {
            self.agreed.hosts.insert(Rc::new(host));
        }
    }

    pub(super) fn knows(&self, host: u32) -> bool {
        self.agreed.hosts.get(host).is_some()
    }

    pub(super) fn rows(&self) -> Vec<HostRow> {
        self.records().map(|host| host.row.clone()).collect()
    }

    pub(super) fn records(&self) -> impl Iterator<Item = &HostRecord> {
        self.agreed.hosts.iter()
    }

    pub(super) fn is_alone(&self) -> bool {
        self.agreed.hosts.len() == 1
    }

    fn peers(&self) -> Vec<u32> {
        self.agreed.hosts.numbers().filter(|host| *host != self.me).collect()
    }

    fn members(&self) -> Vec<Member> {
        self.records().map(|host| Member { life: host.life, host: host.number }).collect()
    }

    /// What each host has said of its load.
    pub(super) fn told_loads(&self) -> Vec<(Tid, u32)> {
        self.records().filter_map(|host| Some((host.row.tid, *self.loads.get(&host.number)?))).collect()
    }

    /// How busy a host is, in hundredths of its processors, if it has said so.
    pub(super) fn load(&self, host: u32) -> Option<u32> {
        let cpus = self.agreed.hosts.get(host).map_or(1, |host| host.row.cpus.max(1));
        self.loads.get(&host).map(|load| load / cpus)
    }
}

impl<F: Clone> Machine<F> {
    pub(super) fn own_record(&self) -> HostRecord {
        let Config { number, life, addresses, .. } = &self.config;
        HostRecord { number: *number, life: *life, row: self.host_row(), addresses: addresses.clone() }
    }

    /// The host that is adding this one, which has not arrived yet.
    pub fn home(&self) -> Option<HostRecord> {
        self.others.home.clone().filter(|_| !self.others.arrived)
    }

    /// The number, the life and the name of this host.
    pub fn identity(&self) -> (u32, u64, String) {
        (self.config.number, self.config.life, self.config.host.clone())
    }

    /// Whether nothing passes between hosts in clear.
    pub fn encrypts(&self) -> bool {
        self.config.encrypt
    }

    /// Other daemons reach this one there from now on.
    pub fn set_addresses(&mut self, addresses: Vec<String>) {
        self.config.addresses = addresses;
        self.renew_own_record();
    }

    /// What is known of this host has changed. Others know it as it was when it came.
    pub(super) fn renew_own_record(&mut self) {
        let own = self.own_record();
        self.others.agreed.hosts.insert(Rc::new(own));
    }

    /// The hosts of the machine as this daemon knows them.
    pub fn hosts(&self) -> Vec<HostRecord> {
        self.others.records().cloned().collect()
    }

    /// One of them.
    pub fn host(&self, number: u32) -> Option<HostRecord> {
        self.others.agreed.hosts.get(number).cloned()
    }

    /// Hosts of the machine that do not answer.
    pub fn silent_hosts(&self) -> Vec<HostRecord> {
        self.others.records().filter(|host| self.others.silent.contains(&host.number)).cloned().collect()
    }
}
