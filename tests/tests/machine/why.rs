//! `parvum why`: real programs that hang, each in its way, and programs that do not.

use parvum_tests::running::{Running, await_tasks};
use parvum_tests::{TestMachine, eventually, gone};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

/// What hangs for certain.
const CERTAIN: i32 = 3;

/// A program of the kind, after it has said that it hangs.
fn hanging(machine: &TestMachine, words: &[&str], tasks: usize) -> Running {
    let mut running = Running::start(machine.program("hang").args(words));
    running.told("hangs");
    await_tasks(machine, tasks);
    running
}

/// What `parvum why` says once it is certain.
fn certainly(machine: &TestMachine, args: &[&str]) -> String {
    let mut said = String::new();
    eventually("it is certain", || {
        let ended = machine.run(&[&["why"], args].concat());
        said = String::from_utf8_lossy(&ended.stdout).into_owned();
        ended.status.code() == Some(CERTAIN)
    });
    said
}

/// What `parvum why` says when it sees that nobody moves, and cannot be certain.
fn perhaps(machine: &TestMachine) -> String {
    let mut said = String::new();
    eventually("nobody moves", || {
        let ended = machine.run(&["why"]);
        said = String::from_utf8_lossy(&ended.stdout).into_owned();
        assert_eq!(ended.status.code(), Some(0), "{said}");
        said.contains("PERHAPS A DEADLOCK")
    });
    said
}

fn end(machine: &TestMachine, mut running: Running) {
    running.kill();
    for row in machine.tasks() {
        machine.run(&["kill", "-s", "9", &row.tid.to_string()]);
    }
    eventually("all are gone", || machine.tasks().is_empty());
}

#[test]
fn why_names_members_of_deadlock() {
    let machine = TestMachine::up();
    for many in [2, 3] {
        let running = hanging(&machine, &["ring", &many.to_string()], many);
        let said = certainly(&machine, &[]);
        let first = said.lines().next().unwrap_or_default();
        assert!(first.starts_with("DEADLOCK: "), "{said}");
        assert_eq!(first.matches(" waits for ").count(), many, "{said}");
        assert_eq!(said.matches("tag 7").count(), many, "what each waits for: {said}");
        let tid = machine.tasks()[0].tid.to_string();
        assert!(certainly(&machine, &[&tid]).contains(&tid));
        end(&machine, running);
    }
}

/// By TCP a sender shows who it is, and the receiver lets it in when it calls: until then what was sent is on the way.
#[test]
fn why_reports_receiver_that_accepts_no_connection() {
    let machine = TestMachine::up();
    let mut running = Running::start(machine.program("hang").arg("deaf").env("PARVUM_ROUTE", "tcp"));
    running.told("hangs");
    await_tasks(&machine, 2);
    let mut said = String::new();
    eventually("it is seen", || {
        let ended = machine.run(&["why"]);
        said = String::from_utf8_lossy(&ended.stdout).into_owned();
        assert_eq!(ended.status.code(), Some(0), "{said}");
        said.contains("has not let that connection in")
    });
    assert!(said.contains("1 message from t") && said.contains("is on the way over tcp"), "{said}");
    assert!(said.contains("Nothing hangs for certain."), "{said}");
    // When it calls, it lets the sender in.
    let deaf = machine.tasks().into_iter().find(|row| row.waits.is_none()).expect("it computes");
    machine.run(&["kill", "-s", "USR1", &deaf.tid.to_string()]);
    running.told("heard");
    end(&machine, running);
}

#[test]
fn why_points_out_near_match() {
    let machine = TestMachine::up();
    let running = hanging(&machine, &["tag"], 2);
    let said = certainly(&machine, &[]);
    assert!(
        said.contains("4 B from ") && said.contains("with tag 8: the sender is right, the tag is not 7"),
        "{said}"
    );
    end(&machine, running);
    let running = hanging(&machine, &["source"], 3);
    // The circle is certain before the third task stands still: that task may just have begun to wait.
    let mut said = String::new();
    eventually("the task behind the circle hangs as well", || {
        said = certainly(&machine, &[]);
        said.contains("which hangs")
    });
    assert!(said.contains("the tag is right, the sender is not"), "{said}");
    end(&machine, running);
}

#[test]
fn why_reports_sender_without_credit() {
    let machine = TestMachine::up();
    let running = hanging(&machine, &["credit"], 2);
    let said = certainly(&machine, &[]);
    assert!(said.contains("has much that it has not received"), "{said}");
    assert!(said.contains("the tag is not 7"), "{said}");
    end(&machine, running);
}

#[test]
fn why_reports_wildcard_receive_as_possible_deadlock() {
    let machine = TestMachine::up();
    let running = hanging(&machine, &["anyone"], 2);
    let said = perhaps(&machine);
    assert!(
        said.contains("PERHAPS A DEADLOCK: t") && said.contains(" wait, and no task that is there will send"),
        "{said}"
    );
    assert!(said.contains("Nothing hangs for certain."), "{said}");
    end(&machine, running);
}

#[test]
fn why_names_barrier_and_missing_members() {
    let machine = TestMachine::up();
    // The daemon keeps the first barrier, a page that the members share the later ones.
    for rounds in ["0", "1", "3"] {
        let mut running = Running::start(machine.program("hang").args(["barrier", rounds]));
        let absent = running.told("absent");
        await_tasks(&machine, 3);
        let mut said = String::new();
        eventually("both others have come", || {
            said = perhaps(&machine);
            said.contains(&format!("group trio: 2 of 3 have come, missing: t{absent}, for "))
        });
        assert_eq!(said.matches("waits in pvm barrier of group trio").count(), 2, "{said}");
        let rows = machine.run(&["ps"]);
        let rows = String::from_utf8_lossy(&rows.stdout).into_owned();
        assert_eq!(rows.matches("in pvm barrier: group trio").count(), 2, "{rows}");
        end(&machine, running);
    }
    let running = hanging(&machine, &["unjoined"], 1);
    let said = perhaps(&machine);
    assert!(said.contains("group pair: 1 of 2 have come, 1 more must join the group"), "{said}");
    end(&machine, running);
}

#[test]
fn why_reports_no_deadlock_for_slow_task() {
    let machine = TestMachine::up();
    let running = hanging(&machine, &["slow"], 2);
    while machine.tasks().len() == 2 {
        let ended = machine.run(&["why"]);
        let said = String::from_utf8_lossy(&ended.stdout);
        assert_eq!(ended.status.code(), Some(0), "{said}");
        assert!(!said.contains("DEADLOCK"), "{said}");
    }
    running.succeed(&machine);
    // A ring that runs, asked over and over: each of its tasks waits nearly always.
    let mut ring = Running::start(machine.program("order").args::<[&str; 0], _>([]));
    while parvum_tests::alive(ring.pid()) && !machine.tasks().is_empty() {
        let ended = machine.run(&["why"]);
        assert_eq!(ended.status.code(), Some(0), "{}", String::from_utf8_lossy(&ended.stdout));
    }
    assert!(ring.end().success());
}

#[test]
fn receive_from_dead_task_fails() {
    let machine = TestMachine::up();
    let mut running = Running::start(machine.program("hang").arg("dead"));
    running.told("hangs");
    let code: i32 = running.told("gives").parse().expect("a number");
    assert!(code < 0, "a receive that can never end returns an error: {code}");
    assert!(running.end().success());
}

#[test]
fn why_watch_reports_deadlock_unasked() {
    let machine = TestMachine::up();
    let mut watch: Command = machine.command(&["why", "--watch"]);
    let mut watch = watch.stdout(Stdio::piped()).spawn().expect("it runs");
    let mut lines = BufReader::new(watch.stdout.take().expect("piped")).lines();
    let running = hanging(&machine, &["ring", "2"], 2);
    let first = lines.next().expect("it says something").expect("a line");
    assert!(first.starts_with("DEADLOCK: "), "{first}");
    watch.kill().expect("it runs until it is told to end");
    watch.wait().expect("it ends");
    gone(watch.id());
    end(&machine, running);
}

#[test]
fn why_reports_invalid_arguments() {
    let machine = TestMachine::up();
    let ended = machine.run(&["why"]);
    assert!(String::from_utf8_lossy(&ended.stdout).contains("No task is on the machine"));
    let ended = machine.run(&["why", "t4ffff"]);
    assert_eq!(ended.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&ended.stderr).contains("E-NOTASK"), "{ended:?}");
    let ended = machine.run(&["why", "nonsense"]);
    assert_eq!(ended.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&ended.stderr).contains("parvum ps"), "{ended:?}");
}

#[test]
fn stack_shows_the_threads_of_a_task() {
    let machine = TestMachine::up();
    let mut job = machine.command(&["run", "sleep", "600"]).spawn().expect("it runs");
    let found = || machine.tasks().into_iter().find(|row| row.name == "sleep").map(|row| row.tid.to_string());
    eventually("the task has begun", || found().is_some());
    let task = found().expect("it runs");
    let stack = |path: Option<&str>| {
        let mut command = machine.command(&["stack", &task]);
        path.map(|path| command.env("PATH", path));
        let done = command.output().expect("it runs");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert!(done.status.success(), "{done:?}");
        (text(&done.stdout), text(&done.stderr))
    };
    // By a debugger if one is here, and by the kernel in any case.
    let (said, _) = stack(None);
    assert!(said.starts_with(&format!("{task} ")) && said.lines().count() > 1, "{said}");
    let (said, why) = stack(Some("/nowhere"));
    assert!(why.contains("E-STACK") && why.contains("eu-stack is not installed"), "{why}");
    assert!(said.contains("SLEEPS IN") && said.contains("sleep"), "{said}");
    let refused = machine.run(&["stack", "t4ffff"]);
    assert!(
        !refused.status.success() && String::from_utf8_lossy(&refused.stderr).contains("E-NOTASK"),
        "{refused:?}"
    );
    // The task goes on.
    assert_eq!(found(), Some(task));
    job.kill().expect("it runs");
    job.wait().expect("it ends");
}
