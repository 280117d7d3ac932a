//! C programs as tasks of a test's machine.

use crate::stage::{program, stage};
use crate::{PATIENCE, TestMachine, alive, eventually, kill_hard};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Options of Parvum that a test sets itself, and never takes from whoever runs it.
const OPTIONS: [&str; 7] = [
    "PARVUM_ROUTE",
    "PARVUM_CREDIT",
    "PARVUM_SINGLE_COPY",
    "PVM_EXPORT",
    "PVMCTX",
    "PARVUM_TID",
    "PARVUM_TICKET",
];

impl TestMachine {
    /// A program of `tests/programs`, to be run as a user runs it.
    pub fn program(&self, name: &str) -> Command {
        let mut command = Command::new(program(name));
        self.as_user(&mut command);
        command
    }

    /// The environment of a user of this machine.
    pub fn as_user(&self, command: &mut Command) {
        command.env("PARVUM_DIR", &self.dir).env("PARVUM_BIN", crate::parvum());
        command.env("LD_LIBRARY_PATH", &stage().lib).stdin(Stdio::null());
        for option in OPTIONS {
            command.env_remove(option);
        }
    }

    /// Runs a program, which checks itself, to its end.
    pub fn check(&self, command: &mut Command) -> String {
        Running::start(command).succeed(self)
    }
}

/// A program that runs, and what it says.
pub struct Running {
    child: Child,
    what: String,
    lines: Receiver<String>,
    errors: Option<JoinHandle<String>>,
    /// Its standard input: programs wait there for the test.
    input: Option<ChildStdin>,
    /// What it said so far.
    pub said: String,
}

impl Running {
    /// Starts it.
    pub fn start(command: &mut Command) -> Running {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap_or_else(|why| panic!("{command:?}: {why}"));
        let out = BufReader::new(child.stdout.take().expect("piped"));
        let mut err = child.stderr.take().expect("piped");
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let errors = std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = err.read_to_end(&mut bytes);
            String::from_utf8_lossy(&bytes).into_owned()
        });
        let input = child.stdin.take();
        let what = format!("{:?} {:?}", command.get_program(), command.get_args().collect::<Vec<_>>());
        Running { child, what, lines, errors: Some(errors), input, said: String::new() }
    }

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The next line that begins so; what follows the beginning.
    pub fn told(&mut self, beginning: &str) -> String {
        let until = Instant::now() + PATIENCE;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let Ok(line) = self.lines.recv_timeout(left) else {
                let over = self.child.try_wait();
                self.stop();
                let errors = self.errors.take().map(|errors| errors.join());
                panic!("{} does not say {beginning:?} but {:?}; {over:?} {errors:?}", self.what, self.said);
            };
            self.said += &line;
            self.said.push('\n');
            if let Some(rest) = line.strip_prefix(beginning) {
                return rest.trim().to_owned();
            }
        }
    }

    /// Whether it has said nothing new.
    pub fn is_silent(&mut self) -> bool {
        self.lines.try_recv().map(|line| self.said += &line).is_err()
    }

    /// Sends it a line.
    pub fn tell(&mut self, line: &str) {
        let input = self.input.as_mut().expect("its input is open");
        writeln!(input, "{line}").expect("it reads");
    }

    /// Nothing more comes on its standard input.
    pub fn close_input(&mut self) {
        self.input = None;
    }

    /// What it has said on standard error, once it has ended.
    pub fn complaints(&mut self) -> String {
        self.errors.take().and_then(|errors| errors.join().ok()).unwrap_or_default()
    }

    /// Sends it SIGKILL.
    pub fn kill(&mut self) {
        kill_hard(self.pid());
    }

    fn stop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Waits for its end.
    pub fn end(&mut self) -> ExitStatus {
        let until = Instant::now() + PATIENCE;
        loop {
            match self.child.try_wait().expect("it is our child") {
                Some(status) => return status,
                None if Instant::now() > until => {
                    self.stop();
                    let errors = self.errors.take().map(|errors| errors.join());
                    let said: Vec<String> = self.lines.try_iter().collect();
                    panic!("{} does not end: {}{said:?} {errors:?}", self.what, self.said);
                }
                None => std::thread::sleep(Duration::from_millis(1)),
            }
        }
    }

    /// Waits for its end, which must be a good one; gives what it said.
    pub fn succeed(self, machine: &TestMachine) -> String {
        self.finish(|| machine.log())
    }

    /// As [`Running::succeed`]; what else there is to know when it fails.
    pub fn finish(mut self, log: impl FnOnce() -> String) -> String {
        let status = self.end();
        // Its children have its output too: the pipes end when the last of them does.
        while let Ok(line) = self.lines.recv_timeout(PATIENCE) {
            self.said += &line;
            self.said.push('\n');
        }
        let errors = self.errors.take().map(|errors| errors.join().expect("a plain thread"));
        assert!(
            status.success(),
            "{}: {status}\n{}{}\ndaemon: {}",
            self.what,
            self.said,
            errors.unwrap_or_default(),
            log()
        );
        std::mem::take(&mut self.said)
    }

    /// What it wrote to standard error, after its end.
    pub fn errors(&mut self) -> String {
        self.end();
        self.errors.take().map(|errors| errors.join().expect("a plain thread")).unwrap_or_default()
    }

    /// A number of `/proc/PID/status`, in KiB.
    pub fn status_kib(&self, field: &str) -> u64 {
        status_kib(self.pid(), field)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if alive(self.pid()) {
            self.stop();
        }
    }
}

/// A number of `/proc/PID/status`, in KiB.
pub fn status_kib(pid: u32, field: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("it runs");
    let line = status.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
    line.and_then(|rest| rest.trim().trim_end_matches(" kB").parse().ok()).expect("a number of KiB")
}

/// Whether the process sleeps, as one that waits for a message does in the end.
pub fn asleep(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("it runs");
    stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('S'))
}

/// How often of 100 looks all of these processes sleep. Who looks again and again is hardly ever found so, however busy the machine is.
pub fn found_asleep(pids: &[u32]) -> usize {
    let looks = (0..100).filter(|_| {
        // The looks are to be at different moments.
        std::thread::sleep(Duration::from_millis(10));
        pids.iter().all(|pid| asleep(*pid))
    });
    looks.count()
}

/// Waits until only so many tasks are left.
pub fn await_tasks(machine: &TestMachine, count: usize) {
    eventually("the tasks are gone", || machine.tasks().len() == count);
}
