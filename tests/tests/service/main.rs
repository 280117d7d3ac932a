//! What one task asks of another, whose program takes no part.

use parvum_tests::TestMachine;
use parvum_tests::running::Running;
use std::process::Command;

struct Pair {
    machine: TestMachine,
    target: Running,
    asker: Running,
    /// Of the target: its service, and its window.
    at: String,
    /// And its task.
    task: String,
    /// Of the asker: its service.
    asked_by: String,
}

impl Pair {
    fn start((route, copies): Way) -> Pair {
        let machine = TestMachine::up();
        let start = || {
            let mut command = Command::new(env!("CARGO_BIN_EXE_served"));
            machine.as_user(&mut command);
            command.env("PARVUM_ROUTE", route).env("PARVUM_SINGLE_COPY", copies);
            let mut running = Running::start(&mut command);
            let at = running.told("");
            (running, at)
        };
        let ((target, names), (asker, asker_s)) = (start(), start());
        let (at, task) = names.rsplit_once(' ').expect("three numbers");
        let asked_by = asker_s.split(' ').next().expect("three numbers").to_owned();
        Pair { machine, target, asker, at: at.to_owned(), task: task.to_owned(), asked_by }
    }

    /// What the asker says to an order that names the target.
    fn ask(&mut self, order: &str, rest: &str) -> String {
        self.asker.tell(format!("{order} {} {rest}", self.at).trim_end());
        self.asker.told("")
    }

    fn request(&mut self, text: &str) -> String {
        let to = self.at.split(' ').next().expect("a tid").to_owned();
        self.asker.tell(format!("request {to} {text}").trim_end());
        self.asker.told("")
    }

    fn tell(&mut self, order: &str) -> String {
        self.target.tell(order);
        self.target.told("")
    }

    fn end(mut self) {
        for running in [&mut self.asker, &mut self.target] {
            running.close_input();
        }
        for running in [self.asker, self.target] {
            running.succeed(&self.machine);
        }
    }
}

/// The route of messages, and whether the kernel copies between processes, without a message.
type Way = (&'static str, &'static str);
const WAYS: [Way; 4] = [("shm", "on"), ("shm", "off"), ("tcp", "off"), ("routed", "off")];

#[test]
fn target_memory_is_accessed_without_its_calls() {
    for way in WAYS {
        let mut pair = Pair::start(way);
        for length in [0, 1, 8, 5000, 70_000, 3 << 20] {
            assert_eq!(pair.ask("put", &format!("4096 {length} 5")), "ok", "{way:?}, {length}");
            assert_eq!(pair.ask("get", &format!("4096 {length} 5")), "ok 0 wrong", "{way:?}, {length}");
        }
        assert_eq!(pair.ask("add", "0 100"), "ok 99", "{way:?}");
        assert_eq!(pair.ask("threads", "0 400"), "ok", "{way:?}");
        assert_eq!(pair.ask("read", "0"), "ok 500", "{way:?}");
        assert_eq!(pair.request("abc"), "ok cba", "{way:?}");
        pair.end();
    }
}

#[test]
fn target_serves_while_it_waits_in_a_call() {
    let mut pair = Pair::start(WAYS[0]);
    pair.target.tell("receive 600000");
    assert_eq!(pair.ask("add", "0 10"), "ok 9");
    assert_eq!(pair.request("xyz"), "ok zyx");
    pair.target.kill();
    pair.target.end();
    assert!(pair.request("xyz").starts_with("E-GONE"));
}

#[test]
fn invalid_questions_are_refused_and_next_is_served() {
    for way in WAYS {
        let mut pair = Pair::start(way);
        let end = 8 << 20;
        assert!(pair.ask("put", &format!("{end} 1 5")).starts_with("E-RANGE"), "{way:?}");
        assert!(pair.ask("get", &format!("{} 8 5", end - 7)).starts_with("E-RANGE"), "{way:?}");
        assert!(pair.ask("add", &format!("{} 1", end - 7)).starts_with("E-RANGE"), "{way:?}");
        assert!(pair.request("").starts_with("E-REQUEST"), "{way:?}");
        assert!(pair.request("panic").starts_with("E-REQUEST"), "{way:?}");
        let (tid, window) = pair.at.split_once(' ').map(|(tid, w)| (tid.to_owned(), w.to_owned())).unwrap();
        pair.asker.tell(&format!("put {tid} {}9 0 1 5", window));
        assert!(pair.asker.told("").starts_with("E-WINDOW"), "{way:?}");
        assert_eq!(pair.ask("add", "0 3"), "ok 2", "{way:?}");
        assert_eq!(pair.tell("withdraw"), "ok true");
        let forget = format!("forget {tid} {window}");
        pair.asker.tell(&forget);
        pair.asker.told("");
        assert!(pair.ask("put", "0 1 5").starts_with("E-WINDOW"), "{way:?}");
        pair.end();
    }
}

#[test]
fn protected_and_unmapped_memory_fail_only_for_requester() {
    for way in WAYS {
        let mut pair = Pair::start(way);
        assert_eq!(pair.ask("put", "0 4096 5"), "ok");
        assert_eq!(pair.tell("protect on"), "ok");
        for order in ["put", "get"] {
            assert!(pair.ask(order, "0 100 5").starts_with("E-PROTECTED"), "{way:?}, {order}");
        }
        assert!(pair.ask("add", "0 1").starts_with("E-PROTECTED"), "{way:?}");
        assert_eq!(pair.tell("protect off"), "ok");
        assert_eq!(pair.ask("get", "0 4096 5"), "ok 0 wrong", "{way:?}");
        assert_eq!(pair.tell("unmap"), "ok");
        assert!(pair.ask("get", "0 4096 5").starts_with("E-PROTECTED"), "{way:?}");
        assert_eq!(pair.request("abc"), "ok cba", "{way:?}");
        pair.end();
    }
}

#[test]
fn fault_inside_receive_requests_the_page() {
    for way in WAYS {
        // Copied from a cell, from the bulk, and streamed or pulled.
        for length in [20, 3000, 300_000] {
            let mut pair = Pair::start(way);
            pair.target.tell(&format!("fault {} {length}", pair.asked_by));
            pair.asker.tell(&format!("send {} {length}", pair.task));
            assert_eq!(pair.asker.told(""), "ok", "{way:?}, {length}");
            assert_eq!(pair.target.told(""), "ok 0 wrong, 1 faults", "{way:?}, {length}");
            pair.end();
        }
    }
}

#[test]
fn request_to_dead_task_fails() {
    for way in WAYS {
        let mut pair = Pair::start(way);
        assert_eq!(pair.ask("put", "0 4096 5"), "ok");
        pair.target.kill();
        pair.target.end();
        for (order, rest) in [("put", "0 100 5"), ("get", "0 100 5"), ("add", "0 1")] {
            let said = pair.ask(order, rest);
            assert!(said.starts_with("E-GONE"), "{way:?}, {order}: {said}");
        }
        pair.asker.close_input();
        pair.asker.succeed(&pair.machine);
    }
}

#[test]
fn second_endpoints_are_in_no_task_list() {
    let pair = Pair::start(WAYS[0]);
    let listed = String::from_utf8(pair.machine.run(&["ps"]).stdout).expect("text");
    assert_eq!(listed.matches("served").count(), 2, "{listed}");
    pair.end();
}
