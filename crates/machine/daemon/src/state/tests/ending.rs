//! How tasks, jobs and the machine end.

use super::*;

#[test]
fn exits_follow_output_and_notify_once() {
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
fn job_ends_with_its_runner() {
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
fn connection_that_outlives_its_process_is_cut() {
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
fn halt_waits_for_the_last_process() {
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
fn exit_status_of_latest_processes_is_known() {
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
fn process_that_lives_on_is_not_signalled_at_shutdown() {
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
fn task_may_leave_and_its_process_stays_attended() {
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
