//! Several machines that talk to each other, in one test: words arrive in order, hosts die when told to, and an
//! ideal log lies between them. Whatever is proposed is agreed at once, as long as somebody leads.

mod coming;
mod losing;
mod together;

use super::*;
use crate::state::tests::Bench;
use parvum_wire::control::{Blob, Notice, TaskState};
use std::collections::VecDeque;

/// The client at the first host that adds others.
const ADDER: ClientId = 900;

/// Hosts by number; number 1 is the first.
struct Several {
    hosts: BTreeMap<u32, Bench>,
    /// What clients were told: host, client, what.
    told: Vec<(u32, ClientId, Heard)>,
    /// The host that leads; none: nothing is agreed.
    leader: Option<u32>,
    /// What was proposed while nobody led: it is proposed again to whoever leads next.
    open: Vec<(u64, Change)>,
}

#[derive(Debug, PartialEq)]
enum Heard {
    Reply(Result<Reply, Failure>),
    Event(Event),
}

impl Several {
    /// A machine of so many hosts.
    fn new(count: u32) -> Several {
        let (hosts, told, open) = (BTreeMap::new(), Vec::new(), Vec::new());
        let mut several = Several { hosts, told, leader: None, open };
        several.hosts.insert(1, Bench::host(1, 1, "here", Vec::new()));
        several.enrol_tool(1, ADDER);
        for number in 2..=count {
            several.add(&format!("h{number}"));
        }
        several
    }

    /// Adds a host as the shell does; its number.
    fn add(&mut self, name: &str) -> u32 {
        self.call(1, ADDER, Request::AddHosts { hosts: vec![name.into()] });
        match &self.take(1, ADDER)[..] {
            [Heard::Reply(Ok(Reply::HostResults(results)))] => results[0].clone().expect("added").host(),
            other => panic!("{other:?}"),
        }
    }

    /// A client that only looks and gives orders.
    fn enrol_tool(&mut self, host: u32, client: ClientId) {
        let (name, release) = (String::new(), "0".into());
        self.call(host, client, Request::Enrol { role: Role::Tool, pid: 1, name, ticket: None, release });
        self.take(host, client);
    }

    fn call(&mut self, host: u32, client: ClientId, request: Request) {
        let effects = self.hosts.get_mut(&host).expect("alive").call(client, request);
        self.carry(host, effects);
    }

    fn input(&mut self, host: u32, input: Input<u32>) {
        let effects = self.hosts.get_mut(&host).expect("alive").input(input);
        self.carry(host, effects);
    }

    fn carry(&mut self, host: u32, effects: Vec<Effect<u32>>) {
        let mut queue: VecDeque<_> = effects.into_iter().map(|effect| (host, effect)).collect();
        while let Some((from, effect)) = queue.pop_front() {
            let (to, input) = match effect {
                Effect::Say { host, word } => (host, Input::Heard { host: from, word }),
                Effect::Fetch(wanted) => {
                    let Wanted { number, life, name, .. } = *wanted;
                    if self.leader.is_none() {
                        // Its network is open now.
                        self.lead(from);
                    }
                    let known = self.hosts[&from].machine.hosts();
                    let bench = Bench::host(number, life, &name, known);
                    let record = bench.machine.own_record();
                    self.hosts.insert(number, bench);
                    let snapshot = self.hosts[&from].machine.snapshot();
                    self.input(number, Input::Agreeing);
                    self.input(number, Input::Install(snapshot));
                    self.input(number, Input::Stands(Standing::Following(from)));
                    (from, Input::Fetched { number, life, result: Ok(record) })
                }
                Effect::Propose(change) => {
                    let by = self.hosts[&from].machine.identity().1;
                    self.open.push((by, *change));
                    self.agree(&mut queue);
                    continue;
                }
                Effect::Reply { client, reply, .. } => {
                    self.told.push((from, client, Heard::Reply(*reply)));
                    continue;
                }
                Effect::Opened { waiters, .. } => {
                    for (client, _) in waiters {
                        self.told.push((from, client, Heard::Reply(Ok(Reply::Done))));
                    }
                    continue;
                }
                Effect::Event { client, event, .. } => {
                    self.told.push((from, client, Heard::Event(event)));
                    continue;
                }
                _ => continue,
            };
            if let Some(bench) = self.hosts.get_mut(&to) {
                queue.extend(bench.input(input).into_iter().map(|effect| (to, effect)));
            }
        }
    }

    /// All make all changes that are proposed.
    fn agree(&mut self, queue: &mut VecDeque<(u32, Effect<u32>)>) {
        let Some(leader) = self.leader.and_then(|host| self.hosts.get(&host)) else { return };
        let leader = leader.machine.identity().1;
        for (by, change) in std::mem::take(&mut self.open) {
            for (host, bench) in &mut self.hosts {
                let change = Box::new(change.clone());
                let effects = bench.input(Input::Agreed { by, leader, change });
                queue.extend(effects.into_iter().map(|effect| (*host, effect)));
            }
        }
    }

    /// This host leads from now on.
    fn lead(&mut self, leader: u32) {
        self.leader = Some(leader);
        self.input(leader, Input::Agreeing);
        for host in self.hosts.keys().copied().collect::<Vec<_>>() {
            self.input(
                host,
                Input::Stands(if host == leader { Standing::Leading } else { Standing::Following(leader) }),
            );
        }
        let mut queue = VecDeque::new();
        self.agree(&mut queue);
        for (host, effect) in queue {
            self.carry(host, vec![effect]);
        }
    }

    fn enrol(&mut self, host: u32, client: ClientId) -> Tid {
        let (name, release) = ("x".into(), "0".into());
        self.call(host, client, Request::Enrol { role: Role::Task, pid: 1, name, ticket: None, release });
        let found = self.told.drain(..).find_map(|(_, _, told)| match told {
            Heard::Reply(Ok(Reply::Enrolled { tid, .. })) => Some(tid),
            _ => None,
        });
        found.expect("enrolled")
    }

    /// The host dies; the others hear that it is silent, and one of them leads.
    fn kill(&mut self, host: u32) {
        self.hosts.remove(&host);
        let left: Vec<u32> = self.hosts.keys().copied().collect();
        if self.leader == Some(host) {
            self.leader = None;
            left.iter().for_each(|other| self.input(*other, Input::Stands(Standing::Waiting)));
        }
        left.iter().for_each(|other| self.input(*other, Input::HostLost(host)));
        if self.leader.is_none() {
            self.lead(left[0]);
        }
        left.iter().for_each(|other| self.pass_time(*other, 300_000_000));
    }

    /// So many nanoseconds later.
    fn pass_time(&mut self, host: u32, time: Now) {
        self.hosts.get_mut(&host).expect("alive").now += time;
        self.input(host, Input::Tick);
    }

    /// What the client was told since this was last asked.
    fn take(&mut self, host: u32, client: ClientId) -> Vec<Heard> {
        let (mine, rest) =
            std::mem::take(&mut self.told).into_iter().partition(|(at, to, _)| (*at, *to) == (host, client));
        self.told = rest;
        mine.into_iter().map(|(_, _, told)| told).collect()
    }

    fn names(&self, host: u32) -> Vec<String> {
        self.hosts[&host].machine.hosts().into_iter().map(|record| record.row.name).collect()
    }
}

fn done() -> Vec<Heard> {
    vec![Heard::Reply(Ok(Reply::Done))]
}
