//! Hosts come and go. This release has one: the daemon's own.

use super::*;

impl<F: Clone> Machine<F> {
    pub(super) fn add_hosts(&mut self, client: ClientId, id: RequestId, hosts: Vec<String>) {
        let judge = |name: String| {
            Err(match name.as_str() {
                "" => Failure::new(ErrorKind::BadParameter, "a host without a name"),
                name if self.is_own_name(name) => Failure::new(ErrorKind::DuplicateHost, name),
                name => Failure::new(ErrorKind::CannotStart, name),
            })
        };
        let results = hosts.into_iter().map(judge).collect();
        self.reply(client, id, Reply::HostResults(results));
    }

    pub(super) fn remove_hosts(&mut self, client: ClientId, id: RequestId, hosts: Vec<String>) {
        let judge = |name: String| {
            Err(if self.is_own_name(&name) {
                // The first host is the machine: PVM's answer as well.
                Failure::new(ErrorKind::BadParameter, "the first host ends with the machine")
            } else {
                Failure::new(ErrorKind::NoSuchHost, name)
            })
        };
        let results = hosts.into_iter().map(judge).collect();
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
