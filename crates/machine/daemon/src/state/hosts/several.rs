//! Several machines that talk to each other, in one test: words arrive in order, hosts die when told to, and an
//! ideal log lies between them. Whatever is proposed is agreed at once, as long as somebody leads.

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
    told: Vec<(u32, ClientId, Told)>,
    /// The host that leads; none: nothing is agreed.
    leader: Option<u32>,
    /// What was proposed while nobody led: it is proposed again to whoever leads next.
    open: Vec<(u64, Change)>,
}

#[derive(Debug, PartialEq)]
enum Told {
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
            [Told::Reply(Ok(Reply::HostResults(results)))] => results[0].clone().expect("added").host(),
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
                Effect::Fetch { number, life, name, .. } => {
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
                    self.told.push((from, client, Told::Reply(*reply)));
                    continue;
                }
                Effect::Opened { waiters, .. } => {
                    for (client, _) in waiters {
                        self.told.push((from, client, Told::Reply(Ok(Reply::Done))));
                    }
                    continue;
                }
                Effect::Event { client, event, .. } => {
                    self.told.push((from, client, Told::Event(event)));
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
            Told::Reply(Ok(Reply::Enrolled { tid, .. })) => Some(tid),
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
    fn take(&mut self, host: u32, client: ClientId) -> Vec<Told> {
        let (mine, rest) =
            std::mem::take(&mut self.told).into_iter().partition(|(at, to, _)| (*at, *to) == (host, client));
        self.told = rest;
        mine.into_iter().map(|(_, _, told)| told).collect()
    }

    fn names(&self, host: u32) -> Vec<String> {
        self.hosts[&host].machine.hosts().into_iter().map(|record| record.row.name).collect()
    }
}

fn done() -> Vec<Told> {
    vec![Told::Reply(Ok(Reply::Done))]
}

#[test]
fn hosts_that_were_added_know_one_another() {
    let several = Several::new(4);
    for host in 1..=4 {
        assert_eq!(several.names(host), ["here", "h2", "h3", "h4"], "host {host}");
    }
}

#[test]
fn tasks_start_on_all_hosts_and_are_listed_from_any() {
    let mut several = Several::new(3);
    let me = several.enrol(2, 5);
    assert_eq!(me.host(), 2);
    let plan = SpawnRequest { program: "p".into(), count: 6, ..Default::default() };
    several.call(2, 5, Request::Spawn(plan));
    let answers = several.take(2, 5);
    let Some(Told::Reply(Ok(Reply::Spawned(results)))) = answers.into_iter().next() else { panic!() };
    let tids: Vec<Tid> = results.into_iter().map(|result| result.expect("started").tid).collect();
    for host in 1..=3 {
        assert_eq!(tids.iter().filter(|tid| tid.host() == host).count(), 2, "{tids:?}");
    }
    // Each knows of all the others, but may ask before they are there.
    let client = 77;
    let far = tids.iter().copied().find(|tid| tid.host() == 3).expect("two of them");
    let ticket = several.hosts[&3].machine.ticket(far);
    let enrol = Request::Enrol { role: Role::Task, pid: 1, name: "p".into(), ticket, release: "0".into() };
    several.call(3, client, enrol);
    several.take(3, client);
    several.call(3, client, Request::Siblings);
    assert_eq!(several.take(3, client), [Told::Reply(Ok(Reply::Siblings(tids.clone())))]);
    several.enrol_tool(3, 7);
    several.call(3, 7, Request::Tasks { of: None, deep: false });
    let [Told::Reply(Ok(Reply::Tasks(rows)))] = &several.take(3, 7)[..] else { panic!("no list") };
    assert_eq!(rows.len(), 7);
    // And a host that fails alone undoes all, when all or none was wanted.
    several.hosts.get_mut(&3).expect("alive").missing = "q";
    let plan = SpawnRequest { program: "q".into(), count: 6, all_or_none: true, ..Default::default() };
    several.call(2, 5, Request::Spawn(plan));
    let [Told::Reply(Ok(Reply::Spawned(results)))] = &several.take(2, 5)[..] else { panic!() };
    assert!(results.iter().all(Result::is_err));
    several.call(3, 7, Request::Tasks { of: None, deep: false });
    let [Told::Reply(Ok(Reply::Tasks(rows)))] = &several.take(3, 7)[..] else { panic!("no list") };
    assert_eq!(rows.iter().filter(|row| row.name == "q" && row.state != TaskState::Departed).count(), 0);
}

#[test]
fn the_end_of_a_task_is_told_once_wherever_its_watcher_is() {
    let mut several = Several::new(3);
    let (watcher, watched) = (several.enrol(3, 5), several.enrol(2, 6));
    assert_ne!(watcher.host(), watched.host());
    let ask = Request::Notify { about: Notice::TaskExit, targets: vec![watched], count: 1, cookie: 9 };
    several.call(3, 5, ask);
    assert_eq!(several.take(3, 5), done());
    several.input(2, Input::Closed(6));
    let told = Told::Event(Event::Notified { cookie: 9, about: Notice::TaskExit, tid: watched });
    assert_eq!(several.take(3, 5), [told]);
    // One that is gone already is told at once.
    let ask = Request::Notify { about: Notice::TaskExit, targets: vec![watched], count: 1, cookie: 8 };
    several.call(3, 5, ask);
    assert_eq!(several.take(3, 5).len(), 2);
}

#[test]
fn who_hears_of_an_end_finds_the_task_in_no_group() {
    let mut several = Several::new(3);
    let gone = several.enrol(2, 6);
    several.enrol(3, 5);
    several.call(2, 6, Request::Join { group: "g".into() });
    let ask = Request::Notify { about: Notice::TaskExit, targets: vec![gone], count: 1, cookie: 9 };
    several.call(3, 5, ask);
    several.take(3, 5);
    several.leader = None;
    several.input(2, Input::Closed(6));
    assert_eq!(several.take(3, 5), [], "it is not agreed");
    // Whatever else is agreed meanwhile, its end is not proposed again.
    let other = Change::Asked { client: 9, id: 1, me: None, request: Request::Groups };
    let input = Input::Agreed { by: 1, leader: 1, change: Box::new(other) };
    assert_eq!(several.hosts.get_mut(&2).expect("alive").input(input), []);
    several.lead(1);
    let told = Told::Event(Event::Notified { cookie: 9, about: Notice::TaskExit, tid: gone });
    assert_eq!(several.take(3, 5), [told]);
    several.call(3, 5, Request::Join { group: "g".into() });
    assert_eq!(several.take(3, 5), [Told::Reply(Ok(Reply::Number(0)))]);
}

#[test]
fn a_host_that_dies_takes_its_tasks_along_and_everybody_who_asked_hears_it() {
    let mut several = Several::new(3);
    several.enrol(2, 5);
    let lost = several.enrol(3, 6);
    let host = lost.daemon();
    for (about, target, cookie) in [(Notice::TaskExit, lost, 1), (Notice::HostDelete, host, 2)] {
        several.call(2, 5, Request::Notify { about, targets: vec![target], count: 1, cookie });
    }
    several.call(2, 5, Request::Notify { about: Notice::HostAdd, targets: Vec::new(), count: -1, cookie: 3 });
    several.take(2, 5);
    several.kill(3);
    let mut told = several.take(2, 5);
    told.sort_by_key(|told| format!("{told:?}"));
    let notified = |cookie, about, tid| Told::Event(Event::Notified { cookie, about, tid });
    assert_eq!(told, [notified(1, Notice::TaskExit, lost), notified(2, Notice::HostDelete, host)]);
    assert_eq!(several.names(2), ["here", "h2"]);
    // The next one has a number of its own.
    several.add("again");
    let next = Tid::new(4, 0).expect("in range");
    assert_eq!(several.take(2, 5), [notified(3, Notice::HostAdd, next)]);
}

#[test]
fn groups_and_barriers_reach_over_all_hosts() {
    let mut several = Several::new(3);
    for host in 1..=3 {
        several.enrol(host, 5);
        several.call(host, 5, Request::Join { group: "g".into() });
        assert_eq!(several.take(host, 5), [Told::Reply(Ok(Reply::Number(host - 1)))]);
    }
    for host in 1..=2 {
        several.call(host, 5, Request::Barrier { group: "g".into(), count: -1 });
        assert_eq!(several.take(host, 5), []);
    }
    several.call(3, 5, Request::Barrier { group: "g".into(), count: -1 });
    for host in 1..=3 {
        assert_eq!(several.take(host, 5), done(), "host {host}");
    }
}

#[test]
fn when_the_first_host_dies_another_goes_on_with_all_that_was_kept() {
    let mut several = Several::new(4);
    for host in 2..=4 {
        several.enrol(host, 5);
        several.call(host, 5, Request::Join { group: "g".into() });
        several.take(host, 5);
    }
    let (name, data): (String, Blob) = ("box".into(), "content".into());
    let put =
        Request::MailPut { name: name.clone(), index: None, flags: Default::default(), data: data.clone() };
    several.call(4, 5, put);
    several.take(4, 5);
    // Two wait already; the third comes when another keeps the barrier.
    for host in 2..=3 {
        several.call(host, 5, Request::Barrier { group: "g".into(), count: 3 });
    }
    several.kill(1);
    assert_eq!(several.names(4), ["h2", "h3", "h4"]);
    several.call(4, 5, Request::Barrier { group: "g".into(), count: 3 });
    for host in 2..=4 {
        assert_eq!(several.take(host, 5), done(), "host {host}");
    }
    several.call(3, 5, Request::MailGet { name, index: 0, first: false, take: false, wait: false });
    assert!(
        matches!(&several.take(3, 5)[..], [Told::Reply(Ok(Reply::Mail { data: found, .. }))] if *found == data)
    );
    // And hosts can be added there.
    several.call(3, 5, Request::AddHosts { hosts: vec!["h9".into()] });
    assert!(several.names(4).contains(&"h9".to_owned()));
}

#[test]
fn a_host_that_came_late_has_what_was_there_before() {
    let mut several = Several::new(1);
    several.enrol(1, 5);
    let put = Request::MailPut {
        name: "box".into(),
        index: None,
        flags: parvum_wire::control::MailFlags::PERSISTENT,
        data: "content".into(),
    };
    several.call(1, 5, put);
    several.take(1, 5);
    several.add("h2");
    several.add("h3");
    several.enrol(3, 5);
    several.kill(1);
    several.call(
        3,
        5,
        Request::MailGet { name: "box".into(), index: 0, first: false, take: false, wait: false },
    );
    let found = several.take(3, 5);
    assert!(matches!(&found[..], [Told::Reply(Ok(Reply::Mail { .. }))]), "{found:?}");
}

#[test]
fn a_number_is_not_used_again_soon() {
    let mut several = Several::new(3);
    several.kill(1);
    several.enrol_tool(2, 7);
    several.call(2, 7, Request::AddHosts { hosts: vec!["again".into()] });
    let [Told::Reply(Ok(Reply::HostResults(results)))] = &several.take(2, 7)[..] else { panic!() };
    assert_eq!(results[0].as_ref().map(|tid| tid.host()), Ok(4));
}

#[test]
fn clients_of_two_hosts_with_one_number_get_their_own_answers() {
    let mut several = Several::new(3);
    for host in [2, 3] {
        several.enrol(host, 5);
    }
    several.leader = None;
    for host in [2, 3] {
        several.call(host, 5, Request::Join { group: "g".into() });
    }
    several.lead(1);
    for host in [2, 3] {
        assert_eq!(several.take(host, 5), [Told::Reply(Ok(Reply::Number(host - 2)))]);
    }
}

#[test]
fn what_was_asked_when_the_leader_died_is_done_once() {
    let mut several = Several::new(3);
    several.enrol(2, 5);
    several.leader = None;
    several.call(2, 5, Request::Join { group: "g".into() });
    assert_eq!(several.take(2, 5), [], "nobody leads");
    several.kill(1);
    assert_eq!(several.take(2, 5), [Told::Reply(Ok(Reply::Number(0)))]);
    several.call(2, 5, Request::GroupSize { group: "g".into() });
    assert_eq!(several.take(2, 5), [Told::Reply(Ok(Reply::Number(1)))]);
}

#[test]
fn a_minority_changes_nothing_and_says_so() {
    let mut several = Several::new(3);
    several.enrol(3, 5);
    several.call(3, 5, Request::Join { group: "g".into() });
    several.take(3, 5);
    several.leader = None;
    several.input(3, Input::Stands(Standing::Waiting));
    several.call(3, 5, Request::Join { group: "other".into() });
    assert_eq!(several.take(3, 5), [], "somebody may lead soon");
    several.input(3, Input::Stands(Standing::Minority));
    let is_refused =
        |told: &[Told]| matches!(told, [Told::Reply(Err(why))] if why.kind == ErrorKind::Minority);
    assert!(is_refused(&several.take(3, 5)));
    several.call(3, 5, Request::Leave { group: "g".into() });
    assert!(is_refused(&several.take(3, 5)));
    several.call(3, 5, Request::GroupSize { group: "g".into() });
    assert_eq!(several.take(3, 5), [Told::Reply(Ok(Reply::Number(1)))], "it may be read");
}

#[test]
fn a_task_that_ends_in_the_minority_is_forgotten_when_the_others_are_back() {
    let mut several = Several::new(3);
    let gone = several.enrol(3, 5);
    several.enrol(1, 6);
    several.call(3, 5, Request::Join { group: "g".into() });
    several.input(3, Input::Stands(Standing::Minority));
    several.input(3, Input::Closed(5));
    several.call(1, 6, Request::GroupMembers { group: "g".into() });
    assert_eq!(several.take(1, 6), [Told::Reply(Ok(Reply::Members(vec![(0, gone)])))]);
    several.input(3, Input::Stands(Standing::Following(1)));
    several.call(1, 6, Request::GroupMembers { group: "g".into() });
    assert!(matches!(&several.take(1, 6)[..], [Told::Reply(Err(why))] if why.kind == ErrorKind::NoSuchGroup));
}

#[test]
fn a_leader_that_reaches_too_few_takes_nobody_out() {
    let mut several = Several::new(3);
    several.input(1, Input::HostLost(2));
    several.input(1, Input::HostLost(3));
    several.input(1, Input::Stands(Standing::Waiting));
    several.pass_time(1, 300_000_000);
    assert_eq!(several.names(1), ["here", "h2", "h3"]);
    several.input(1, Input::HostFound(3));
    several.input(1, Input::Stands(Standing::Leading));
    several.pass_time(1, 300_000_000);
    assert_eq!(several.names(1), ["here", "h3"]);
}

#[test]
fn of_two_hosts_that_do_not_reach_each_other_the_younger_goes() {
    let mut several = Several::new(4);
    several.input(4, Input::HostLost(2));
    several.input(2, Input::HostLost(4));
    for host in [2, 4] {
        several.pass_time(host, 600_000_000);
    }
    several.pass_time(1, 2_000_000_000);
    assert_eq!(several.names(1), ["here", "h2", "h3", "h4"], "they may find each other again");
    several.pass_time(1, 2_000_000_000);
    assert_eq!(several.names(2), ["here", "h2", "h3"]);
}

#[test]
fn two_hosts_that_find_each_other_in_time_stay() {
    let mut several = Several::new(3);
    several.input(3, Input::HostLost(2));
    several.pass_time(3, 600_000_000);
    several.pass_time(1, 1_000_000_000);
    several.input(3, Input::HostFound(2));
    several.pass_time(1, 10_000_000_000);
    assert_eq!(several.names(1), ["here", "h2", "h3"]);
}

#[test]
fn a_host_whose_adder_is_lost_was_not_added() {
    let mut several = Several::new(3);
    several.enrol_tool(2, 7);
    // The leader dies while it starts the daemon.
    let by = several.hosts[&2].machine.identity().1;
    several.call(2, 7, Request::Hosts);
    several.take(2, 7);
    let leader = several.hosts[&1].machine.identity().1;
    let request = Request::AddHosts { hosts: vec!["late".into()] };
    let change = Change::Asked { client: 7, id: 99, me: None, request };
    several.hosts.get_mut(&2).expect("alive").machine.others.proposed.insert((7, 99));
    for host in [2, 3] {
        several.input(host, Input::Agreed { by, leader, change: Box::new(change.clone()) });
    }
    assert_eq!(several.take(2, 7), []);
    several.kill(1);
    let told = several.take(2, 7);
    let [Told::Reply(Ok(Reply::HostResults(results)))] = &told[..] else { panic!("{told:?}") };
    assert_eq!(results[0].as_ref().map_err(|why| why.kind), Err(ErrorKind::HostLost));
    assert_eq!(several.names(3), ["h2", "h3"]);
}

#[test]
fn the_resource_manager_stays_when_the_leader_dies() {
    let mut several = Several::new(3);
    let manager = several.enrol(2, 5);
    several.enrol(3, 6);
    several.call(2, 5, Request::Register { part: parvum_wire::control::Part::Manager });
    assert!(several.take(3, 6).contains(&Told::Event(Event::Manager(Some(manager)))));
    several.kill(1);
    several.call(3, 6, Request::Register { part: parvum_wire::control::Part::Manager });
    let told = several.take(3, 6);
    assert!(matches!(&told[..], [Told::Reply(Err(why))] if why.kind == ErrorKind::PartTaken), "{told:?}");
    several.input(2, Input::Closed(5));
    assert_eq!(several.take(3, 6), [Told::Event(Event::Manager(None))]);
}

#[test]
fn a_host_may_speak_before_the_table_has_it() {
    let mut several = Several::new(2);
    several.enrol_tool(2, 7);
    let record = several.hosts[&1].machine.hosts()[0].clone();
    let row = HostRow { tid: Tid::new(3, 0).expect("in range"), name: "h3".into(), ..record.row.clone() };
    let newcomer = HostRecord { number: 3, life: 3, row, ..record };
    let asked = Between::Ask {
        client: 4,
        id: 1,
        me: None,
        request: Request::Tasks { of: Tid::new(2, 0), deep: false },
    };
    let second = several.hosts.get_mut(&2).expect("alive");
    assert_eq!(second.input(Input::Heard { host: 3, word: Box::new(asked) }), []);
    let request = Request::AddHosts { hosts: vec!["h3".into()] };
    let adds = Change::Asked { client: 4, id: 9, me: None, request };
    let comes = Change::Fetched(vec![Fetched { number: 3, life: 3, result: Ok(Rc::new(newcomer)) }]);
    second.input(Input::Agreed { by: 1, leader: 1, change: Box::new(adds) });
    let heard = second.input(Input::Agreed { by: 1, leader: 1, change: Box::new(comes) });
    let answered = |effect: &Effect<u32>| matches!(effect, Effect::Say { host: 3, word } if matches!(**word, Between::Answer { client: 4, id: 1, .. }));
    assert!(heard.iter().any(answered), "{heard:?}");
}

/// A daemon of the machine that went mad passes on what needs its own client's task; found by the fuzz target `machine`.
#[test]
fn what_a_daemon_must_do_itself_is_refused_when_passed_on() {
    let mut several = Several::new(2);
    several.enrol(1, 5);
    let stranger = several.enrol(2, 6);
    let spawn = Request::Spawn(SpawnRequest { count: 1, ..Default::default() });
    let output = Request::SetOutput { output: parvum_wire::control::Output::Log };
    let everything = Request::Tasks { of: None, deep: false };
    for request in [spawn, Request::Siblings, output, Request::Depart, Request::Halt, everything] {
        for me in [None, Some(stranger), Tid::new(2, 77), Tid::new(1, 1)] {
            let word = Between::Ask { client: 6, id: 3, me, request: request.clone() };
            let first = several.hosts.get_mut(&1).expect("alive");
            let effects = first.input(Input::Heard { host: 2, word: Box::new(word) });
            let refused = |effect: &Effect<u32>| matches!(effect, Effect::Say { host: 2, word } if matches!(&**word, Between::Answer { client: 6, id: 3, reply: Err(why) } if why.kind == ErrorKind::Protocol));
            assert!(effects.len() == 1 && refused(&effects[0]), "{request:?}: {effects:?}");
        }
    }
    // Nor may it speak as a client of another host.
    let request = Request::Tasks { of: Tid::new(1, 0), deep: false };
    let word = Between::Ask { client: 1 << 40 | 5, id: 3, me: None, request };
    let first = several.hosts.get_mut(&1).expect("alive");
    assert_eq!(first.input(Input::Heard { host: 2, word: Box::new(word) }), []);
}

#[test]
fn of_two_tasks_on_two_hosts_exactly_one_connects() {
    let mut several = Several::new(2);
    let (a, b) = (several.enrol(1, 5), several.enrol(2, 6));
    several.call(2, 6, Request::ConnectTcp { to: a });
    several.call(1, 5, Request::ConnectTcp { to: b });
    let (at_a, at_b) = (several.take(1, 5), several.take(2, 6));
    assert!(at_b.iter().any(|told| matches!(told, Told::Reply(Ok(Reply::TcpAddress { .. })))), "{at_b:?}");
    let expects = |told: &Told| matches!(told, Told::Event(Event::Expect { from, .. }) if *from == b);
    assert!(at_a.iter().any(expects), "{at_a:?}");
    assert!(at_a.contains(&Told::Reply(Ok(Reply::AlreadyOffered))), "{at_a:?}");
    // Whoever is left hears of the other's end.
    several.input(2, Input::Closed(6));
    assert_eq!(several.take(1, 5), [Told::Event(Event::Gone { tid: b, routed: false })]);
}

#[test]
fn a_host_that_was_removed_stops() {
    let mut several = Several::new(3);
    several.enrol(3, 5);
    several.enrol_tool(2, 7);
    several.call(2, 7, Request::RemoveHosts { hosts: vec!["h3".into(), "nobody".into(), "h3".into()] });
    let [Told::Reply(Ok(Reply::HostResults(results)))] = &several.take(2, 7)[..] else { panic!() };
    let kinds: Vec<_> =
        results.iter().map(|result| result.as_ref().map_err(|why| why.kind).map(|tid| tid.host())).collect();
    assert_eq!(kinds, [Ok(3), Err(ErrorKind::NoSuchHost), Err(ErrorKind::NoSuchHost)]);
    assert_eq!(several.names(1), ["here", "h2"]);
    // It goes on voting until the others need it no more, and say so.
    assert!(!several.hosts[&3].machine.stopped);
    several.input(3, Input::Removed);
    assert!(several.hosts[&3].machine.stopped);
}

#[test]
fn all_hosts_but_one_may_be_removed_the_leader_too() {
    let mut several = Several::new(3);
    several.enrol_tool(2, 7);
    several.call(2, 7, Request::RemoveHosts { hosts: vec!["here".into(), "h3".into(), "h2".into()] });
    let [Told::Reply(Ok(Reply::HostResults(results)))] = &several.take(2, 7)[..] else { panic!() };
    let kinds: Vec<_> =
        results.iter().map(|result| result.as_ref().map_err(|why| why.kind).map(|tid| tid.host())).collect();
    assert_eq!(kinds, [Ok(1), Ok(3), Err(ErrorKind::BadParameter)]);
    assert_eq!(several.names(2), ["h2"]);
}

#[test]
fn who_is_on_its_way_out_starts_no_other_host() {
    let mut several = Several::new(3);
    several.enrol_tool(2, 7);
    // It leads until the others have elected another.
    several.call(2, 7, Request::RemoveHosts { hosts: vec!["here".into()] });
    several.take(2, 7);
    several.call(2, 7, Request::AddHosts { hosts: vec!["late".into()] });
    let told = several.take(2, 7);
    let [Told::Reply(Ok(Reply::HostResults(results)))] = &told[..] else { panic!("{told:?}") };
    assert!(results[0].is_ok(), "{results:?}");
    assert_eq!(several.names(3), ["h2", "h3", "late"]);
}

#[test]
fn hosts_that_come_together_are_one_change() {
    let mut several = Several::new(1);
    let here = several.hosts.get_mut(&1).expect("alive");
    let names = || (2..=5).map(|number| format!("h{number}")).collect();
    here.call(ADDER, Request::AddHosts { hosts: names() });
    here.input(Input::Agreeing);
    let comes = |number: u32| {
        let record =
            Bench::host(number, u64::from(number), &format!("h{number}"), Vec::new()).machine.own_record();
        Input::Fetched { number, life: u64::from(number), result: Ok(record) }
    };
    let none: [u32; 0] = [];
    let proposed = |effects: Vec<Effect<u32>>| match &effects[..] {
        [Effect::Propose(change)] => match &**change {
            Change::Fetched(fetched) => fetched.iter().map(|one| one.number).collect(),
            other => panic!("{other:?}"),
        },
        [] => Vec::new(),
        other => panic!("{other:?}"),
    };
    assert_eq!(proposed(here.input(comes(3))), none, "others are on their way");
    assert_eq!(proposed(here.input(comes(2))), none);
    here.now += 1_000_000_000;
    assert_eq!(proposed(here.input(Input::Tick)), [3, 2], "they do not wait for ever");
    assert_eq!(proposed(here.input(comes(4))), none);
    assert_eq!(proposed(here.input(comes(5))), [4, 5], "nobody is on the way any more");
}

#[test]
fn loads_go_to_those_who_vote_and_from_the_leader_to_all() {
    let mut several = Several::new(4);
    for host in 1..=4 {
        several.input(host, Input::Voters(vec![1, 2]));
    }
    let busy = several.hosts.get_mut(&4).expect("alive").input(Input::Load(250));
    let heard = |host| Effect::Say { host, word: Box::new(Between::Load(250)) };
    assert_eq!(busy, [heard(1), heard(2)]);
    several.carry(4, busy);
    let known = |several: &Several, at: u32| several.hosts[&at].machine.others.loads.get(&4).copied();
    assert_eq!([known(&several, 1), known(&several, 2), known(&several, 3)], [Some(250), Some(250), None]);
    // The leader dies before it has passed it on; the next one does.
    several.kill(1);
    assert_eq!(known(&several, 3), Some(250));
    // And one that comes later hears of it as well.
    several.enrol_tool(2, 7);
    several.call(2, 7, Request::AddHosts { hosts: vec!["late".into()] });
    assert_eq!(known(&several, 5), Some(250));
}

#[test]
fn what_the_leader_finds_out_by_itself_nobody_tells_it() {
    let mut several = Several::new(3);
    let follower = several.hosts.get_mut(&2).expect("alive");
    assert_eq!(follower.input(Input::HostLost(3)), []);
    follower.now += 500_000_000;
    let tells = Between::Silent { hosts: vec![3], silent: true };
    assert_eq!(
        follower.input(Input::Tick),
        [Effect::Say { host: 1, word: Box::new(tells) }],
        "it is still there"
    );
    let mut several = Several::new(4);
    several.kill(3);
    several.pass_time(2, 500_000_000);
    let silence = several.hosts.get_mut(&2).expect("alive").input(Input::Tick);
    assert_eq!(silence, [], "it is out");
}

#[test]
fn who_says_late_that_a_lost_host_is_silent_does_not_go_for_it() {
    let mut several = Several::new(4);
    several.kill(4);
    let late = Between::Silent { hosts: vec![4], silent: true };
    several.input(1, Input::Heard { host: 3, word: Box::new(late) });
    several.pass_time(1, 10_000_000_000);
    assert_eq!(several.names(1), ["here", "h2", "h3"]);
}

#[test]
fn a_busy_host_waits_longer_before_it_takes_others_out() {
    let mut several = Several::new(3);
    several.input(1, Input::Late(1_000_000_000));
    several.input(1, Input::HostLost(3));
    several.pass_time(1, 3_000_000_000);
    assert_eq!(several.names(1), ["here", "h2", "h3"], "it may be as slow as this one");
    // Said again, as it is as long as it does not answer, it makes the wait no longer.
    several.input(1, Input::HostLost(3));
    several.pass_time(1, 2_000_000_000);
    assert_eq!(several.names(1), ["here", "h2"]);
    several.input(1, Input::Late(0));
    several.input(1, Input::HostLost(2));
    several.pass_time(1, 300_000_000);
    assert_eq!(several.names(1), ["here"]);
}

#[test]
fn the_number_of_the_host_that_came_last_is_not_used_again_when_it_is_lost() {
    let mut several = Several::new(3);
    several.kill(3);
    several.enrol_tool(1, 7);
    several.call(1, 7, Request::AddHosts { hosts: vec!["again".into()] });
    let [Told::Reply(Ok(Reply::HostResults(results)))] = &several.take(1, 7)[..] else { panic!() };
    assert_eq!(results[0].as_ref().map(|tid| tid.host()), Ok(4));
}

#[test]
fn a_host_does_not_go_for_another_that_was_stopped_while_nobody_led() {
    let mut several = Several::new(4);
    several.input(1, Input::HostLost(2));
    several.input(4, Input::HostLost(2));
    several.input(1, Input::Stands(Standing::Minority));
    several.pass_time(4, 600_000_000);
    several.pass_time(1, 5_000_000_000);
    // It goes on, and is found by the one first, by the other a moment later.
    several.input(1, Input::HostFound(2));
    several.input(1, Input::Stands(Standing::Leading));
    several.pass_time(1, 300_000_000);
    several.input(4, Input::HostFound(2));
    several.pass_time(1, 10_000_000_000);
    assert_eq!(several.names(1), ["here", "h2", "h3", "h4"]);
}

#[test]
fn of_two_hosts_that_are_apart_the_one_goes_that_nobody_reaches() {
    let mut several = Several::new(4);
    several.input(1, Input::Late(10_000_000_000));
    several.input(1, Input::HostLost(2));
    several.input(4, Input::HostLost(2));
    several.pass_time(4, 600_000_000);
    several.input(1, Input::Late(0));
    several.pass_time(1, 9_000_000_000);
    assert_eq!(several.names(1), ["here", "h2", "h3", "h4"], "the leader is patient with the silent one");
    several.pass_time(1, 2_000_000_000);
    assert_eq!(several.names(1), ["here", "h3", "h4"]);
}

#[test]
fn a_crowded_host_is_waited_for_longer() {
    let mut several = Several::new(4);
    for host in 1..=4 {
        several.input(host, Input::Voters(vec![1, 2, 3]));
    }
    several.input(3, Input::Load(100_000));
    several.input(1, Input::HostLost(3));
    several.pass_time(1, 2_900_000_000);
    assert_eq!(several.names(1), ["here", "h2", "h3", "h4"], "it may be slow");
    several.input(1, Input::HostFound(3));
    several.pass_time(1, 10_000_000_000);
    assert_eq!(several.names(1), ["here", "h2", "h3", "h4"]);
    several.input(1, Input::HostLost(4));
    several.pass_time(1, 300_000_000);
    assert_eq!(several.names(1), ["here", "h2", "h3"], "others are not");
    several.input(1, Input::HostLost(3));
    several.pass_time(1, 3_300_000_000);
    assert_eq!(several.names(1), ["here", "h2"], "nor for ever");
}

/// The changes by which host 3 comes into a machine of two.
fn comes(several: &Several) -> [Change; 2] {
    let record = several.hosts[&1].machine.hosts()[0].clone();
    let row = HostRow { tid: Tid::new(3, 0).expect("in range"), name: "h3".into(), ..record.row.clone() };
    let newcomer = HostRecord { number: 3, life: 3, row, ..record };
    let request = Request::AddHosts { hosts: vec!["h3".into()] };
    let adds = Change::Asked { client: 4, id: 9, me: None, request };
    let comes = Change::Fetched(vec![Fetched { number: 3, life: 3, result: Ok(Rc::new(newcomer)) }]);
    [adds, comes]
}

#[test]
fn a_host_that_is_lost_before_it_has_arrived_was_not_added() {
    for is_lost in [true, false] {
        let mut several = Several::new(2);
        several.enrol(2, 5);
        let ask = Request::Notify { about: Notice::HostAdd, targets: Vec::new(), count: -1, cookie: 3 };
        several.call(2, 5, ask);
        assert_eq!(several.take(2, 5), done());
        let end = if is_lost { Change::Lost(vec![(3, 3)]) } else { Change::Arrived(vec![(3, 3)]) };
        for change in comes(&several) {
            several.input(2, Input::Agreed { by: 1, leader: 1, change: Box::new(change) });
        }
        assert_eq!(several.names(2), ["here", "h2", "h3"]);
        assert_eq!(several.take(2, 5), [], "it comes");
        several.input(2, Input::Agreed { by: 1, leader: 1, change: Box::new(end.clone()) });
        let tid = Tid::new(3, 0).expect("in range");
        let told = Told::Event(Event::Notified { cookie: 3, about: Notice::HostAdd, tid });
        assert_eq!(several.take(2, 5), if is_lost { vec![] } else { vec![told] });
        several.input(2, Input::Agreed { by: 1, leader: 1, change: Box::new(end) });
        assert_eq!(several.take(2, 5), [], "once");
    }
}

#[test]
fn who_gets_all_that_is_kept_tells_of_hosts_that_have_arrived_meanwhile() {
    let mut several = Several::new(2);
    several.enrol(2, 5);
    let ask = Request::Notify { about: Notice::HostAdd, targets: Vec::new(), count: -1, cookie: 3 };
    several.call(2, 5, ask);
    assert_eq!(several.take(2, 5), done());
    for change in comes(&several) {
        let agreed = || Input::Agreed { by: 1, leader: 1, change: Box::new(change.clone()) };
        // It need not be started.
        several.hosts.get_mut(&1).expect("alive").input(agreed());
        several.input(2, agreed());
    }
    let coming = several.hosts[&1].machine.snapshot();
    several.input(2, Input::Install(coming));
    assert_eq!(several.take(2, 5), [], "it comes still");
    let arrived = Box::new(Change::Arrived(vec![(3, 3)]));
    several.input(1, Input::Agreed { by: 1, leader: 1, change: arrived });
    let arrived = several.hosts[&1].machine.snapshot();
    for told in [1, 0] {
        several.input(2, Input::Install(arrived.clone()));
        assert_eq!(several.take(2, 5).len(), told);
    }
}
