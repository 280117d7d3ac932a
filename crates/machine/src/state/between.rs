//! Other hosts: what passes between their daemons and this one.
//!
//! A request about a task is passed on to the daemon of its host, one about what belongs to no host
//! to the *home*: the lowest host of the table. There it is done as if its client were there; the
//! answer comes back. Clients of other hosts have numbers that carry the host.

use super::*;
use parvum_wire::control::{Blob, Notice, Part, TaskRow};
use std::collections::{BTreeSet, VecDeque};

/// A client's number has so many bits; the host's number stands above.
const CLIENT_BITS: u32 = 40;

/// So long after the home is lost another has taken its place, or this is the smaller part.
const SUCCESSION: Now = 3_000_000_000;

/// Hosts that are lost within this time were lost by one cause.
const TOGETHER: Now = 250_000_000;

/// So many words of a host wait until it is in the table.
const EARLY: usize = 1024;

/// The number by which this daemon knows a client of another.
fn client_of(host: u32, client: ClientId) -> ClientId {
    u64::from(host) << CLIENT_BITS | client
}

/// The other host that a client is of, and its number there.
fn origin_of(client: ClientId) -> Option<(u32, ClientId)> {
    let host = (client >> CLIENT_BITS) as u32;
    (host != 0).then_some((host, client & ((1 << CLIENT_BITS) - 1)))
}

/// What is known of the machine's hosts, and what is under way with them.
#[derive(Default)]
pub(super) struct Others {
    me: u32,
    /// All hosts, this one included, by number.
    hosts: BTreeMap<u32, HostRecord>,
    version: u64,
    loads: BTreeMap<u32, u32>,
    /// Requests passed on, by whom they were asked.
    asked: BTreeMap<(ClientId, RequestId), u32>,
    /// Those of them that the home must answer, to be asked again when it is another.
    open: BTreeMap<(ClientId, RequestId), (Option<Tid>, Request)>,
    /// What was done as the home did it, and what was answered; the oldest is forgotten.
    copied: BTreeMap<(ClientId, RequestId), Option<Result<Reply, Failure>>>,
    copied_order: VecDeque<(ClientId, RequestId)>,
    /// Hosts that do not answer and are still in the table.
    silent: BTreeSet<u32>,
    /// Hosts that have lost the home and would follow this one.
    followers: BTreeSet<u32>,
    in_minority: bool,
    /// What hosts have said that are not in the table yet.
    early: BTreeMap<u32, Vec<Between>>,
    /// When the losses so far are settled: by the home itself, or by who takes its place.
    pub(super) patience: Option<Now>,
    /// Lists that several hosts add to.
    gathered: BTreeMap<(ClientId, RequestId), Gathered>,
    /// Hosts that want to hear of the end of tasks of this one.
    wanted: BTreeMap<Tid, BTreeSet<u32>>,
    /// Hosts being started, by number: what their users call them, and who waits.
    pub(super) fetching: BTreeMap<u32, String>,
    pub(super) additions: Vec<super::hosts::Addition>,
    pub(super) last_life: u64,
}

struct Gathered {
    rows: Vec<TaskRow>,
    missing: BTreeSet<u32>,
}

impl Others {
    pub(super) fn begin(&mut self, own: HostRecord, others: Vec<HostRecord>) {
        self.hosts = others.into_iter().map(|host| (host.number, host)).collect();
        self.me = own.number;
        self.last_life = own.life;
        self.hosts.insert(own.number, own);
    }

    pub(super) fn knows(&self, host: u32) -> bool {
        self.hosts.contains_key(&host)
    }

    pub(super) fn rows(&self) -> Vec<HostRow> {
        self.hosts.values().map(|host| host.row.clone()).collect()
    }

    pub(super) fn records(&self) -> impl Iterator<Item = &HostRecord> {
        self.hosts.values()
    }

    /// The host that keeps what belongs to none.
    pub(super) fn home(&self) -> u32 {
        *self.hosts.keys().next().expect("this host is among them")
    }

    pub(super) fn is_home(&self) -> bool {
        self.home() == self.me
    }

    pub(super) fn is_alone(&self) -> bool {
        self.hosts.len() == 1
    }

    fn remember(&mut self, client: ClientId, id: RequestId, reply: Option<Result<Reply, Failure>>) {
        const REMEMBERED: usize = 4096;
        if self.copied.insert((client, id), reply).is_none() {
            self.copied_order.push_back((client, id));
        }
        if self.copied_order.len() > REMEMBERED
            && let Some(oldest) = self.copied_order.pop_front()
        {
            self.copied.remove(&oldest);
        }
    }

    fn peers(&self) -> Vec<u32> {
        self.hosts.keys().copied().filter(|host| *host != self.me).collect()
    }

    /// How busy a host is, in hundredths of its processors.
    pub(super) fn load(&self, host: u32) -> u32 {
        let cpus = self.hosts.get(&host).map_or(1, |host| host.row.cpus.max(1));
        self.loads.get(&host).copied().unwrap_or(0) / cpus
    }
}

impl<F: Clone> Machine<F> {
    pub(super) fn own_record(&self) -> HostRecord {
        let Config { number, life, addresses, .. } = &self.config;
        HostRecord { number: *number, life: *life, row: self.host_row(), addresses: addresses.clone() }
    }

    /// The number, the life and the name of this host.
    pub fn identity(&self) -> (u32, u64, String) {
        (self.config.number, self.config.life, self.config.host.clone())
    }

    /// Other daemons reach this one there from now on.
    pub fn set_addresses(&mut self, addresses: Vec<String>) {
        self.config.addresses = addresses;
        self.renew_own_record();
    }

    /// What is known of this host has changed.
    pub(super) fn renew_own_record(&mut self) {
        let own = self.own_record();
        self.others.hosts.insert(own.number, own);
    }

    /// The hosts of the machine as this daemon knows them.
    pub fn hosts(&self) -> Vec<HostRecord> {
        self.others.records().cloned().collect()
    }

    /// Which other host must answer this request, if one must.
    pub(super) fn elsewhere(&mut self, me: Option<Tid>, request: &Request) -> Option<u32> {
        let host = match request {
            Request::Signal { tid, .. } | Request::Tasks { of: Some(tid) } => tid.host(),
            Request::Clock { host } => host.host(),
            Request::FreeContext { context } => Tid(*context as i32).host(),
            Request::Spawn(plan) => plan.behalf.map_or(0, Tid::host),
            Request::ConnectTcp { to } => return self.who_joins(me?, *to),
            request if is_for_home(request) => self.others.home(),
            _ => return None,
        };
        (host != self.config.number && self.others.knows(host)).then_some(host)
    }

    /// Of two tasks that would connect to each other exactly one does. The daemon of the lower one
    /// settles which, so a request passes there.
    fn who_joins(&mut self, me: Tid, to: Tid) -> Option<u32> {
        let far = !self.is_own(to) && self.others.knows(to.host());
        if far && me < to && !self.tcp_pairs.contains(&(to, me)) {
            self.tcp_pairs.insert((me, to));
        } else if far && me < to {
            return None;
        }
        if far {
            self.link(me, to);
        }
        far.then(|| to.host())
    }

    pub(super) fn pass_on(
        &mut self,
        host: u32,
        client: ClientId,
        id: RequestId,
        me: Option<Tid>,
        request: Request,
    ) {
        self.others.asked.insert((client, id), host);
        if is_for_home(&request) {
            self.others.open.insert((client, id), (me, request.clone()));
        }
        self.say(host, Between::Ask { client, id, me, request });
    }

    /// False when there is no such host.
    pub(super) fn say(&mut self, host: u32, word: Between) -> bool {
        let known = self.others.knows(host) && host != self.config.number;
        if known {
            self.effects.push(Effect::Say { host, word: Box::new(word) });
        }
        known
    }

    pub(super) fn say_to_all(&mut self, word: &Between) {
        for host in self.others.peers() {
            self.say(host, word.clone());
        }
    }

    /// Effects for clients of other hosts become words to their daemons.
    pub(super) fn address_effects(&mut self) -> Vec<Effect<F>> {
        let effects = std::mem::take(&mut self.effects);
        if !effects.iter().any(is_for_another) {
            return effects;
        }
        let me = self.config.number;
        // A client of this host that was one of another's home is one of this again.
        let origin_of = |client| origin_of(client).filter(|(host, _)| *host != me);
        let here = |client: ClientId| client & ((1 << CLIENT_BITS) - 1);
        let answer = |(host, client), id, reply| Effect::Say {
            host,
            word: Box::new(Between::Answer { client, id, reply }),
        };
        let mut addressed = Vec::with_capacity(effects.len());
        for effect in effects {
            match effect {
                Effect::Reply { client, id, reply, fds } => addressed.push(match origin_of(client) {
                    Some(origin) => answer(origin, id, *reply),
                    None => Effect::Reply { client: here(client), id, reply, fds },
                }),
                Effect::Opened { waiters, .. } if waiters.iter().any(|(c, _)| here(*c) != *c) => {
                    let mut own = Vec::new();
                    for (client, id) in waiters {
                        match origin_of(client) {
                            Some(origin) => addressed.push(answer(origin, id, Ok(Reply::Done))),
                            None => own.push((here(client), id)),
                        }
                    }
                    addressed.push(Effect::Opened { waiters: own, meeting: None });
                }
                other => addressed.push(other),
            }
        }
        addressed
    }

    /// The daemon of another host says something.
    pub(super) fn hear(&mut self, host: u32, word: Between) {
        match word {
            Between::Hosts { version, hosts } => self.take_table(version, hosts),
            // The mesh lets nobody in but hosts of this machine; the home's word of this one is slower
            // than its own.
            word if !self.others.knows(host) => {
                let early = self.others.early.entry(host).or_default();
                if early.len() < EARLY {
                    early.push(word);
                }
            }
            Between::Ask { client, id, me, request } => {
                self.perform_for(client_of(host, client), id, me, request);
            }
            Between::Copy { host, client, id, me, request } => {
                self.copy(client_of(host, client), id, me, request);
            }
            Between::Kept(kept) => self.take_what_is_kept(host, &kept),
            Between::HomeLost { version } => self.hear_of_lost_home(host, version),
            Between::Answer { client, id, reply } => self.answered(host, client, id, reply),
            Between::Event { tid, event } => {
                if self.is_own(tid) {
                    self.event(tid, event, Vec::new());
                }
            }
            Between::Start(part) => self.start_part(host, *part),
            Between::Started { batch, results } => self.started(host, batch, results),
            Between::Siblings(tids) => self.make_siblings(&tids),
            Between::Undo(tids) => {
                for tid in tids.into_iter().filter(|tid| self.is_own(*tid)).collect::<Vec<_>>() {
                    self.undo(tid);
                }
            }
            Between::Watch(tid) if self.exists(tid) => {
                self.others.wanted.entry(tid).or_default().insert(host);
            }
            Between::Watch(tid) => {
                self.say(host, Between::Over { tid, runner: false });
            }
            Between::Over { tid, runner } => self.ended_elsewhere(tid, runner),
            Between::SignalJob { job, signal } => self.signal_tasks_of(job, signal),
            Between::Plays { part, player } => self.hear_of_player(part, player),
            Between::Gang { job, tasks } => self.hear_of_gang(host, job, tasks),
            Between::Turn(row) => self.obey_turn(row.as_deref()),
            Between::Load(load) => {
                self.others.loads.insert(host, load);
            }
            // The shell's: it counts what is on its way.
            Between::Took { .. } => {}
            Between::Halt => self.stop_here(Vec::new()),
        }
    }

    /// Does for a client of another host what it asks for, once.
    fn perform_for(&mut self, client: ClientId, id: RequestId, me: Option<Tid>, request: Request) {
        // It asks again after the home that did it is gone: the answer is known, or will come.
        if let Some(reply) = self.others.copied.get(&(client, id)) {
            if let Some(reply) = reply.clone() {
                self.answer(client, id, reply);
            }
            return;
        }
        self.perform(client, id, me, request, Vec::new());
    }

    /// What the home does for all is done by all.
    pub(super) fn have_copied(
        &mut self,
        client: ClientId,
        id: RequestId,
        me: Option<Tid>,
        request: &Request,
    ) {
        if self.others.is_alone() || !self.others.is_home() || !changes_what_is_kept(request) {
            return;
        }
        let (host, client) = origin_of(client).unwrap_or((self.config.number, client));
        self.say_to_all(&Between::Copy { host, client, id, me, request: request.clone() });
    }

    /// Does the same as the home, silently.
    fn copy(&mut self, client: ClientId, id: RequestId, me: Option<Tid>, request: Request) {
        let before = self.effects.len();
        self.perform(client, id, me, request, Vec::new());
        let said = self.effects.split_off(before);
        let reply = said.into_iter().find_map(|effect| match effect {
            Effect::Reply { client: c, id: i, reply, .. } if (c, i) == (client, id) => Some(*reply),
            _ => None,
        });
        self.others.remember(client, id, reply);
    }

    /// Does `work` silently unless this is the home, which says it for all.
    fn as_home(&mut self, work: impl FnOnce(&mut Self)) {
        let before = self.effects.len();
        work(self);
        if !self.others.is_home() {
            self.effects.truncate(before);
        }
    }

    fn answered(&mut self, host: u32, client: ClientId, id: RequestId, reply: Result<Reply, Failure>) {
        if let Some(gathered) = self.others.gathered.get_mut(&(client, id)) {
            if let Ok(Reply::Tasks(rows)) = reply {
                gathered.rows.extend(rows);
            }
            gathered.missing.remove(&host);
            return self.finish_gathering(client, id);
        }
        let lost = matches!(&reply, Err(why) if why.kind == ErrorKind::HostLost);
        if lost && self.others.open.contains_key(&(client, id)) && !self.others.in_minority {
            // The next home will be asked.
            return;
        }
        self.others.open.remove(&(client, id));
        if self.others.asked.remove(&(client, id)).is_some() {
            self.answer(client, id, reply);
        }
    }

    /// Asks all hosts for their tasks.
    pub(super) fn gather_tasks(&mut self, client: ClientId, id: RequestId, rows: Vec<TaskRow>) {
        let missing: BTreeSet<u32> = self.others.peers().into_iter().collect();
        for host in &missing {
            // Of the host alone, else it would ask the others in turn.
            let of = Tid::new(*host, 0);
            self.say(*host, Between::Ask { client, id, me: None, request: Request::Tasks { of } });
        }
        self.others.gathered.insert((client, id), Gathered { rows, missing });
        self.finish_gathering(client, id);
    }

    fn finish_gathering(&mut self, client: ClientId, id: RequestId) {
        let whole = |gathered: &Gathered| gathered.missing.is_empty();
        if !self.others.gathered.get(&(client, id)).is_some_and(whole) {
            return;
        }
        if let Some(Gathered { mut rows, .. }) = self.others.gathered.remove(&(client, id)) {
            rows.sort_by_key(|row| row.tid);
            self.reply(client, id, Reply::Tasks(rows));
        }
    }

    /// A client is gone: its answers are not wanted any more.
    pub(super) fn forget_questions_of(&mut self, client: ClientId) {
        self.others.asked.retain(|(asker, _), _| *asker != client);
        self.others.open.retain(|(asker, _), _| *asker != client);
        self.others.gathered.retain(|(asker, _), _| *asker != client);
    }

    /// A task of this host is gone: whoever asked hears of it, and the home.
    pub(super) fn tell_others_of_end(&mut self, tid: Tid, runner: bool) {
        self.others.wanted.remove(&tid);
        // All keep what the home keeps, so all must hear.
        self.say_to_all(&Between::Over { tid, runner });
    }

    fn ended_elsewhere(&mut self, tid: Tid, runner: bool) {
        self.tell_watchers(tid);
        self.leave_part(tid);
        self.forget_at_home(tid);
        if runner {
            self.end_job(tid);
        }
    }

    /// The task is in no group any more, and its entries are nobody's.
    pub(super) fn forget_at_home(&mut self, tid: Tid) {
        self.as_home(|machine| {
            machine.leave_all(tid);
            machine.drop_mail_of(tid);
        });
    }

    pub(super) fn announce_player(&mut self, part: Part, player: Option<Tid>) {
        self.say_to_all(&Between::Plays { part, player });
    }

    fn hear_of_player(&mut self, part: Part, player: Option<Tid>) {
        if std::mem::replace(self.parts.of(part), player) != player && part == Part::Manager {
            self.announce_manager();
        }
    }

    /// The hosts of the machine have changed.
    fn take_table(&mut self, version: u64, hosts: Vec<HostRecord>) {
        if version <= self.others.version {
            return;
        }
        let hosts: BTreeMap<u32, HostRecord> = hosts.into_iter().map(|host| (host.number, host)).collect();
        if !hosts.contains_key(&self.config.number) {
            // Taken out: this host has no machine any more.
            return self.stop_here(Vec::new());
        }
        self.others.version = version;
        self.change_table(hosts);
    }

    /// The home changes the table, and tells everybody.
    pub(super) fn publish_table(&mut self, hosts: BTreeMap<u32, HostRecord>) {
        self.others.version += 1;
        let table = Between::Hosts { version: self.others.version, hosts: hosts.values().cloned().collect() };
        // Those that leave hear of it as well.
        let told = self.others.peers();
        self.say_to_all(&table);
        self.change_table(hosts);
        for host in self.others.peers() {
            if !told.contains(&host) {
                self.say(host, table.clone());
                let kept = self.kept();
                self.say(host, Between::Kept(kept));
            }
        }
    }

    /// What this home keeps for all, for a host that has just come.
    fn kept(&self) -> Blob {
        let home = self.config.number;
        let known =
            |client: ClientId| if origin_of(client).is_some() { client } else { client_of(home, client) };
        let (mut groups, mut mailbox) = (self.groups.clone(), self.mailbox.clone());
        groups.values_mut().for_each(|group| group.rename_clients(known));
        mailbox.rename_clients(known);
        // Plain data of ours always has a form in bytes.
        Blob(postcard::to_stdvec(&(groups, mailbox)).unwrap_or_default())
    }

    /// The home tells a host that has just come what it keeps.
    fn take_what_is_kept(&mut self, host: u32, kept: &Blob) {
        if host == self.others.home()
            && let Ok((groups, mailbox)) = postcard::from_bytes(&kept.0)
        {
            (self.groups, self.mailbox) = (groups, mailbox);
        }
    }

    pub(super) fn table(&self) -> BTreeMap<u32, HostRecord> {
        self.others.hosts.clone()
    }

    fn change_table(&mut self, hosts: BTreeMap<u32, HostRecord>) {
        self.others.followers.clear();
        self.others.in_minority = false;
        self.others.patience = None;
        let before = std::mem::replace(&mut self.others.hosts, hosts);
        let home = self.others.home();
        if before.keys().next() != Some(&home) {
            self.ask_again(home);
        }
        let now: Vec<(u32, u64, Tid)> =
            self.others.hosts.values().map(|host| (host.number, host.life, host.row.tid)).collect();
        for (host, record) in &before {
            if !now.iter().any(|(number, life, _)| number == host && *life == record.life) {
                self.part_with(*host, record.life);
            }
        }
        let mut newcomers = Vec::new();
        for (number, life, tid) in now {
            self.others.last_life = self.others.last_life.max(life);
            if before.get(&number).is_none_or(|record| record.life != life) {
                newcomers.push(number);
                self.tell_of_addition(tid);
            }
        }
        for host in &newcomers {
            for word in self.others.early.remove(host).unwrap_or_default() {
                self.hear(*host, word);
            }
        }
        if !newcomers.is_empty() {
            // They have not heard how busy this host is, else it would count as idle.
            self.say_to_all(&Between::Load(self.load));
        }
    }

    /// The home is another: what the old one has not answered is asked of the new one.
    fn ask_again(&mut self, home: u32) {
        let open: Vec<_> = self.others.open.iter().map(|(key, open)| (*key, open.clone())).collect();
        for ((client, id), (me, request)) in open {
            if home == self.config.number {
                self.others.asked.remove(&(client, id));
                self.others.open.remove(&(client, id));
                self.perform_for(client_of(home, client), id, me, request);
            } else {
                self.pass_on(home, client, id, me, request);
            }
        }
    }

    /// A host is out of the machine, and all its tasks are gone.
    fn part_with(&mut self, host: u32, life: u64) {
        self.effects.push(Effect::Forget { host, life });
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
        for tid in self.known_of(host) {
            self.ended_elsewhere(tid, false);
        }
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
        let asked: Vec<_> =
            self.others.asked.iter().filter(|(_, at)| **at == host).map(|(key, _)| *key).collect();
        for (client, id) in asked {
            self.others.asked.remove(&(client, id));
            self.refuse(client, id, Failure::new(ErrorKind::HostLost, format!("host {host}")));
        }
        let waiting: Vec<_> = self.others.gathered.keys().copied().collect();
        for (client, id) in waiting {
            if let Some(gathered) = self.others.gathered.get_mut(&(client, id)) {
                gathered.missing.remove(&host);
            }
            self.finish_gathering(client, id);
        }
        if let Some(tid) = Tid::new(host, 0) {
            self.tell_host_watchers(tid);
        }
    }

    /// The tasks of a host that something here is kept of.
    fn known_of(&self, host: u32) -> Vec<Tid> {
        let mut known = BTreeSet::new();
        known.extend(self.watches.targets());
        known.extend(self.members().chain(self.mailbox.owners()));
        known.extend([self.parts.manager, self.parts.tasker].into_iter().flatten());
        known.into_iter().filter(|tid| tid.host() == host && tid.is_task()).collect()
    }

    /// A host does not answer, or leaves. The home settles that it is out.
    pub(super) fn host_lost(&mut self, host: u32) {
        self.others.early.remove(&host);
        if !self.others.knows(host) || host == self.config.number {
            return;
        }
        let home = self.others.home();
        if self.others.is_home() {
            self.others.silent.insert(host);
            if self.others.hosts.len() == 2 {
                return self.part_with_the_silent();
            }
            // A home that is cut off loses all others one after the other, and must count them together.
            self.others.patience = Some(self.now + TOGETHER);
            self.deadline_changed = true;
            return;
        }
        // Whether another host is out the home settles; here only the home itself counts.
        if host != home {
            return;
        }
        self.others.silent.insert(home);
        self.others.patience = Some(self.now + SUCCESSION);
        self.deadline_changed = true;
        let version = self.others.version;
        match self.others.hosts.keys().copied().find(|number| *number != home) {
            Some(heir) if heir == self.config.number => self.hear_of_lost_home(heir, version),
            Some(heir) => {
                self.say(heir, Between::HomeLost { version });
            }
            None => {}
        }
    }

    /// A host that was silent is connected again.
    pub(super) fn host_found(&mut self, host: u32) {
        if !self.others.silent.remove(&host) {
            return;
        }
        let enough = 2 * (self.others.hosts.len() - self.others.silent.len()) >= self.others.hosts.len();
        if self.others.is_home() && enough {
            self.others.in_minority = false;
            // Those that are still silent can be taken out now.
            if !self.others.silent.is_empty() {
                self.part_with_the_silent();
            }
        } else if self.others.is_home() {
            // Still the smaller part.
        } else if host == self.others.home() {
            self.others.followers.clear();
            (self.others.in_minority, self.others.patience) = (false, None);
        }
    }

    /// The home takes out those that do not answer, if it still speaks for the machine: with more
    /// than half of the hosts, or with half of them.
    fn part_with_the_silent(&mut self) {
        let all = self.others.hosts.len();
        let mut hosts = self.table();
        hosts.retain(|number, _| !self.others.silent.contains(number));
        if 2 * hosts.len() >= all {
            self.others.silent.clear();
            self.publish_table(hosts);
        } else {
            self.others.in_minority = true;
        }
    }

    /// Whether this host can speak for the machine. One that cannot changes nothing.
    pub fn is_in_minority(&self) -> bool {
        self.others.in_minority
    }

    /// Another host, or this one, has lost the home, and this one would follow it: it does when more
    /// than half of the hosts say so.
    fn hear_of_lost_home(&mut self, host: u32, version: u64) {
        if version != self.others.version || self.others.is_home() {
            return;
        }
        self.others.followers.insert(host);
        let home = self.others.home();
        let lost = self.others.silent.contains(&home);
        let all = self.others.hosts.len();
        if lost && 2 * self.others.followers.len() > all {
            let mut hosts = self.table();
            hosts.remove(&home);
            self.others.silent.remove(&home);
            self.others.in_minority = false;
            self.publish_table(hosts);
        }
    }

    /// Hosts have been silent for long enough.
    pub(super) fn settle_losses(&mut self) {
        self.others.patience = None;
        if self.others.is_home() { self.part_with_the_silent() } else { self.give_up_on_home() }
    }

    /// Nobody has taken the place of the home in time: this is the smaller part.
    fn give_up_on_home(&mut self) {
        self.others.in_minority = true;
        let open: Vec<_> = self.others.open.keys().copied().collect();
        for (client, id) in open {
            self.others.open.remove(&(client, id));
            if self.others.asked.remove(&(client, id)).is_some() {
                self.refuse(client, id, ErrorKind::Minority);
            }
        }
    }

    pub(super) fn note_load(&mut self, load: u32) {
        if std::mem::replace(&mut self.load, load) != load {
            self.others.loads.insert(self.config.number, load);
            self.say_to_all(&Between::Load(load));
        }
    }

    /// Whether a task's end is known without asking: its host is not in the machine.
    pub(super) fn must_watch(&mut self, about: Notice, target: Tid) -> bool {
        if about == Notice::TaskExit && !self.is_own(target) {
            return self.say(target.host(), Between::Watch(target));
        }
        false
    }
}

fn is_for_another<F>(effect: &Effect<F>) -> bool {
    match effect {
        Effect::Reply { client, .. } => origin_of(*client).is_some(),
        Effect::Opened { waiters, .. } => waiters.iter().any(|(client, _)| origin_of(*client).is_some()),
        _ => false,
    }
}

/// Whether the home answers it.
fn is_for_home(request: &Request) -> bool {
    let reads = matches!(
        request,
        Request::Groups
            | Request::GroupTid { .. }
            | Request::GroupInstance { .. }
            | Request::GroupSize { .. }
            | Request::GroupMembers { .. }
            | Request::MailList
            | Request::Register { .. }
            | Request::HandOver { .. }
            | Request::AddHosts { .. }
            | Request::RemoveHosts { .. }
    );
    reads || changes_what_is_kept(request)
}

/// Whether it changes what the home keeps for all, and all keep with it.
pub(super) fn changes_what_is_kept(request: &Request) -> bool {
    matches!(
        request,
        Request::Join { .. }
            | Request::Leave { .. }
            | Request::Barrier { .. }
            | Request::Freeze { .. }
            | Request::MailPut { .. }
            | Request::MailGet { .. }
            | Request::MailRemove { .. }
            | Request::MailTidy { .. }
    )
}
