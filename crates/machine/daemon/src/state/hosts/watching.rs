//! Which hosts this daemon checks all the time, and who else is asked when a host does not answer.
//!
//! Each daemon watches the two hosts after its own in the ring of host numbers. The voters watch the leader. A daemon
//! also watches the hosts of tasks that are joined with its tasks. Without such tasks, the number does not grow with the virtual
//! machine.
//!
//! A daemon that gets no answer for a moment tells the leader its doubt. The leader asks the silent host itself. If the
//! leader gets no answer either, it asks all hosts once. Many hosts may have died together with all hosts that watched
//! them. A voter that gets no answer from the leader also asks all hosts, because it may lead next.
//!
//! Each daemon also asks the voters: the silence may mean that this host is cut off. A daemon that doubts a voter tells
//! the hosts that watch its own host, because they may be cut off too. A voter that doubts the leader tells the other
//! voters. They tell the leader, which may still reach them and not the voter.

use super::*;

/// The number of hosts of the ring that each daemon watches.
const AFTER: usize = 2;
/// A daemon asks all hosts at most once in this time. It passes doubts on as rarely.
const BETWEEN_SURVEYS: Now = 2_000_000_000;

impl Others {
    /// All other hosts in the order of the ring, from the one after this host.
    fn ring(&self) -> impl DoubleEndedIterator<Item = u32> {
        let (before, after): (Vec<u32>, Vec<u32>) =
            self.agreed.hosts.numbers().filter(|host| *host != self.me).partition(|host| *host < self.me);
        after.into_iter().chain(before)
    }

    /// The hosts that this one watches in the ring.
    fn after(&self) -> impl Iterator<Item = u32> {
        self.ring().take(AFTER)
    }

    /// The hosts that watch this one in the ring.
    fn before(&self) -> impl Iterator<Item = u32> {
        self.ring().rev().take(AFTER)
    }

    /// The leader, if this host votes and another leads.
    fn leader_of_voter(&self) -> Option<u32> {
        match self.standing {
            Standing::Following(leader) if self.votes() && self.knows(leader) => Some(leader),
            _ => None,
        }
    }

    /// Whether the daemon of this host is one of the voters.
    fn votes(&self) -> bool {
        self.voters.contains(&self.me)
    }
}

impl<F: Clone> Machine<F> {
    /// The hosts that this daemon checks all the time, if they are others than when this was last asked.
    pub fn take_watched(&mut self) -> Option<BTreeSet<u32>> {
        if !std::mem::take(&mut self.others.watch_is_stale) {
            return None;
        }
        let watched = self.watched();
        (watched != self.others.watched).then(|| {
            self.others.watched.clone_from(&watched);
            watched
        })
    }

    fn watched(&self) -> BTreeSet<u32> {
        let joined = self.tasks.values().flat_map(|task| &task.peers).map(|tid| tid.host());
        let joined = joined.filter(|host| *host != self.config.number && self.others.knows(*host));
        self.others.after().chain(self.others.leader_of_voter()).chain(joined).collect()
    }

    /// A host has left a question of this daemon unanswered.
    pub(in crate::state) fn host_doubtful(&mut self, host: u32) {
        if !self.others.knows(host) || host == self.config.number {
            return;
        }
        if self.others.voters.contains(&host) {
            self.pass_doubt_on(host);
        }
        match self.others.standing {
            Standing::Leading => return self.survey(),
            // This one may lead soon, and then has to know who else is silent.
            Standing::Following(leader) if leader == host && self.others.votes() => return self.survey(),
            Standing::Following(leader) if leader != host => {
                self.say(leader, Between::Doubt(host));
            }
            Standing::Following(_) | Standing::Waiting | Standing::Minority => {}
        }
        self.probe_voters(host);
    }

    /// Tells the hosts that watch this one, because they may be cut off with it. A voter that doubts the leader also tells
    /// the other voters, which the leader may reach.
    fn pass_doubt_on(&mut self, voter: u32) {
        if self.others.doubted.is_some_and(|last| self.now < last + BETWEEN_SURVEYS) {
            return;
        }
        self.others.doubted = Some(self.now);
        let me = self.config.number;
        let mut hosts: BTreeSet<u32> = self.others.before().collect();
        if self.others.standing == Standing::Following(voter) && self.others.votes() {
            hosts.extend(&self.others.voters);
        }
        for host in hosts.into_iter().filter(|host| ![voter, me].contains(host)) {
            self.say(host, Between::Doubt(voter));
        }
    }

    /// Another daemon gets no answer from a host. If this daemon leads, it asks the host itself.
    pub(super) fn on_doubt(&mut self, from: u32, host: u32) {
        if !self.others.knows(host) {
            return;
        }
        match self.others.standing {
            Standing::Leading => self.probe(vec![host]),
            // The leader may have lost that daemon without knowing.
            Standing::Following(leader) if leader == host => {
                self.say(leader, Between::Doubt(from));
                self.probe_voters(from);
            }
            _ if self.others.voters.contains(&host) => self.probe_voters(from),
            _ => {}
        }
    }

    fn probe_voters(&mut self, but: u32) {
        self.probe(self.others.voters.iter().copied().filter(|voter| *voter != but).collect());
    }

    /// Asks all hosts for a sign of life.
    pub(super) fn survey(&mut self) {
        if self.others.surveyed.is_some_and(|last| self.now < last + BETWEEN_SURVEYS) {
            return;
        }
        self.others.surveyed = Some(self.now);
        self.probe(self.others.peers());
    }

    fn probe(&mut self, hosts: Vec<u32>) {
        let mut hosts = hosts;
        hosts.retain(|host| *host != self.config.number);
        if !hosts.is_empty() {
            self.effects.push(Effect::Probe(hosts));
        }
    }
}
