//! How busy the hosts are.
//!
//! Each host tells the voters. The voters are therefore connected with all hosts, and the next leader knows what the last
//! leader knew. The leader passes changes on, many loads in one word. Each host therefore hears from a few hosts.

use super::*;

/// So much time is between two words about loads for each host that gets them: a thousand such words in a second, and no
/// more, leave the leader.
const FOR_EACH: Now = 1_000_000;

impl<F: Clone> Machine<F> {
    pub(in crate::state) fn note_load(&mut self, load: u32) {
        if std::mem::replace(&mut self.load, load) != load {
            self.on_load(self.config.number, load);
            self.notify_load(&self.others.voters.clone());
        }
    }

    /// One that has not arrived yet reads of voters that are long gone: it tells those of today when it has.
    pub(super) fn notify_load(&mut self, hosts: &[u32]) {
        if !self.others.arrived {
            return;
        }
        for host in hosts {
            self.say(*host, Between::Load(self.load));
        }
    }

    /// These hosts' daemons vote from now on.
    pub(in crate::state) fn vote(&mut self, voters: Vec<u32>) {
        let before = std::mem::replace(&mut self.others.voters, voters);
        self.others.watch_is_stale = true;
        let new: Vec<u32> =
            self.others.voters.iter().copied().filter(|voter| !before.contains(voter)).collect();
        self.notify_load(&new);
    }

    /// A host says how busy it is.
    pub(super) fn on_load(&mut self, host: u32, load: u32) {
        let before = self.others.loads.insert(host, load).unwrap_or(0);
        if before != load {
            self.others.untold.insert(host);
            self.pass_loads_on();
        }
    }

    /// Who leads says how busy others are.
    pub(super) fn on_loads(&mut self, loads: Vec<(u32, u32)>) {
        for (host, load) in loads {
            if host != self.config.number {
                self.others.loads.insert(host, load);
            }
            self.others.untold.remove(&host);
        }
    }

    /// Who leads tells the others, in a while.
    pub(super) fn pass_loads_on(&mut self) {
        if self.others.standing == Standing::Leading && !self.others.untold.is_empty() {
            let wait = FOR_EACH * self.others.agreed.hosts.len() as Now;
            self.others.loads_at.get_or_insert(self.now + wait);
            self.deadline_changed = true;
        }
    }

    /// It is time to tell all others of loads.
    pub(in crate::state) fn notify_loads(&mut self) {
        self.others.loads_at = None;
        let untold = std::mem::take(&mut self.others.untold);
        let loads: Vec<_> =
            untold.into_iter().filter_map(|host| Some((host, *self.others.loads.get(&host)?))).collect();
        if self.others.standing == Standing::Leading && !loads.is_empty() {
            self.say_to_all(&Between::Loads(loads));
        }
    }

    /// A host has come: else all would count as idle for it.
    pub(super) fn notify_loads_to(&mut self, host: u32) {
        if self.others.standing != Standing::Leading {
            return;
        }
        let busy = self.others.loads.iter().filter(|(_, load)| **load > 0);
        let loads: Vec<_> = busy.map(|(host, load)| (*host, *load)).collect();
        if !loads.is_empty() {
            self.say(host, Between::Loads(loads));
        }
    }
}
