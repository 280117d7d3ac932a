//! The machine driven by sequences of inputs; descriptors are numbers.

mod owned;

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
                Effect::Listen(tid) => {
                    Some(Input::Listening { tid: *tid, result: Ok(("127.0.0.1:9".into(), 7)) })
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

#[test]
fn tasks_get_ids_of_their_own_and_tools_get_none() {
    let mut bench = Bench::new();
    assert_eq!(kind(&bench.call(9, Request::Hosts)), ErrorKind::NotEnrolled);
    assert_eq!(bench.enrol(1), Tid(0x40001));
    assert_eq!(bench.enrol(2), Tid(0x40002));
    assert_eq!(bench.enrol_as(3, Role::Tool, None).0, Tid(0x40000));
    let join = Request::Join { group: "g".into() };
    assert_eq!(kind(&bench.call(3, join)), ErrorKind::NotEnrolled, "a tool is no task");
    let enrol =
        Request::Enrol { role: Role::Task, pid: 1, name: "x".into(), ticket: None, release: "0".into() };
    assert_eq!(kind(&bench.call(1, enrol)), ErrorKind::Protocol);
}

#[test]
fn a_second_endpoint_takes_no_task_s_place_and_is_in_no_list() {
    let mut bench = Bench::new();
    bench.enrol(1);
    let spawned = bench.spawn(1, "prog", 1, false)[0].clone().expect("starts");
    let ticket = bench.machine.ticket(spawned.tid);
    let (service, _) = bench.enrol_with(4, Role::Service, ticket);
    assert_ne!(service, spawned.tid, "the process itself may come later");
    let (task, _) = bench.enrol_with(5, Role::Task, ticket);
    assert_eq!(task, spawned.tid);
    let mut rows = |of| {
        let Ok(Reply::Tasks(rows)) = answer(&bench.call(1, Request::Tasks { of, deep: false })) else {
            panic!("no rows");
        };
        rows.iter().map(|row| row.tid).collect::<Vec<_>>()
    };
    assert!(!rows(None).contains(&service));
    assert_eq!(rows(Some(service)), [service], "who asks for it hears of it");
}

#[test]
fn a_spawned_task_enrols_once_under_its_own_id() {
    let mut bench = Bench::new();
    let parent = bench.enrol(1);
    let spawned = bench.spawn(1, "prog", 1, false)[0].clone().expect("starts");
    // A stranger has the number at most: it gets another, and belongs to nobody.
    let stranger = Ticket { tid: spawned.tid, secret: [0; 16] };
    let (other, effects) = bench.enrol_with(4, Role::Task, Some(stranger));
    assert_ne!(other, spawned.tid);
    assert!(matches!(answer(&effects), Ok(Reply::Enrolled { parent: None, .. })));
    assert!(!bench.machine.houses_others(spawned.tid));
    let (tid, effects) = bench.enrol_as(2, Role::Task, Some(spawned.tid));
    assert_eq!(tid, spawned.tid);
    assert!(matches!(answer(&effects), Ok(Reply::Enrolled { parent: Some(p), .. }) if p == parent));
    // A process that inherited its environment gets another.
    let (other, effects) = bench.enrol_as(3, Role::Task, Some(spawned.tid));
    assert_ne!(other, spawned.tid);
    assert!(matches!(answer(&effects), Ok(Reply::Enrolled { parent: None, .. })));
    assert!(bench.machine.houses_others(spawned.tid));
}

#[test]
fn crossing_offers_count_once_and_wait_for_enrolment() {
    let mut bench = Bench::new();
    let a = bench.enrol(1);
    let b = bench.spawn(1, "prog", 1, false)[0].clone().expect("starts").tid;
    let effects = bench.call_with(1, Request::Connect { to: b }, vec![42]);
    assert!(matches!(answer(&effects), Ok(Reply::Connected { pid: 1001 })));
    assert!(events(&effects).is_empty(), "b has not enrolled");
    let (_, effects) = bench.enrol_as(2, Role::Task, Some(b));
    let offered = effects.iter().position(|e| {
        matches!(e, Effect::Event { event: Event::Offered { from, .. }, fds, .. } if *from == a && fds[0] == 42 && fds.len() == 3)
    });
    let enrolled = effects.iter().position(|e| matches!(e, Effect::Reply { .. }));
    assert!(enrolled < offered, "first the welcome, then what waited");
    let effects = bench.call_with(2, Request::Connect { to: a }, vec![43]);
    assert_eq!(answer(&effects), Ok(Reply::AlreadyOffered));
    let effects = bench.call_with(1, Request::Connect { to: b }, vec![44]);
    assert_eq!(kind(&effects), ErrorKind::AlreadyConnected);
    assert_eq!(kind(&bench.call_with(1, Request::Connect { to: Tid(77) }, vec![1])), ErrorKind::NoSuchTask);
    assert_eq!(kind(&bench.call(1, Request::Connect { to: b })), ErrorKind::BadParameter);
    // Each hears of the other's end.
    assert_eq!(events(&bench.input(Input::Closed(2))), [(1, Event::Gone { tid: b, routed: false })]);
}

#[test]
fn tcp_needs_one_listener_and_a_token_for_each() {
    let mut bench = Bench::new();
    let (a, b) = (bench.enrol(1), bench.enrol(2));
    let effects = bench.call(1, Request::ConnectTcp { to: b });
    let Ok(Reply::TcpAddress { token, encrypted: false, .. }) = answer(&effects) else {
        panic!("{effects:?}")
    };
    let told = events(&effects);
    assert!(matches!(told[0], (2, Event::Listen { .. })));
    assert_eq!(told[1], (2, Event::Expect { from: a, token, encrypted: false }));
    let effects = bench.call(1, Request::ConnectTcp { to: b });
    assert!(!effects.iter().any(|e| matches!(e, Effect::Listen(_))));
    assert!(matches!(answer(&effects), Ok(Reply::TcpAddress { token: other, .. }) if other != token));
}

#[test]
fn exits_follow_output_and_notices_come_once() {
    let mut bench = Bench::new();
    let (runner, _) = bench.enrol_as(1, Role::Runner, None);
    bench.enrol(5);
    let tid = bench.spawn(1, "prog", 1, false)[0].clone().expect("starts").tid;
    let notify = Request::Notify { about: Notice::TaskExit, targets: vec![tid], count: 0, cookie: 9 };
    assert_eq!(answer(&bench.call(5, notify.clone())), Ok(Reply::Done));
    let status = ExitStatus::Code(3);
    let effects = bench.input(Input::ProcessExited { tid, status });
    let notified = Event::Notified { cookie: 9, about: Notice::TaskExit, tid };
    assert_eq!(events(&effects), [(5, notified.clone())], "output is still open");
    let effects = bench.input(Input::OutputEnded(tid));
    assert_eq!(events(&effects), [(1, Event::Exited { tid, status })]);
    // Who asks about a task that is gone is told at once, after the answer.
    let effects = bench.call(5, notify);
    assert!(matches!(effects[0], Effect::Reply { .. }));
    assert_eq!(events(&effects), [(5, notified)]);
    assert!(bench.machine.exists(runner));
}

#[test]
fn all_or_none_leaves_none() {
    let mut bench = Bench::new();
    bench.enrol(1);
    bench.machine.config.limits.tasks = 6;
    let results = bench.spawn(1, "prog", 4, true);
    assert!(results.iter().all(Result::is_err), "{results:?}");
    let kinds: Vec<_> = results.iter().map(|r| r.as_ref().expect_err("all failed").kind).collect();
    assert!(kinds.contains(&ErrorKind::OutOfResources) && kinds.contains(&ErrorKind::NotAll), "{kinds:?}");
    let undone = results.iter().filter_map(|result| result.as_ref().err());
    let undone: Vec<_> =
        undone.filter(|why| why.kind == ErrorKind::NotAll).map(ToString::to_string).collect();
    let begins = "E-NOTALL: 4 tasks requested, ";
    assert!(
        undone.iter().all(|why| why.starts_with(begins) && why.ends_with("; no task was started")),
        "{undone:?}"
    );
    let results = bench.spawn(1, "missing", 1, true);
    assert_eq!(results[0].as_ref().expect_err("it is missing").kind, ErrorKind::ProgramNotFound);
}

#[test]
fn a_job_ends_with_its_runner() {
    let mut bench = Bench::new();
    bench.enrol_as(1, Role::Runner, None);
    let first = bench.spawn(1, "prog", 1, false)[0].clone().expect("starts");
    bench.enrol_as(2, Role::Task, Some(first.tid));
    let plan = SpawnRequest { program: "sub".into(), count: 1, ..Default::default() };
    let effects = bench.call(2, Request::Spawn(plan));
    let Ok(Reply::Spawned(subs)) = answer(&effects) else { panic!() };
    let sub = subs[0].clone().expect("starts");
    assert!(
        events(&effects)
            .contains(&(1, Event::Started { tid: sub.tid, parent: first.tid, name: "sub".into() }))
    );
    assert_eq!(bench.machine.output_client(sub.tid), Some((1, None)), "output goes up the chain");
    let effects = bench.input(Input::Closed(1));
    for pid in [first.pid, sub.pid] {
        assert!(effects.contains(&Effect::Signal { pid, group: true, signal: 15 }));
    }
    let at = bench.machine.next_deadline().expect("a grace");
    bench.now = at;
    let effects = bench.input(Input::Tick);
    assert_eq!(effects.iter().filter(|e| matches!(e, Effect::Signal { signal: 9, .. })).count(), 2);
    assert_eq!(bench.machine.next_deadline(), None);
    assert_eq!(bench.machine.output_client(sub.tid), None);
}

#[test]
fn a_connection_that_outlives_its_process_is_cut() {
    let mut bench = Bench::new();
    bench.enrol(1);
    let tid = bench.spawn(1, "prog", 1, false)[0].clone().expect("starts").tid;
    bench.enrol_as(2, Role::Task, Some(tid));
    bench.input(Input::ProcessExited { tid, status: ExitStatus::Code(0) });
    assert!(bench.machine.exists(tid));
    bench.now = bench.machine.next_deadline().expect("a limit");
    let effects = bench.input(Input::Tick);
    assert!(effects.contains(&Effect::Close(2)) && effects.contains(&Effect::TaskGone(tid)));
}

#[test]
fn groups_give_the_lowest_free_instance() {
    let mut bench = Bench::new();
    let tids: Vec<_> = (1..=3).map(|c| bench.enrol(c)).collect();
    let join = || Request::Join { group: "g".into() };
    for client in 1..=3 {
        assert_eq!(answer(&bench.call(client, join())), Ok(Reply::Number(client as u32 - 1)));
    }
    assert_eq!(kind(&bench.call(1, join())), ErrorKind::DuplicateGroup);
    assert_eq!(answer(&bench.call(2, Request::Leave { group: "g".into() })), Ok(Reply::Done));
    assert_eq!(kind(&bench.call(2, Request::Leave { group: "g".into() })), ErrorKind::NotInGroup);
    let gone = Request::GroupTid { group: "g".into(), instance: 1 };
    assert_eq!(kind(&bench.call(1, gone)), ErrorKind::NoSuchInstance);
    assert_eq!(answer(&bench.call(2, join())), Ok(Reply::Number(1)));
    let members = answer(&bench.call(1, Request::GroupMembers { group: "g".into() }));
    assert_eq!(members, Ok(Reply::Members(vec![(0, tids[0]), (1, tids[1]), (2, tids[2])])));
    for client in 1..=3 {
        bench.input(Input::Closed(client));
    }
    bench.enrol(4);
    assert_eq!(kind(&bench.call(4, Request::GroupSize { group: "g".into() })), ErrorKind::NoSuchGroup);
}

#[test]
fn a_barrier_opens_for_all_or_breaks_for_all() {
    let mut bench = Bench::new();
    for client in 1..=3 {
        bench.enrol(client);
        bench.call(client, Request::Join { group: "g".into() });
    }
    let barrier = |count| Request::Barrier { group: "g".into(), count };
    assert_eq!(kind(&bench.call(1, barrier(0))), ErrorKind::BadParameter);
    for _ in 0..2 {
        assert!(answers(&bench.call(1, barrier(3))).is_empty());
        assert_eq!(kind(&bench.call(2, barrier(2))), ErrorKind::BadParameter, "another count");
        assert!(answers(&bench.call(2, barrier(-1))).is_empty());
        assert_eq!(kind(&bench.call(2, barrier(3))), ErrorKind::BadParameter, "twice");
        let opened = answers(&bench.call(3, barrier(3)));
        assert_eq!(opened, [1, 2, 3].map(|c| (c, Ok(Reply::Done))));
    }
    bench.call(1, barrier(3));
    let broken = answers(&bench.input(Input::Closed(3)));
    assert_eq!(broken.len(), 1);
    assert_eq!(broken[0].1.as_ref().expect_err("broken").kind, ErrorKind::BarrierBroken);
    // Who comes after that is told as well, instead of waiting for the dead.
    assert_eq!(kind(&bench.call(2, barrier(3))), ErrorKind::BarrierBroken);
    // One who waits and dies does not count.
    assert!(answers(&bench.call(1, barrier(2))).is_empty());
    bench.enrol(4);
    bench.call(4, Request::Join { group: "g".into() });
    bench.input(Input::Closed(1));
    assert!(answers(&bench.call(2, barrier(2))).is_empty());
    assert_eq!(answers(&bench.call(4, barrier(2))).len(), 2);
}

#[test]
fn the_mailbox_keeps_what_may_be_kept() {
    let mut bench = Bench::new();
    bench.enrol(1);
    bench.enrol(2);
    let put = |index, flags| Request::MailPut { name: "n".into(), index, flags, data: "d".into() };
    let get = |take, wait| Request::MailGet { name: "n".into(), index: 0, first: true, take, wait };
    let plain = MailFlags::default();
    let open = MailFlags::OVERWRITABLE;
    assert_eq!(kind(&bench.call(1, get(false, false))), ErrorKind::NoSuchEntry);
    assert!(answers(&bench.call(2, get(false, true))).is_empty(), "it waits");
    let effects = answers(&bench.call(1, put(None, plain)));
    assert_eq!(effects[0], (1, Ok(Reply::Number(0))));
    let owner = bench.machine.tid_of(1);
    assert_eq!(effects[1], (2, Ok(Reply::Mail { index: 0, owner, flags: plain, data: "d".into() })));
    assert_eq!(answer(&bench.call(1, put(None, plain))), Ok(Reply::Number(0)), "the owner may");
    assert_eq!(kind(&bench.call(2, put(None, open))), ErrorKind::Denied);
    assert_eq!(kind(&bench.call(2, get(true, false))), ErrorKind::Denied);
    assert_eq!(kind(&bench.call(2, Request::MailRemove { name: "n".into(), index: 0 })), ErrorKind::Denied);
    bench.input(Input::Closed(1));
    assert_eq!(kind(&bench.call(2, get(false, false))), ErrorKind::NoSuchEntry, "it went with its owner");
    let multi = MailFlags::MULTI.and(MailFlags::PERSISTENT).and(MailFlags::OVERWRITABLE);
    for index in 0..3 {
        assert_eq!(answer(&bench.call(2, put(None, multi))), Ok(Reply::Number(index)));
    }
    assert_eq!(answer(&bench.call(2, put(Some(1), multi))), Ok(Reply::Number(3)), "beside the others");
    assert_eq!(answer(&bench.call(2, put(Some(1), open.and(MailFlags::PERSISTENT)))), Ok(Reply::Number(1)));
    bench.input(Input::Closed(2));
    bench.enrol(3);
    for index in 0..4 {
        let taken = answer(&bench.call(3, get(true, false)));
        assert!(matches!(taken, Ok(Reply::Mail { index: at, owner: None, .. }) if at == index), "{taken:?}");
    }
    assert_eq!(bench.machine.mailbox.bytes(), 0);
}

#[test]
fn a_mailbox_entry_that_was_taken_in_vain_goes_back_where_it_was() {
    let mut bench = Bench::new();
    bench.enrol(1);
    bench.enrol(2);
    let owner = bench.machine.tid_of(1);
    let flags = MailFlags::MULTI.and(MailFlags::OVERWRITABLE);
    let name = || "n".to_owned();
    for data in ["a", "b"] {
        bench.call(1, Request::MailPut { name: name(), index: None, flags, data: data.into() });
    }
    let bytes = bench.machine.mailbox.bytes();
    let get = |take| Request::MailGet { name: name(), index: 0, first: true, take, wait: false };
    let first = Ok(Reply::Mail { index: 0, owner, flags, data: "a".into() });
    assert_eq!(answer(&bench.call(2, get(true))), first);
    let back = |owner| Request::MailPutBack { name: name(), index: 0, owner, flags, data: "a".into() };
    assert_eq!(answer(&bench.call(2, back(owner))), Ok(Reply::Number(0)));
    assert_eq!(answer(&bench.call(2, get(false))), first, "before the other, and its owner's");
    assert_eq!(bench.machine.mailbox.bytes(), bytes);
    // Another has taken its place meanwhile.
    bench.call(2, get(true));
    bench.call(1, Request::MailPut { name: name(), index: None, flags, data: "c".into() });
    assert_eq!(answer(&bench.call(2, back(owner))), Ok(Reply::Number(2)), "nothing is replaced");
    // Its owner is gone, and it with its owner.
    for _ in 0..3 {
        bench.call(2, get(true));
    }
    bench.input(Input::Closed(1));
    assert_eq!(answer(&bench.call(2, back(owner))), Ok(Reply::Number(0)));
    assert_eq!(bench.machine.mailbox.bytes(), 0);
}

#[test]
fn a_name_leads_to_one_task_or_to_a_group() {
    let mut bench = Bench::new();
    for client in [1, 2] {
        bench.enrol(client);
    }
    let spot = |number| Spot { number, ..Spot::default() };
    let bind = |names: &[&str], number, group| Request::NamesBind {
        names: names.iter().map(|name| (name.to_string(), spot(number))).collect(),
        group,
    };
    let find = |name: &str| Request::NamesFind { names: vec![name.into()] };
    let unbind = |name: &str| Request::NamesUnbind { names: vec![name.into()], number: None };
    let leads = |to: &[(u64, i32)], bench: &Bench| {
        let tid = |client| bench.machine.tid_of(client).expect("a task");
        Ok(Reply::Names(vec![to.iter().map(|(client, number)| (tid(*client), spot(*number))).collect()]))
    };
    assert_eq!(answer(&bench.call(1, find("a"))), leads(&[], &bench));
    assert_eq!(answer(&bench.call(1, bind(&["a", "b"], 7, false))), Ok(Reply::Done));
    assert_eq!(answer(&bench.call(2, find("b"))), leads(&[(1, 7)], &bench));
    assert_eq!(kind(&bench.call(2, bind(&["c", "a"], 8, false))), ErrorKind::NameTaken);
    assert_eq!(kind(&bench.call(2, bind(&["c", "c"], 8, false))), ErrorKind::NameTaken, "twice in one list");
    assert_eq!(answer(&bench.call(2, find("c"))), leads(&[], &bench), "none of the list was bound");
    assert_eq!(kind(&bench.call(2, bind(&["a"], 8, true))), ErrorKind::NameTaken, "it is no group's");
    assert_eq!(kind(&bench.call(2, bind(&[""], 8, false))), ErrorKind::BadParameter);
    assert_eq!(answer(&bench.call(2, unbind("a"))), Ok(Reply::Number(0)), "it is not theirs");
    assert_eq!(answer(&bench.call(1, unbind("a"))), Ok(Reply::Number(1)));
    assert_eq!(answer(&bench.call(2, bind(&["a"], 8, false))), Ok(Reply::Done));
    for (client, number) in [(1, 3), (1, 4), (2, 3)] {
        assert_eq!(answer(&bench.call(client, bind(&["g"], number, true))), Ok(Reply::Done));
    }
    assert_eq!(kind(&bench.call(2, bind(&["g"], 3, true))), ErrorKind::NameTaken, "it is in it already");
    assert_eq!(kind(&bench.call(2, bind(&["g"], 5, false))), ErrorKind::NameTaken, "it is a group's");
    assert_eq!(answer(&bench.call(2, find("g"))), leads(&[(1, 3), (1, 4), (2, 3)], &bench));
    let place = |client, number| (bench.machine.tid_of(client).expect("a task"), number, 0);
    let places = vec![place(1, 3), place(2, 8), place(1, 7), place(2, 99)];
    let names = ["g", "a", "b", ""].map(str::to_owned).to_vec();
    assert_eq!(answer(&bench.call(2, Request::NamesOf { places })), Ok(Reply::NamesOf(names)));
    bench.input(Input::Closed(1));
    assert_eq!(answer(&bench.call(2, find("b"))), leads(&[], &bench), "it went with its owner");
    assert_eq!(answer(&bench.call(2, find("g"))), leads(&[(2, 3)], &bench));
    for name in ["a", "g"] {
        assert_eq!(answer(&bench.call(2, unbind(name))), Ok(Reply::Number(1)));
    }
    assert_eq!(bench.machine.names.bytes(), 0);
}

#[test]
fn names_are_bounded() {
    let mut bench = Bench::with(Limits { names_bytes: 1000, ..Limits::default() });
    bench.enrol(1);
    let names = (0..20).map(|number| (format!("name {number}"), Spot::default())).collect();
    assert_eq!(kind(&bench.call(1, Request::NamesBind { names, group: false })), ErrorKind::TooLarge);
    assert_eq!(bench.machine.names.bytes(), 0);
}

#[test]
fn the_mailbox_is_bounded() {
    let mut bench = Bench::with(Limits { mailbox_bytes: 1000, ..Limits::default() });
    bench.enrol(1);
    let data = Blob(vec![0; 900]);
    let flags = MailFlags::MULTI;
    let put = Request::MailPut { name: "n".into(), index: None, flags, data };
    assert_eq!(answer(&bench.call(1, put.clone())), Ok(Reply::Number(0)));
    assert_eq!(kind(&bench.call(1, put)), ErrorKind::TooLarge);
}

#[test]
fn events_for_a_task_that_never_enrols_are_bounded() {
    let mut bench = Bench::with(Limits { queued_events: 2, ..Limits::default() });
    bench.enrol(1);
    let b = bench.spawn(1, "prog", 1, false)[0].clone().expect("starts").tid;
    for client in 10..12 {
        bench.enrol(client);
        assert!(answer(&bench.call_with(client, Request::Connect { to: b }, vec![1])).is_ok());
    }
    let effects = bench.call_with(1, Request::Connect { to: b }, vec![1]);
    assert_eq!(kind(&effects), ErrorKind::OutOfResources);
}

#[test]
fn halting_waits_for_the_last_process() {
    let mut bench = Bench::new();
    bench.enrol(1);
    bench.enrol_as(2, Role::Tool, None);
    let tid = bench.spawn(1, "prog", 1, false)[0].clone().expect("starts").tid;
    let effects = bench.call(2, Request::Halt);
    assert!(answers(&effects).is_empty());
    assert!(effects.contains(&Effect::Signal { pid: 1, group: false, signal: 15 }), "a guest is told");
    let plan = SpawnRequest { program: "prog".into(), count: 1, ..Default::default() };
    assert_eq!(kind(&bench.call(1, Request::Spawn(plan))), ErrorKind::GoingDown);
    bench.input(Input::ProcessExited { tid, status: ExitStatus::Signal(15) });
    let effects = bench.input(Input::OutputEnded(tid));
    assert_eq!(answers(&effects), [(2, Ok(Reply::Done))]);
    assert_eq!(effects.last(), Some(&Effect::Stop));
}

#[test]
fn how_the_last_processes_ended_is_known() {
    let mut bench = Bench::new();
    bench.enrol(1);
    let tids: Vec<Tid> =
        bench.spawn(1, "prog", 300, false).iter().map(|one| one.clone().expect("starts").tid).collect();
    let ask = |tid| Request::HowEnded { tid };
    assert_eq!(kind(&bench.call(1, ask(tids[0]))), ErrorKind::NoSuchTask, "it is there");
    for (number, tid) in (0..).zip(&tids) {
        bench.input(Input::ProcessExited { tid: *tid, status: ExitStatus::Code(number) });
    }
    assert_eq!(answer(&bench.call(1, ask(tids[299]))), Ok(Reply::Ended(ExitStatus::Code(299))));
    assert_eq!(kind(&bench.call(1, ask(tids[0]))), ErrorKind::NoSuchTask, "long ago");
}

#[test]
fn a_process_that_lives_on_is_not_signalled_when_the_machine_ends() {
    let mut bench = Bench::new();
    bench.enrol(1);
    bench.enrol(3);
    assert_eq!(answer(&bench.call(1, Request::LivesOn)), Ok(Reply::Done));
    bench.enrol_as(2, Role::Tool, None);
    let effects = bench.call(2, Request::Halt);
    let told = effects
        .iter()
        .filter(|effect| matches!(effect, Effect::Signal { group: false, signal: 15, .. }))
        .count();
    assert_eq!(told, 1, "of two guests: {effects:?}");
    assert_eq!(effects.last(), Some(&Effect::Stop), "and nobody waits for it");
}

#[test]
fn a_task_may_leave_and_its_process_stays_attended() {
    let mut bench = Bench::new();
    bench.enrol(1);
    let Spawned { tid, pid } = bench.spawn(1, "prog", 1, false)[0].clone().expect("starts");
    bench.enrol_as(2, Role::Task, Some(tid));
    let effects = bench.call(2, Request::Depart);
    assert!(effects.contains(&Effect::TaskGone(tid)) && effects.contains(&Effect::Close(2)));
    let effects = bench.call(1, Request::Signal { tid, signal: 15 });
    assert!(effects.contains(&Effect::Signal { pid, group: false, signal: 15 }));
    // It may come back, as somebody else.
    assert_ne!(bench.enrol_as(3, Role::Task, Some(tid)).0, tid);
    bench.input(Input::Closed(2));
    bench.input(Input::ProcessExited { tid, status: ExitStatus::Code(0) });
    let effects = bench.input(Input::OutputEnded(tid));
    assert!(events(&effects).contains(&(1, Event::Exited { tid, status: ExitStatus::Code(0) })));
}

#[test]
fn numbers_begin_anew_after_the_last_and_pass_by_those_in_use() {
    let mut bench = Bench::new();
    let first = bench.enrol(1);
    let lives = bench.spawn(1, "prog", 1, false)[0].clone().expect("starts").tid;
    let mut last = lives.local();
    // As many as there are numbers, and those of a second round up to the ones that are in use.
    for _ in 0..Tid::MAX_LOCAL + 3 {
        let tid = bench.spawn(1, "prog", 1, false)[0].clone().expect("starts").tid;
        assert!(tid != first && tid != lives, "{tid} lives");
        let next = if last == Tid::MAX_LOCAL { lives.local() + 1 } else { last + 1 };
        assert_eq!(tid.local(), next, "the number of one that has just ended");
        last = next;
        bench.input(Input::ProcessExited { tid, status: ExitStatus::Code(0) });
        bench.input(Input::OutputEnded(tid));
    }
    assert!(last < 10, "it has begun anew");
}

#[test]
fn nonsense_is_refused() {
    let mut bench = Bench::new();
    let me = bench.enrol(1);
    let plan = |count, program: &str| {
        Request::Spawn(SpawnRequest { count, program: program.into(), ..Default::default() })
    };
    assert_eq!(kind(&bench.call(1, plan(0, "x"))), ErrorKind::BadParameter);
    assert_eq!(kind(&bench.call(1, plan(u32::MAX, "x"))), ErrorKind::BadParameter);
    assert_eq!(kind(&bench.call(1, plan(1, ""))), ErrorKind::BadParameter);
    assert_eq!(kind(&bench.call(1, plan(1, "a\0b"))), ErrorKind::BadParameter);
    assert_eq!(kind(&bench.call(1, Request::Signal { tid: me, signal: 99 })), ErrorKind::BadParameter);
    assert_eq!(kind(&bench.call(1, Request::Signal { tid: Tid(-5), signal: 9 })), ErrorKind::NoSuchTask);
    assert_eq!(kind(&bench.call(1, Request::Join { group: String::new() })), ErrorKind::BadParameter);
    assert_eq!(
        kind(&bench.call(1, Request::Tasks { of: Some(Tid(0x80000)), deep: false })),
        ErrorKind::NoSuchHost
    );
    assert_eq!(
        kind(&bench.call(1, Request::Tasks { of: Some(Tid(0x40099)), deep: false })),
        ErrorKind::NoSuchTask
    );
    let notify = Request::Notify { about: Notice::TaskExit, targets: vec![Tid(0)], count: 0, cookie: 0 };
    assert_eq!(kind(&bench.call(1, notify)), ErrorKind::BadParameter);
    let unused = Event::Output { tid: me, stream: Stream::Out, data: "x".into() };
    assert!(bench.machine.send_event(Tid(77), unused).is_empty());
}

#[test]
fn members_that_have_met_get_a_page_and_lose_it_when_the_group_changes() {
    let mut bench = Bench::new();
    for client in 1..=3 {
        bench.enrol(client);
    }
    let join = || Request::Join { group: "g".into() };
    let barrier = |count| Request::Barrier { group: "g".into(), count };
    let opened = |effects: &Effects| {
        effects.iter().find_map(|effect| match effect {
            Effect::Opened { waiters, meeting } => Some((waiters.len(), *meeting)),
            _ => None,
        })
    };
    let closed = |effects: &Effects| effects.iter().any(|effect| matches!(effect, Effect::CloseMeeting(_)));
    bench.call(1, join());
    bench.call(2, join());
    assert_eq!(opened(&bench.call(1, barrier(1))), Some((1, None)), "not everybody was there");
    bench.call(1, barrier(-1));
    assert_eq!(opened(&bench.call(2, barrier(-1))), Some((2, Some((1, 2)))));
    assert!(closed(&bench.call(3, join())), "one more may come");
    for client in 1..=2 {
        assert!(!closed(&bench.call(client, barrier(3))));
    }
    assert_eq!(opened(&bench.call(3, barrier(3))), Some((3, Some((2, 3)))));
    assert!(closed(&bench.call(1, barrier(3))), "one asks: now all must");
    for client in 2..=3 {
        bench.call(client, barrier(3));
    }
    assert!(closed(&bench.input(Input::Closed(3))), "a member died");
    bench.call(1, barrier(2));
    assert_eq!(kind(&bench.call(2, barrier(3))), ErrorKind::BarrierBroken);
}

#[test]
fn who_gets_the_output_hears_of_what_its_tasks_start() {
    let mut bench = Bench::new();
    bench.enrol(1);
    let output = Output::Spawner;
    let plan = SpawnRequest { program: "a".into(), count: 1, output, orphan: true, ..Default::default() };
    let effects = bench.call(1, Request::Spawn(plan));
    let Ok(Reply::Spawned(results)) = answer(&effects) else { panic!("{effects:?}") };
    let first = results[0].clone().expect("starts").tid;
    assert!(events(&effects).is_empty(), "of its own it learns from the answer");
    bench.enrol_as(2, Role::Task, Some(first));
    let plan = SpawnRequest { program: "b".into(), count: 1, ..Default::default() };
    let effects = bench.call(2, Request::Spawn(plan));
    let Ok(Reply::Spawned(results)) = answer(&effects) else { panic!("{effects:?}") };
    let tid = results[0].clone().expect("starts").tid;
    let told = Event::Started { tid, parent: first, name: "b".into() };
    assert_eq!(events(&effects), [(1, told)]);
}

#[test]
fn who_asks_for_a_member_that_is_being_started_is_answered_when_it_joins() {
    let mut bench = Bench::new();
    bench.enrol(1);
    let ask = || Request::GroupTid { group: "g".into(), instance: 1 };
    let join = || Request::Join { group: "g".into() };
    bench.call(1, join());
    assert_eq!(kind(&bench.call(1, ask())), ErrorKind::NoSuchInstance, "nobody is on the way");
    let tid = bench.spawn(1, "prog", 1, false)[0].clone().expect("starts").tid;
    assert!(answers(&bench.call(1, ask())).is_empty(), "it may come");
    bench.enrol_as(2, Role::Task, Some(tid));
    let effects = answers(&bench.call(2, join()));
    assert!(effects.contains(&(1, Ok(Reply::Task(tid)))));
    assert!(answers(&bench.call(1, Request::GroupTid { group: "g".into(), instance: 7 })).is_empty());
    bench.now += 60_000_000;
    let effects = bench.input(Input::Tick);
    assert_eq!(kind(&effects), ErrorKind::NoSuchInstance, "it did not");
}

#[test]
fn tasks_of_one_request_may_differ() {
    let mut bench = Bench::new();
    let me = bench.enrol(1);
    let each = |rank, program| Each { rank, program, host: None, input: rank == 1 };
    let second = Program { program: "dir/b".into(), args: vec!["x".into()], ..Default::default() };
    let details = Details {
        programs: vec![second],
        each: vec![each(0, 0), each(1, 1), each(2, 1)],
        ..Default::default()
    };
    let plan =
        SpawnRequest { program: "a".into(), count: 3, details: Box::new(details), ..Default::default() };
    let effects = bench.call(1, Request::Spawn(plan.clone()));
    let started = effects.iter().filter_map(|effect| match effect {
        Effect::Spawn { plan, .. } => {
            let rank = plan.env_add.iter().find(|it| it.0.starts_with(b"PARVUM_RANK=")).map(Blob::lossy);
            Some((plan.program.lossy(), plan.args.len(), rank.unwrap_or_default()))
        }
        _ => None,
    });
    let wanted = [("a", 0, "PARVUM_RANK=0"), ("dir/b", 1, "PARVUM_RANK=1"), ("dir/b", 1, "PARVUM_RANK=2")];
    assert_eq!(
        started.collect::<Vec<_>>(),
        wanted.map(|(name, args, rank)| (name.into(), args, rank.into()))
    );
    let Ok(Reply::Tasks(rows)) = answer(&bench.call(1, Request::Tasks { of: None, deep: false })) else {
        panic!("no rows");
    };
    let rows: Vec<_> = rows.iter().filter(|row| row.tid != me).map(|row| (&*row.name, row.rank)).collect();
    assert_eq!(rows, [("a", Some(0)), ("b", Some(1)), ("b", Some(2))]);
    // What does not fit is refused.
    assert_eq!(
        kind(&bench.call(1, Request::Spawn(SpawnRequest { count: 2, ..plan.clone() }))),
        ErrorKind::BadParameter
    );
    let mut unknown = plan;
    unknown.details.each[2].program = 2;
    assert_eq!(kind(&bench.call(1, Request::Spawn(unknown))), ErrorKind::BadParameter);
}

#[test]
fn only_its_own_job_writes_to_a_task() {
    let mut bench = Bench::new();
    bench.enrol_as(1, Role::Runner, None);
    bench.enrol(2);
    let tid = bench.spawn(1, "prog", 1, false)[0].clone().expect("starts").tid;
    let write = || Request::Input { tid, data: "words".into() };
    assert_eq!(kind(&bench.call(2, write())), ErrorKind::Denied);
    let effects = bench.call(1, write());
    let Some(Effect::Feed { client, id, .. }) = effects.iter().find(|it| matches!(it, Effect::Feed { .. }))
    else {
        panic!("{effects:?}");
    };
    assert!(answers(&effects).is_empty(), "not before the process has taken it");
    let taken = bench.input(Input::Fed { client: *client, id: *id, result: Ok(()) });
    assert_eq!(answer(&taken), Ok(Reply::Done));
    let nobody = Request::Input { tid: Tid(0x4abcd), data: "words".into() };
    assert_eq!(kind(&bench.call(1, nobody)), ErrorKind::NoSuchTask);
}
