//! Tasks: ids, spawning, and what is refused.

use super::*;

#[test]
fn tasks_get_unique_ids_and_tools_get_none() {
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
fn second_endpoint_takes_no_task_slot_and_is_unlisted() {
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
fn spawned_task_joins_once_under_its_own_id() {
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
fn spawn_of_all_or_none_starts_none_on_failure() {
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
        undone
            .iter()
            .all(|why| why.starts_with(begins) && why.contains(" could start, none was started: rank ")),
        "{undone:?}"
    );
    let results = bench.spawn(1, "missing", 1, true);
    assert_eq!(results[0].as_ref().expect_err("it is missing").kind, ErrorKind::ProgramNotFound);
}

#[test]
fn task_numbers_wrap_and_skip_those_in_use() {
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
fn invalid_requests_are_refused() {
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
fn output_receiver_is_notified_of_grandchild_tasks() {
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
fn task_input_is_accepted_from_its_job_only() {
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
