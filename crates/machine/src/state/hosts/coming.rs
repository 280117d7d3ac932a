//! Hosts come and go: the table changes by agreement, and who leads starts the daemons.

use super::*;
use serde::{Deserialize, Serialize};

/// So many words of a host wait until it is in the table.
pub(super) const EARLY: usize = 1024;

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
    results: Vec<(u32, Option<Result<Tid, Failure>>)>,
}

impl<F: Clone> Machine<F> {
    /// Starts daemons on other hosts, all at once.
    pub(in crate::state) fn add_hosts(&mut self, client: ClientId, id: RequestId, hosts: Vec<String>) {
        let mut results = Vec::new();
        for name in hosts {
            results.push(match self.begin_to_add(name) {
                Ok(number) => (number, None),
                Err(why) => (0, Some(Err(why))),
            });
        }
        self.others.agreed.additions.push(Addition { client, id, results });
        self.finish_additions();
    }

    fn begin_to_add(&mut self, name: String) -> Result<u32, Failure> {
        let (name, start) = name_and_start(&name);
        if name.is_empty() {
            return Err(Failure::new(ErrorKind::BadParameter, "a host without a name"));
        }
        if name.starts_with('-') {
            return Err(Failure::new(ErrorKind::BadParameter, format!("{name} is no name of a host")));
        }
        let table = &self.others.agreed;
        let known = table.hosts.values().any(|host| host.row.name == name);
        if known || table.fetching.values().any(|other| other.name == name) || is_this_host(&name) {
            return Err(Failure::new(ErrorKind::DuplicateHost, name));
        }
        let taken = |number: &u32| table.hosts.contains_key(number) || table.fetching.contains_key(number);
        // Above all others if there is room, so that a number is not used again soon.
        let highest = table.hosts.keys().chain(table.fetching.keys()).max().copied().unwrap_or(0);
        let mut free = (highest + 1..=Tid::MAX_HOST).chain(1..=Tid::MAX_HOST).filter(|number| !taken(number));
        let number = free.next().ok_or_else(|| {
            Failure::new(ErrorKind::OutOfResources, format!("{} hosts are the bound", Tid::MAX_HOST))
        })?;
        let table = &mut self.others.agreed;
        table.last_life += 1;
        let life = table.last_life;
        // Who leads does it, unless it is on its way out and would not see the end of it.
        let leader = self.others.leader;
        let lives = || table.hosts.values().map(|host| host.life);
        let by = lives().find(|life| *life == leader).or_else(|| lives().min()).unwrap_or(leader);
        table.fetching.insert(number, Fetching { life, name: name.clone(), by });
        if by == self.config.life {
            self.effects.push(Effect::Fetch { number, life, name, start });
        }
        Ok(number)
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
        self.propose(Change::Fetched { number, life, result });
    }

    /// Of the hosts that one which is out has begun to start nobody will tell what came of it.
    fn give_up_fetches_of_the_gone(&mut self) {
        let table = &self.others.agreed;
        let is_gone = |by: u64| table.hosts.values().all(|host| host.life != by);
        let orphans = table.fetching.iter().filter(|(_, host)| is_gone(host.by));
        for (number, life) in orphans.map(|(number, host)| (*number, host.life)).collect::<Vec<_>>() {
            let why = Failure::new(ErrorKind::HostLost, "the host that was adding it; add it again");
            self.have_fetched(number, life, Err(why));
        }
    }

    pub(super) fn have_fetched(&mut self, number: u32, life: u64, result: Result<HostRecord, Failure>) {
        let table = &mut self.others.agreed;
        if table.fetching.get(&number).is_none_or(|host| host.life != life) {
            return;
        }
        table.fetching.remove(&number);
        match result {
            Ok(host) => {
                let mut hosts = table.hosts.clone();
                let tid = Tid::new(number, 0).expect("chosen in range");
                let row = HostRow { tid, ..host.row };
                hosts.insert(number, HostRecord { number, life, row, ..host });
                self.change_table(hosts);
            }
            Err(why) => {
                // Should its daemon come all the same, it must not stay.
                self.effects.push(Effect::Forget { host: number, life });
                self.settle_addition(number, Err(why));
            }
        }
    }

    /// A host that has come has all that is kept: it was added.
    pub(super) fn have_arrived(&mut self, number: u32) {
        if let Some(host) = self.others.agreed.hosts.get(&number) {
            self.settle_addition(number, Ok(host.row.tid));
        }
    }

    fn settle_addition(&mut self, number: u32, result: Result<Tid, Failure>) {
        for addition in &mut self.others.agreed.additions {
            for (waiting, slot) in &mut addition.results {
                if *waiting == number && slot.is_none() {
                    *slot = Some(result.clone());
                }
            }
        }
        self.finish_additions();
    }

    fn finish_additions(&mut self) {
        let whole = |addition: &Addition| addition.results.iter().all(|(_, result)| result.is_some());
        while let Some(at) = self.others.agreed.additions.iter().position(whole) {
            let Addition { client, id, results } = self.others.agreed.additions.remove(at);
            let results = results.into_iter().filter_map(|(_, result)| result).collect();
            self.reply(client, id, Reply::HostResults(results));
        }
    }

    pub(in crate::state) fn remove_hosts(&mut self, client: ClientId, id: RequestId, names: Vec<String>) {
        let mut hosts = self.others.agreed.hosts.clone();
        let mut results = Vec::new();
        for name in names {
            let found = self
                .others
                .records()
                .find(|host| host.row.name == name || host.row.tid.0.to_string() == name);
            results.push(match found {
                Some(host) if hosts.len() == 1 && hosts.contains_key(&host.number) => {
                    let why = format!("{name} is the last host of the machine: it ends with `parvum down`");
                    Err(Failure::new(ErrorKind::BadParameter, why))
                }
                Some(host) => {
                    hosts.remove(&host.number).map(|_| host.row.tid).ok_or(ErrorKind::NoSuchHost.into())
                }
                None => Err(Failure::new(ErrorKind::NoSuchHost, name)),
            });
        }
        if results.iter().any(Result::is_ok) {
            self.change_table(hosts);
        }
        self.reply(client, id, Reply::HostResults(results));
    }

    /// These are the hosts of the machine from now on.
    pub(super) fn change_table(&mut self, hosts: BTreeMap<u32, HostRecord>) {
        let before = std::mem::replace(&mut self.others.agreed.hosts, hosts);
        self.effects.push(Effect::Members(self.others.members()));
        self.give_up_fetches_of_the_gone();
        let is_in = self.others.number_of(self.config.life).is_some();
        if !self.others.arrived && !is_in {
            // What this host is told now was before its time.
            return;
        }
        for (host, record) in &before {
            let stays = self.others.agreed.hosts.get(host).is_some_and(|now| now.life == record.life);
            if !stays && *host != self.config.number {
                self.part_with(*host, record.life);
                let why = Failure::new(ErrorKind::HostLost, &record.row.name);
                self.settle_addition(*host, Err(why));
            }
        }
        let is_new = |record: &&HostRecord| {
            before.get(&record.number).is_none_or(|known| known.life != record.life)
                && record.number != self.config.number
        };
        let newcomers: Vec<_> =
            self.others.records().filter(is_new).map(|record| (record.number, record.row.tid)).collect();
        for (host, tid) in &newcomers {
            self.tell_of_addition(*tid);
            for word in self.others.early.remove(host).unwrap_or_default() {
                self.hear(*host, word);
            }
        }
        if !newcomers.is_empty() {
            // They have not heard how busy this host is, else it would count as idle.
            self.say_to_all(&Between::Load(self.load));
        }
        if is_in && !std::mem::replace(&mut self.others.arrived, true) {
            self.propose(Change::Arrived);
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

/// Whether a name means the host itself, whichever it is.
fn is_this_host(name: &str) -> bool {
    let is_loopback = |address: std::net::IpAddr| address.is_loopback();
    name == "localhost" || name.parse().is_ok_and(is_loopback)
}

/// A host's name, and what follows it: other options of a hostfile are not for this.
fn name_and_start(line: &str) -> (String, Starting) {
    let (words, by) = line.split_once(" by=").map_or((line, None), |(words, by)| (words, Some(by)));
    let mut words = words.split_whitespace();
    let name = words.next().unwrap_or_default().to_owned();
    let program = words.find_map(|word| word.strip_prefix("parvum=")).map(str::to_owned);
    (name, Starting { by: by.map(|by| by.trim().to_owned()), program })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_follow_the_name() {
        let start = |by: Option<&str>, program: Option<&str>| Starting {
            by: by.map(str::to_owned),
            program: program.map(str::to_owned),
        };
        assert_eq!(name_and_start("beta"), ("beta".into(), start(None, None)));
        assert_eq!(name_and_start("beta dx=/x sp=10"), ("beta".into(), start(None, None)));
        let line = "beta parvum=/opt/bin/parvum by=rsh -l me {host}";
        assert_eq!(
            name_and_start(line),
            ("beta".into(), start(Some("rsh -l me {host}"), Some("/opt/bin/parvum")))
        );
        assert_eq!(name_and_start("  "), (String::new(), start(None, None)));
    }
}
