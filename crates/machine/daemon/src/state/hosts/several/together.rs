//! What hosts do together for their tasks and clients.

use super::*;

#[test]
fn tasks_start_on_all_hosts_and_are_listed_from_any() {
    let mut several = Several::new(3);
    let me = several.enrol(2, 5);
    assert_eq!(me.host(), 2);
    let plan = SpawnRequest { program: "p".into(), count: 6, ..Default::default() };
    several.call(2, 5, Request::Spawn(plan));
    let answers = several.take(2, 5);
    let Some(Heard::Reply(Ok(Reply::Spawned(results)))) = answers.into_iter().next() else { panic!() };
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
    assert_eq!(several.take(3, client), [Heard::Reply(Ok(Reply::Siblings(tids.clone())))]);
    several.enrol_tool(3, 7);
    several.call(3, 7, Request::Tasks { of: None, deep: false });
    let [Heard::Reply(Ok(Reply::Tasks(rows)))] = &several.take(3, 7)[..] else { panic!("no list") };
    assert_eq!(rows.len(), 7);
    // And a host that fails alone undoes all, when all or none was wanted.
    several.hosts.get_mut(&3).expect("alive").missing = "q";
    let plan = SpawnRequest { program: "q".into(), count: 6, all_or_none: true, ..Default::default() };
    several.call(2, 5, Request::Spawn(plan));
    let [Heard::Reply(Ok(Reply::Spawned(results)))] = &several.take(2, 5)[..] else { panic!() };
    assert!(results.iter().all(Result::is_err));
    several.call(3, 7, Request::Tasks { of: None, deep: false });
    let [Heard::Reply(Ok(Reply::Tasks(rows)))] = &several.take(3, 7)[..] else { panic!("no list") };
    assert_eq!(rows.iter().filter(|row| row.name == "q" && row.state != TaskState::Departed).count(), 0);
}

#[test]
fn task_end_notifies_watcher_on_any_host_once() {
    let mut several = Several::new(3);
    let (watcher, watched) = (several.enrol(3, 5), several.enrol(2, 6));
    assert_ne!(watcher.host(), watched.host());
    let ask = Request::Notify { about: Notice::TaskExit, targets: vec![watched], count: 1, cookie: 9 };
    several.call(3, 5, ask);
    assert_eq!(several.take(3, 5), done());
    several.input(2, Input::Closed(6));
    let told = Heard::Event(Event::Notified { cookie: 9, about: Notice::TaskExit, tid: watched });
    assert_eq!(several.take(3, 5), [told]);
    // One that is gone already is told at once.
    let ask = Request::Notify { about: Notice::TaskExit, targets: vec![watched], count: 1, cookie: 8 };
    several.call(3, 5, ask);
    assert_eq!(several.take(3, 5).len(), 2);
}

#[test]
fn ended_task_is_in_no_group_after_notice() {
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
    let told = Heard::Event(Event::Notified { cookie: 9, about: Notice::TaskExit, tid: gone });
    assert_eq!(several.take(3, 5), [told]);
    several.call(3, 5, Request::Join { group: "g".into() });
    assert_eq!(several.take(3, 5), [Heard::Reply(Ok(Reply::Number(0)))]);
}

#[test]
fn groups_and_barriers_span_all_hosts() {
    let mut several = Several::new(3);
    for host in 1..=3 {
        several.enrol(host, 5);
        several.call(host, 5, Request::Join { group: "g".into() });
        assert_eq!(several.take(host, 5), [Heard::Reply(Ok(Reply::Number(host - 1)))]);
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
fn clients_of_two_hosts_get_their_own_answers() {
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
        assert_eq!(several.take(host, 5), [Heard::Reply(Ok(Reply::Number(host - 2)))]);
    }
}

#[test]
fn forwarded_request_for_daemon_itself_is_refused() {
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
fn connect_between_two_hosts_has_exactly_one_caller() {
    let mut several = Several::new(2);
    let (a, b) = (several.enrol(1, 5), several.enrol(2, 6));
    several.call(2, 6, Request::Call { to: a, route: 2 });
    several.call(1, 5, Request::Call { to: b, route: 2 });
    let (at_a, at_b) = (several.take(1, 5), several.take(2, 6));
    assert!(at_b.iter().any(|told| matches!(told, Heard::Reply(Ok(Reply::Listener { .. })))), "{at_b:?}");
    let expects = |told: &Heard| matches!(told, Heard::Event(Event::Expect { from, .. }) if *from == b);
    assert!(at_a.iter().any(expects), "{at_a:?}");
    assert!(at_a.contains(&Heard::Reply(Ok(Reply::AlreadyOffered))), "{at_a:?}");
    // Whoever is left hears of the other's end.
    several.input(2, Input::Closed(6));
    assert_eq!(several.take(1, 5), [Heard::Event(Event::Gone { tid: b, routed: false })]);
    // And does not wait for it to connect, as was agreed on once.
    several.call(1, 5, Request::Call { to: b, route: 2 });
    let [Heard::Reply(Err(why))] = &several.take(1, 5)[..] else { panic!("no refusal") };
    assert_eq!(why.kind, ErrorKind::NoSuchTask);
}

#[test]
fn loads_go_to_voters_and_from_leader_to_all() {
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
