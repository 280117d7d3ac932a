//! Tasks come and go.

use super::*;
use parvum_wire::control::{OutputNews, TaskRow, TaskState};

/// Of so many processes it is known how they ended.
const ENDS: usize = 256;

impl<F: Clone> Machine<F> {
    #[allow(clippy::too_many_arguments)] // one per field of the request
    pub(super) fn enrol(
        &mut self,
        client: ClientId,
        id: RequestId,
        pid: u32,
        role: Role,
        name: String,
        ticket: Option<Ticket>,
        channel: Option<Channel<F>>,
    ) {
        if self.clients.contains_key(&client) {
            return self.refuse(client, id, Failure::new(ErrorKind::Protocol, "enrolled already"));
        }
        if role == Role::Tool {
            self.clients.insert(client, Client { tid: None });
            let (tid, host) = (self.daemon_tid(), self.config.host.clone());
            return self.reply(client, id, Reply::Enrolled { tid, parent: None, host, secret: [0; 16] });
        }
        if self.halting.is_some() {
            return self.refuse(client, id, ErrorKind::GoingDown);
        }
        // Without one that holds it is nobody's but its own.
        let wish = ticket.and_then(|ticket| self.shown(ticket));
        let spawned = wish.filter(|tid| role != Role::Service && self.awaits_enrolment(*tid));
        let tid = match spawned {
            Some(tid) => tid,
            None => match self.admit(wish, role, channel) {
                Ok(tid) => tid,
                Err(why) => return self.refuse(client, id, why),
            },
        };
        let secret = (self.config.entropy)();
        let host = self.config.host.clone();
        let task = self.tasks.get_mut(&tid).expect("it was there or has just been admitted");
        (task.client, task.pid, task.secret) = (Some(client), pid, secret);
        if !name.is_empty() {
            task.name = name;
        }
        let (parent, queued) = (task.parent, std::mem::take(&mut task.queued));
        let (name, channel) = (task.name.clone(), task.channel.clone());
        let channel = channel.expect("a task that may enrol has its channel");
        self.clients.insert(client, Client { tid: Some(tid) });
        self.effects.push(Effect::Enrolled { client, tid, pid, name, channel: channel.clone() });
        // Before the answer: its first call may depend on it.
        if role != Role::Service {
            self.notify_manager_of_arrival(tid);
        }
        self.reply_with(client, id, Reply::Enrolled { tid, parent, host, secret }, channel.own_fds());
        for (event, fds) in queued {
            self.effects.push(Effect::Event { client, event, fds });
        }
    }

    /// Whether `tid` is a spawned task that has not enrolled yet.
    pub(super) fn awaits_enrolment(&self, tid: Tid) -> bool {
        self.tasks.get(&tid).is_some_and(|t| t.client.is_none() && t.channel.is_some())
    }

    /// Makes a task that nobody spawned: one started by hand, or a process that
    /// lives inside a spawned one whose tid is taken.
    fn admit(
        &mut self,
        inside: Option<Tid>,
        role: Role,
        channel: Option<Channel<F>>,
    ) -> Result<Tid, Failure> {
        let channel = channel
            .ok_or_else(|| Failure::new(ErrorKind::OutOfResources, "no control block could be made"))?;
        let tid = self.fresh_tid()?;
        let process = inside.filter(|tid| self.processes.contains_key(tid));
        let job = match role {
            Role::Runner => None,
            _ => process.and_then(|tid| self.processes[&tid].job),
        };
        let task = Task { channel: Some(channel), job, process, role, ..Task::blank() };
        self.tasks.insert(tid, task);
        Ok(tid)
    }

    /// A tid that neither a task nor a process has. Numbers go round, so that
    /// one is not used again soon after its task's end.
    pub(super) fn fresh_tid(&mut self) -> Result<Tid, Failure> {
        if self.tasks.len() + self.processes.len() >= self.config.limits.tasks {
            let detail = format!("{} tasks are the bound", self.config.limits.tasks);
            return Err(Failure::new(ErrorKind::OutOfResources, detail));
        }
        loop {
            self.last_local = if self.last_local == Tid::MAX_LOCAL { 1 } else { self.last_local + 1 };
            let tid = Tid::new(self.config.number, self.last_local).expect("in range");
            if !self.tasks.contains_key(&tid) && !self.processes.contains_key(&tid) {
                return Ok(tid);
            }
        }
    }

    pub(super) fn closed(&mut self, client: ClientId) {
        if let Some(halting) = &mut self.halting {
            halting.retain(|(c, _)| *c != client);
        }
        self.forget_questions_of(client);
        if let Some(Client { tid: Some(tid), .. }) = self.clients.remove(&client) {
            self.gone(tid);
        }
    }

    /// The task is gone from the machine; its process may live on.
    pub(super) fn gone(&mut self, tid: Tid) {
        let Some(task) = self.tasks.remove(&tid) else { return };
        self.effects.push(Effect::TaskGone(tid));
        self.others.watch_is_stale = true;
        let mut peers: Vec<_> = task.peers.into_iter().collect();
        peers.sort_unstable();
        for peer in peers {
            if let Some(other) = self.tasks.get_mut(&peer) {
                other.peers.remove(&tid);
            }
            let routed = self.routed.remove(&(tid, peer));
            self.event(peer, Event::Gone { tid, routed }, Vec::new());
        }
        for (client, id, ..) in task.awaiting_listener {
            self.refuse(client, id, ErrorKind::NoSuchTask);
        }
        self.offers.retain(|(a, b, _)| *a != tid && *b != tid);
        self.routed.retain(|(a, b)| *a != tid && *b != tid);
        self.calls.retain(|(a, b, _)| *a != tid && *b != tid);
        if task.role != Role::Service {
            self.notify_manager_of_end(tid);
        }
        // Who hears of the manager's end must not ask it any more.
        self.report_end(tid, task.role == Role::Runner);
        self.end_processes_of_tasker(tid);
        self.tracers.remove(&tid);
        self.contexts.free_all(tid);
        self.trace_end(tid, task.trace);
        if task.role == Role::Runner {
            self.end_job(tid);
        }
    }

    /// The runner is gone: so are its tasks.
    pub(super) fn end_job(&mut self, tid: Tid) {
        {
            let job = self.processes.iter().filter(|(_, p)| p.job == Some(tid)).map(|(t, _)| *t);
            for tid in job.collect::<Vec<_>>() {
                self.condemn(tid);
            }
            self.end_guests(|t| t.job == Some(tid));
            self.contexts.free_all(tid);
            self.effects.push(Effect::ForgetRecordings(tid));
        }
    }

    pub(super) fn process_exited(&mut self, tid: Tid, status: ExitStatus) {
        let Some(process) = self.processes.get_mut(&tid) else { return };
        process.status = Some(status);
        process.kill_at = None;
        if self.ended.len() == ENDS {
            self.ended.pop_front();
        }
        self.ended.push_back((tid, status));
        if process.gang {
            self.gangs.change();
        }
        if let Some(task) = self.tasks.get_mut(&tid) {
            if task.client.is_none() {
                self.gone(tid);
            } else if !task.closing {
                self.deadline_changed = true;
                // Its connection says the rest; a forked child may hold it open.
                task.gone_at = Some(self.now + LINGER);
            }
        }
        self.finish_process(tid);
    }

    pub(super) fn output_ended(&mut self, tid: Tid) {
        let Some(process) = self.processes.get_mut(&tid) else { return };
        process.output_open = false;
        self.finish_process(tid);
    }

    /// Reports the end once the status is known and all output was handed on.
    pub(super) fn finish_process(&mut self, tid: Tid) {
        if self.is_ending(tid) {
            return;
        }
        let Some(process) = self.processes.get(&tid) else { return };
        let (Some(status), false) = (process.status, process.output_open) else { return };
        let process = self.processes.remove(&tid).expect("just seen");
        if process.undone {
            return;
        }
        self.trace_end(tid, process.trace);
        let mut told = process.sink.map(|sink| sink.to);
        match process.sink {
            Some(Sink { to, as_messages: Some((context, tag)) }) => {
                let news = OutputNews::Ended;
                self.event(to, Event::TaskOutput { tid, context, tag, news }, Vec::new());
                told = None;
            }
            Some(sink) => {
                self.event(sink.to, Event::Exited { tid, status }, Vec::new());
            }
            None => {}
        }
        if let Some(runner) = process.job.filter(|job| told.replace(*job) != Some(*job)) {
            self.event(runner, Event::Exited { tid, status }, Vec::new());
        }
    }

    /// Tells a process to end, and makes it end after the grace.
    pub(super) fn condemn(&mut self, tid: Tid) {
        let Some(process) = self.processes.get_mut(&tid) else { return };
        if process.status.is_some() || process.pid == 0 || process.kill_at.is_some() {
            return;
        }
        process.kill_at = Some(self.now + GRACE);
        self.deadline_changed = true;
        let pid = process.pid;
        self.effects.push(Effect::Signal { pid, group: true, signal: 15 });
        // A stopped process takes no other signal.
        self.effects.push(Effect::Signal { pid, group: true, signal: 18 });
    }

    pub(super) fn signal(&mut self, client: ClientId, id: RequestId, tid: Tid, signal: i32) {
        if !(0..=64).contains(&signal) {
            return self.refuse(
                client,
                id,
                Failure::new(ErrorKind::BadParameter, format!("signal {signal}")),
            );
        }
        let task = self.tasks.get(&tid).map(|t| t.pid);
        let process = self.processes.get(&tid).filter(|p| p.status.is_none()).map(|p| p.pid);
        let Some(pid) = process.or(task).filter(|pid| *pid != 0) else {
            return self.refuse(client, id, Failure::new(ErrorKind::NoSuchTask, tid.to_string()));
        };
        if signal != 0 {
            self.effects.push(Effect::Signal { pid, group: false, signal });
        }
        self.reply(client, id, Reply::Done);
    }

    /// Somebody writes to the standard input of a task of its job.
    pub(super) fn feed(&mut self, client: ClientId, id: RequestId, me: Tid, tid: Tid, data: Blob) {
        let process = self.processes.get(&tid).filter(|process| process.status.is_none());
        match process {
            Some(process) if process.job == Some(me) => {
                self.effects.push(Effect::Feed { tid, data, client, id });
            }
            Some(_) => self.refuse(client, id, ErrorKind::Denied),
            None => self.refuse(client, id, Failure::new(ErrorKind::NoSuchTask, tid.to_string())),
        }
    }

    pub(super) fn signal_job(&mut self, client: ClientId, id: RequestId, me: Tid, signal: i32) {
        if !(1..=64).contains(&signal) {
            return self.refuse(
                client,
                id,
                Failure::new(ErrorKind::BadParameter, format!("signal {signal}")),
            );
        }
        self.signal_tasks_of(me, signal);
        self.say_to_all(&Between::SignalJob { job: me, signal });
        self.reply(client, id, Reply::Done);
    }

    pub(super) fn signal_tasks_of(&mut self, job: Tid, signal: i32) {
        let job = self.processes.values().filter(|p| p.job == Some(job) && p.status.is_none() && p.pid != 0);
        for pid in job.map(|p| p.pid).collect::<Vec<_>>() {
            self.effects.push(Effect::Signal { pid, group: true, signal });
        }
    }

    pub(super) fn list_tasks(&mut self, client: ClientId, id: RequestId, of: Option<Tid>, deep: bool) {
        if let Some(of) = of.filter(|of| !of.is_task() && *of != self.daemon_tid()) {
            return self.refuse(client, id, Failure::new(ErrorKind::NoSuchHost, of.to_string()));
        }
        let host = self.daemon_tid();
        let wanted = |tid: Tid| of.is_none_or(|of| of == host || of == tid);
        // Who asks for it by its id hears of it.
        let listed =
            |tid: Tid, task: &Task<F>| wanted(tid) && (task.role != Role::Service || of == Some(tid));
        let mut rows = Vec::new();
        for (&tid, task) in self.tasks.iter().filter(|(tid, task)| listed(**tid, task)) {
            let held = task.process.and_then(|tid| self.processes.get(&tid)).is_some_and(|it| it.held);
            let state = if task.client.is_some() { TaskState::Enrolled } else { TaskState::Started };
            let Task { parent, pid, flag, .. } = *task;
            rows.push(TaskRow {
                tid,
                parent,
                host,
                pid,
                name: task.name.clone(),
                flag,
                state,
                waits: None,
                counters: Vec::new(),
                spawned: self.processes.contains_key(&tid),
                held,
                rank: self.processes.get(&tid).and_then(|process| process.rank),
                sight: deep.then(Box::default),
            });
        }
        for (&tid, process) in self.processes.iter().filter(|(tid, _)| wanted(**tid)) {
            if !self.tasks.contains_key(&tid) && process.status.is_none() {
                let Process { parent, pid, flag, .. } = *process;
                let (name, state) = (process.name.clone(), TaskState::Departed);
                rows.push(TaskRow {
                    tid,
                    parent,
                    host,
                    pid,
                    name,
                    flag,
                    state,
                    waits: None,
                    counters: Vec::new(),
                    spawned: true,
                    held: process.held,
                    rank: process.rank,
                    sight: None,
                });
            }
        }
        if rows.is_empty() && of.is_some_and(|of| of != host) {
            let detail = of.expect("just seen").to_string();
            return self.refuse(client, id, Failure::new(ErrorKind::NoSuchTask, detail));
        }
        if of.is_none() && !self.others.is_alone() {
            return self.gather_tasks(client, id, rows, deep);
        }
        rows.sort_by_key(|row| row.tid);
        self.reply(client, id, Reply::Tasks(rows));
    }
}

impl<F> Task<F> {
    pub(super) fn blank() -> Task<F> {
        Task {
            client: None,
            pid: 0,
            parent: None,
            name: String::new(),
            flag: 0,
            role: Role::Task,
            channel: None,
            secret: [0; 16],
            trace: None,
            siblings: Some(Rc::new([])),
            sibling_askers: Vec::new(),
            job: None,
            process: None,
            queued: Vec::new(),
            peers: HashSet::new(),
            listeners: HashMap::new(),
            awaiting_listener: Vec::new(),
            gone_at: None,
            closing: false,
            lives_on: false,
        }
    }
}
