//! The same program says the same on every port.

use parvum_tests::TestMachine;
use parvum_tests::running::{Running, await_tasks};
use std::process::Command;

fn ports(words: [&str; 2]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ports"));
    command.args(words);
    command
}

fn sorted(said: &str) -> Vec<String> {
    let mut lines: Vec<String> = said.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect();
    lines.sort();
    lines
}

/// What processes on the engine say, each started by itself.
fn on_engine(machine: &TestMachine, count: usize, route: &str) -> Vec<String> {
    let start = |_| {
        let mut command = ports(["engine", &count.to_string()]);
        machine.as_user(&mut command);
        Running::start(command.env("PARVUM_ROUTE", route))
    };
    let all: Vec<Running> = (0..count).map(start).collect();
    let said: Vec<String> = all.into_iter().map(|running| running.succeed(machine)).collect();
    // Their names are free when the machine has seen their ends, which is a moment after them.
    await_tasks(machine, 0);
    sorted(&said.join("\n"))
}

#[test]
fn program_prints_same_on_every_port() {
    let machine = TestMachine::up();
    for (count, simulated) in [(1, &["loop", "ethernet", "cube"][..]), (4, &["ethernet", "cube"])] {
        let wanted = on_engine(&machine, count, "shm");
        assert_eq!(wanted.len(), count * 16);
        assert!(on_engine(&machine, count, "tcp") == wanted, "tcp, {count}");
        for port in simulated {
            let ended = ports([port, &count.to_string()]).output().expect("it runs");
            assert!(ended.status.success(), "{port}: {}", String::from_utf8_lossy(&ended.stderr));
            assert_eq!(sorted(&String::from_utf8_lossy(&ended.stdout)), wanted, "{port}, {count}");
        }
    }
}
