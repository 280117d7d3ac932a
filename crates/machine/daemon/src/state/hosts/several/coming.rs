//! Hosts that come and go.

use super::*;

#[test]
fn added_hosts_know_one_another() {
    let several = Several::new(4);
    for host in 1..=4 {
        assert_eq!(several.names(host), ["here", "h2", "h3", "h4"], "host {host}");
    }
}

#[test]
fn late_host_has_earlier_state() {
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
    assert!(matches!(&found[..], [Heard::Reply(Ok(Reply::Mail { .. }))]), "{found:?}");
}

#[test]
fn host_number_is_not_reused_soon() {
    let mut several = Several::new(3);
    several.kill(1);
    several.enrol_tool(2, 7);
    several.call(2, 7, Request::AddHosts { hosts: vec!["again".into()] });
    let [Heard::Reply(Ok(Reply::HostResults(results)))] = &several.take(2, 7)[..] else { panic!() };
    assert_eq!(results[0].as_ref().map(|tid| tid.host()), Ok(4));
}

#[test]
fn host_whose_adder_is_lost_is_not_added() {
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
    let [Heard::Reply(Ok(Reply::HostResults(results)))] = &told[..] else { panic!("{told:?}") };
    assert_eq!(results[0].as_ref().map_err(|why| why.kind), Err(ErrorKind::HostLost));
    assert_eq!(several.names(3), ["h2", "h3"]);
}

#[test]
fn host_may_speak_before_table_lists_it() {
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
fn removed_host_stops() {
    let mut several = Several::new(3);
    several.enrol(3, 5);
    several.enrol_tool(2, 7);
    several.call(2, 7, Request::RemoveHosts { hosts: vec!["h3".into(), "nobody".into(), "h3".into()] });
    let [Heard::Reply(Ok(Reply::HostResults(results)))] = &several.take(2, 7)[..] else { panic!() };
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
fn hosts_may_all_be_removed_but_one_with_leader() {
    let mut several = Several::new(3);
    several.enrol_tool(2, 7);
    several.call(2, 7, Request::RemoveHosts { hosts: vec!["here".into(), "h3".into(), "h2".into()] });
    let [Heard::Reply(Ok(Reply::HostResults(results)))] = &several.take(2, 7)[..] else { panic!() };
    let kinds: Vec<_> =
        results.iter().map(|result| result.as_ref().map_err(|why| why.kind).map(|tid| tid.host())).collect();
    assert_eq!(kinds, [Ok(1), Ok(3), Err(ErrorKind::BadParameter)]);
    assert_eq!(several.names(2), ["h2"]);
}

#[test]
fn leaving_leader_adds_no_host() {
    let mut several = Several::new(3);
    several.enrol_tool(2, 7);
    // It leads until the others have elected another.
    several.call(2, 7, Request::RemoveHosts { hosts: vec!["here".into()] });
    several.take(2, 7);
    several.call(2, 7, Request::AddHosts { hosts: vec!["late".into()] });
    let told = several.take(2, 7);
    let [Heard::Reply(Ok(Reply::HostResults(results)))] = &told[..] else { panic!("{told:?}") };
    assert!(results[0].is_ok(), "{results:?}");
    assert_eq!(several.names(3), ["h2", "h3", "late"]);
}

#[test]
fn hosts_added_together_are_one_change() {
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
fn number_of_last_host_is_not_reused_after_loss() {
    let mut several = Several::new(3);
    several.kill(3);
    several.enrol_tool(1, 7);
    several.call(1, 7, Request::AddHosts { hosts: vec!["again".into()] });
    let [Heard::Reply(Ok(Reply::HostResults(results)))] = &several.take(1, 7)[..] else { panic!() };
    assert_eq!(results[0].as_ref().map(|tid| tid.host()), Ok(4));
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
fn host_lost_before_arrival_is_not_added() {
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
        let told = Heard::Event(Event::Notified { cookie: 3, about: Notice::HostAdd, tid });
        assert_eq!(several.take(2, 5), if is_lost { vec![] } else { vec![told] });
        several.input(2, Input::Agreed { by: 1, leader: 1, change: Box::new(end) });
        assert_eq!(several.take(2, 5), [], "once");
    }
}

#[test]
fn host_that_catches_up_notifies_of_added_hosts() {
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
