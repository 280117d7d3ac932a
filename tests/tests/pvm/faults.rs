//! Tasks, spawners and daemons killed with -9 while others wait for them.

use parvum_task::Session;
use parvum_tests::running::{Running, asleep, await_tasks};
use parvum_tests::{TestMachine, eventually, gone, kill_hard};
use parvum_wire::control::{Reply, Request, Role};
use std::io::Write;
use std::net::TcpStream;

const NO_TASK: &str = "-31";
/// `unix` is in builds for development only: it shows that a transport needs no more than its folder and a line.
const ROUTES: [&str; 4] = ["shm", "tcp", "routed", "unix"];

/// An actor over a route; gives its tid as well.
fn actor(machine: &TestMachine, route: &str, args: &[&str]) -> (Running, String) {
    let mut command = machine.program("actor");
    command.args(args).env("PARVUM_ROUTE", route).env("PARVUM_CREDIT", "1000000");
    let mut running = Running::start(&mut command);
    let tid = running.told("tid");
    (running, tid)
}

fn settled(running: &Running) {
    eventually("it waits", || asleep(running.pid()));
}

#[test]
fn receive_from_killed_sender_fails_and_others_wait_on() {
    let machine = TestMachine::up();
    for route in ROUTES {
        let (mut sender, tid) = actor(&machine, route, &["stay"]);
        let (mut waiting, _) = actor(&machine, route, &["receive", &tid]);
        let (mut for_anyone, any) = actor(&machine, route, &["receive", "-1"]);
        settled(&waiting);
        settled(&for_anyone);
        sender.kill();
        assert_eq!(waiting.told("info"), NO_TASK, "over {route}");
        assert!(waiting.end().success());
        assert!(for_anyone.is_silent(), "over {route}: {}", for_anyone.said);
        // The one that waits for anybody gets the next message.
        let (mut other, _) = actor(&machine, route, &["stream", &any, "10", "1"]);
        assert!(for_anyone.told("info").parse::<i32>().expect("a number") > 0);
        other.tell("end");
        assert!(other.end().success());
        assert!(for_anyone.end().success());
        // To wait for one that is gone already is an error at once.
        let (mut late, _) = actor(&machine, route, &["receive", &tid]);
        assert_eq!(late.told("info"), NO_TASK, "over {route}");
        late.end();
        await_tasks(&machine, 0);
    }
}

/// A sender whose receiver never receives, and is killed then.
fn killed_receiver(route: &str, bytes: &str, single_copy: &str) {
    let machine = TestMachine::up();
    let (mut receiver, tid) = actor(&machine, route, &["stay"]);
    let mut command = machine.program("actor");
    // Once the receiver is gone the rest is lost without a word, as in PVM: the sender only must not wait.
    let count = if bytes.len() < 7 { "1000" } else { "2" };
    command.args(["stream", &tid, bytes, count]).env("PARVUM_ROUTE", route);
    command.env("PARVUM_CREDIT", "1000000").env("PARVUM_SINGLE_COPY", single_copy);
    let mut sender = Running::start(&mut command);
    sender.told("tid");
    if bytes.len() < 7 {
        sender.told("streaming");
    }
    settled(&sender);
    receiver.kill();
    assert_eq!(sender.told("info"), "0", "{bytes} bytes over {route}, single copy {single_copy}");
    sender.tell("end");
    assert!(sender.end().success());
    receiver.end();
    await_tasks(&machine, 0);
}

#[test]
fn sender_without_credit_continues_when_receiver_is_killed() {
    for route in ROUTES {
        killed_receiver(route, "100000", "on");
        killed_receiver(route, "1000", "on");
    }
}

#[test]
fn sender_in_mid_message_continues_when_receiver_is_killed() {
    for route in ROUTES {
        killed_receiver(route, "60000000", "off");
    }
}

/// The ports at which a process listens.
fn ports(pid: u32) -> Vec<u16> {
    let sockets: Vec<String> = std::fs::read_dir(format!("/proc/{pid}/fd"))
        .expect("it lives")
        .flatten()
        .filter_map(|fd| Some(std::fs::read_link(fd.path()).ok()?.to_string_lossy().into_owned()))
        .collect();
    let table = std::fs::read_to_string("/proc/net/tcp").expect("a table");
    let port = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let listens = words.get(3) == Some(&"0A") && sockets.contains(&format!("socket:[{}]", words[9]));
        listens.then(|| u16::from_str_radix(words[1].rsplit(':').next()?, 16).ok())?
    };
    table.lines().skip(1).filter_map(port).collect()
}

#[test]
fn strangers_do_not_delay_announced_callers() {
    let machine = TestMachine::up();
    let (mut receiver, tid) = actor(&machine, "tcp", &["collect", "20"]);
    receiver.tell("begin");
    let (mut first, _) = actor(&machine, "tcp", &["stream", &tid, "1000", "10"]);
    assert_eq!(first.told("sent"), "10");
    // Whoever has sent is over; the receiver may still be about to take in what its own descriptor says.
    eventually("it listens at one port", || ports(receiver.pid()).len() == 1);
    let ports = ports(receiver.pid());
    // Silent ones, and some who show what proves nothing.
    let strangers: Vec<_> = (0..100)
        .map(|number| {
            let mut stranger = TcpStream::connect(("127.0.0.1", ports[0])).expect("it listens");
            if number % 3 == 0 {
                stranger.write_all(&[number as u8; 100]).expect("sent");
            }
            stranger
        })
        .collect();
    let (mut second, _) = actor(&machine, "tcp", &["stream", &tid, "1000", "10"]);
    assert_eq!((second.told("sent"), second.told("info")), ("10".into(), "0".into()));
    assert_eq!(receiver.told("info"), "0");
    drop(strangers);
    for task in [&mut first, &mut second] {
        task.tell("end");
        assert!(task.end().success());
    }
    assert!(receiver.end().success());
    await_tasks(&machine, 0);
}

#[test]
fn waits_all_fail_when_daemon_is_killed() {
    for route in ROUTES {
        let machine = TestMachine::up();
        let (mut idle, tid) = actor(&machine, route, &["stay"]);
        let mut all = [
            actor(&machine, route, &["receive", &tid]).0,
            actor(&machine, route, &["receive", "-1"]).0,
            actor(&machine, route, &["barrier", "2"]).0,
            actor(&machine, route, &["stream", &tid, "100000", "1000"]).0,
            // Nobody wakes those that never sleep for long.
            actor(&machine, route, &["poll", "100000"]).0,
            actor(&machine, route, &["poll", "0"]).0,
        ];
        all[2].told("joined");
        all[3].told("streaming");
        all[..5].iter().for_each(settled);
        let daemon = machine.daemon_pid();
        kill_hard(daemon);
        gone(daemon);
        for (at, task) in all.iter_mut().enumerate() {
            let info: i32 = task.told("info").parse().expect("a number");
            assert!(info < 0, "task {at} over {route}: {info}");
            if at == 3 {
                task.tell("end");
            }
            assert!(task.end().success());
        }
        idle.tell("end");
        assert!(idle.end().success(), "who did not wait ends as it likes");
        // A new machine takes the place, stale socket or not.
        assert!(machine.run(&["up"]).status.success());
        machine.check(machine.program("buffers").env("PARVUM_ROUTE", route));
    }
}

#[test]
fn children_stop_waiting_when_spawner_is_killed() {
    let machine = TestMachine::up();
    for route in ROUTES {
        let (mut parent, _) = actor(&machine, route, &["parent", "3"]);
        parent.told("spawned");
        eventually("the children wait", || {
            let rows = machine.tasks();
            rows.len() == 4 && rows.iter().all(|row| asleep(row.pid))
        });
        parent.kill();
        await_tasks(&machine, 0);
    }
}

fn group_size(machine: &TestMachine, group: &str) -> u32 {
    let mut session = Session::open(&machine.options(Role::Tool)).expect("the machine is up");
    match session.request(Request::GroupSize { group: group.into() }) {
        Ok(Reply::Number(size)) => size,
        _ => 0,
    }
}

#[test]
fn task_killed_at_any_moment_harms_no_other() {
    let machine = TestMachine::up();
    for (turn, program) in ["groups", "order", "groups", "order", "groups", "order"].iter().enumerate() {
        let mut command = machine.program(program);
        if *program == "groups" {
            command.arg("8");
        }
        let mut master = Running::start(command.env("PARVUM_ROUTE", ROUTES[turn % 3]));
        let mut children = Vec::new();
        eventually("it has children", || {
            children = machine.tasks().into_iter().filter(|row| row.parent.is_some()).collect();
            !children.is_empty()
        });
        // A barrier waits for those who have yet to join, for ever if they never do.
        if *program == "groups" {
            eventually("all have joined", || group_size(&machine, "everybody") == 8);
        }
        // Another moment each time.
        std::thread::sleep(std::time::Duration::from_millis(9 * turn as u64));
        kill_hard(children[turn % children.len()].pid);
        // Whether it was in time to disturb them or not: all come to an end.
        master.end();
        await_tasks(&machine, 0);
    }
}
