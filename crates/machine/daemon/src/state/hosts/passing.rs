//! Words between daemons: what concerns one host is done by its daemon.
//!
//! A request about a task is passed on to the daemon of its host and done there as if its client were there; the answer
//! comes back. Clients of other hosts have numbers that carry the host. So have those whose requests are done
//! by all: only their own daemon answers them.

use super::coming::EARLY;
use super::*;
use parvum_wire::control::Notice;

/// A client's number has so many bits; the host's number stands above.
const CLIENT_BITS: u32 = 40;

/// Stands above both in the name of a client whose request is done by all.
const AGREED: ClientId = 1 << 63;

/// The number by which this daemon knows a client of another that has passed a request on.
fn client_of(host: u32, client: ClientId) -> ClientId {
    u64::from(host) << CLIENT_BITS | client
}

/// The number by which all daemons know a client whose request they do together.
pub(super) fn agreed_name(host: u32, client: ClientId) -> ClientId {
    AGREED | client_of(host, client)
}

/// Who gets an answer.
enum Asker {
    Own(ClientId),
    /// A client of another host, by its number there.
    Of(u32, ClientId),
    /// One that its own daemon answers.
    Answered,
}

fn asker(me: u32, client: ClientId) -> Asker {
    let (name, own) = (client & !AGREED, client & ((1 << CLIENT_BITS) - 1));
    match (name >> CLIENT_BITS) as u32 {
        0 => Asker::Own(own),
        host if name == client => Asker::Of(host, own),
        host if host == me => Asker::Own(own),
        _ => Asker::Answered,
    }
}

/// Whether it is a request that [`Machine::elsewhere`] and [`Machine::gather_tasks`] pass on: it asks nothing of the
/// task whose client it is, which is not here.
fn is_passed_on(request: &Request) -> bool {
    match request {
        Request::Signal { .. }
        | Request::Input { .. }
        | Request::Tasks { of: Some(_), .. }
        | Request::Clock { .. }
        | Request::Recorded { .. }
        | Request::Records { .. }
        | Request::FreeContext { .. }
        | Request::NotConnected { .. }
        | Request::Call { .. } => true,
        Request::Spawn(plan) => plan.behalf.is_some(),
        _ => false,
    }
}

impl<F: Clone> Machine<F> {
    /// Which other host must answer this request, if one must.
    pub(in crate::state) fn elsewhere(&mut self, me: Option<Tid>, request: &Request) -> Option<u32> {
        let host = match request {
            Request::Signal { tid, .. }
            | Request::Input { tid, .. }
            | Request::Tasks { of: Some(tid), .. } => tid.host(),
            Request::Clock { host } | Request::Recorded { host, .. } => host.host(),
            Request::Records { tid, .. } => tid.host(),
            Request::FreeContext { context, .. } => Tid(*context as i32).host(),
            Request::Spawn(plan) => plan.behalf.map_or(0, Tid::host),
            Request::Call { to, route } => return self.who_joins((me?, *to, *route)),
            Request::NotConnected { to, route } => {
                self.calls.remove(&(me?, *to, *route));
                to.host()
            }
            _ => return None,
        };
        (host != self.config.number && self.others.knows(host)).then_some(host)
    }

    /// Of two tasks that would connect to each other exactly one does. The daemon of the lower one
    /// settles which, so a request passes there.
    fn who_joins(&mut self, pair: Pair) -> Option<u32> {
        let (me, to, route) = pair;
        let far = !self.is_own(to) && self.others.knows(to.host());
        if far && me < to && !self.calls.contains(&(to, me, route)) {
            self.calls.insert(pair);
        } else if far && me < to {
            return None;
        }
        if far {
            self.link(me, to);
        }
        far.then(|| to.host())
    }

    pub(in crate::state) fn pass_on(
        &mut self,
        host: u32,
        client: ClientId,
        id: RequestId,
        me: Option<Tid>,
        request: Request,
    ) {
        let request = match request {
            Request::FreeContext { context, .. } => {
                let job = me.and_then(|me| self.tasks.get(&me)).and_then(|task| task.job);
                Request::FreeContext { context, job }
            }
            request => request,
        };
        self.others.asked.insert((client, id), host);
        self.say(host, Between::Ask { client, id, me, request });
    }

    /// Whether the daemon that does this for all answers this client.
    pub(in crate::state) fn answers(&self, client: ClientId) -> bool {
        matches!(asker(self.config.number, client), Asker::Own(_))
    }

    /// False when there is no such host.
    pub(in crate::state) fn say(&mut self, host: u32, word: Between) -> bool {
        let known = self.others.knows(host) && host != self.config.number;
        if known {
            self.effects.push(Effect::Say { host, word: Box::new(word) });
        }
        known
    }

    pub(in crate::state) fn say_to_all(&mut self, word: &Between) {
        for host in self.others.peers() {
            self.say(host, word.clone());
        }
    }

    /// Effects for clients of other hosts become words to their daemons.
    pub(in crate::state) fn address_effects(&mut self) -> Vec<Effect<F>> {
        let me = self.config.number;
        let mut effects = std::mem::take(&mut self.effects);
        effects.retain_mut(|effect| match effect {
            Effect::Reply { client, id, reply, .. } => match asker(me, *client) {
                Asker::Own(own) => {
                    *client = own;
                    true
                }
                Asker::Of(host, client) => {
                    let reply = std::mem::replace(&mut **reply, Ok(Reply::Done));
                    let word = Box::new(Between::Answer { client, id: *id, reply });
                    *effect = Effect::Say { host, word };
                    true
                }
                Asker::Answered => false,
            },
            Effect::Opened { waiters, .. } => {
                waiters.retain_mut(|(client, _)| match asker(me, *client) {
                    Asker::Own(own) => {
                        *client = own;
                        true
                    }
                    _ => false,
                });
                !waiters.is_empty()
            }
            _ => true,
        });
        effects
    }

    /// The daemon of another host says something.
    pub(in crate::state) fn hear(&mut self, host: u32, word: Between) {
        match word {
            // The mesh lets nobody in but hosts of this machine; it may be quicker than the table.
            word if !self.others.knows(host) => {
                let early = self.others.early.entry(host).or_default();
                if early.len() < EARLY {
                    early.push(word);
                }
            }
            Between::Ask { client, id, me, request } => self.asked(host, client, id, me, request),
            Between::Answer { client, id, reply } => self.answered(host, client, id, reply),
            Between::Event { tid, event } => {
                if self.is_own(tid) {
                    if let Event::Gone { tid: gone, .. } = event {
                        self.part(tid, gone);
                    }
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
            Between::Watch(tid) if self.exists(tid) || self.is_ending(tid) => {
                self.others.wanted.entry(tid).or_default().insert(host);
            }
            Between::Watch(tid) => {
                self.say(host, Between::Over { tid, runner: false });
            }
            Between::Over { tid, runner } => self.ended_elsewhere(tid, runner),
            Between::SignalJob { job, signal } => self.signal_tasks_of(job, signal),
            Between::Gang { job, tasks } => self.on_gang(host, job, tasks),
            Between::Turn(row) => self.obey_turn(row.as_deref()),
            Between::Arrived => self.on_arrival(host),
            Between::Load(load) => self.on_load(host, load),
            Between::Loads(loads) => self.on_loads(loads),
            Between::Doubt(doubtful) => self.on_doubt(host, doubtful),
            Between::Silent { hosts, silent } => self.on_silence(host, &hosts, silent),
            // The shell's: it knows what is on its way, and the agreement.
            Between::Took { .. } | Between::Agreement(_) => {}
            Between::Halt => self.stop_here(Vec::new()),
        }
    }

    /// Another daemon passes on what a client of its own has asked. It is not trusted to pass on only what it may.
    fn asked(&mut self, host: u32, client: ClientId, id: RequestId, me: Option<Tid>, request: Request) {
        if client >> CLIENT_BITS != 0 {
            return;
        }
        let client = client_of(host, client);
        if !is_passed_on(&request) || me.is_some_and(|me| me.host() != host) {
            let why = format!("host {host} passed on what it has to do itself");
            return self.refuse(client, id, Failure::new(ErrorKind::Protocol, why));
        }
        self.perform(client, id, me, request, Vec::new());
    }

    fn answered(&mut self, host: u32, client: ClientId, id: RequestId, reply: Result<Reply, Failure>) {
        if let Some(gathered) = self.others.gathered.get_mut(&(client, id)) {
            if let Ok(Reply::Tasks(rows)) = reply {
                gathered.rows.extend(rows);
            }
            gathered.missing.remove(&host);
            return self.finish_gathering(client, id);
        }
        if self.others.asked.remove(&(client, id)).is_some() {
            self.answer(client, id, reply);
        }
    }

    /// The host is out of the machine: it answers nothing any more.
    pub(super) fn refuse_questions_to(&mut self, host: u32) {
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
    }

    /// Asks all hosts for their tasks.
    pub(in crate::state) fn gather_tasks(
        &mut self,
        client: ClientId,
        id: RequestId,
        rows: Vec<TaskRow>,
        deep: bool,
    ) {
        let missing: BTreeSet<u32> = self.others.peers().into_iter().collect();
        for host in &missing {
            // Of the host alone, else it would ask the others in turn.
            let of = Tid::new(*host, 0);
            self.say(*host, Between::Ask { client, id, me: None, request: Request::Tasks { of, deep } });
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
    pub(in crate::state) fn forget_questions_of(&mut self, client: ClientId) {
        self.others.asked.retain(|(asker, _), _| *asker != client);
        self.others.proposed.retain(|(asker, _)| *asker != client);
        self.others.gathered.retain(|(asker, _), _| *asker != client);
    }

    /// A task of this host is gone: whoever asked hears of it. The end of a runner concerns all.
    pub(in crate::state) fn notify_others_of_end(&mut self, tid: Tid, runner: bool) {
        let wanted = self.others.wanted.remove(&tid).unwrap_or_default();
        if runner {
            return self.say_to_all(&Between::Over { tid, runner });
        }
        for host in wanted {
            self.say(host, Between::Over { tid, runner });
        }
    }

    /// A task of another host, joined with one of this, is gone. Who wants to join it now asks its host, and hears so: by what was
    /// agreed on between the two he would wait for it to connect.
    fn part(&mut self, own: Tid, gone: Tid) {
        for pair in [(own, gone), (gone, own)] {
            self.calls.retain(|(from, to, _)| (*from, *to) != pair);
            self.routed.remove(&pair);
        }
        if let Some(task) = self.tasks.get_mut(&own) {
            task.peers.remove(&gone);
            self.others.watch_is_stale = true;
        }
    }

    fn ended_elsewhere(&mut self, tid: Tid, runner: bool) {
        self.notify_watchers(tid);
        if runner {
            self.end_job(tid);
        }
    }

    /// Whether a task's end is known without asking: its host is not in the machine.
    pub(in crate::state) fn must_watch(&mut self, about: Notice, target: Tid) -> bool {
        if about == Notice::TaskExit && !self.is_own(target) {
            return self.say(target.host(), Between::Watch(target));
        }
        false
    }
}
