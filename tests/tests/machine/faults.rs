//! Strangers, garbage, and death at any moment.

use parvum_tests::{
    Lack, PATIENCE, TestMachine, await_event, eventually, gone, kill_hard, shell, skip, spawn,
};
use parvum_wire::control::{
    Blob, Call, Event, ExitStatus, MAX_FRAME, Notice, PROTOCOL, Request, SpawnRequest, frame,
};
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};

/// Sends bytes to the daemon and returns what it says until it closes.
fn say(machine: &TestMachine, bytes: &[u8], then_close: bool) -> Vec<u8> {
    let mut stream = UnixStream::connect(machine.dir.join("daemon.sock")).expect("it serves");
    stream.set_read_timeout(Some(PATIENCE)).expect("set");
    // The daemon may have closed half way: that is an answer too.
    let _ = stream.write_all(bytes);
    if then_close {
        let _ = stream.shutdown(std::net::Shutdown::Write);
    }
    let mut answer = Vec::new();
    match stream.read_to_end(&mut answer) {
        Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => panic!("it does not close"),
        _ => answer,
    }
}

#[test]
fn client_gets_error_if_daemon_has_no_descriptor() {
    let machine = TestMachine::new();
    // Soft and hard: the daemon raises the soft one.
    let mut up = Command::new("sh");
    up.args(["-c", "ulimit -n 60 && exec \"$0\" up"])
        .arg(parvum_tests::parvum())
        .env("PARVUM_DIR", &machine.dir);
    assert!(up.status().expect("a shell").success());
    // More than it can take; those that wait in the socket's queue take none of its own.
    let crowd: Vec<_> = (0..70)
        .map(|_| UnixStream::connect(machine.dir.join("daemon.sock")).expect("room in the queue"))
        .collect();
    let done = machine.run(&["ps"]);
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(!done.status.success() && said.contains("E-RESOURCES") && said.contains("descriptors"), "{said}");
    drop(crowd);
    eventually("there is room again", || machine.run(&["ps"]).status.success());
}

#[test]
fn garbage_is_refused_and_other_clients_are_served() {
    let machine = TestMachine::up();
    let mut task = machine.task();
    let pid = machine.daemon_pid();
    let good = frame(&Call { id: 1, request: Request::Info }, 0).expect("fits");
    let mut oversized = good.clone();
    oversized[..4].copy_from_slice(&u32::MAX.to_le_bytes());
    let mut just_over = good.clone();
    just_over[..4].copy_from_slice(&(MAX_FRAME as u32 + 1).to_le_bytes());
    let mut wrong_body = good.clone();
    wrong_body[8..].fill(0xff);
    let mut fds_missing = good.clone();
    fds_missing[7] = 1;
    let mut noise = Vec::new();
    let mut state = 88172645463325252u64;
    for _ in 0..100_000 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        noise.push(state as u8);
    }
    for bytes in [&b"GET / HTTP/1.1\r\n\r\n"[..], &noise, &oversized, &just_over, &wrong_body, &fds_missing] {
        let answer = say(&machine, bytes, false);
        assert!(String::from_utf8_lossy(&answer).is_empty() || answer[4..6] == *b"Pv");
    }
    for end in 0..good.len() {
        say(&machine, &good[..end], true);
    }
    assert!(task.request(Request::Hosts).is_ok(), "the others are served");
    assert_eq!(machine.daemon_pid(), pid);
    let log = machine.log();
    assert!(log.contains("refused, not a request"), "{log}");
    assert!(
        log.lines().filter(|l| l.contains("not a request")).count() <= 4,
        "logged once, not each time: {log}"
    );
}

#[test]
fn other_protocol_version_gets_error_with_both_versions() {
    let machine = TestMachine::up();
    let mut bytes = frame(&Call { id: 1, request: Request::Info }, 0).expect("fits");
    bytes[6] = PROTOCOL + 1;
    let answer = String::from_utf8_lossy(&say(&machine, &bytes, false)).into_owned();
    assert!(answer.contains(&format!("speaks protocol {}, this side {PROTOCOL}", PROTOCOL + 1)), "{answer}");
}

#[test]
fn connection_of_another_user_is_refused() {
    if !rustix::process::geteuid().is_root() {
        return skip(Lack::Root, "only root can become another user");
    }
    let machine = TestMachine::up();
    // Open the doors that would keep the other user from the socket at all.
    for (path, mode) in [(machine.dir.clone(), 0o755), (machine.dir.join("daemon.sock"), 0o777)] {
        std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).expect("set");
    }
    let script = r#"
import socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
sys.stdout.write(repr(s.recv(1000)))
"#;
    let ended = Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups", "/usr/bin/python3", "-c", script])
        .arg(machine.dir.join("daemon.sock"))
        .output();
    std::fs::set_permissions(&machine.dir, PermissionsExt::from_mode(0o700)).expect("set");
    match ended {
        Ok(ended) if ended.status.success() => {
            assert!(String::from_utf8_lossy(&ended.stdout).contains("Pv"), "{ended:?}");
            assert!(machine.log().contains("another user's connection: user 65534"), "{}", machine.log());
        }
        other => skip(Lack::Tools, format!("setpriv or python3 is missing ({other:?})")),
    }
}

#[test]
fn killed_task_is_noticed_once() {
    let machine = TestMachine::up();
    let mut task = machine.task();
    let plan = SpawnRequest {
        program: Blob::from(env!("CARGO_BIN_EXE_puppet")),
        args: vec![Blob::from("stay")],
        ..shell("", 1)
    };
    let (tid, pid) = spawn(&mut task, plan)[0];
    await_event(&mut task, |event| matches!(event, Event::Output { .. }).then_some(()));
    let notify = Request::Notify { about: Notice::TaskExit, targets: vec![tid], count: 0, cookie: 1 };
    task.request(notify).expect("it may");
    kill_hard(pid);
    let (mut notified, mut exited) = (0, 0);
    await_event(&mut task, |event| {
        notified += i32::from(*event == Event::Notified { cookie: 1, about: Notice::TaskExit, tid });
        exited += i32::from(*event == Event::Exited { tid, status: ExitStatus::Signal(9) });
        (notified == 1 && exited == 1).then_some(())
    });
    assert!(task.request(Request::Hosts).is_ok());
    assert!(task.next_event().is_none(), "and no more than once");
    gone(pid);
}

#[test]
fn task_that_dies_during_requests_harms_no_other() {
    let machine = TestMachine::up();
    let mut task = machine.task();
    for delay in 0..20 {
        let plan = SpawnRequest {
            program: Blob::from(env!("CARGO_BIN_EXE_puppet")),
            args: vec![Blob::from("stay")],
            ..shell("", 1)
        };
        let (_, pid) = spawn(&mut task, plan)[0];
        std::thread::sleep(std::time::Duration::from_micros(150 * delay));
        kill_hard(pid);
    }
    let mut exits = 0;
    await_event(&mut task, |event| {
        exits += i32::from(matches!(event, Event::Exited { .. }));
        (exits == 20).then_some(())
    });
    drop(task);
    eventually("all are gone", || machine.tasks().is_empty());
}

#[test]
fn lost_daemon_is_noticed() {
    let machine = TestMachine::up();
    let mut task = machine.task();
    kill_hard(machine.daemon_pid());
    eventually("the session is lost", || {
        task.poll().expect("a plain end");
        task.is_lost()
    });
    assert!(task.request(Request::Hosts).expect_err("no daemon").to_string().starts_with("E-LOST"));
}

/// Commands and a program's first call alike; all at once, for each waits some seconds.
#[test]
fn stopped_daemon_error_names_daemon_and_remedy() {
    let machine = TestMachine::up();
    let pid = machine.daemon_pid();
    let process = rustix::process::Pid::from_raw(pid as i32).expect("a pid");
    rustix::process::kill_process(process, rustix::process::Signal::STOP).expect("it runs");
    let mut commands = [machine.command(&["info"]), machine.command(&["ps"]), machine.program("mailbox")];
    let asked: Vec<_> = commands
        .iter_mut()
        .map(|command| command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts"))
        .collect();
    let ended: Vec<_> = asked.into_iter().map(|child| child.wait_with_output().expect("it ends")).collect();
    rustix::process::kill_process(process, rustix::process::Signal::CONT).expect("it is stopped");
    for ended in ended {
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert!(!ended.status.success(), "{ended:?}");
        assert!(said.contains("E-DEADLINE") && said.contains(&format!("kill -CONT {pid}")), "{said}");
        assert!(!said.contains("machine is lost"), "{said}");
    }
    assert!(machine.run(&["info"]).status.success());
}
