//! Starting programs.

use super::*;
use parvum_wire::control::{Blob, Details, Each, Output, OutputMessages, OutputNews, SpawnPart, Spawned};
use std::collections::BTreeSet;

/// The most programs one request may start.
const MAX_COUNT: u32 = 4096;

/// One spawn request whose programs are being started.
pub(super) struct Batch {
    asker: Asker,
    spawner: Tid,
    all_or_none: bool,
    slots: Vec<Slot>,
}

/// Who hears what came of it.
enum Asker {
    Client(ClientId, RequestId),
    /// Another daemon, which has its own number for the batch.
    Host(u32, u64),
}

/// One task of a batch.
struct Slot {
    place: Placed,
    result: Option<Result<Spawned, Failure>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Placed {
    Here(Tid),
    On(u32),
}

impl<F: Clone> Machine<F> {
    pub(super) fn spawn(&mut self, client: ClientId, id: RequestId, me: Tid, mut plan: SpawnRequest) {
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
        // What a gang spawns belongs to it.
        let process = self.tasks[&me].process.and_then(|tid| self.processes.get(&tid));
        plan.gang |= process.is_some_and(|process| process.gang);
        // What is recorded goes on with those that it spawns.
        plan.record = plan.record.or(process.and_then(|process| process.record));
        // So do the limits of whoever runs the job, if the spawner does not tell its own; and the processors at any rate.
        let of_job = process.and_then(|process| process.inherited.clone());
        let own = plan.details.inherited.take().filter(|_| plan.behalf.is_none() || of_job.is_none());
        plan.details.inherited = match (own, of_job) {
            (Some(own), Some(of_job)) => Some(Inherited { cpus: of_job.cpus, host: of_job.host, ..own }),
            (own, of_job) => own.or(of_job),
        };
        plan.details.one_stream |= process.is_some_and(|process| process.one_stream);
        let places = match self.place(&plan) {
            Ok(places) => places,
            Err(why) => return self.refuse(client, id, why),
        };
        let spawner = &self.tasks[&me];
        let job = if spawner.role == Role::Runner { Some(me) } else { spawner.job };
        let sink = self.sink_of(me, plan.output);
        let number = self.next_batch();
        let slots = places.iter().map(|host| Slot { place: Placed::On(*host), result: None }).collect();
        let all_or_none = plan.all_or_none;
        let batch = Batch { asker: Asker::Client(client, id), spawner: me, all_or_none, slots };
        self.batches.insert(number, batch);
        let mut counts: BTreeMap<u32, u32> = BTreeMap::new();
        places.iter().for_each(|host| *counts.entry(*host).or_default() += 1);
        let shown = sink.map(|sink| (sink.to, sink.as_messages));
        let mut before = 0;
        for (host, count) in counts {
            let each = places.iter().zip(&plan.details.each).filter(|(place, _)| **place == host);
            let each = each.map(|(_, each)| *each).collect();
            let details = Details { each, ..(*plan.details).clone() };
            let part = SpawnPart {
                batch: number,
                among: (before, places.len() as u32),
                plan: SpawnRequest { count, details: Box::new(details), ..plan.clone() },
                spawner: me,
                job,
                sink: shown,
            };
            before += count;
            if host == self.config.number {
                self.start_here(number, part);
            } else {
                self.say(host, Between::Start(Box::new(part)));
            }
        }
        self.finish_batches();
    }

    fn next_batch(&mut self) -> u64 {
        self.last_batch += 1;
        self.last_batch
    }

    /// The daemon of another host wants tasks started here.
    pub(super) fn start_part(&mut self, host: u32, part: SpawnPart) {
        let theirs = part.batch;
        let count = part.plan.count.min(MAX_COUNT) as usize;
        if self.halting.is_some() {
            let results = vec![Err(ErrorKind::GoingDown.into()); count];
            self.say(host, Between::Started { batch: theirs, results });
            return;
        }
        let number = self.next_batch();
        let slots =
            (0..count).map(|_| Slot { place: Placed::On(self.config.number), result: None }).collect();
        let (spawner, all_or_none) = (part.spawner, part.plan.all_or_none);
        let batch = Batch { asker: Asker::Host(host, theirs), spawner, all_or_none, slots };
        self.batches.insert(number, batch);
        self.start_here(number, part);
        self.finish_batches();
    }

    /// Starts this host's part of a batch.
    fn start_here(&mut self, number: u64, part: SpawnPart) {
        let SpawnPart { plan, among: (before, all), spawner: me, job, sink, .. } = part;
        let sink = sink.map(|(to, as_messages)| Sink { to, as_messages });
        let mut plan = plan;
        // Messages and the log do not tell the two streams apart.
        plan.details.one_stream |= sink.is_none_or(|sink| sink.as_messages.is_some());
        let own = Placed::On(self.config.number);
        let tasker = self.parts.tasker.filter(|tasker| *tasker != me && self.is_own(*tasker));
        let parent = (!plan.orphan).then_some(me);
        let whole = Rc::new(self.at_home(plan));
        for turn in 0..whole.count {
            let plan = match whole.details.each.get(turn as usize) {
                Some(each) => Rc::new(of_one(&whole, *each, turn)),
                None => whole.clone(),
            };
            let name = base_name(&plan.program);
            let tid = self.fresh_tid();
            let slots = self.batches.get_mut(&number).into_iter().flat_map(|batch| &mut batch.slots);
            let Some(slot) = slots.into_iter().find(|slot| slot.place == own && slot.result.is_none()) else {
                return;
            };
            let tid = match tid {
                Ok(tid) => tid,
                Err(why) => {
                    slot.result = Some(Err(why));
                    continue;
                }
            };
            slot.place = Placed::Here(tid);
            let (name, flag) = (name.clone(), plan.flag);
            let mut task =
                Task { parent, name: name.clone(), flag, job, process: Some(tid), ..Task::blank() };
            task.siblings = None;
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
                began: self.now,
                undone: false,
                trace: plan.trace,
                tasker,
                gang: plan.gang && job.is_some(),
                record: plan.record.filter(|_| job.is_some()),
                held: false,
                rank: plan.details.each.first().map(|each| each.rank),
                inherited: plan.details.inherited.clone(),
                one_stream: plan.details.one_stream,
                among: [before + turn, whole.count, all],
                secret: (self.config.entropy)(),
            };
            self.processes.insert(tid, process);
            self.effects.push(match tasker {
                Some(_) => Effect::Prepare { tid, plan },
                None => Effect::Spawn { tid, plan },
            });
        }
    }

    /// The daemon of another host has started its part.
    pub(super) fn started(&mut self, host: u32, number: u64, results: Vec<Result<Spawned, Failure>>) {
        let Some(batch) = self.batches.get_mut(&number) else { return };
        let waiting =
            batch.slots.iter_mut().filter(|slot| slot.place == Placed::On(host) && slot.result.is_none());
        for (slot, result) in waiting.zip(results) {
            slot.result = Some(result);
        }
        self.finish_batches();
    }

    /// A host is gone before it has said what became of its part.
    pub(super) fn fail_parts_on(&mut self, host: u32) {
        for slot in self.batches.values_mut().flat_map(|batch| &mut batch.slots) {
            if slot.place == Placed::On(host) {
                slot.result
                    .get_or_insert_with(|| Err(Failure::new(ErrorKind::HostLost, format!("host {host}"))));
            }
        }
        self.finish_batches();
    }

    fn check(&self, plan: &SpawnRequest) -> Result<(), Failure> {
        if plan.count == 0 || plan.count > MAX_COUNT {
            let detail = format!("count {} is not between 1 and {MAX_COUNT}", plan.count);
            return Err(Failure::new(ErrorKind::BadParameter, detail));
        }
        let texts = plan.args.iter().chain(plan.env.iter().flatten()).chain(&plan.env_add);
        let texts = texts.chain(&plan.search).chain(&plan.cwd).chain([&plan.program]);
        let Details { programs, each, .. } = &*plan.details;
        let further = programs.iter().flat_map(|further| {
            further.args.iter().chain(&further.env_add).chain(&further.cwd).chain([&further.program])
        });
        let mut names = programs.iter().map(|further| &further.program).chain([&plan.program]);
        if each.len() != plan.count as usize && !each.is_empty()
            || each.iter().any(|each| each.program as usize > programs.len())
        {
            return Err(Failure::new(ErrorKind::BadParameter, "what differs from task to task does not fit"));
        }
        if names.any(|program| program.0.is_empty()) || texts.chain(further).any(|text| text.0.contains(&0)) {
            return Err(Failure::new(ErrorKind::BadParameter, "an empty program name or a NUL byte"));
        }
        Ok(())
    }

    pub(super) fn spawned(&mut self, tid: Tid, result: Result<(u32, Channel<F>), Failure>) {
        let result = match result {
            Ok((pid, channel)) => {
                let task = self.tasks.get_mut(&tid).expect("made before its process was asked for");
                (task.pid, task.channel) = (pid, Some(channel));
                let process = self.processes.get_mut(&tid).expect("made with its task");
                process.pid = pid;
                if process.gang {
                    self.gangs.change();
                }
                Ok(Spawned { tid, pid })
            }
            Err(why) => {
                self.tasks.remove(&tid);
                self.processes.remove(&tid);
                Err(why)
            }
        };
        let mut slots = self.batches.values_mut().flat_map(|batch| &mut batch.slots);
        if let Some(slot) = slots.find(|slot| slot.place == Placed::Here(tid) && slot.result.is_none()) {
            slot.result = Some(result);
        }
        self.finish_batches();
    }

    fn finish_batches(&mut self) {
        let whole = |batch: &Batch| batch.slots.iter().all(|slot| slot.result.is_some());
        while let Some(number) = self.batches.iter().find(|(_, b)| whole(b)).map(|(number, _)| *number) {
            let batch = self.batches.remove(&number).expect("just found");
            self.finish_batch(batch);
        }
    }

    fn name_of_host(&self, number: u32) -> Option<String> {
        self.others.records().find(|host| host.number == number).map(|host| host.row.name.clone())
    }

    fn finish_batch(&mut self, batch: Batch) {
        let place =
            batch.slots.iter().find(|slot| matches!(slot.result, Some(Err(_)))).map(|slot| slot.place);
        let mut results: Vec<_> = batch.slots.into_iter().filter_map(|slot| slot.result).collect();
        let failed =
            results.iter().enumerate().find_map(|(rank, result)| Some((rank, result.as_ref().err()?)));
        if let Some((rank, why)) = failed.filter(|_| batch.all_or_none) {
            let (all, begun) = (results.len(), results.iter().flatten().count());
            let on = match place {
                Some(Placed::On(host)) => {
                    self.name_of_host(host).map_or_else(String::new, |name| format!(" on {name}"))
                }
                _ => String::new(),
            };
            let detail = format!(
                "{all} tasks requested, {begun} could start, none was started: rank {rank}{on} failed: {why}"
            );
            let none = Failure::new(ErrorKind::NotAll, detail);
            let mut far: BTreeMap<u32, Vec<Tid>> = BTreeMap::new();
            for result in &mut results {
                if let Ok(Spawned { tid, .. }) = *result {
                    match self.is_own(tid) {
                        true => self.undo(tid),
                        false => far.entry(tid.host()).or_default().push(tid),
                    }
                    *result = Err(none.clone());
                }
            }
            for (host, tids) in far {
                self.say(host, Between::Undo(tids));
            }
        }
        let tids: Vec<Tid> = results.iter().flatten().map(|spawned| spawned.tid).collect();
        if matches!(batch.asker, Asker::Client(..)) {
            self.make_siblings(&tids);
            let far: BTreeSet<u32> =
                tids.iter().filter(|tid| !self.is_own(**tid)).map(|tid| tid.host()).collect();
            for host in far {
                self.say(host, Between::Siblings(tids.clone()));
            }
        }
        self.announce(&tids);
        self.trace_beginnings(&results);
        self.notify_starts(batch.spawner, &tids);
        match batch.asker {
            Asker::Client(client, id) => self.reply(client, id, Reply::Spawned(results)),
            Asker::Host(host, batch) => {
                self.say(host, Between::Started { batch, results });
            }
        }
    }

    /// Whoever gets the output, or runs the job, hears of tasks that it has not spawned itself.
    fn notify_starts(&mut self, spawner: Tid, tids: &[Tid]) {
        for &tid in tids {
            let Some(process) = self.processes.get(&tid) else { continue };
            // Of its own it learns from the answer.
            if let Some(runner) = process.job.filter(|job| *job != spawner) {
                let (parent, name) = (spawner, process.name.clone());
                self.event(runner, Event::Started { tid, parent, name }, Vec::new());
            }
            // So does whoever is to get the output of a task that it has not spawned itself.
            let Some(process) = self.processes.get(&tid) else { continue };
            let knows = |sink: &Sink| {
                sink.as_messages.is_some() || sink.to == spawner || process.job == Some(sink.to)
            };
            if let Some(sink) = process.sink.filter(|sink| !knows(sink)) {
                let (parent, name) = (spawner, process.name.clone());
                self.event(sink.to, Event::Started { tid, parent, name }, Vec::new());
            }
        }
    }

    /// Makes the tasks siblings; those of other hosts hear of it there.
    pub(super) fn make_siblings(&mut self, tids: &[Tid]) {
        let siblings: Rc<[Tid]> = tids.into();
        for tid in tids {
            let Some(task) = self.tasks.get_mut(tid) else { continue };
            task.siblings = Some(siblings.clone());
            for (client, id) in std::mem::take(&mut task.sibling_askers) {
                self.reply(client, id, Reply::Siblings(tids.to_vec()));
            }
        }
    }

    /// The host of the spawner is gone before it has said who else it had started: its tasks here
    /// have one another.
    pub(super) fn orphan_siblings(&mut self, host: u32) {
        let left = |task: &Task<F>| task.siblings.is_none() && task.parent.is_none_or(|p| p.host() == host);
        let tids: Vec<Tid> = self.tasks.iter().filter(|(_, task)| left(task)).map(|(tid, _)| *tid).collect();
        self.make_siblings(&tids);
    }

    /// Announces those whose output comes as messages.
    fn announce(&mut self, tids: &[Tid]) {
        for news in [OutputNews::Expected as fn(_) -> _, OutputNews::Begun] {
            for &tid in tids {
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
        let siblings = match self.tasks[&me].siblings.as_deref() {
            Some([]) => vec![me],
            Some(siblings) => siblings.to_vec(),
            None => {
                let task = self.tasks.get_mut(&me).expect("who asks is there");
                return task.sibling_askers.push((client, id));
            }
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
    pub(super) fn undo(&mut self, tid: Tid) {
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

/// The request of one task, which comes in this turn on this host.
fn of_one(whole: &SpawnRequest, each: Each, turn: u32) -> SpawnRequest {
    let details = Details { programs: Vec::new(), each: vec![each], ..(*whole.details).clone() };
    let mut plan = SpawnRequest { count: 1, details: Box::new(details), ..whole.clone() };
    let further = each.program.checked_sub(1).and_then(|at| whole.details.programs.get(at as usize));
    if let Some(further) = further {
        plan.program = further.program.clone();
        plan.args = further.args.clone();
        plan.cwd = further.cwd.clone().or(plan.cwd);
        plan.env_add.extend(further.env_add.iter().cloned());
    }
    // The same in our words and in those of MPICH's launcher.
    for (name, number) in [
        ("PARVUM_RANK", each.rank),
        ("PARVUM_LOCAL_RANK", turn),
        ("PMI_RANK", each.rank),
        ("MPI_LOCALRANKID", turn),
        ("MPI_LOCALNRANKS", whole.count),
    ] {
        plan.env_add.push(Blob(format!("{name}={number}").into_bytes()));
    }
    plan
}

fn base_name(program: &Blob) -> String {
    let text = program.lossy();
    text.rsplit('/').next().unwrap_or_default().to_string()
}
