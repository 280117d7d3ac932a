//! Hosts come and go: the table changes by agreement, and who leads starts the daemons.

use super::table::Hosts;
use super::*;
use parvum_wire::control::HostOptions;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// So many words of a host wait until it is in the table.
pub(super) const EARLY: usize = 1024;

/// Hosts that come within this time come by one change, when others are still on their way: each change of the table goes to
/// all hosts, and changes who agrees.
const TOGETHER: Now = 1_000_000_000;

/// A host that is being started.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Fetching {
    life: u64,
    /// What its users call it.
    name: String,
    /// The life that starts it.
    by: u64,
}

/// A request to add hosts that is under way: one result for each host, in order.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Addition {
    client: ClientId,
    id: RequestId,
    results: Vec<Option<Result<Tid, Failure>>>,
    /// Which result is that of which host.
    missing: BTreeMap<u32, usize>,
}

impl<F: Clone> Machine<F> {
    /// Starts daemons on other hosts, all at once.
    pub(in crate::state) fn add_hosts(&mut self, client: ClientId, id: RequestId, hosts: Vec<String>) {
        let mut names = self.names_of_hosts();
        let (mut results, mut missing) = (Vec::new(), BTreeMap::new());
        let mut for_hoster = Vec::new();
        for (at, name) in hosts.into_iter().enumerate() {
            results.push(match self.start_to_add(name, &mut names, &mut for_hoster) {
                Ok(number) => {
                    missing.insert(number, at);
                    None
                }
                Err(why) => Some(Err(why)),
            });
        }
        if !for_hoster.is_empty() {
            self.effects.push(Effect::Host(for_hoster));
        }
        self.others.agreed.additions.push(Addition { client, id, results, missing });
        self.finish_additions();
    }

    fn start_to_add(
        &mut self,
        line: String,
        names: &mut HashSet<String>,
        for_hoster: &mut Vec<Wanted>,
    ) -> Result<u32, Failure> {
        // All hosts come to the same: none of them looks at its own variables here.
        let (name, _) = HostOptions::of_line(&line, &|_| Some("1".into()))
            .map_err(|why| Failure::new(ErrorKind::BadParameter, why))?;
        if name.is_empty() {
            return Err(Failure::new(ErrorKind::BadParameter, "a host without a name"));
        }
        if name.starts_with('-') {
            return Err(Failure::new(ErrorKind::BadParameter, format!("{name} is no name of a host")));
        }
        if names.contains(&name) || is_this_host(&name) {
            return Err(Failure::new(ErrorKind::DuplicateHost, name));
        }
        // Who leads does it, unless it is on its way out and would not see the end of it.
        let leader = self.others.leader;
        let lives = || self.others.agreed.hosts.iter().map(|host| host.life);
        let by = lives().find(|life| *life == leader).or_else(|| lives().min()).unwrap_or(leader);
        let (number, life) = self.reserve(&name, by)?;
        names.insert(name.clone());
        if by == self.config.life {
            self.others.fetches.insert(life);
            let known = &self.config.settings.known;
            let line_of = |wanted: &str| known.iter().find(|(host, _)| host == wanted);
            let known = line_of(&name).or_else(|| line_of(HostSettings::ANY));
            let known = known.map(|(_, options)| options.clone()).unwrap_or_default();
            let start = Starting { line, known };
            let wanted = Wanted { number, life, name, start };
            match self.parts.hoster {
                Some(_) => for_hoster.push(wanted),
                None => self.effects.push(Effect::Fetch(Box::new(wanted))),
            }
        }
        Ok(number)
    }

    /// The names of all hosts, and of the hosts that are on their way.
    pub(super) fn names_of_hosts(&self) -> HashSet<String> {
        let table = &self.others.agreed;
        let there = table.hosts.iter().map(|host| &host.row.name);
        there.chain(table.fetching.values().map(|host| &host.name)).cloned().collect()
    }

    /// Reserves the number and the life of a host that the daemon of the life `by` brings in.
    pub(super) fn reserve(&mut self, name: &str, by: u64) -> Result<(u32, u64), Failure> {
        let table = &self.others.agreed;
        let taken = |number: &u32| table.hosts.get(*number).is_some() || table.fetching.contains_key(number);
        // Tasks of a lost host are remembered by its number. So a number is used again only after all other numbers.
        let next = (table.last_life % u64::from(Tid::MAX_HOST)) as u32 + 1;
        let mut free = (next..=Tid::MAX_HOST).chain(1..next).filter(|number| !taken(number));
        let number = free.next().ok_or_else(|| {
            Failure::new(ErrorKind::OutOfResources, format!("{} hosts are the bound", Tid::MAX_HOST))
        })?;
        let table = &mut self.others.agreed;
        table.last_life += 1;
        let life = table.last_life;
        table.fetching.insert(number, Fetching { life, name: name.to_owned(), by });
        Ok((number, life))
    }

    /// A daemon on another host has started and is connected with this one; or it is not.
    pub(in crate::state) fn fetched(
        &mut self,
        number: u32,
        life: u64,
        mut result: Result<HostRecord, Failure>,
    ) {
        if self.halting.is_some() {
            result = Err(ErrorKind::GoingDown.into());
        }
        let others = &mut self.others;
        others.fetched.push(Fetched { number, life, result: result.map(Rc::new) });
        if others.fetched.len() >= others.fetches.len() {
            // Nobody else is on the way.
            self.notify_fetched();
        } else {
            others.fetched_until.get_or_insert(self.now + TOGETHER);
            self.deadline_changed = true;
        }
    }

    /// All hear of the hosts that have come.
    pub(in crate::state) fn notify_fetched(&mut self) {
        self.others.fetched_until = None;
        let fetched = std::mem::take(&mut self.others.fetched);
        for Fetched { life, .. } in &fetched {
            self.others.fetches.remove(life);
        }
        if !fetched.is_empty() {
            self.propose(Change::Fetched(fetched));
        }
    }

    /// Of the hosts that one which is out has begun to start nobody will tell what came of it.
    pub(super) fn give_up_fetches_of_the_gone(&mut self) {
        let table = &self.others.agreed;
        let is_gone = |by: u64| table.hosts.iter().all(|host| host.life != by);
        let why = Failure::new(
            ErrorKind::HostLost,
            "the host that was adding it is gone from the machine; help: add it again",
        );
        let lost = |(number, host): (&u32, &Fetching)| {
            let (number, life) = (*number, host.life);
            Fetched { number, life, result: Err(why.clone()) }
        };
        let orphans = table.fetching.iter().filter(|(_, host)| is_gone(host.by));
        let orphans: Vec<_> = orphans.map(lost).collect();
        if !orphans.is_empty() {
            self.propose(Change::Fetched(orphans));
        }
    }

    pub(super) fn have_fetched(&mut self, fetched: Vec<Fetched>) {
        let mut come = Vec::new();
        for Fetched { number, life, result } in fetched {
            let fetching = &mut self.others.agreed.fetching;
            if fetching.get(&number).is_none_or(|host| host.life != life) {
                continue;
            }
            fetching.remove(&number);
            match result {
                Ok(host) => come.push(known_as(number, life, host)),
                Err(why) => {
                    // Should its daemon come all the same, it must not stay.
                    self.effects.push(Effect::Forget { host: number, life });
                    self.settle_addition(number, Err(why));
                }
            }
        }
        if !come.is_empty() {
            self.change_table(&[], come);
        }
    }

    /// Who leads hears that this host has all that is kept, until all know it.
    pub(super) fn notify_arrival(&mut self) {
        if !self.others.arrived || self.others.known_to_have_arrived {
            return;
        }
        match self.others.standing {
            Standing::Following(leader) => {
                self.say(leader, Between::Arrived);
            }
            Standing::Leading => self.on_arrival(self.config.number),
            Standing::Waiting | Standing::Minority => {}
        }
    }

    /// A host says so. Those that arrive together are one change.
    pub(super) fn on_arrival(&mut self, host: u32) {
        self.others.arrivals.insert(host);
        let table = &self.others.agreed;
        let waited_for: usize = table.additions.iter().map(|addition| addition.missing.len()).sum();
        if self.others.arrivals.len() + table.fetching.len() >= waited_for {
            self.notify_arrivals();
        } else {
            self.others.arrivals_until.get_or_insert(self.now + TOGETHER);
            self.deadline_changed = true;
        }
    }

    /// All hear of the hosts that have arrived.
    pub(in crate::state) fn notify_arrivals(&mut self) {
        self.others.arrivals_until = None;
        let arrivals = std::mem::take(&mut self.others.arrivals);
        let hosts = &self.others.agreed.hosts;
        let arrived: Vec<_> =
            arrivals.into_iter().filter_map(|host| Some((host, hosts.get(host)?.life))).collect();
        if !arrived.is_empty() {
            self.propose(Change::Arrived(arrived));
        }
    }

    /// Hosts that have come have all that is kept: they were added.
    pub(super) fn have_arrived(&mut self, arrived: &[(u32, u64)]) {
        for (number, life) in arrived {
            let hosts = &self.others.agreed.hosts;
            let Some(host) = hosts.get(*number).filter(|host| host.life == *life) else { continue };
            let tid = host.row.tid;
            if self.is_coming(*number) && *life != self.config.life {
                self.notify_addition(tid);
            }
            self.others.known_to_have_arrived |= *life == self.config.life;
            self.settle_addition(*number, Ok(tid));
            self.notify_loads_to(*number);
        }
    }

    /// Whether somebody still waits until this host is added: it is not in the table yet, or has not all that is kept.
    pub(super) fn is_coming(&self, number: u32) -> bool {
        self.others.agreed.additions.iter().any(|addition| addition.missing.contains_key(&number))
    }

    /// Hosts in the table, number and life, that were added when they have arrived.
    pub(super) fn coming(&self) -> Vec<(u32, u64)> {
        let coming =
            self.others.agreed.additions.iter().flat_map(|addition| addition.missing.keys().copied());
        coming.filter_map(|number| Some((number, self.others.agreed.hosts.get(number)?.life))).collect()
    }

    fn settle_addition(&mut self, number: u32, result: Result<Tid, Failure>) {
        for addition in &mut self.others.agreed.additions {
            if let Some(at) = addition.missing.remove(&number) {
                addition.results[at] = Some(result.clone());
            }
        }
        self.finish_additions();
    }

    /// Admits a host that has shown a token to the daemon of the life `by`.
    pub(in crate::state) fn admit_host(
        &mut self,
        client: ClientId,
        id: RequestId,
        name: String,
        guest: u64,
        by: u64,
    ) {
        let is_mine = by == self.config.life;
        let number = check_guest(&name, &self.names_of_hosts()).and_then(|()| self.reserve(&name, by));
        let mut missing = BTreeMap::new();
        let result = match number {
            Ok((number, life)) => {
                missing.insert(number, 0);
                if is_mine {
                    self.others.fetches.insert(life);
                    self.effects.push(Effect::Admit(Box::new(Admitted { guest, number, life, name })));
                }
                None
            }
            Err(why) => {
                if is_mine {
                    self.effects.push(Effect::TurnAway { guest, why: why.clone() });
                }
                Some(Err(why))
            }
        };
        self.others.agreed.additions.push(Addition { client, id, results: vec![result], missing });
        self.finish_additions();
    }

    fn finish_additions(&mut self) {
        let whole = |addition: &Addition| addition.missing.is_empty();
        while let Some(at) = self.others.agreed.additions.iter().position(whole) {
            let Addition { client, id, results, .. } = self.others.agreed.additions.remove(at);
            let results = results.into_iter().flatten().collect();
            self.reply(client, id, Reply::HostResults(results));
        }
    }

    pub(in crate::state) fn remove_hosts(&mut self, client: ClientId, id: RequestId, names: Vec<String>) {
        let (mut results, mut gone) = (Vec::new(), Vec::new());
        for name in names {
            let found = self
                .others
                .records()
                .find(|host| host.row.name == name || host.row.tid.0.to_string() == name);
            let is_named = |host: &HostRecord| gone.contains(&(host.number, host.life));
            let is_last = gone.len() + 1 == self.others.records().count();
            results.push(match found {
                Some(host) if is_named(host) => Err(ErrorKind::NoSuchHost.into()),
                Some(_) if is_last => {
                    let why = format!("{name} is the last host of the machine: it ends with `parvum down`");
                    Err(Failure::new(ErrorKind::BadParameter, why))
                }
                Some(host) => {
                    gone.push((host.number, host.life));
                    Ok(host.row.tid)
                }
                None => Err(Failure::new(ErrorKind::NoSuchHost, name)),
            });
        }
        if !gone.is_empty() {
            self.change_table(&gone, Vec::new());
        }
        self.reply(client, id, Reply::HostResults(results));
    }

    /// Hosts go, each in the life that is meant, and hosts come.
    pub(super) fn change_table(&mut self, gone: &[(u32, u64)], come: Vec<Rc<HostRecord>>) {
        let hosts = &mut self.others.agreed.hosts;
        let there = gone.iter().filter(|(number, life)| hosts.lives(*number, *life)).collect::<Vec<_>>();
        let mut gone: Vec<_> = there.into_iter().filter_map(|(number, _)| hosts.remove(*number)).collect();
        let numbers: Vec<u32> = come.iter().map(|host| host.number).collect();
        gone.extend(come.into_iter().filter_map(|host| hosts.insert(host)));
        if !gone.is_empty() || !numbers.is_empty() {
            self.table_changed(gone, numbers);
        }
    }

    /// These are the hosts of the machine from now on.
    pub(super) fn replace_table(&mut self, hosts: Hosts) {
        let before = std::mem::replace(&mut self.others.agreed.hosts, hosts);
        let now = &self.others.agreed.hosts;
        let gone = before.shared().filter(|host| !now.lives(host.number, host.life)).cloned().collect();
        let come = now.iter().filter(|host| !before.lives(host.number, host.life));
        self.table_changed(gone, come.map(|host| host.number).collect());
    }

    /// These hosts are in the table no more, and these are new.
    fn table_changed(&mut self, gone: Vec<Rc<HostRecord>>, come: Vec<u32>) {
        self.effects.push(Effect::Members(self.others.members()));
        self.others.watch_is_stale = true;
        if self.others.leader == self.config.life {
            self.give_up_fetches_of_the_gone();
        }
        let is_in = self.others.agreed.hosts.lives(self.config.number, self.config.life);
        if !self.others.arrived && !is_in {
            // What this host is told now was before its time.
            return;
        }
        let me = self.config.number;
        for record in gone.iter().filter(|record| record.number != me) {
            self.part_with(record.number, record.life);
            self.notify_manager_of_host(record.row.tid);
            let why = Failure::new(ErrorKind::HostLost, &record.row.name);
            self.settle_addition(record.number, Err(why));
        }
        // Who is still coming was added when it has arrived: it may be lost before.
        let come: Vec<u32> = come.into_iter().filter(|host| *host != me && !self.is_coming(*host)).collect();
        for host in come {
            if let Some(record) = self.others.agreed.hosts.get(host) {
                self.notify_addition(record.row.tid);
            }
        }
        // Some may have come before this one was in, and have spoken meanwhile.
        let early = self.others.early.keys().copied().filter(|host| self.others.knows(*host));
        for host in early.collect::<Vec<_>>() {
            for word in self.others.early.remove(&host).unwrap_or_default() {
                self.hear(host, word);
            }
        }
        if is_in && !std::mem::replace(&mut self.others.arrived, true) {
            self.notify_arrival();
            self.notify_load(&self.others.voters.clone());
        }
    }

    pub(in crate::state) fn clock(&mut self, client: ClientId, id: RequestId, host: Tid) {
        if host.daemon() != self.daemon_tid() {
            return self.refuse(client, id, Failure::new(ErrorKind::NoSuchHost, host.to_string()));
        }
        let (seconds, nanoseconds) = (self.config.clock)();
        self.reply(client, id, Reply::Clock { seconds, nanoseconds });
    }
}

/// A host under the number and for the life that it was given.
fn known_as(number: u32, life: u64, mut host: Rc<HostRecord>) -> Rc<HostRecord> {
    let tid = Tid::new(number, 0).expect("chosen in range");
    if (host.number, host.life, host.row.tid) != (number, life, tid) {
        let host = Rc::make_mut(&mut host);
        (host.number, host.life, host.row.tid) = (number, life, tid);
    }
    host
}

/// Whether a host may join under this name.
fn check_guest(name: &str, names: &HashSet<String>) -> Result<(), Failure> {
    let help = "help: `parvum join --name NAME` sets another name";
    let is_word = |c: char| !c.is_whitespace() && !c.is_control();
    let is_good = (1..=255).contains(&name.len()) && name.chars().all(is_word) && !name.starts_with('-');
    if !is_good || is_this_host(name) {
        let why = format!("{} cannot be the name of a host; {help}", name.escape_debug());
        return Err(Failure::new(ErrorKind::BadParameter, why));
    }
    if names.contains(name) {
        return Err(Failure::new(ErrorKind::DuplicateHost, format!("{name}; {help}")));
    }
    Ok(())
}

/// Whether a name means the host itself, whichever it is.
fn is_this_host(name: &str) -> bool {
    let is_loopback = |address: std::net::IpAddr| address.is_loopback();
    name == "localhost" || name.parse().is_ok_and(is_loopback)
}
