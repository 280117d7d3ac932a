//! Routed messages: task, daemon, task.

use parvum_tests::{PATIENCE, TestMachine, await_event, shell, spawn};
use parvum_wire::Tid;
use parvum_wire::control::{Event, MAX_ROUTED, Request};
use rustix::process::{Pid, Signal, kill_process};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;

fn data(session: &parvum_task::Session) -> UnixStream {
    let stream = UnixStream::from(session.data_opener().open().expect("opens"));
    stream.set_read_timeout(Some(PATIENCE)).expect("set");
    stream
}

fn routed(tid: Tid, payload: &[u8]) -> Vec<u8> {
    let mut bytes = (payload.len() as u32 + 4).to_le_bytes().to_vec();
    bytes.extend_from_slice(&tid.0.to_le_bytes());
    bytes.extend_from_slice(payload);
    bytes
}

fn receive(stream: &mut UnixStream) -> (Tid, Vec<u8>) {
    let mut head = [0; 8];
    stream.read_exact(&mut head).expect("a frame");
    let length = u32::from_le_bytes(head[..4].try_into().expect("four")) as usize;
    let mut payload = vec![0; length - 4];
    stream.read_exact(&mut payload).expect("its payload");
    (Tid(i32::from_le_bytes(head[4..].try_into().expect("four"))), payload)
}

#[test]
fn routed_frames_arrive_in_order_per_sender() {
    let machine = TestMachine::up();
    let (a, b, c) = (machine.task(), machine.task(), machine.task());
    let (mut from_a, mut from_b, mut at_c) = (data(&a), data(&b), data(&c));
    let sizes = [1, 7, 100, 5000, 70_000, MAX_ROUTED];
    let mut sent = Vec::new();
    for round in 0..200u32 {
        let payload = vec![round as u8; sizes[round as usize % sizes.len()]];
        sent.push(payload.clone());
    }
    let (to, frames) = (c.me.tid, sent.clone());
    let writers =
        [from_a.try_clone().expect("clones"), from_b.try_clone().expect("clones")].map(|mut stream| {
            let frames = frames.clone();
            std::thread::spawn(move || {
                frames.iter().for_each(|f| stream.write_all(&routed(to, f)).expect("sent"))
            })
        });
    let mut got = std::collections::HashMap::<Tid, Vec<Vec<u8>>>::new();
    for _ in 0..400 {
        let (from, payload) = receive(&mut at_c);
        got.entry(from).or_default().push(payload);
    }
    writers.into_iter().for_each(|w| w.join().expect("writes"));
    assert_eq!(got.remove(&a.me.tid), Some(sent.clone()));
    assert_eq!(got.remove(&b.me.tid), Some(sent));
    assert!(got.is_empty());
    // And one's own.
    from_a.write_all(&routed(a.me.tid, b"self")).expect("sent");
    assert_eq!(receive(&mut from_a), (a.me.tid, b"self".to_vec()));
    from_b.write_all(&routed(a.me.tid, b"back")).expect("sent");
    assert_eq!(receive(&mut from_a), (b.me.tid, b"back".to_vec()));
}

#[test]
fn routed_frames_wait_for_task_that_has_not_joined() {
    let machine = TestMachine::up();
    let (a, mut b) = (machine.task(), machine.task());
    let mut from_a = data(&a);
    from_a.write_all(&routed(b.me.tid, b"early")).expect("sent");
    await_event(&mut b, |event| (*event == Event::OpenData).then_some(()));
    assert_eq!(receive(&mut data(&b)), (a.me.tid, b"early".to_vec()));
}

#[test]
fn data_connection_with_wrong_secret_is_refused() {
    let machine = TestMachine::up();
    let (mut a, b) = (machine.task(), machine.task());
    let (tid, secret) = (a.me.tid, a.me.secret);
    let refused = |session: &parvum_task::Session| {
        let why = session.data_opener().open().expect_err("refused").to_string();
        assert!(why.contains("E-DENIED"), "{why}");
    };
    a.me.secret[7] ^= 1;
    refused(&a);
    // Its own secret opens nobody else's.
    (a.me.tid, a.me.secret) = (b.me.tid, secret);
    refused(&a);
    (a.me.tid, a.me.secret) = (tid, secret);
    let (mut from_a, mut at_b) = (data(&a), data(&b));
    from_a.write_all(&routed(b.me.tid, b"mine")).expect("sent");
    assert_eq!(receive(&mut at_b), (tid, b"mine".to_vec()));
}

#[test]
fn flood_through_daemon_is_stopped_not_stored() {
    let machine = TestMachine::up();
    let (mut a, mut b) = (machine.task(), machine.task());
    let from_a = data(&a);
    let (to, _) = spawn(&mut b, shell("exec sleep 600", 1))[0];
    from_a.set_nonblocking(true).expect("set");
    // Nobody will ever read: the daemon must stop taking.
    let frame = routed(to, &vec![0; 100_000]);
    let mut sent = 0;
    let mut rest: &[u8] = &frame;
    // It has stopped when it did other things three hundred times, with pauses in which it had nothing else to do, and took nothing.
    // So the sender's other business goes on.
    let mut stopped = 0;
    while stopped < 300 {
        match (&from_a).write(rest) {
            Ok(length) => {
                (sent, stopped) = (sent + length, 0);
                rest = &rest[length..];
                if rest.is_empty() {
                    rest = &frame;
                }
                assert!(sent < 4 << 20, "the daemon took {sent} bytes");
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                a.request(parvum_wire::control::Request::Hosts).expect("answered");
                std::thread::sleep(std::time::Duration::from_millis(1));
                stopped += 1;
            }
            Err(error) => panic!("{error}"),
        }
    }
    // When the receiver dies, the sender is told, and can go on.
    b.request(parvum_wire::control::Request::Signal { tid: to, signal: 9 }).expect("it may");
    await_event(&mut a, |event| (*event == Event::Undeliverable { to }).then_some(()));
}

#[test]
fn routed_frames_to_missing_task_are_reported() {
    let machine = TestMachine::up();
    let mut a = machine.task();
    let nobody = Tid(0x4abcd);
    data(&a).write_all(&routed(nobody, b"hello?")).expect("sent");
    await_event(&mut a, |event| (*event == Event::Undeliverable { to: nobody }).then_some(()));
}

#[test]
fn last_frames_of_task_precede_its_end_notice() {
    let machine = TestMachine::up();
    let (a, b) = (machine.task(), machine.task());
    let (mut from_a, mut at_b) = (data(&a), data(&b));
    let tid = a.me.tid;
    for _ in 0..100 {
        from_a.write_all(&routed(b.me.tid, &[7; 3000])).expect("sent");
    }
    drop(from_a);
    drop(a);
    for _ in 0..100 {
        assert_eq!(receive(&mut at_b), (tid, vec![7; 3000]));
    }
    assert_eq!(receive(&mut at_b), (tid, Vec::new()), "the end of the route");
}

#[test]
fn single_frame_of_leaving_task_precedes_its_end_notice() {
    let machine = TestMachine::up();
    let mut b = machine.task();
    let mut at_b = data(&b);
    for round in 0..10u8 {
        let mut a = machine.task();
        let mut from_a = data(&a);
        // The daemon finds both at the same time, and in whatever order.
        let daemon = machine.daemon_pid();
        signal(daemon, Signal::STOP);
        a.start(Request::Depart).expect("asks");
        from_a.write_all(&routed(b.me.tid, &[round])).expect("sent");
        signal(daemon, Signal::CONT);
        let gone = |event: &Event| match event {
            Event::Gone { tid, routed } if *tid == a.me.tid => Some(*routed),
            _ => None,
        };
        assert!(await_event(&mut b, gone), "it says that frames were on their way");
        assert_eq!(receive(&mut at_b), (a.me.tid, vec![round]));
        assert_eq!(receive(&mut at_b), (a.me.tid, Vec::new()));
    }
}

/// Stops a process, or lets it go on.
fn signal(pid: u32, signal: Signal) {
    let pid = Pid::from_raw(pid as i32).expect("a pid");
    kill_process(pid, signal).expect("it runs");
}

#[test]
fn broken_frames_disconnect_only_their_sender() {
    let machine = TestMachine::up();
    let (a, b) = (machine.task(), machine.task());
    for bytes in [&[0, 0, 0, 0, 1, 0, 4, 0][..], &[255, 255, 255, 255, 1, 0, 4, 0]] {
        let task = machine.task();
        let mut stream = data(&task);
        stream.write_all(bytes).expect("sent");
        assert_eq!(stream.read(&mut [0; 8]).expect("it closes"), 0);
    }
    let (mut from_a, mut at_b) = (data(&a), data(&b));
    from_a.write_all(&routed(b.me.tid, b"fine")).expect("sent");
    assert_eq!(receive(&mut at_b), (a.me.tid, b"fine".to_vec()));
    assert!(machine.log().contains("bad routed frame"));
}

#[test]
fn data_connection_needs_its_secret() {
    let machine = TestMachine::up();
    let task = machine.task();
    let first = data(&task);
    let mut bytes = [0; 1];
    // A second one is closed again: a task has one.
    assert_eq!(data(&task).read(&mut bytes).expect("it closes"), 0);
    drop(first);
}
