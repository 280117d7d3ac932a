//! Hosts come and go. The home does it, and tells all.

use super::*;

/// A request to add hosts that is under way: one result for each host, in order.
pub(super) struct Addition {
    client: ClientId,
    id: RequestId,
    results: Vec<(u32, Option<Result<Tid, Failure>>)>,
}

impl<F: Clone> Machine<F> {
    /// Starts daemons on other hosts, all at once.
    pub(super) fn add_hosts(&mut self, client: ClientId, id: RequestId, hosts: Vec<String>) {
        let mut results = Vec::new();
        for name in hosts {
            results.push(match self.begin_to_add(name) {
                Ok(number) => (number, None),
                Err(why) => (0, Some(Err(why))),
            });
        }
        self.others.additions.push(Addition { client, id, results });
        self.finish_additions();
    }

    fn begin_to_add(&mut self, name: String) -> Result<u32, Failure> {
        if self.halting.is_some() {
            return Err(ErrorKind::GoingDown.into());
        }
        // A hostfile's options may follow the name.
        let Some(name) = name.split_whitespace().next().map(str::to_owned) else {
            return Err(Failure::new(ErrorKind::BadParameter, "a host without a name"));
        };
        if name.starts_with('-') {
            return Err(Failure::new(ErrorKind::BadParameter, format!("{name} is no name of a host")));
        }
        let known = |host: &HostRecord| host.row.name == name;
        let begun = self.others.fetching.values().any(|other| *other == name);
        if begun || self.others.records().any(known) || self.is_own_name(&name) {
            return Err(Failure::new(ErrorKind::DuplicateHost, name));
        }
        let taken = |number: u32| self.others.knows(number) || self.others.fetching.contains_key(&number);
        // Above this host, the home: a newcomer must not take its place. Above all others if there is
        // room, so that who has been here longest is next.
        let highest =
            self.others.records().map(|host| host.number).chain(self.others.fetching.keys().copied()).max();
        let above = highest.unwrap_or(self.config.number) + 1..=Tid::MAX_HOST;
        let mut free = above.chain(self.config.number + 1..=Tid::MAX_HOST).filter(|number| !taken(*number));
        let number = free.next().ok_or_else(|| {
            Failure::new(ErrorKind::OutOfResources, format!("{} hosts are the bound", Tid::MAX_HOST))
        })?;
        self.others.last_life += 1;
        let life = self.others.last_life;
        self.others.fetching.insert(number, name.clone());
        self.effects.push(Effect::Fetch { number, life, name });
        Ok(number)
    }

    /// A daemon on another host has started and is connected with this one; or it is not.
    pub(super) fn fetched(&mut self, number: u32, result: Result<HostRecord, Failure>) {
        if self.others.fetching.remove(&number).is_none() {
            return;
        }
        let result = result.and_then(|host| self.take_in(number, host));
        for addition in &mut self.others.additions {
            for (waiting, slot) in &mut addition.results {
                if *waiting == number && slot.is_none() {
                    *slot = Some(result.clone());
                }
            }
        }
        self.finish_additions();
    }

    fn take_in(&mut self, number: u32, host: HostRecord) -> Result<Tid, Failure> {
        if self.halting.is_some() {
            return Err(ErrorKind::GoingDown.into());
        }
        let tid = Tid::new(number, 0).expect("chosen in range");
        let mut hosts = self.table();
        hosts.insert(number, HostRecord { number, row: HostRow { tid, ..host.row }, ..host });
        self.publish_table(hosts);
        Ok(tid)
    }

    fn finish_additions(&mut self) {
        let whole = |addition: &Addition| addition.results.iter().all(|(_, result)| result.is_some());
        while let Some(at) = self.others.additions.iter().position(whole) {
            let Addition { client, id, results } = self.others.additions.remove(at);
            let results = results.into_iter().filter_map(|(_, result)| result).collect();
            self.reply(client, id, Reply::HostResults(results));
        }
    }

    pub(super) fn remove_hosts(&mut self, client: ClientId, id: RequestId, names: Vec<String>) {
        let mut hosts = self.table();
        let mut results = Vec::new();
        for name in names {
            let found = self
                .others
                .records()
                .find(|host| host.row.name == name || host.row.tid.0.to_string() == name);
            let own = self.is_own_name(&name) || found.is_some_and(|host| host.number == self.config.number);
            results.push(match found.map(|host| host.row.tid) {
                // The home is the machine: PVM's answer as well.
                _ if own => {
                    Err(Failure::new(ErrorKind::BadParameter, "the first host ends with the machine"))
                }
                Some(tid) => hosts.remove(&tid.host()).map(|_| tid).ok_or(ErrorKind::NoSuchHost.into()),
                None => Err(Failure::new(ErrorKind::NoSuchHost, name)),
            });
        }
        if results.iter().any(Result::is_ok) {
            self.publish_table(hosts);
        }
        self.reply(client, id, Reply::HostResults(results));
    }

    pub(super) fn clock(&mut self, client: ClientId, id: RequestId, host: Tid) {
        if host.daemon() != self.daemon_tid() {
            return self.refuse(client, id, Failure::new(ErrorKind::NoSuchHost, host.to_string()));
        }
        let (seconds, nanoseconds) = (self.config.clock)();
        self.reply(client, id, Reply::Clock { seconds, nanoseconds });
    }

    fn is_own_name(&self, name: &str) -> bool {
        let is_loopback = |address: std::net::IpAddr| address.is_loopback();
        name == self.config.host || name == "localhost" || name.parse().is_ok_and(is_loopback)
    }
}
