//! What belongs to a task or a job ends with it: after many jobs that leave everything behind the machine is as empty as before.

use super::*;
use crate::state::context::Contexts;
use parvum_wire::control::{Blob, MailFlags, Spot};

/// How much the machine keeps, by the kind of entry.
fn kept(machine: &Machine<u32>) -> Vec<(&'static str, usize)> {
    vec![
        ("tasks", machine.tasks.len()),
        ("processes", machine.processes.len()),
        ("clients", machine.clients.len()),
        ("contexts", machine.contexts.in_use()),
        ("offers", machine.offers.len()),
        ("connections", machine.calls.len()),
        ("routes", machine.routed.len()),
        ("groups", machine.groups.len()),
        ("mailbox bytes", machine.mailbox.bytes()),
        ("name bytes", machine.names.bytes()),
        ("wishes", machine.wishes.len()),
        ("tracers", machine.tracers.len()),
        ("batches", machine.batches.len()),
    ]
}

/// How a job ends.
#[derive(Clone, Copy, Debug)]
enum End {
    /// All tasks leave the machine, then the runner.
    Normal,
    /// The tasks' processes are killed.
    Killed,
    /// The runner goes first, as when `MPI_Abort` or Ctrl-C ends it.
    Runner,
}

/// Runs a job of two tasks that frees nothing; how many contexts it was given.
fn job(bench: &mut Bench, end: End) -> usize {
    let (runner, first, second) = (1, 2, 3);
    bench.enrol_as(runner, Role::Runner, None);
    let tids: Vec<Tid> = bench
        .spawn(runner, "prog", 2, true)
        .into_iter()
        .map(|spawned| spawned.expect("starts").tid)
        .collect();
    for (client, tid) in [(first, tids[0]), (second, tids[1])] {
        bench.enrol_as(client, Role::Task, Some(tid));
    }
    let mut contexts = 0;
    for shared in [true, true, false] {
        let made = answer(&bench.call(first, Request::NewContext { shared }));
        assert!(matches!(made, Ok(Reply::Number(_))), "{made:?}");
        contexts += 1;
    }
    for client in [first, second] {
        bench.call(client, Request::Join { group: "workers".into() });
        bench.call(
            client,
            Request::MailPut { name: "box".into(), index: None, flags: MailFlags(0), data: Blob(vec![1; 9]) },
        );
    }
    // What an agreement of MPI's survivors and TreadMarks leave for those who go on.
    let flags = MailFlags::PERSISTENT.and(MailFlags::OF_JOB);
    let decision =
        |data: &str| Request::MailPut { name: "decision".into(), index: None, flags, data: data.into() };
    assert!(answer(&bench.call(first, decision("one"))).is_ok());
    let second_try = answer(&bench.call(second, decision("other")));
    assert!(second_try.is_err_and(|why| why.kind == ErrorKind::Denied), "the first decision stays");
    let spot = Spot { number: 1, context: 1, bytes: 9, messages: 9 };
    bench.call(first, Request::NamesBind { names: vec![("service".into(), spot)], group: false });
    bench.call_with(first, Request::Connect { to: tids[1], route: 1 }, vec![42]);
    bench.call(second, Request::Call { to: tids[0], route: 2 });
    match end {
        End::Normal => {
            bench.call(first, Request::Depart);
            bench.call(second, Request::Depart);
        }
        End::Killed => {}
        End::Runner => {
            bench.input(Input::Closed(runner));
        }
    }
    for (client, tid) in [(first, tids[0]), (second, tids[1])] {
        bench.input(Input::Closed(client));
        let left = bench.machine.mailbox.list();
        let stays = left.iter().any(|class| class.name == "decision");
        assert_eq!(
            stays,
            !matches!(end, End::Runner),
            "{left:?}: the decision outlives its task, not its job"
        );
        bench.input(Input::ProcessExited { tid, status: ExitStatus::Signal(9) });
        bench.input(Input::OutputEnded(tid));
    }
    bench.input(Input::Closed(runner));
    contexts
}

#[test]
fn machine_is_as_empty_after_100_000_jobs_as_before() {
    let mut bench = Bench::new();
    job(&mut bench, End::Normal);
    let before = kept(&bench.machine);
    assert!(before.iter().all(|(_, count)| *count == 0), "{before:?}");
    let mut contexts = 0;
    for round in 0..100_000 {
        let end = [End::Normal, End::Killed, End::Runner][round % 3];
        contexts += job(&mut bench, end);
        assert_eq!(kept(&bench.machine), before, "after job {round}, {end:?}");
    }
    assert!(contexts > 65_536, "{contexts}");
}

fn context(bench: &mut Bench, client: ClientId, shared: bool) -> Result<u32, ErrorKind> {
    match answer(&bench.call(client, Request::NewContext { shared })) {
        Ok(Reply::Number(number)) => Ok(number),
        Ok(other) => panic!("{other:?}"),
        Err(why) => Err(why.kind),
    }
}

#[test]
fn job_keeps_contexts_when_their_task_ends() {
    let mut bench = Bench::new();
    bench.enrol_as(1, Role::Runner, None);
    let tids: Vec<Tid> =
        bench.spawn(1, "prog", 2, true).into_iter().map(|one| one.expect("starts").tid).collect();
    bench.enrol_as(2, Role::Task, Some(tids[0]));
    bench.enrol_as(3, Role::Task, Some(tids[1]));
    let (shared, own) =
        (context(&mut bench, 2, true).expect("made"), context(&mut bench, 2, false).expect("made"));
    assert_eq!(bench.machine.contexts.in_use(), 2);
    bench.input(Input::Closed(2));
    assert_eq!(bench.machine.contexts.in_use(), 1, "the task's own goes with the task");
    let free = |context| Request::FreeContext { context, job: None };
    assert_eq!(kind(&bench.call(3, free(own))), ErrorKind::NoSuchEntry);
    assert_eq!(answer(&bench.call(3, free(shared))), Ok(Reply::Done), "any task of the job may free it");
}

#[test]
fn context_cannot_be_freed_by_strangers() {
    let mut bench = Bench::new();
    bench.enrol(1);
    bench.enrol(2);
    let mine = context(&mut bench, 1, true).expect("made");
    for claimed in [None, Some(Tid(0x40001))] {
        // What a task says of its own job is not believed.
        let free = Request::FreeContext { context: mine, job: claimed };
        assert_eq!(kind(&bench.call(2, free)), ErrorKind::NoSuchEntry);
    }
    assert_eq!(answer(&bench.call(1, Request::FreeContext { context: mine, job: None })), Ok(Reply::Done));
    assert_eq!(
        kind(&bench.call(1, Request::FreeContext { context: mine, job: None })),
        ErrorKind::NoSuchEntry
    );
}

#[test]
fn greedy_task_leaves_contexts_for_others() {
    let mut bench = Bench::with(Limits { contexts: 1_000, ..Limits::default() });
    (1..=3).for_each(|client| _ = bench.enrol(client));
    let hoard =
        |bench: &mut Bench, client| (0..).take_while(|_| context(bench, client, false).is_ok()).count();
    assert_eq!(hoard(&mut bench, 1), 500, "half of all");
    assert_eq!(hoard(&mut bench, 2), 250, "half of the rest");
    assert_eq!(context(&mut bench, 1, false), Err(ErrorKind::OutOfResources));
    assert!(context(&mut bench, 3, false).is_ok());
}

#[test]
fn freed_context_is_reused_last() {
    let mut bench = Bench::new();
    bench.enrol(1);
    let freed = context(&mut bench, 1, false).expect("made");
    bench.call(1, Request::FreeContext { context: freed, job: None });
    for _ in 0..100_000 {
        let next = context(&mut bench, 1, false).expect("made");
        assert_ne!(next, freed);
        bench.call(1, Request::FreeContext { context: next, job: None });
    }
}

#[test]
fn task_learns_that_connection_failed_and_may_connect() {
    let mut bench = Bench::new();
    let (a, b) = (bench.enrol(1), bench.enrol(2));
    bench.call(1, Request::Call { to: b, route: 2 });
    assert_eq!(answer(&bench.call(2, Request::Call { to: a, route: 2 })), Ok(Reply::AlreadyOffered));
    let effects = bench.call(1, Request::NotConnected { to: b, route: 2 });
    assert_eq!(answer(&effects), Ok(Reply::Done));
    assert_eq!(events(&effects), [(2, Event::NotConnected { from: a, route: 2 })]);
    assert!(bench.machine.calls.is_empty(), "nothing is left of the attempt");
    assert!(matches!(answer(&bench.call(2, Request::Call { to: a, route: 2 })), Ok(Reply::Listener { .. })));
}

#[test]
fn first_context_equals_that_of_pvm() {
    let mut bench = Bench::new();
    bench.enrol_as(1, Role::Task, None);
    assert_eq!(context(&mut bench, 1, false), Ok(0x40001));
    // A daemon that comes later under the same number begins elsewhere.
    let again = Contexts::new(2).take(Tid(0x40001), 100).expect("free");
    assert_ne!(again, 1);
}
