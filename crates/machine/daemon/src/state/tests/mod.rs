//! The machine driven by sequences of inputs; descriptors are numbers.

mod connecting;
mod ending;
mod groups;
mod mailbox;
mod owned;
mod tasks;

use super::*;
use parvum_wire::control::{Blob, Details, Each, MailFlags, Notice, Output, Program, Spawned, Spot, Stream};

type Effects = Vec<Effect<u32>>;

pub(super) struct Bench {
    pub(super) machine: Machine<u32>,
    pub(super) now: Now,
    last_fd: u32,
    last_id: RequestId,
    last_pid: u32,
    /// Programs of this name do not start.
    pub(super) missing: &'static str,
}

impl Bench {
    fn new() -> Bench {
        Bench::with(Limits::default())
    }

    /// One of several hosts, which knows of these.
    pub(super) fn host(number: u32, life: u64, name: &str, hosts: Vec<HostRecord>) -> Bench {
        Bench::make(Limits::default(), number, life, name, hosts)
    }

    fn with(limits: Limits) -> Bench {
        Bench::make(limits, 1, 1, "here", Vec::new())
    }

    fn make(limits: Limits, number: u32, life: u64, name: &str, hosts: Vec<HostRecord>) -> Bench {
        let mut next = 0u8;
        let entropy = Box::new(move || {
            next = next.wrapping_add(1);
            [next; 16]
        });
        let clock = Box::new(|| (77, 88));
        let config = Config {
            number,
            life,
            addresses: Vec::new(),
            hosts,
            host: name.into(),
            arch: "LINUX64".into(),
            cpus: 2,
            clock,
            encrypt: false,
            settings: Default::default(),
            entropy,
            limits,
        };
        Bench {
            machine: Machine::new(config),
            now: 0,
            last_fd: 100,
            last_id: 0,
            last_pid: 1000,
            missing: "missing",
        }
    }

    pub(super) fn input(&mut self, input: Input<u32>) -> Effects {
        let mut all = Vec::new();
        let mut queue: std::collections::VecDeque<_> = self.machine.handle(self.now, input).into();
        // Answer as the shell does.
        while let Some(effect) = queue.pop_front() {
            let answer = match &effect {
                Effect::Spawn { tid, plan } => Some(self.start(*tid, plan)),
                Effect::Listen(tid, route) => {
                    Some(Input::Listening { tid: *tid, route: *route, result: Ok(("127.0.0.1:9".into(), 7)) })
                }
                _ => None,
            };
            all.push(effect);
            if let Some(input) = answer {
                queue.extend(self.machine.handle(self.now, input));
            }
        }
        all
    }

    fn start(&mut self, tid: Tid, plan: &SpawnRequest) -> Input<u32> {
        if plan.program == Blob::from(self.missing) {
            return Input::Spawned { tid, result: Err(ErrorKind::ProgramNotFound.into()) };
        }
        self.last_pid += 1;
        Input::Spawned { tid, result: Ok((self.last_pid, self.channel())) }
    }

    fn channel(&mut self) -> Channel<u32> {
        self.last_fd += 2;
        Channel { page: self.last_fd, bell: self.last_fd + 1, recording: None }
    }

    pub(super) fn call(&mut self, client: ClientId, request: Request) -> Effects {
        self.call_with(client, request, Vec::new())
    }

    fn call_with(&mut self, client: ClientId, request: Request, fds: Vec<u32>) -> Effects {
        self.last_id += 1;
        let channel = self.machine.wants_channel(client, &request).then(|| self.channel());
        let call = Call { id: self.last_id, request };
        self.input(Input::Call { client, pid: client as u32, call: Box::new(call), fds, channel })
    }

    fn enrol_as(&mut self, client: ClientId, role: Role, tid: Option<Tid>) -> (Tid, Effects) {
        let ticket = tid.and_then(|tid| self.machine.ticket(tid));
        self.enrol_with(client, role, ticket)
    }

    fn enrol_with(&mut self, client: ClientId, role: Role, ticket: Option<Ticket>) -> (Tid, Effects) {
        let (name, release) = ("x".into(), "0".into());
        let effects = self.call(client, Request::Enrol { role, pid: 1, name, ticket, release });
        let tid = effects.iter().find_map(|e| match e {
            Effect::Reply { reply, .. } => match **reply {
                Ok(Reply::Enrolled { tid, .. }) => Some(tid),
                _ => None,
            },
            _ => None,
        });
        (tid.expect("enrolled"), effects)
    }

    fn enrol(&mut self, client: ClientId) -> Tid {
        self.enrol_as(client, Role::Task, None).0
    }

    fn spawn(
        &mut self,
        client: ClientId,
        program: &str,
        count: u32,
        all: bool,
    ) -> Vec<Result<Spawned, Failure>> {
        let plan = SpawnRequest {
            program: program.into(),
            count,
            output: Output::Spawner,
            all_or_none: all,
            ..Default::default()
        };
        let effects = self.call(client, Request::Spawn(plan));
        match answer(&effects) {
            Ok(Reply::Spawned(results)) => results,
            other => panic!("{other:?}"),
        }
    }
}

/// The answer among the effects to whoever asked last.
fn answer(effects: &Effects) -> Result<Reply, Failure> {
    answers(effects).pop().expect("an answer").1
}

fn answers(effects: &Effects) -> Vec<(ClientId, Result<Reply, Failure>)> {
    let replies = |e: &Effect<u32>| match e {
        Effect::Reply { client, reply, .. } => vec![(*client, (**reply).clone())],
        Effect::Opened { waiters, .. } => {
            waiters.iter().map(|(client, _)| (*client, Ok(Reply::Done))).collect()
        }
        _ => Vec::new(),
    };
    effects.iter().flat_map(replies).collect()
}

fn events(effects: &Effects) -> Vec<(ClientId, Event)> {
    let event = |e: &Effect<u32>| match e {
        Effect::Event { client, event, .. } => Some((*client, event.clone())),
        _ => None,
    };
    effects.iter().filter_map(event).collect()
}

fn kind(effects: &Effects) -> ErrorKind {
    answer(effects).expect_err("a refusal").kind
}
