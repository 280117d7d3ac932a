//! Gangs: parallel jobs whose tasks run at the same time or not at all.
//!
//! A job whose tasks are scheduled one here, one there waits for itself most of the time (Ousterhout;
//! the papers see run times vary by a factor of 2 to 3). So jobs that were started as gangs and want
//! the same processors take turns: the *conductor*, the lowest host of the machine, arranges them in
//! rows, in each of which every job has a processor for each of its tasks, and tells all hosts whose
//! turn it is; a host stops the others. A host that hears nothing from it lets all of them run.

use super::*;
use std::collections::BTreeSet;

/// How long a turn is. Long against the word that changes it and the caches it empties, short
/// against what a person notices.
pub(super) const TURN: Now = 50_000_000;
/// Without a word for so long a turn is over.
const LEASE: Now = 5 * TURN;

const STOP: i32 = 19;
const CONTINUE: i32 = 18;

/// What this host knows of gangs, and what it knows as the conductor.
#[derive(Default)]
pub(super) struct Gangs {
    /// Tasks of gangs have begun or ended here, and the conductor does not know yet.
    changed: bool,
    /// What the conductor knows of this host: how many tasks each job has here.
    told: BTreeMap<Tid, u32>,
    /// Which host that was.
    told_to: u32,
    /// At the conductor: each job's tasks, by host.
    jobs: BTreeMap<Tid, BTreeMap<u32, u32>>,
    rows: Vec<BTreeSet<Tid>>,
    turn: usize,
    /// At the conductor: when the next turn begins.
    next: Option<Now>,
    /// When all may run again if the conductor says nothing.
    lease: Option<Now>,
}

impl Gangs {
    /// A task of a gang has begun or ended on this host.
    pub(super) fn change(&mut self) {
        self.changed = true;
    }

    pub(super) fn deadline(&self) -> Option<Now> {
        self.next.into_iter().chain(self.lease).min()
    }
}

impl<F: Clone> Machine<F> {
    /// Tells the conductor, after anything has happened, what has changed.
    pub(super) fn look_after_gangs(&mut self) {
        let conductor = self.conductor();
        let is_new = self.gangs.told_to != conductor;
        if !is_new && !self.gangs.changed {
            return;
        }
        (self.gangs.told_to, self.gangs.changed) = (conductor, false);
        if is_new && conductor != self.config.number {
            (self.gangs.next, self.gangs.jobs) = (None, BTreeMap::new());
        }
        let mut now: BTreeMap<Tid, u32> = BTreeMap::new();
        for process in self.processes.values().filter(|process| process.runs_in_gang()) {
            *now.entry(process.job.expect("a gang is a job")).or_default() += 1;
        }
        let before = std::mem::replace(&mut self.gangs.told, now.clone());
        let ended = before.keys().filter(|job| !now.contains_key(job)).map(|job| (*job, 0));
        let news = now.iter().map(|(job, tasks)| (*job, *tasks)).chain(ended);
        let news: Vec<_> = news.filter(|(job, tasks)| is_new || before.get(job) != Some(tasks)).collect();
        for (job, tasks) in news {
            if conductor == self.config.number {
                self.on_gang(conductor, job, tasks);
            } else {
                self.say(conductor, Between::Gang { job, tasks });
            }
        }
    }

    /// The host that says whose turn it is: the lowest.
    fn conductor(&self) -> u32 {
        self.others.records().next().map_or(self.config.number, |host| host.number)
    }

    /// A host has so many tasks of a job.
    pub(super) fn on_gang(&mut self, host: u32, job: Tid, tasks: u32) {
        let hosts = self.gangs.jobs.entry(job).or_default();
        hosts.insert(host, tasks);
        hosts.retain(|_, tasks| *tasks > 0);
        self.arrange_gangs();
    }

    /// Puts the jobs into rows, and lets the rows take turns if there are several.
    fn arrange_gangs(&mut self) {
        let others = &self.others;
        self.gangs.jobs.retain(|_, hosts| {
            hosts.retain(|host, _| others.knows(*host));
            !hosts.is_empty()
        });
        let processors: BTreeMap<u32, u32> =
            self.others.records().map(|host| (host.number, host.row.cpus.max(1))).collect();
        self.gangs.rows = rows(&self.gangs.jobs, &processors);
        if self.gangs.rows.len() > 1 {
            if self.gangs.next.is_none() {
                self.next_turn();
            }
        } else if self.gangs.next.take().is_some() {
            self.say_to_all(&Between::Turn(None));
            self.obey_turn(None);
        }
    }

    fn next_turn(&mut self) {
        self.gangs.turn = (self.gangs.turn + 1) % self.gangs.rows.len();
        let row: Vec<Tid> = self.gangs.rows[self.gangs.turn].iter().copied().collect();
        let hosts: BTreeSet<u32> = self.gangs.jobs.values().flat_map(BTreeMap::keys).copied().collect();
        for host in hosts {
            self.say(host, Between::Turn(Some(row.clone())));
        }
        self.obey_turn(Some(&row));
        self.gangs.next = Some(self.now + TURN);
        self.deadline_changed = true;
    }

    /// Stops the tasks of gangs whose turn it is not, and lets the others go on.
    pub(super) fn obey_turn(&mut self, row: Option<&[Tid]>) {
        self.gangs.lease = row.map(|_| self.now + LEASE);
        self.deadline_changed = true;
        let mut going_on = Vec::new();
        for process in self.processes.values_mut().filter(|process| process.runs_in_gang()) {
            let may_run = row.is_none_or(|row| process.job.is_some_and(|job| row.contains(&job)));
            if std::mem::replace(&mut process.held, !may_run) != may_run {
                continue;
            }
            let pid = process.pid;
            if may_run {
                going_on.push(Effect::Signal { pid, group: true, signal: CONTINUE });
            } else {
                self.effects.push(Effect::Signal { pid, group: true, signal: STOP });
            }
        }
        self.effects.append(&mut going_on);
    }

    pub(super) fn tick_for_gangs(&mut self) {
        if self.gangs.next.is_some_and(|next| next <= self.now) {
            self.arrange_gangs();
            if self.gangs.next.is_some() {
                self.next_turn();
            }
        }
        if self.gangs.lease.is_some_and(|lease| lease <= self.now) {
            self.obey_turn(None);
        }
    }
}

impl Process {
    fn runs_in_gang(&self) -> bool {
        self.gang && self.job.is_some() && self.status.is_none() && self.pid != 0
    }
}

/// Each job in the first row where every host has a processor for each of its tasks, and in all further
/// rows where it fits as well. A job that fits nowhere has a row of its own.
fn rows(jobs: &BTreeMap<Tid, BTreeMap<u32, u32>>, processors: &BTreeMap<u32, u32>) -> Vec<BTreeSet<Tid>> {
    let mut rows: Vec<(BTreeSet<Tid>, BTreeMap<u32, u32>)> = Vec::new();
    let fits = |hosts: &BTreeMap<u32, u32>, used: &BTreeMap<u32, u32>| {
        let free = |host: &u32| {
            let used = used.get(host).copied().unwrap_or(0);
            processors.get(host).copied().unwrap_or(1).saturating_sub(used)
        };
        hosts.iter().all(|(host, tasks)| free(host) >= *tasks)
    };
    let add = |row: &mut (BTreeSet<Tid>, BTreeMap<u32, u32>), job: Tid, hosts: &BTreeMap<u32, u32>| {
        row.0.insert(job);
        hosts.iter().for_each(|(host, tasks)| *row.1.entry(*host).or_default() += tasks);
    };
    for (job, hosts) in jobs {
        match rows.iter_mut().find(|row| fits(hosts, &row.1)) {
            Some(row) => add(row, *job, hosts),
            None => {
                let mut row = Default::default();
                add(&mut row, *job, hosts);
                rows.push(row);
            }
        }
    }
    for row in &mut rows {
        for (job, hosts) in jobs {
            if !row.0.contains(job) && fits(hosts, &row.1) {
                add(row, *job, hosts);
            }
        }
    }
    rows.into_iter().map(|row| row.0).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::Bench;
    use super::*;

    fn jobs(list: &[(i32, &[(u32, u32)])]) -> BTreeMap<Tid, BTreeMap<u32, u32>> {
        list.iter().map(|(job, hosts)| (Tid(*job), hosts.iter().copied().collect())).collect()
    }

    fn arranged(list: &[(i32, &[(u32, u32)])], processors: &[(u32, u32)]) -> Vec<Vec<i32>> {
        let rows = rows(&jobs(list), &processors.iter().copied().collect());
        rows.into_iter().map(|row| row.into_iter().map(|job| job.0).collect()).collect()
    }

    #[test]
    fn jobs_that_fit_together_share_a_row() {
        assert_eq!(arranged(&[(1, &[(1, 1)]), (2, &[(1, 1)])], &[(1, 2)]), [[1, 2]]);
        assert_eq!(arranged(&[(1, &[(1, 2)]), (2, &[(2, 2)])], &[(1, 2), (2, 2)]), [[1, 2]]);
        assert_eq!(arranged(&[], &[(1, 2)]), Vec::<Vec<i32>>::new());
    }

    #[test]
    fn jobs_that_want_the_same_processors_take_turns_on_all_hosts() {
        let both: &[(u32, u32)] = &[(1, 2), (2, 2)];
        assert_eq!(arranged(&[(1, both), (2, both)], &[(1, 2), (2, 2)]), [[1], [2]]);
        // The third fits beside neither, for each has all processors of its host.
        assert_eq!(arranged(&[(1, both), (2, both), (3, &[(2, 1)])], &[(1, 2), (2, 2)]), [[1], [2], [3]]);
    }

    #[test]
    fn small_job_runs_in_every_row_with_room() {
        let list: &[(i32, &[(u32, u32)])] = &[(1, &[(1, 3)]), (2, &[(1, 1)]), (3, &[(1, 3)])];
        assert_eq!(arranged(list, &[(1, 4)]), [[1, 2].to_vec(), [2, 3].to_vec()]);
    }

    #[test]
    fn job_larger_than_machine_has_turns() {
        assert_eq!(arranged(&[(1, &[(1, 9)]), (2, &[(1, 1)])], &[(1, 2)]), [[1], [2]]);
    }

    /// Two runners with a gang of two tasks each on the two processors of a bench; their processes.
    fn two_gangs() -> (Bench, [Vec<u32>; 2], Vec<Effect<u32>>) {
        let mut bench = Bench::host(1, 1, "here", Vec::new());
        let mut last = Vec::new();
        let gangs = [1, 2].map(|client| {
            let (name, release) = ("run".into(), "0".into());
            bench.call(client, Request::Enrol { role: Role::Runner, pid: 1, name, ticket: None, release });
            let plan = SpawnRequest { program: "p".into(), count: 2, gang: true, ..Default::default() };
            last = bench.call(client, Request::Spawn(plan));
            let pids = last.iter().find_map(|effect| match effect {
                Effect::Reply { reply, .. } => match &**reply {
                    Ok(Reply::Spawned(results)) => Some(results.iter().flatten().map(|it| it.pid).collect()),
                    _ => None,
                },
                _ => None,
            });
            pids.expect("spawned")
        });
        (bench, gangs, last)
    }

    fn signalled(effects: &[Effect<u32>], which: i32) -> Vec<u32> {
        let mut pids: Vec<u32> = effects
            .iter()
            .filter_map(|effect| match effect {
                Effect::Signal { pid, group: true, signal } if *signal == which => Some(*pid),
                _ => None,
            })
            .collect();
        pids.sort_unstable();
        pids
    }

    /// Time passes until the next turn.
    fn tick(bench: &mut Bench) -> Vec<Effect<u32>> {
        bench.now += TURN;
        bench.input(Input::Tick)
    }

    #[test]
    fn gangs_take_turns_and_last_one_runs_on() {
        let (mut bench, gangs, effects) = two_gangs();
        let stopped = signalled(&effects, STOP);
        let first = usize::from(stopped == gangs[0]);
        assert_eq!(stopped, gangs[1 - first], "one of them waits at once");
        for turn in 0..4 {
            let effects = tick(&mut bench);
            let (waits, runs) = if turn % 2 == 0 { (first, 1 - first) } else { (1 - first, first) };
            assert_eq!(signalled(&effects, STOP), gangs[waits], "turn {turn}");
            assert_eq!(signalled(&effects, CONTINUE), gangs[runs], "turn {turn}");
        }
        // The one whose turn it is ends: the other need not wait for its turn.
        let mut effects = Vec::new();
        let running: Vec<Tid> =
            bench.machine.processes.iter().filter(|it| !it.1.held).map(|it| *it.0).collect();
        for tid in running {
            effects = bench.input(Input::ProcessExited { tid, status: ExitStatus::Code(0) });
        }
        assert_eq!(signalled(&effects, CONTINUE), gangs[1 - first]);
        assert_eq!(bench.machine.gangs.deadline(), None, "nothing to do any more");
    }

    #[test]
    fn jobs_without_gang_are_not_stopped() {
        let (mut bench, ..) = two_gangs();
        let (name, release) = ("run".into(), "0".into());
        bench.call(3, Request::Enrol { role: Role::Runner, pid: 1, name, ticket: None, release });
        bench.call(3, Request::Spawn(SpawnRequest { program: "p".into(), count: 2, ..Default::default() }));
        for _ in 0..3 {
            let effects = tick(&mut bench);
            assert_eq!(signalled(&effects, STOP).len() + signalled(&effects, CONTINUE).len(), 4);
        }
    }

    #[test]
    fn tasks_all_run_when_conductor_is_silent() {
        let (mut bench, gangs, _) = two_gangs();
        // As if another host were the conductor, and gone.
        bench.machine.gangs.next = None;
        bench.machine.obey_turn(Some(&[]));
        bench.now += LEASE;
        let effects = bench.input(Input::Tick);
        assert_eq!(signalled(&effects, CONTINUE), gangs.concat());
    }

    #[test]
    fn spawned_task_joins_gang_of_parent() {
        let mut bench = Bench::host(1, 1, "here", Vec::new());
        let (name, release) = ("run".to_owned(), "0".to_owned());
        bench.call(
            1,
            Request::Enrol {
                role: Role::Runner,
                pid: 1,
                name: name.clone(),
                ticket: None,
                release: release.clone(),
            },
        );
        bench.call(
            1,
            Request::Spawn(SpawnRequest { program: "p".into(), count: 1, gang: true, ..Default::default() }),
        );
        let tid = *bench.machine.processes.keys().next().expect("spawned");
        let ticket = bench.machine.ticket(tid);
        bench.call(5, Request::Enrol { role: Role::Task, pid: 9, name, ticket, release });
        bench.call(5, Request::Spawn(SpawnRequest { program: "q".into(), count: 1, ..Default::default() }));
        assert!(bench.machine.processes.values().all(|process| process.gang && process.job.is_some()));
    }
}
