//! Hosts that do not answer, and hosts that are out of the machine.

use super::*;

/// Hosts that are lost within this time were lost by one cause.
const TOGETHER: Now = 250_000_000;

/// Of two hosts that do not reach each other for so long one must go.
const APART: Now = 3_000_000_000;

impl<F: Clone> Machine<F> {
    /// Whether this host is of the smaller part of the machine, where nothing can be agreed.
    pub fn is_in_minority(&self) -> bool {
        self.others.standing == Standing::Minority
    }

    /// How this host stands to the others is not as it was.
    pub(in crate::state) fn stand(&mut self, standing: Standing) {
        let before = std::mem::replace(&mut self.others.standing, standing);
        match standing {
            Standing::Minority => {
                for (client, id) in std::mem::take(&mut self.others.proposed) {
                    self.refuse(client, id, ErrorKind::Minority);
                }
                self.tell_of_all_ends();
            }
            Standing::Leading => {
                self.wait_for_losses();
                self.deadline_changed = true;
            }
            Standing::Following | Standing::Waiting => {}
        }
        if before == Standing::Minority {
            // Nothing was proposed meanwhile.
            self.report_the_dead();
        }
    }

    /// A host does not answer, or leaves. Who leads takes it out.
    pub(in crate::state) fn host_lost(&mut self, host: u32) {
        self.others.early.remove(&host);
        if !self.others.knows(host) || host == self.config.number {
            return;
        }
        if self.others.silent.insert(host) {
            self.tell_of_silence(host, true);
        }
        self.wait_for_losses();
    }

    /// A host that was silent is connected again.
    pub(in crate::state) fn host_found(&mut self, host: u32) {
        if self.others.silent.remove(&host) {
            self.tell_of_silence(host, false);
        }
    }

    fn tell_of_silence(&mut self, host: u32, silent: bool) {
        self.hear_of_silence(self.config.number, host, silent);
        for other in self.others.peers() {
            if !self.others.silent.contains(&other) {
                self.say(other, Between::Silent { host, silent });
            }
        }
    }

    /// One host reaches another no more, or again. Who leads may reach both: messages between them would wait for ever.
    pub(super) fn hear_of_silence(&mut self, one: u32, other: u32, silent: bool) {
        let pair = (one.min(other), one.max(other));
        if silent {
            self.others.apart.entry(pair).or_insert(self.now + APART);
        } else {
            self.others.apart.remove(&pair);
        }
        self.deadline_changed = true;
    }

    /// When two hosts have been apart for long enough.
    pub(in crate::state) fn apart_until(&self) -> Option<Now> {
        let leads = self.others.standing == Standing::Leading;
        self.others.apart.values().min().copied().filter(|_| leads)
    }

    /// Of two hosts that are apart the one that came last goes.
    pub(in crate::state) fn part_those_apart(&mut self) {
        if self.others.standing != Standing::Leading {
            return;
        }
        let (now, life) = (self.now, |host: u32| self.others.agreed.hosts.get(&host).map(|host| host.life));
        let over = self.others.apart.iter().filter(|(_, until)| **until <= now).map(|(pair, _)| *pair);
        let mut lost = Vec::new();
        for (one, other) in over.clone() {
            let younger = if life(one) > life(other) { one } else { other };
            lost.extend(life(younger).map(|life| (younger, life)).filter(|host| !lost.contains(host)));
        }
        for pair in over.collect::<Vec<_>>() {
            self.others.apart.remove(&pair);
        }
        if !lost.is_empty() {
            self.propose(super::Change::Lost(lost));
        }
    }

    /// One that is cut off loses all others one after the other, and must count them together.
    fn wait_for_losses(&mut self) {
        if self.others.standing == Standing::Leading && !self.others.silent.is_empty() {
            let wait = if self.others.agreed.hosts.len() == 2 { 0 } else { TOGETHER };
            self.others.patience = Some(self.now + wait);
            self.deadline_changed = true;
        }
    }

    /// Hosts have been silent for long enough.
    pub(in crate::state) fn settle_losses(&mut self) {
        self.others.patience = None;
        // One that reaches too few by now waits; when it reaches enough it looks again.
        if self.others.standing == Standing::Leading && !self.others.silent.is_empty() {
            let silent = self.others.records().filter(|host| self.others.silent.contains(&host.number));
            let lost = silent.map(|host| (host.number, host.life)).collect();
            self.propose(super::Change::Lost(lost));
        }
    }

    /// Hosts are out of the machine; each only in the life that is meant.
    pub(super) fn take_out_hosts(&mut self, lost: &[(u32, u64)]) {
        let mut hosts = self.others.agreed.hosts.clone();
        hosts.retain(|number, host| !lost.contains(&(*number, host.life)) || host.life == self.others.leader);
        self.change_table(hosts);
    }

    /// A host is out of the machine, and all its tasks are gone.
    pub(super) fn part_with(&mut self, host: u32, life: u64) {
        self.effects.push(Effect::Forget { host, life });
        self.others.silent.remove(&host);
        self.others.apart.retain(|(one, other), _| *one != host && *other != host);
        self.others.loads.remove(&host);
        self.others.wanted.values_mut().for_each(|hosts| {
            hosts.remove(&host);
        });
        let of_it = |tid: &Tid| tid.host() == host;
        let mine: Vec<Tid> = self.tasks.keys().copied().collect();
        for tid in mine {
            let Some(task) = self.tasks.get_mut(&tid) else { continue };
            let gone: Vec<Tid> = task.peers.iter().copied().filter(of_it).collect();
            task.peers.retain(|peer| !of_it(peer));
            for peer in gone {
                self.event(tid, Event::Gone { tid: peer, routed: false }, Vec::new());
            }
        }
        self.routed.retain(|(from, to)| !of_it(from) && !of_it(to));
        self.tcp_pairs.retain(|(from, to)| !of_it(from) && !of_it(to));
        self.forget_tasks_of(host);
        let runners: BTreeSet<Tid> =
            self.processes.values().filter_map(|process| process.job).filter(of_it).collect();
        for runner in runners {
            self.end_job(runner);
        }
        for process in self.processes.values_mut() {
            // What it writes goes to the log from now on.
            process.sink = process.sink.filter(|sink| !of_it(&sink.to));
        }
        self.orphan_siblings(host);
        self.fail_parts_on(host);
        self.refuse_questions_to(host);
        if let Some(tid) = Tid::new(host, 0) {
            self.tell_host_watchers(tid);
        }
    }

    fn forget_tasks_of(&mut self, host: u32) {
        let of_it = |tid: &Tid| tid.host() == host && tid.is_task();
        for tid in self.kept_tasks().filter(of_it).collect::<BTreeSet<_>>() {
            if self.parts.manager.is_some_and(|manager| self.is_own(manager)) {
                self.tell_manager_of_end(tid);
            }
            self.forget_task(tid);
        }
        for tid in self.watches.targets().filter(of_it).collect::<Vec<_>>() {
            self.tell_watchers(tid);
        }
    }
}
