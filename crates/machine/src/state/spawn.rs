//! Starting programs.

use super::*;
use parvum_wire::control::{Blob, Output, OutputMessages, OutputNews, SpawnWhere, Spawned};

/// The most programs one request may start.
const MAX_COUNT: u32 = 4096;

/// One spawn request whose programs are being started.
pub(super) struct Batch {
    client: ClientId,
    id: RequestId,
    spawner: Tid,
    all_or_none: bool,
    results: Vec<(Tid, Option<Result<Spawned, Failure>>)>,
}

impl<F: Clone> Machine<F> {
    pub(super) fn spawn(&mut self, client: ClientId, id: RequestId, me: Tid, plan: SpawnRequest) {
        if self.halting.is_some() {
            return self.refuse(client, id, ErrorKind::GoingDown);
        }
        if let Err(why) = self.check(&plan) {
            return self.refuse(client, id, why);
        }
        // The manager starts tasks for others.
        let me = match plan.behalf {
            Some(other) if self.parts.manager == Some(me) && self.tasks.contains_key(&other) => other,
            Some(other) => {
                let why = Failure::new(ErrorKind::Denied, format!("to start tasks for {other}"));
                return self.refuse(client, id, why);
            }
            None => me,
        };
        let tasker = self.parts.tasker.filter(|tasker| *tasker != me);
        let spawner = &self.tasks[&me];
        let job = if spawner.role == Role::Runner { Some(me) } else { spawner.job };
        let sink = self.sink_of(me, plan.output);
        let parent = (!plan.orphan).then_some(me);
        let name = base_name(&plan.program);
        let plan = Rc::new(self.at_home(plan));
        let mut batch = Batch { client, id, spawner: me, all_or_none: plan.all_or_none, results: Vec::new() };
        for _ in 0..plan.count {
            let tid = match self.fresh_tid() {
                Ok(tid) => tid,
                Err(why) => {
                    batch.results.push((Tid(0), Some(Err(why))));
                    continue;
                }
            };
            let (name, flag) = (name.clone(), plan.flag);
            let task = Task { parent, name: name.clone(), flag, job, process: Some(tid), ..Task::blank() };
            self.tasks.insert(tid, task);
            let (pid, status, kill_at) = (0, None, None);
            let process = Process {
                pid,
                name,
                flag,
                parent,
                sink,
                job,
                status,
                output_open: true,
                kill_at,
                undone: false,
                trace: plan.trace,
                tasker,
            };
            self.processes.insert(tid, process);
            let plan = plan.clone();
            self.effects.push(match tasker {
                Some(_) => Effect::Prepare { tid, plan },
                None => Effect::Spawn { tid, plan },
            });
            batch.results.push((tid, None));
        }
        self.batches.push(batch);
        self.finish_batches();
    }

    fn check(&self, plan: &SpawnRequest) -> Result<(), Failure> {
        if plan.count == 0 || plan.count > MAX_COUNT {
            let detail = format!("count {} is not between 1 and {MAX_COUNT}", plan.count);
            return Err(Failure::new(ErrorKind::BadParameter, detail));
        }
        let texts = plan.args.iter().chain(plan.env.iter().flatten()).chain(&plan.env_add);
        let texts = texts.chain(&plan.search).chain(&plan.cwd).chain([&plan.program]);
        if plan.program.0.is_empty() || texts.into_iter().any(|t| t.0.contains(&0)) {
            return Err(Failure::new(ErrorKind::BadParameter, "an empty program name or a NUL byte"));
        }
        let (mut row, digits) = (self.host_row(), self.daemon_tid().0.to_string());
        let is_host = |name: &String| *name == row.name || *name == "." || *name == digits;
        let fits = match &plan.place {
            SpawnWhere::Anywhere => true,
            SpawnWhere::Host(name) => is_host(name),
            SpawnWhere::NotHost(name) => !is_host(name),
            SpawnWhere::Arch(arch) => *arch == row.arch,
            SpawnWhere::NotArch(arch) => *arch != row.arch,
        };
        if !fits {
            let detail = format!("wanted {:?}, there is {}", plan.place, std::mem::take(&mut row.name));
            return Err(Failure::new(ErrorKind::NoSuchHost, detail));
        }
        Ok(())
    }

    pub(super) fn spawned(&mut self, tid: Tid, result: Result<(u32, Channel<F>), Failure>) {
        let result = match result {
            Ok((pid, channel)) => {
                let task = self.tasks.get_mut(&tid).expect("made before its process was asked for");
                (task.pid, task.channel) = (pid, Some(channel));
                self.processes.get_mut(&tid).expect("made with its task").pid = pid;
                Ok(Spawned { tid, pid })
            }
            Err(why) => {
                self.tasks.remove(&tid);
                self.processes.remove(&tid);
                Err(why)
            }
        };
        let slots = self.batches.iter_mut().flat_map(|b| &mut b.results);
        if let Some((_, slot)) = slots.into_iter().find(|(t, slot)| *t == tid && slot.is_none()) {
            *slot = Some(result);
        }
        self.finish_batches();
    }

    fn finish_batches(&mut self) {
        while let Some(done) = self.batches.iter().position(|b| b.results.iter().all(|(_, r)| r.is_some())) {
            let batch = self.batches.swap_remove(done);
            self.finish_batch(batch);
        }
    }

    fn finish_batch(&mut self, batch: Batch) {
        let mut results: Vec<_> = batch.results.into_iter().filter_map(|(_, result)| result).collect();
        if batch.all_or_none && results.iter().any(Result::is_err) {
            for result in &mut results {
                if let Ok(Spawned { tid, .. }) = *result {
                    self.undo(tid);
                    *result = Err(ErrorKind::NotAll.into());
                }
            }
        }
        self.introduce(&results);
        self.trace_beginnings(&results);
        for Spawned { tid, .. } in results.iter().flatten().copied() {
            let Some(process) = self.processes.get(&tid) else { continue };
            // The runner hears of tasks that its tasks spawn; of its own it
            // learns from the answer.
            if let Some(runner) = process.job.filter(|job| *job != batch.spawner) {
                let (parent, name) = (batch.spawner, process.name.clone());
                self.event(runner, Event::Started { tid, parent, name }, Vec::new());
            }
            // So does whoever is to get the output of a task that it has not spawned itself.
            let Some(process) = self.processes.get(&tid) else { continue };
            let knows = |sink: &Sink| {
                sink.as_messages.is_some() || sink.to == batch.spawner || process.job == Some(sink.to)
            };
            if let Some(sink) = process.sink.filter(|sink| !knows(sink)) {
                let (parent, name) = (batch.spawner, process.name.clone());
                self.event(sink.to, Event::Started { tid, parent, name }, Vec::new());
            }
        }
        self.reply(batch.client, batch.id, Reply::Spawned(results));
    }

    /// Makes the tasks siblings, and announces those whose output comes as messages.
    fn introduce(&mut self, results: &[Result<Spawned, Failure>]) {
        let siblings: Rc<[Tid]> = results.iter().flatten().map(|spawned| spawned.tid).collect();
        for tid in siblings.iter() {
            if let Some(task) = self.tasks.get_mut(tid) {
                task.siblings = siblings.clone();
            }
        }
        for news in [OutputNews::Expected as fn(_) -> _, OutputNews::Begun] {
            for &tid in siblings.iter() {
                let Some(process) = self.processes.get(&tid) else { continue };
                if let Some(Sink { to, as_messages: Some((context, tag)) }) = process.sink {
                    let news = news(process.parent);
                    self.event(to, Event::TaskOutput { tid, context, tag, news }, Vec::new());
                }
            }
        }
    }

    /// Who gets the output of a task that `me` starts, or of `me` itself.
    fn sink_of(&self, me: Tid, output: Output) -> Option<Sink> {
        match output {
            Output::Spawner => Some(Sink { to: me, as_messages: None }),
            Output::Inherit => self.own_sink(me),
            Output::Log => None,
            Output::Messages(OutputMessages { to, context, tag }) => {
                Some(Sink { to, as_messages: Some((context, tag)) })
            }
        }
    }

    pub(super) fn own_sink(&self, me: Tid) -> Option<Sink> {
        let process = self.tasks.get(&me)?.process?;
        self.processes.get(&process)?.sink
    }

    pub(super) fn siblings(&mut self, client: ClientId, id: RequestId, me: Tid) {
        // Who was started by hand is alone.
        let siblings = match &*self.tasks[&me].siblings {
            [] => vec![me],
            siblings => siblings.to_vec(),
        };
        self.reply(client, id, Reply::Siblings(siblings));
    }

    pub(super) fn get_output(&mut self, client: ClientId, id: RequestId, me: Tid) {
        let output = self.own_sink(me).map(|Sink { to, as_messages }| {
            let (context, tag) = as_messages.unwrap_or_default();
            OutputMessages { to, context, tag }
        });
        self.reply(client, id, Reply::Output(output));
    }

    pub(super) fn set_output(&mut self, client: ClientId, id: RequestId, me: Tid, output: Output) {
        let sink = self.sink_of(me, output);
        let process = self.tasks[&me].process;
        // What was started by hand writes where its starter wants.
        if let Some(process) = process.and_then(|tid| self.processes.get_mut(&tid)) {
            process.sink = sink;
        }
        self.reply(client, id, Reply::Done);
    }

    /// Ends a process as if it had never been.
    fn undo(&mut self, tid: Tid) {
        if let Some(process) = self.processes.get_mut(&tid) {
            process.undone = true;
            // Nobody may hear what it wrote.
            process.sink = None;
            let pid = process.pid;
            self.effects.push(Effect::Signal { pid, group: true, signal: 9 });
        }
        self.gone(tid);
    }
}

fn base_name(program: &Blob) -> String {
    let text = program.lossy();
    text.rsplit('/').next().unwrap_or_default().to_string()
}
