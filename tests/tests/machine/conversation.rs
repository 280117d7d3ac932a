//! Sessions: what tasks ask of their daemon.

use parvum_task::Session;
use parvum_tests::{PATIENCE, TestMachine, await_event, eventually, shell, spawn};
use parvum_wire::control::{ErrorKind, Event, ExitStatus, Reply, Request, Role, Stream, TaskState};
use std::io::{Read, Write};
use std::os::fd::AsFd;

fn number(session: &mut Session, request: Request) -> u32 {
    match session.request(request) {
        Ok(Reply::Number(number)) => number,
        other => panic!("{other:?}"),
    }
}

#[test]
fn segment_passes_between_two_tasks() {
    let machine = TestMachine::up();
    let (mut a, mut b) = (machine.task(), machine.task());
    let (mine, theirs) = std::os::unix::net::UnixStream::pair().expect("a pair");
    let connect = Request::Connect { to: b.me.tid, route: 1 };
    let answer = a.ask(connect, &[theirs.as_fd()], PATIENCE).expect("an answer");
    assert_eq!(answer.reply, Ok(Reply::Connected { pid: std::process::id() }));
    assert_eq!(answer.fds.len(), 2, "page and eventfd of the other");
    drop(theirs);
    b.wait_readable(Some(PATIENCE)).expect("works");
    b.poll().expect("works");
    let arrival = b.next_event().expect("the offer");
    assert_eq!(arrival.event, Event::Offered { from: a.me.tid, pid: std::process::id(), route: 1 });
    assert_eq!(arrival.fds.len(), 3);
    // What stands for the segment here is a socket: it is the same one.
    let mut end = std::os::unix::net::UnixStream::from(arrival.fds.into_iter().next().expect("the segment"));
    end.write_all(b"hello").expect("room");
    let mut bytes = [0; 5];
    (&mine).read_exact(&mut bytes).expect("it came");
    assert_eq!(&bytes, b"hello");
    let answer =
        b.ask(Request::Connect { to: a.me.tid, route: 1 }, &[mine.as_fd()], PATIENCE).expect("an answer");
    assert_eq!(answer.reply, Ok(Reply::AlreadyOffered));
    let gone = a.me.tid;
    drop(a);
    await_event(&mut b, |event| (*event == Event::Gone { tid: gone, routed: false }).then_some(()));
}

#[test]
fn tcp_connection_is_arranged() {
    let machine = TestMachine::up();
    let (mut a, mut b) = (machine.task(), machine.task());
    let Ok(Reply::Listener { addr, token, encrypted: false }) =
        a.request(Request::Call { to: b.me.tid, route: 2 })
    else {
        panic!()
    };
    b.wait_readable(Some(PATIENCE)).expect("works");
    b.poll().expect("works");
    let listen = b.next_event().expect("the listener");
    assert_eq!(listen.event, Event::Listen { addr: addr.clone(), route: 2 });
    let listener = std::net::TcpListener::from(listen.fds.into_iter().next().expect("attached"));
    listener.set_nonblocking(false).expect("set");
    // What brings descriptors is taken in by itself.
    let expects = Event::Expect { from: a.me.tid, route: 2, token, encrypted: false };
    await_event(&mut b, |event| (*event == expects).then_some(()));
    let mut out = std::net::TcpStream::connect(addr).expect("it listens");
    out.write_all(&token).expect("room");
    let mut shown = [0; 16];
    listener.accept().expect("a peer").0.read_exact(&mut shown).expect("it came");
    assert_eq!(shown, token);
}

#[test]
fn spawned_task_is_described_and_its_end_reported() {
    let machine = TestMachine::up();
    let mut task = machine.task();
    let (tid, pid) = spawn(&mut task, shell("echo out; echo err >&2; read x; exit 4", 1))[0];
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let status = await_event(&mut task, |event| match event {
        Event::Output { stream: Stream::Out, data, .. } => {
            out.extend_from_slice(&data.0);
            None
        }
        Event::Output { data, .. } => {
            err.extend_from_slice(&data.0);
            None
        }
        Event::Exited { tid: who, status } => (*who == tid).then_some(*status),
        _ => None,
    });
    assert_eq!(
        (out.as_slice(), err.as_slice()),
        (&b"out\n"[..], &b"err\n"[..]),
        "output came before the end"
    );
    assert_eq!(status, ExitStatus::Code(4), "there is nothing on standard input");
    let (second, other_pid) = spawn(&mut task, shell("exec sleep 600", 1))[0];
    assert!(pid != other_pid && second != tid);
    let rows = machine.tasks();
    let row = rows.iter().find(|row| row.tid == second).expect("listed");
    assert_eq!((row.parent, row.pid, row.state), (Some(task.me.tid), other_pid, TaskState::Started));
    task.request(Request::Signal { tid: second, signal: 15 }).expect("it may");
    let exited = Event::Exited { tid: second, status: ExitStatus::Signal(15) };
    await_event(&mut task, |event| (*event == exited).then_some(()));
}

#[test]
fn barrier_holds_until_all_arrive_and_blocks_nothing_else() {
    let machine = TestMachine::up();
    let mut tasks: Vec<_> = (0..3).map(|_| machine.task()).collect();
    let group = || "workers".to_string();
    for (i, task) in tasks.iter_mut().enumerate() {
        assert_eq!(number(task, Request::Join { group: group() }), i as u32);
    }
    let barrier = || Request::Barrier { group: group(), count: 3 };
    let first = tasks[0].start(barrier()).expect("sent");
    let second = tasks[1].start(barrier()).expect("sent");
    assert_eq!(number(&mut tasks[0], Request::GroupSize { group: group() }), 3, "others are answered");
    assert!(tasks[0].take_reply(first).is_none());
    assert!(matches!(tasks[2].request(barrier()), Ok(Reply::Done)));
    for (task, id) in [(0, first), (1, second)] {
        eventually("the barrier opens", || {
            tasks[task].poll().expect("works");
            tasks[task].take_reply(id).is_some_and(|answer| answer.reply == Ok(Reply::Done))
        });
    }
}

#[test]
fn welcome_brings_status_block_and_bell() {
    let machine = TestMachine::up();
    let task = machine.task();
    let (page, bell) = task.me.channel.as_ref().expect("both");
    // The page carries its magic first; the bell is an eventfd.
    let mut magic = [0; 8];
    rustix::io::pread(page, &mut magic, 0).expect("readable");
    assert_eq!(&magic, b"ParvumPg");
    rustix::io::write(bell, &1u64.to_ne_bytes()).expect("an eventfd takes eight bytes");
    let tool = Session::open(&machine.options(Role::Tool)).expect("up");
    assert!(tool.me.channel.is_none());
    assert!(!tool.me.tid.is_task());
}

#[test]
fn requests_too_large_are_refused_by_client() {
    let machine = TestMachine::up();
    let mut task = machine.task();
    let mut plan = shell("true", 1);
    plan.args = vec![vec![b'x'; 5 << 20].into()];
    match task.request(Request::Spawn(plan)) {
        Err(parvum_task::SessionError::Refused(why)) => assert_eq!(why.kind, ErrorKind::TooLarge),
        other => panic!("{other:?}"),
    }
    assert!(task.request(Request::Hosts).is_ok(), "and the session goes on");
}

#[test]
fn error_codes_are_all_on_errors_page() {
    let page = include_str!("../../../docs/errors.md");
    for kind in ErrorKind::ALL {
        assert!(page.contains(&format!("| `{}` |", kind.code())), "docs/errors.md lacks {}", kind.code());
    }
}
