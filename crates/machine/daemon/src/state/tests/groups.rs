//! Groups, their barriers and segments, and names.

use super::*;

#[test]
fn group_join_returns_lowest_free_instance() {
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
fn barrier_opens_or_breaks_for_all() {
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
fn name_resolves_to_task_or_group() {
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
fn names_are_bounded_in_bytes() {
    let mut bench = Bench::with(Limits { names_bytes: 1000, ..Limits::default() });
    bench.enrol(1);
    let names = (0..20).map(|number| (format!("name {number}"), Spot::default())).collect();
    assert_eq!(kind(&bench.call(1, Request::NamesBind { names, group: false })), ErrorKind::TooLarge);
    assert_eq!(bench.machine.names.bytes(), 0);
}

#[test]
fn barrier_members_get_segment_until_group_changes() {
    let mut bench = Bench::new();
    for client in 1..=3 {
        bench.enrol(client);
    }
    let join = || Request::Join { group: "g".into() };
    let barrier = |count| Request::Barrier { group: "g".into(), count };
    let opened = |effects: &Effects| {
        effects.iter().find_map(|effect| match effect {
            Effect::Opened { waiters, segment } => Some((waiters.len(), *segment)),
            _ => None,
        })
    };
    let closed = |effects: &Effects| effects.iter().any(|effect| matches!(effect, Effect::CloseSegment(_)));
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
fn group_member_query_waits_until_member_joins() {
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
