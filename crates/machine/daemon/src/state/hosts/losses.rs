//! Hosts that do not answer, and hosts that are out of the machine.

use super::*;

/// Hosts that are lost within this time were lost by one cause.
const TOGETHER: Now = 250_000_000;

/// The leader mostly finds out by itself which hosts are lost. The others report hosts that are still in the table after
/// this time.
const UNNOTICED: Now = 500_000_000;

/// Of two hosts that do not reach each other for so long after that one must go: three seconds in all.
const APART: Now = 3_000_000_000 - UNNOTICED;

/// Where this daemon was called late lately, others may have been as well: so many times as long they are waited for ...
const FOR_LATENESS: Now = 4;
/// ... and so long at the most, besides what a quiet host gets.
const MOST_GRACE: Now = 10_000_000_000;
/// Who is called less late than this is not busy.
const PUNCTUAL: Now = 50_000_000;

/// Where more processes run or wait than this, in hundredths of its processors, a daemon may be called late any time ...
const CROWDED: u32 = 200;
/// ... and is waited for so much longer.
const FOR_CROWDED: Now = 3_000_000_000;

impl<F: Clone> Machine<F> {
    /// Whether this host is of the smaller part of the machine, where nothing can be agreed.
    pub fn is_in_minority(&self) -> bool {
        self.others.standing == Standing::Minority
    }

    /// How this host stands to the others is not as it was.
    pub(in crate::state) fn stand(&mut self, standing: Standing) {
        let before = std::mem::replace(&mut self.others.standing, standing);
        self.others.watch_is_stale = true;
        match standing {
            Standing::Minority => {
                for (client, id) in std::mem::take(&mut self.others.proposed) {
                    self.refuse(client, id, ErrorKind::Minority);
                }
                self.notify_all_ends();
            }
            Standing::Leading => {
                self.survey();
                self.wait_for_losses();
                // What was said while nobody led, or another did, may be over: the hosts get their time anew to say so.
                let pairs = self.others.apart.keys().flat_map(|(one, other)| [*one, *other]);
                let apart = self.now + APART + self.grace_for(pairs);
                self.others.apart.values_mut().for_each(|until| *until = apart.max(*until));
                self.pass_loads_on();
                self.deadline_changed = true;
                self.give_up_fetches_of_the_gone();
                self.notify_arrival();
            }
            // Another may lead than the one that has heard of them, and of this host.
            Standing::Following(_) => {
                self.wait_for_losses();
                self.notify_arrival();
            }
            Standing::Waiting => {}
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
        // It is reported again and again while it does not answer; the wait for it is one.
        if self.others.silent.insert(host) || self.others.patience.is_none() {
            self.wait_for_losses();
        }
    }

    /// How late this daemon has lately been called at the worst.
    pub(in crate::state) fn note_lateness(&mut self, late: Now) {
        self.others.lateness = late;
    }

    /// How much longer a silent host is waited for because this one is busy: a silent host may be as slow as dead.
    fn grace(&self) -> Now {
        match self.others.lateness {
            late if late < PUNCTUAL => 0,
            late => late.saturating_mul(FOR_LATENESS).min(MOST_GRACE),
        }
    }

    /// How much longer these hosts are waited for: one that has said that it is crowded, or begins just now, may be late itself.
    fn grace_for(&self, hosts: impl IntoIterator<Item = u32>) -> Now {
        let is_slow =
            |host: u32| self.others.load(host).is_some_and(|load| load > CROWDED) || self.is_coming(host);
        self.grace().max(if hosts.into_iter().any(is_slow) { FOR_CROWDED } else { 0 })
    }

    /// A host that was silent is connected again.
    pub(in crate::state) fn host_found(&mut self, host: u32) {
        if self.others.silent.remove(&host) {
            self.notify_leader_of_silence(vec![host], false);
        }
    }

    /// Who leads may reach both this host and those: messages between them would wait for ever.
    fn notify_leader_of_silence(&mut self, hosts: Vec<u32>, silent: bool) {
        if let Standing::Following(leader) = self.others.standing {
            self.say(leader, Between::Silent { hosts, silent });
        }
    }

    /// One host reaches others no more, or again.
    pub(super) fn on_silence(&mut self, one: u32, others: &[u32], silent: bool) {
        let apart = self.now + APART + self.grace_for(others.iter().copied().chain([one]));
        for other in others {
            let pair = (one.min(*other), one.max(*other));
            // Of one that is out already nobody else shall go.
            if silent && self.others.knows(*other) {
                self.others.apart.entry(pair).or_insert(apart);
            } else {
                self.others.apart.remove(&pair);
            }
        }
        self.deadline_changed = true;
    }

    /// When two hosts have been apart for long enough. Where this host reaches one of them no more either, that one is lost,
    /// and the other is not to go for it.
    pub(in crate::state) fn apart_until(&self) -> Option<Now> {
        let leads = self.others.standing == Standing::Leading;
        self.others.apart.values().min().copied().filter(|_| leads)
    }

    /// Of two hosts that are apart the one that came last goes.
    pub(in crate::state) fn part_those_apart(&mut self) {
        if self.others.standing != Standing::Leading {
            return;
        }
        let (now, life) = (self.now, |host: u32| self.others.agreed.hosts.get(host).map(|host| host.life));
        let over = self.others.apart.iter().filter(|(_, until)| **until <= now).map(|(pair, _)| *pair);
        let mut lost = Vec::new();
        let is_silent = |host: u32| self.others.silent.contains(&host);
        for (one, other) in over.clone().filter(|(one, other)| !is_silent(*one) && !is_silent(*other)) {
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
        let wait = match self.others.standing {
            Standing::Leading if self.others.agreed.hosts.len() == 2 => 0,
            Standing::Leading => TOGETHER,
            Standing::Following(_) => UNNOTICED,
            Standing::Waiting | Standing::Minority => return,
        };
        if !self.others.silent.is_empty() {
            self.others.patience = Some(self.now + wait + self.grace_for(self.others.silent.iter().copied()));
            self.deadline_changed = true;
        }
    }

    /// Hosts have been silent for long enough.
    pub(in crate::state) fn settle_losses(&mut self) {
        self.others.patience = None;
        let hosts = &self.others.agreed.hosts;
        let life = |host: &u32| Some((*host, hosts.get(*host)?.life));
        let lost: Vec<_> = self.others.silent.iter().filter_map(life).collect();
        match self.others.standing {
            _ if lost.is_empty() => {}
            Standing::Leading => self.propose(super::Change::Lost(lost)),
            Standing::Following(_) => {
                self.notify_leader_of_silence(lost.into_iter().map(|(host, _)| host).collect(), true);
            }
            // One that reaches too few by now waits; when it reaches enough it looks again.
            Standing::Waiting | Standing::Minority => {}
        }
    }

    /// Hosts are out of the machine; each only in the life that is meant.
    pub(super) fn take_out_hosts(&mut self, lost: &[(u32, u64)]) {
        let lost: Vec<_> = lost.iter().copied().filter(|(_, life)| *life != self.others.leader).collect();
        self.change_table(&lost, Vec::new());
    }

    /// A host is out of the machine, and all its tasks are gone.
    pub(super) fn part_with(&mut self, host: u32, life: u64) {
        self.effects.push(Effect::Forget { host, life });
        self.others.silent.remove(&host);
        self.others.apart.retain(|(one, other), _| *one != host && *other != host);
        self.others.loads.remove(&host);
        self.others.untold.remove(&host);
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
        self.calls.retain(|(from, to, _)| !of_it(from) && !of_it(to));
        self.forget_tasks_of(host);
        self.contexts.free_all_of_host(host);
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
            self.notify_host_watchers(tid);
        }
    }

    fn forget_tasks_of(&mut self, host: u32) {
        let of_it = |tid: &Tid| tid.host() == host && tid.is_task();
        for tid in self.kept_tasks().filter(of_it).collect::<BTreeSet<_>>() {
            if self.parts.manager.is_some_and(|manager| self.is_own(manager)) {
                self.notify_manager_of_end(tid);
            }
            self.forget_task(tid);
        }
        for tid in self.watches.targets().filter(of_it).collect::<Vec<_>>() {
            self.notify_watchers(tid);
        }
    }
}
