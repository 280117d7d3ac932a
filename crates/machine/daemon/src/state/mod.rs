//! The machine as a pure state: inputs in, effects out.
//!
//! Nothing here knows sockets, processes or clocks. The shell (`crate::daemon`)
//! turns what happens into [`Input`]s, hands them to [`Machine::handle`] and
//! carries out the [`Effect`]s, in their order. Descriptors are opaque values of
//! type `F`, so tests use numbers.
//!
//! - Every [`Effect::Spawn`] is answered by one [`Input::Spawned`], every
//!   [`Effect::Listen`] by one [`Input::Listening`], before any other input.
//! - Every spawned process ends with one [`Input::ProcessExited`] and one
//!   [`Input::OutputEnded`], in either order.
//! - Every client ends with one [`Input::Closed`].

mod context;
mod contract;
mod gangs;
mod groups;
mod host;
mod hosts;
mod mailbox;
mod names;
mod notify;
mod pairs;
mod parts;
mod placement;
mod spawn;
mod tasks;
mod trace;

#[cfg(test)]
mod tests;

pub use contract::{Admitted, Channel, Config, Effect, Hosting, Input, Limits, Prepared, Starting, Wanted};
pub use host::USUAL_SPEED;
pub use hosts::{Change, Fetched};
use parvum_wire::Tid;
use parvum_wire::control::{
    Between, Blob, Call, ErrorKind, Event, ExitStatus, Failure, HostRecord, HostRow, HostSettings, Inherited,
    OutputMessages, Recorded, Recorder, Reply, Request, RequestId, Role, SpawnRequest, Ticket,
};
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::rc::Rc;

/// A connection to the daemon; numbers are never used twice.
pub type ClientId = u64;
/// Nanoseconds of a clock that only goes forward.
pub type Now = u64;

/// How long a condemned process may take to end by itself.
const GRACE: Now = 500_000_000;
/// How long a connection may outlive its process (a forked child may hold it).
const LINGER: Now = 1_000_000_000;
/// The longest name of a group or mailbox class.
const MAX_NAME: usize = 1024;

struct Client {
    tid: Option<Tid>,
}

/// Two tasks, of which the first has begun to join the other, and over which route.
type Pair = (Tid, Tid, u8);

struct Task<F> {
    client: Option<ClientId>,
    pid: u32,
    parent: Option<Tid>,
    name: String,
    flag: i32,
    role: Role,
    channel: Option<Channel<F>>,
    secret: [u8; 16],
    /// Who is told when it is gone, if nobody spawned it.
    trace: Option<OutputMessages>,
    /// Those that were started by the same request, in its order.
    /// None while other hosts are still starting theirs.
    siblings: Option<Rc<[Tid]>>,
    /// Who has asked for them too early.
    sibling_askers: Vec<(ClientId, RequestId)>,
    /// The runner it belongs to.
    job: Option<Tid>,
    /// The spawned process it is, or lives inside.
    process: Option<Tid>,
    /// For a task that has not enrolled yet.
    queued: Vec<(Event, Vec<F>)>,
    /// Who is told when it is gone.
    peers: HashSet<Tid>,
    /// Its listeners, by route.
    listeners: HashMap<u8, String>,
    awaiting_listener: Vec<(ClientId, RequestId, Tid, u8)>,
    /// When to declare it gone although its connection is still open.
    gone_at: Option<Now>,
    /// Its connection is closed; the shell is handing over the last of it.
    closing: bool,
    /// Its process lives longer than the machine.
    lives_on: bool,
}

struct Process {
    pid: u32,
    name: String,
    flag: i32,
    parent: Option<Tid>,
    /// Who gets the output and the exit; `None` is the log.
    sink: Option<Sink>,
    job: Option<Tid>,
    status: Option<ExitStatus>,
    output_open: bool,
    kill_at: Option<Now>,
    /// When it was started.
    began: Now,
    /// Belongs to a spawn that was undone.
    undone: bool,
    /// Who is told that it begins and ends.
    trace: Option<OutputMessages>,
    /// The tasker that has it started; nobody: the daemon itself.
    tasker: Option<Tid>,
    /// Its job is a gang.
    gang: bool,
    /// Its job is recorded, in so many bytes for each task.
    record: Option<Recorder>,
    /// It is stopped, for it is another gang's turn.
    held: bool,
    /// Its number among the tasks of a run.
    rank: Option<u32>,
    /// What it has of whoever runs its job, and what it spawns gets too.
    inherited: Option<Inherited>,
    /// Its standard output and standard error are one pipe; so are those of what it spawns.
    one_stream: bool,
    /// Its number among the tasks of its request, how many of those this host has, and how many there are.
    among: [u32; 3],
    /// What its environment shows that it is the one.
    secret: [u8; 16],
}

/// Who gets the output of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sink {
    to: Tid,
    /// In which context and with which tag, when it comes as messages.
    as_messages: Option<(u32, i32)>,
}

/// The state of the daemon.
pub struct Machine<F> {
    config: Config,
    now: Now,
    effects: Vec<Effect<F>>,
    clients: HashMap<ClientId, Client>,
    tasks: BTreeMap<Tid, Task<F>>,
    processes: BTreeMap<Tid, Process>,
    last_local: u32,
    batches: BTreeMap<u64, spawn::Batch>,
    last_batch: u64,
    /// The host that the last task was placed on.
    last_placed: u32,
    offers: HashSet<Pair>,
    /// Who was told to call whom.
    calls: HashSet<Pair>,
    /// Who has sent routed frames to whom.
    routed: HashSet<(Tid, Tid)>,
    parts: parts::Parts,
    contexts: context::Contexts,
    groups: groups::Groups,
    last_segment: u64,
    /// Questions for members that may be about to join.
    wishes: Vec<groups::PendingMember>,
    /// The tracers that know what the data in events is called.
    tracers: HashSet<Tid>,
    mailbox: mailbox::Mailbox,
    names: names::Names,
    watches: notify::Watches,
    /// How the last processes ended, the newest last.
    ended: VecDeque<(Tid, ExitStatus)>,
    halting: Option<Vec<(ClientId, RequestId)>>,
    stopped: bool,
    deadline_changed: bool,
    others: hosts::Others,
    gangs: gangs::Gangs,
    load: u32,
}

impl<F: Clone> Machine<F> {
    /// A machine of one host without tasks.
    pub fn new(config: Config) -> Machine<F> {
        let given = config.settings.clone();
        let mut machine = Machine {
            contexts: context::Contexts::new(config.life),
            config,
            now: 0,
            effects: Vec::new(),
            clients: HashMap::new(),
            tasks: BTreeMap::new(),
            processes: BTreeMap::new(),
            last_local: 0,
            batches: BTreeMap::new(),
            last_batch: 0,
            last_placed: 0,
            offers: HashSet::new(),
            calls: HashSet::new(),
            routed: HashSet::new(),
            parts: Default::default(),
            groups: Default::default(),
            last_segment: 0,
            wishes: Vec::new(),
            tracers: HashSet::new(),
            mailbox: Default::default(),
            names: Default::default(),
            watches: Default::default(),
            ended: VecDeque::new(),
            halting: None,
            stopped: false,
            deadline_changed: false,
            others: Default::default(),
            gangs: Default::default(),
            load: 0,
        };
        let hosts = std::mem::take(&mut machine.config.hosts);
        machine.others.begin(machine.own_record(), hosts);
        // What cannot be is left out: whoever reads hostfiles has said so already.
        let _ = machine.configure(given);
        machine
    }

    /// Takes one input at time `now` and returns what is to be done.
    pub fn handle(&mut self, now: Now, input: Input<F>) -> Vec<Effect<F>> {
        self.now = now;
        match input {
            Input::Call { client, pid, call, fds, channel } => self.call(client, pid, *call, fds, channel),
            Input::Closed(client) => self.closed(client),
            Input::Spawned { tid, result } => self.spawned(tid, result),
            Input::Prepared { tid, result } => self.prepared(tid, result),
            Input::Listening { tid, route, result } => self.listening(tid, route, result),
            Input::ProcessExited { tid, status } => self.process_exited(tid, status),
            Input::OutputEnded(tid) => self.output_ended(tid),
            Input::Fed { client, id, result } => self.answer(client, id, result.map(|()| Reply::Done)),
            Input::Heard { host, word } => self.hear(host, *word),
            Input::Fetched { number, life, result } => self.fetched(number, life, result),
            Input::Hosting(hosts) => self.hosting(&hosts),
            Input::Agreeing => self.start_to_agree(),
            Input::Agreed { by, leader, change } => self.agreed(by, leader, *change),
            Input::Install(snapshot) => self.install(&snapshot),
            Input::Stands(standing) => self.stand(standing),
            Input::Voters(voters) => self.vote(voters),
            Input::Removed => self.stop_here(Vec::new()),
            Input::HostLost(host) => self.host_lost(host),
            Input::HostDoubtful(host) => self.host_doubtful(host),
            Input::HostFound(host) => self.host_found(host),
            Input::Late(late) => self.note_lateness(late),
            Input::Load(load) => self.note_load(load),
            Input::Tick => self.tick(),
        }
        self.look_after_gangs();
        self.finish_halt();
        self.address_effects()
    }

    /// When the next [`Input::Tick`] is due.
    pub fn next_deadline(&self) -> Option<Now> {
        let kills = self.processes.values().filter_map(|p| p.kill_at);
        let gone = self.tasks.values().filter_map(|t| t.gone_at);
        let losses = self.others.patience.into_iter().chain(self.apart_until());
        let news = [self.others.fetched_until, self.others.arrivals_until, self.others.loads_at];
        let wishes = self.wishes.iter().map(|wish| wish.until);
        kills
            .chain(gone)
            .chain(losses)
            .chain(news.into_iter().flatten())
            .chain(wishes)
            .chain(self.gangs.deadline())
            .min()
    }

    /// Whether [`Machine::next_deadline`] may have changed since this was last asked.
    pub fn take_deadline_changed(&mut self) -> bool {
        std::mem::take(&mut self.deadline_changed)
    }

    /// The client's connection is at its end, and [`Input::Closed`] will follow
    /// once everything it sent was handed on.
    pub fn closing(&mut self, client: ClientId) {
        let tid = self.tid_of(client);
        if let Some(task) = tid.and_then(|tid| self.tasks.get_mut(&tid)) {
            task.closing = true;
            task.gone_at = None;
        }
    }

    /// Whether enrolled tasks live inside this process beside its own: they
    /// share its process group.
    pub fn houses_others(&self, tid: Tid) -> bool {
        self.tasks.iter().any(|(t, task)| task.process == Some(tid) && *t != tid && task.client.is_some())
    }

    /// Whether this call needs a fresh channel handed in with it.
    pub fn wants_channel(&self, client: ClientId, request: &Request) -> bool {
        match request {
            Request::Enrol { role: Role::Tool, .. } => false,
            Request::Enrol { ticket, role, .. } => {
                let tid = ticket.and_then(|ticket| self.shown(ticket));
                let spawned = tid.filter(|tid| *role != Role::Service && self.awaits_enrolment(*tid));
                !self.clients.contains_key(&client) && spawned.is_none()
            }
            _ => false,
        }
    }

    /// The client that gets the output of a spawned process, and with which context and tag
    /// when it comes as messages; `None` is the log.
    pub fn output_client(&self, tid: Tid) -> Option<(ClientId, Option<(u32, i32)>)> {
        let sink = self.processes.get(&tid)?.sink?;
        Some((self.tasks.get(&sink.to)?.client?, sink.as_messages))
    }

    /// The task of another host that gets the output of a spawned process, and in which form.
    pub fn output_elsewhere(&self, tid: Tid) -> Option<(Tid, Option<(u32, i32)>)> {
        let sink = self.processes.get(&tid)?.sink?;
        (!self.is_own(sink.to)).then_some((sink.to, sink.as_messages))
    }

    /// The job of a task, or of one that enrols in that one's process, if the job is recorded; and how.
    pub fn recording_of(&self, tid: Tid) -> Option<(Tid, Recorder)> {
        let process = self.tasks.get(&tid).and_then(|task| task.process).unwrap_or(tid);
        let process = self.processes.get(&process)?;
        process.job.zip(process.record)
    }

    /// What the process of a spawned task, and those that it starts, show when they enrol.
    pub fn ticket(&self, tid: Tid) -> Option<Ticket> {
        self.processes.get(&tid).map(|process| Ticket { tid, secret: process.secret })
    }

    /// The task that a ticket is of, if the daemon has made it.
    pub fn shown(&self, ticket: Ticket) -> Option<Tid> {
        self.ticket(ticket.tid).filter(|made| *made == ticket).map(|made| made.tid)
    }

    /// The secret that opens a data connection.
    pub fn secret(&self, tid: Tid) -> Option<[u8; 16]> {
        self.tasks.get(&tid).filter(|t| t.client.is_some()).map(|t| t.secret)
    }

    /// Whether the task exists (it may not have enrolled yet).
    pub fn exists(&self, tid: Tid) -> bool {
        self.tasks.contains_key(&tid)
    }

    /// A task's channel.
    pub fn channel(&self, tid: Tid) -> Option<&Channel<F>> {
        self.tasks.get(&tid)?.channel.as_ref()
    }

    /// Whether the client has enrolled.
    pub fn knows(&self, client: ClientId) -> bool {
        self.clients.contains_key(&client)
    }

    /// A task's client.
    pub fn client_of(&self, tid: Tid) -> Option<ClientId> {
        self.tasks.get(&tid)?.client
    }

    /// The parent of a task that was spawned here and whose process runs, but has not joined.
    pub fn unjoined_child(&self, tid: Tid) -> Option<Option<Tid>> {
        let waits = |task: &&Task<F>| task.client.is_none() && task.process == Some(tid);
        let task = self.tasks.get(&tid).filter(waits)?;
        self.processes.get(&tid).filter(|process| process.status.is_none()).map(|_| task.parent)
    }

    /// A client's task.
    pub fn tid_of(&self, client: ClientId) -> Option<Tid> {
        self.clients.get(&client)?.tid
    }

    /// The first routed frame from `from` to `to` is on its way.
    /// Each is told when the other is gone.
    pub fn link_routed(&mut self, from: Tid, to: Tid) {
        self.routed.insert((from, to));
        self.link(from, to);
    }

    /// Whether routed frames pass from one task to the other, and neither is known to be gone.
    pub fn is_routed(&self, from: Tid, to: Tid) -> bool {
        self.routed.contains(&(from, to))
    }

    fn link(&mut self, a: Tid, b: Tid) {
        if self.may_exist(a) && self.may_exist(b) {
            for (one, other) in [(a, b), (b, a)] {
                let is_far = !self.is_own(other);
                if let Some(task) = self.tasks.get_mut(&one) {
                    self.others.watch_is_stale |= task.peers.insert(other) && is_far;
                }
            }
        }
    }

    /// Whether the task is there; of one on another host only that host's daemon knows.
    pub fn may_exist(&self, tid: Tid) -> bool {
        self.exists(tid) || (tid.is_task() && self.others.knows(tid.host()) && !self.is_own(tid))
    }

    fn is_own(&self, tid: Tid) -> bool {
        tid.host() == self.config.number
    }

    /// Tells a task something the shell found out; kept when it has not enrolled.
    pub fn send_event(&mut self, tid: Tid, event: Event) -> Vec<Effect<F>> {
        self.event(tid, event, Vec::new());
        std::mem::take(&mut self.effects)
    }

    /// The processes that run, by pid, for whoever must end them by force.
    pub fn running(&self) -> impl Iterator<Item = u32> {
        self.processes.values().filter(|p| p.status.is_none() && p.pid != 0).map(|p| p.pid)
    }

    /// How many tasks, processes, groups, mailbox entries and names there are.
    pub fn counts(&self) -> [(&'static str, usize); 8] {
        [
            ("tasks", self.tasks.len()),
            ("processes", self.processes.len()),
            ("contexts", self.contexts.in_use()),
            ("offers", self.offers.len()),
            ("routes", self.calls.len() + self.routed.len()),
            ("groups", self.groups.len()),
            ("mailbox bytes", self.mailbox.bytes()),
            ("name bytes", self.names.bytes()),
        ]
    }

    pub(crate) fn daemon_tid(&self) -> Tid {
        Tid::new(self.config.number, 0).expect("hosts have numbers in range")
    }

    fn call(&mut self, client: ClientId, pid: u32, call: Call, fds: Vec<F>, channel: Option<Channel<F>>) {
        let Call { id, request } = call;
        if let Request::Enrol { role, name, ticket, .. } = request {
            return self.enrol(client, id, pid, role, name, ticket, channel);
        }
        // Client 0 is the daemon itself, stopped by a signal.
        let tid = match self.clients.get(&client) {
            Some(known) => known.tid,
            None if client == 0 => None,
            None => return self.refuse(client, id, ErrorKind::NotEnrolled),
        };
        let Some(request) = self.ask_all(client, id, tid, request) else { return };
        if let Some(host) = self.elsewhere(tid, &request) {
            return self.pass_on(host, client, id, tid, request);
        }
        self.perform(client, id, tid, request, fds);
    }

    /// Does what a client of this daemon, or of another, asks for.
    fn perform(&mut self, client: ClientId, id: RequestId, tid: Option<Tid>, request: Request, fds: Vec<F>) {
        match (tid, request) {
            (_, Request::Signal { tid, signal }) => self.signal(client, id, tid, signal),
            (_, Request::Tasks { of, deep }) => self.list_tasks(client, id, of, deep),
            (_, Request::Hosts) => {
                let hosts = self.others.rows();
                self.reply(client, id, Reply::Hosts(hosts));
            }
            (_, Request::Loads) => {
                let loads = self.others.told_loads();
                self.reply(client, id, Reply::Loads(loads));
            }
            // The shell has the gate.
            (_, Request::Invite { .. } | Request::Revoke) => self.refuse(client, id, ErrorKind::Protocol),
            // The shell answers Info and Links, which are mostly about the shell.
            (_, Request::Info) => self.reply(client, id, Reply::Info(Vec::new())),
            (_, Request::Links) => self.reply(client, id, Reply::Links(Vec::new())),
            // What was recorded the shell adds.
            (_, Request::Recorded { job, host }) if host == self.daemon_tid() => {
                let (tasks, words) = (Vec::new(), Vec::new());
                let recorded = Recorded { job, host, tasks, words, thrown_away: 0, now: (0, 0, 0) };
                self.reply(client, id, Reply::Recorded(recorded));
            }
            (_, Request::Recorded { host, .. }) => {
                self.refuse(client, id, Failure::new(ErrorKind::NoSuchHost, host.to_string()));
            }
            (_, Request::Records { tid, from }) => {
                self.reply(client, id, Reply::Records { tid, first: from, data: Blob(Vec::new()) });
            }
            (_, Request::Groups) => self.list_groups(client, id),
            (_, Request::GroupTid { group, instance }) => self.group_tid(client, id, &group, instance),
            (_, Request::GroupInstance { group, tid }) => self.group_instance(client, id, &group, tid),
            (_, Request::GroupSize { group }) => self.group_size(client, id, &group),
            (_, Request::GroupMembers { group }) => self.group_members(client, id, &group),
            (_, Request::MailList) => {
                let list = self.mailbox.list();
                self.reply(client, id, Reply::MailList(list));
            }
            (_, Request::NamesFind { names }) => self.names_find(client, id, &names),
            (_, Request::NamesOf { places }) => self.names_of(client, id, &places),
            (_, Request::MailTidy { name, index }) => self.mail_tidy(client, id, &name, index),
            (_, Request::Halt) => self.halt(client, id),
            (_, Request::AddHosts { hosts }) => self.add_hosts(client, id, hosts),
            (_, Request::Admit { name, guest, by }) => self.admit_host(client, id, name, guest, by),
            (me, Request::HostsStarted { results }) => self.hosts_started(client, id, me, results),
            (_, Request::RemoveHosts { hosts }) => self.remove_hosts(client, id, hosts),
            (_, Request::Clock { host }) => self.clock(client, id, host),
            // The shell has written what only it knows.
            (_, Request::Dump) => self.reply(client, id, Reply::Done),
            (_, Request::Configure(settings)) => {
                let done = self.configure(settings).map(|()| Reply::Done);
                self.answer(client, id, done);
            }
            (None, _) => self.refuse(client, id, ErrorKind::NotEnrolled),
            (Some(me), Request::Connect { to, route }) => self.connect(client, id, (me, to, route), fds),
            (Some(me), Request::Call { to, route }) => self.call_for(client, id, (me, to, route)),
            (Some(me), Request::NotConnected { to, route }) => {
                self.not_connected(client, id, (me, to, route))
            }
            (Some(me), Request::Spawn(plan)) => self.spawn(client, id, me, plan),
            (Some(me), Request::Input { tid, data }) => self.feed(client, id, me, tid, data),
            (Some(me), Request::SignalJob { signal }) => self.signal_job(client, id, me, signal),
            (Some(me), Request::Notify { about, targets, count, cookie }) => {
                self.watch(client, id, me, about, targets, count, cookie)
            }
            (Some(me), Request::CancelNotify { about, targets, cookie }) => {
                self.unwatch(client, id, me, about, targets, cookie)
            }
            (Some(me), Request::Join { group }) => self.join(client, id, me, group),
            (Some(me), Request::Leave { group }) => self.leave(client, id, me, &group),
            (Some(me), Request::Barrier { group, count }) => self.barrier(client, id, me, &group, count),
            (Some(me), Request::MailPut { name, index, flags, data }) => {
                self.mail_put(client, id, me, name, index, flags, data)
            }
            (Some(me), Request::MailGet { name, index, first, take, wait }) => {
                self.mail_get(mailbox::PendingRead { client, id, me, name, index, first, take }, wait)
            }
            (Some(me), Request::MailRemove { name, index }) => self.mail_remove(client, id, me, &name, index),
            (Some(_), Request::MailPutBack { name, index, owner, flags, data }) => {
                self.mail_put_back(client, id, name, index, owner, flags, data)
            }
            (Some(_), Request::HowEnded { tid }) => {
                let found = self.ended.iter().rev().find(|(ended, _)| *ended == tid);
                let unknown = || Failure::new(ErrorKind::NoSuchTask, tid.to_string());
                let answer = found.map(|(_, status)| Reply::Ended(*status)).ok_or_else(unknown);
                self.answer(client, id, answer);
            }
            (Some(me), Request::LivesOn) => {
                if let Some(task) = self.tasks.get_mut(&me) {
                    task.lives_on = true;
                }
                self.reply(client, id, Reply::Done);
            }
            (Some(me), Request::NamesBind { names, group }) => self.names_bind(client, id, me, names, group),
            (Some(me), Request::NamesUnbind { names, number }) => {
                self.names_unbind(client, id, me, &names, number)
            }
            (Some(me), Request::Register { part }) => self.register(client, id, me, part),
            (Some(me), Request::HandOver { part, to }) => self.hand_part_over(client, id, me, part, to),
            (Some(me), Request::TaskEnded { tid, status }) => self.task_ended(client, id, me, tid, status),
            (Some(me), Request::Siblings) => self.siblings(client, id, me),
            (Some(me), Request::NewContext { shared }) => self.new_context(client, id, me, shared),
            (Some(me), Request::FreeContext { context, job }) => {
                self.free_context(client, id, me, context, job)
            }
            (Some(_), Request::Wake { to }) => self.effects.push(Effect::Wake(to)),
            (Some(me), Request::GetOutput) => self.get_output(client, id, me),
            (Some(me), Request::SetOutput { output }) => self.set_output(client, id, me, output),
            (Some(me), Request::Freeze { group, count }) => self.freeze(client, id, me, &group, count),
            (Some(me), Request::Depart) => {
                self.reply(client, id, Reply::Done);
                self.effects.push(Effect::Close(client));
                self.clients.remove(&client);
                self.gone(me);
            }
            (Some(_), Request::Enrol { .. } | Request::DataHello { .. }) => {
                self.refuse(client, id, ErrorKind::Protocol)
            }
        }
    }

    fn halt(&mut self, client: ClientId, id: RequestId) {
        if let Some(waiting) = &mut self.halting {
            return waiting.push((client, id));
        }
        self.say_to_all(&Between::Halt);
        self.stop_here(vec![(client, id)]);
    }

    fn stop_here(&mut self, asked: Vec<(ClientId, RequestId)>) {
        if self.halting.is_some() {
            return;
        }
        self.halting = Some(asked);
        self.notify_all_ends();
        for tid in self.processes.keys().copied().collect::<Vec<_>>() {
            self.condemn(tid);
        }
        // Those that live on hear of it when their connections end.
        self.end_guests(|task| !task.lives_on);
    }

    /// Tells tasks that were not spawned (started by hand, or forked by a task) to
    /// end, as PVM does; they are not ours to kill.
    fn end_guests(&mut self, which: impl Fn(&Task<F>) -> bool) {
        let guests = self.tasks.iter().filter(|(tid, t)| {
            t.client.is_some() && t.role == Role::Task && !self.processes.contains_key(tid) && which(t)
        });
        for pid in guests.map(|(_, t)| t.pid).collect::<Vec<_>>() {
            self.effects.push(Effect::Signal { pid, group: false, signal: 15 });
        }
    }

    fn finish_halt(&mut self) {
        if self.stopped || !self.processes.is_empty() {
            return;
        }
        let Some(waiting) = &mut self.halting else { return };
        for (client, id) in std::mem::take(waiting) {
            self.reply(client, id, Reply::Done);
        }
        self.stopped = true;
        self.effects.push(Effect::Stop);
    }

    fn tick(&mut self) {
        let now = self.now;
        self.deadline_changed = true;
        for process in self.processes.values_mut() {
            if process.kill_at.is_some_and(|at| at <= now) {
                process.kill_at = None;
                self.effects.push(Effect::Signal { pid: process.pid, group: true, signal: 9 });
            }
        }
        self.give_up_wishes();
        self.tick_for_gangs();
        if self.others.patience.is_some_and(|until| until <= now) {
            self.settle_losses();
        }
        if self.others.fetched_until.is_some_and(|until| until <= now) {
            self.notify_fetched();
        }
        if self.others.arrivals_until.is_some_and(|until| until <= now) {
            self.notify_arrivals();
        }
        if self.others.loads_at.is_some_and(|at| at <= now) {
            self.notify_loads();
        }
        if self.apart_until().is_some_and(|until| until <= now) {
            self.part_those_apart();
        }
        let over = |t: &Task<F>| t.gone_at.is_some_and(|at| at <= now);
        let gone: Vec<_> =
            self.tasks.iter().filter(|(_, t)| over(t)).map(|(tid, t)| (*tid, t.client)).collect();
        for (tid, client) in gone {
            if let Some(client) = client {
                self.clients.remove(&client);
                self.effects.push(Effect::Close(client));
            }
            self.gone(tid);
        }
    }

    fn reply(&mut self, client: ClientId, id: RequestId, reply: Reply) {
        self.reply_with(client, id, reply, Vec::new());
    }

    fn reply_with(&mut self, client: ClientId, id: RequestId, reply: Reply, fds: Vec<F>) {
        self.effects.push(Effect::Reply { client, id, reply: Box::new(Ok(reply)), fds });
    }

    fn refuse(&mut self, client: ClientId, id: RequestId, why: impl Into<Failure>) {
        let reply = Box::new(Err(why.into()));
        self.effects.push(Effect::Reply { client, id, reply, fds: Vec::new() });
    }

    fn answer(&mut self, client: ClientId, id: RequestId, result: Result<Reply, Failure>) {
        match result {
            Ok(reply) => self.reply(client, id, reply),
            Err(why) => self.refuse(client, id, why),
        }
    }

    /// Tells a task, or keeps it until the task enrols. False when there is no
    /// such task or no room.
    fn event(&mut self, tid: Tid, event: Event, fds: Vec<F>) -> bool {
        if !self.is_own(tid) {
            return self.say(tid.host(), Between::Event { tid, event });
        }
        let limit = self.config.limits.queued_events;
        let Some(task) = self.tasks.get_mut(&tid) else { return false };
        match task.client {
            Some(client) => self.effects.push(Effect::Event { client, event, fds }),
            None if task.queued.len() < limit => task.queued.push((event, fds)),
            None => return false,
        }
        true
    }
}

/// Refuses names that are empty or absurdly long.
fn check_name(name: &str) -> Result<(), Failure> {
    if name.is_empty() || name.len() > MAX_NAME {
        let detail = format!("a name of 1 to {MAX_NAME} bytes is expected");
        return Err(Failure::new(ErrorKind::BadParameter, detail));
    }
    Ok(())
}
