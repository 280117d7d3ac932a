//! One launch of one program: in a process group of its own, with a deadline, leaving nothing behind.

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Between being asked to end and being ended by force.
const GRACE: Duration = Duration::from_secs(3);
/// Between two looks whether the user has had enough.
const LOOK: Duration = Duration::from_millis(200);

/// What to start.
#[derive(Debug, Clone)]
pub struct Launch {
    /// The file to run.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Variables set on top of our own environment.
    pub environment: Vec<(String, OsString)>,
    /// After this long it is ended by force.
    pub deadline: Duration,
}

/// How it went.
#[derive(Debug)]
pub struct Ended {
    /// From start to end, seen from outside.
    pub elapsed: Duration,
    /// Nothing, or why the launch does not count, in one line.
    pub failure: Option<String>,
}

impl Launch {
    /// The command as a person would type it.
    pub fn line(&self) -> String {
        let mut line = self.program.display().to_string();
        for argument in &self.arguments {
            line.push(' ');
            line.push_str(&argument.to_string_lossy());
        }
        line
    }

    /// The same with one argument more.
    pub fn with(mut self, argument: OsString) -> Launch {
        self.arguments.push(argument);
        self
    }

    /// The same, started by another program.
    pub fn under(mut self, program: &Path) -> Launch {
        let inner = std::mem::replace(&mut self.program, program.to_owned());
        self.arguments.insert(0, inner.into());
        self
    }

    /// The command, ready to be started.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).envs(self.environment.iter().map(|(k, v)| (k, v)));
        command.stdin(Stdio::null()).process_group(0);
        command
    }

    /// Runs it to its end. What it prints goes to `log`, and the last lines of that explain a failure.
    pub fn run(&self, log: &Path) -> Ended {
        self.run_unless(log, &AtomicBool::new(false))
    }

    /// The same; ends it by force when the user has had enough.
    pub fn run_unless(&self, log: &Path, interrupted: &AtomicBool) -> Ended {
        let started = Instant::now();
        match self.begin(log).and_then(|running| running.end_unless(self.deadline, interrupted)) {
            Ok(status) => Ended { elapsed: started.elapsed(), failure: status.map(|why| explain(&why, log)) },
            Err(cause) => Ended {
                elapsed: started.elapsed(),
                failure: Some(format!("cannot start {}: {cause}", self.program.display())),
            },
        }
    }

    /// Starts it, with what it prints going to `log`.
    pub fn begin(&self, log: &Path) -> std::io::Result<Running> {
        let output = File::create(log)?;
        let mut command = self.command();
        command.stdout(output.try_clone()?).stderr(output);
        let mut child = command.spawn()?;
        let group = Pid::from_child(&child);
        let (tell, told) = mpsc::channel();
        let forced = Arc::new(AtomicBool::new(false));
        let is_forced = forced.clone();
        let waiter = std::thread::spawn(move || {
            // Until the leader is reaped the group's number cannot be another's.
            let _ = waitid(WaitId::Pid(group), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
            // Acquire: partner of the release in `end`.
            if is_forced.load(Ordering::Acquire) {
                // Children may ignore what ended the leader.
                let _ = kill_process_group(group, Signal::KILL);
            }
            let status = child.wait();
            // Nobody listens any more when the deadline has passed.
            let _ = tell.send(status);
        });
        Ok(Running { group, told, waiter, forced })
    }
}

/// A launch under way.
#[derive(Debug)]
pub struct Running {
    group: Pid,
    told: mpsc::Receiver<std::io::Result<ExitStatus>>,
    waiter: JoinHandle<()>,
    /// The deadline has passed: nothing of the group may live on.
    forced: Arc<AtomicBool>,
}

impl Running {
    /// Whether it has ended by itself.
    pub fn is_over(&self) -> bool {
        self.waiter.is_finished()
    }

    /// Waits for its end, and forces it when `patience` is over; `Ok(None)` for a clean one.
    pub fn end(self, patience: Duration) -> std::io::Result<Option<String>> {
        self.end_unless(patience, &AtomicBool::new(false))
    }

    /// The same; forces the end as well when the user has had enough.
    pub fn end_unless(self, patience: Duration, interrupted: &AtomicBool) -> std::io::Result<Option<String>> {
        let until = Instant::now() + patience;
        let status = loop {
            let left = until.saturating_duration_since(Instant::now());
            // Relaxed: a signal's handler sets it, and hands over nothing.
            let has_time = !left.is_zero() && !interrupted.load(Ordering::Relaxed);
            match self.told.recv_timeout(left.min(LOOK)) {
                Err(mpsc::RecvTimeoutError::Timeout) if has_time => {}
                ended => break ended,
            }
        };
        let status = match status {
            Ok(status) => status?,
            Err(_) => {
                // Release: partner of the acquire in `begin`.
                self.forced.store(true, Ordering::Release);
                // A launcher that is asked to end takes its tasks along, which may have left its group.
                let _ = kill_process_group(self.group, Signal::TERM);
                if self.told.recv_timeout(GRACE).is_err() {
                    // The group is still ours: its leader is not yet waited for.
                    let _ = kill_process_group(self.group, Signal::KILL);
                }
                let _ = self.waiter.join();
                // Relaxed: as above.
                return Ok(Some(match interrupted.load(Ordering::Relaxed) {
                    true => "interrupted".to_owned(),
                    false => format!("not finished after {} s", patience.as_secs()),
                }));
            }
        };
        let _ = self.waiter.join();
        Ok((!status.success()).then(|| status.to_string()))
    }
}

/// Adds the last few lines that the launch printed: the cause often stands before the complaint.
pub fn explain(why: &str, log: &Path) -> String {
    let mut text = Vec::new();
    if let Ok(mut file) = File::open(log) {
        let _ = file.by_ref().take(1 << 20).read_to_end(&mut text);
    }
    let text = String::from_utf8_lossy(&text);
    let telling = text.lines().map(str::trim).filter(|line| line.chars().any(char::is_alphanumeric));
    let mut last: Vec<&str> = Vec::new();
    // Every process may say the same.
    for line in telling.rev() {
        if !last.contains(&line) {
            last.push(line);
        }
        if last.len() == 3 {
            break;
        }
    }
    last.reverse();
    if last.is_empty() { why.to_owned() } else { format!("{why}: {}", last.join("; ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, deadline: u64) -> Ended {
        let log = std::env::temp_dir().join(format!(
            "parvum-lab-test-{}-{:?}",
            std::process::id(),
            std::thread::current().id()
        ));
        let launch = Launch {
            program: "/bin/sh".into(),
            arguments: vec!["-c".into(), script.into()],
            environment: vec![("PARVUM_TEST".into(), "seen".into())],
            deadline: Duration::from_secs(deadline),
        };
        let ended = launch.run(&log);
        let _ = std::fs::remove_file(log);
        ended
    }

    #[test]
    fn launch_succeeds_and_passes_environment() {
        assert_eq!(shell("test \"$PARVUM_TEST\" = seen", 20).failure, None);
    }

    #[test]
    fn failed_launch_reports_its_last_output() {
        let failure = shell("echo first; echo 'ring: verification failed' >&2; exit 3", 20).failure.unwrap();
        assert!(failure.contains("verification failed") && failure.contains('3'), "{failure}");
    }

    #[test]
    fn failure_quotes_equal_lines_once() {
        let failure =
            shell("echo cause; for i in 1 2 3 4; do echo abort >&2; done; exit 3", 20).failure.unwrap();
        assert_eq!(failure, "exit status: 3: cause; abort");
    }

    #[test]
    fn deadline_kills_whole_process_group() {
        // The child ignores what ends its leader, and says who it is.
        let file = std::env::temp_dir().join(format!("parvum-lab-child-{}", std::process::id()));
        let script = format!("(trap '' TERM; exec sleep 300) & echo $! >{}; wait", file.display());
        let failure = shell(&script, 1).failure.unwrap();
        assert!(failure.contains("not finished"), "{failure}");
        let child: i32 =
            std::fs::read_to_string(&file).expect("its number").trim().parse().expect("a number");
        let _ = std::fs::remove_file(file);
        let lives = || {
            let stat = std::fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
            stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
        };
        // Its end is under way.
        let until = Instant::now() + Duration::from_secs(20);
        while lives() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(!lives(), "a child that ignores SIGTERM lives on");
    }

    #[test]
    fn missing_program_is_named() {
        let launch = Launch {
            program: "/nonexistent/ring".into(),
            arguments: vec![],
            environment: vec![],
            deadline: Duration::from_secs(1),
        };
        let failure = launch.run(Path::new("/dev/null")).failure.unwrap();
        assert!(failure.contains("/nonexistent/ring"), "{failure}");
    }
}
