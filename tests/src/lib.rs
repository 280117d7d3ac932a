//! Helpers for tests with real processes.
//!
//! Every test makes a [`TestMachine`] of its own, in a directory of its own, so
//! tests run side by side. When it is dropped it stops the machine and insists
//! that nothing is left: no directory, no socket, no daemon, no task.

#![deny(unsafe_code)]

pub mod bed;
pub mod beside;
pub mod chaos;
mod fabric;
pub mod figures;
pub mod npb;
pub mod recorded;
pub mod running;
pub mod schemas;
mod skip;
pub mod stage;

pub use fabric::has_libfabric;
pub use skip::{Lack, is_left_out, is_quick, skip};

use parvum_task::{MachineDirectory, Options, Session};
use parvum_wire::Tid;
use parvum_wire::control::{Blob, Event, Output, Reply, Request, Role, SpawnRequest, TaskRow};
use std::path::{Path, PathBuf};
use std::process::{Command, Output as Finished, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// How long anything may take before a test gives up.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// The `parvum` command under test, built when need be, and the libraries with it.
pub fn parvum() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let dir = bed::profile();
        // `./x test` has just built everything, with the features that all of it has together.
        if std::env::var_os("PARVUM_BUILT").is_some_and(|built| Path::new(&built) == dir) {
            return dir.join("parvum");
        }
        let mut build = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
        // As `./x test` builds it, so that what is built is not built again: the same packages, hence the same features,
        // and without what this test's own cargo says of itself, which the build scripts of others would hear of.
        build.current_dir(stage::project()).args(["build", "--quiet", "--workspace"]);
        let own = |name: &str| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_");
        for (name, _) in std::env::vars().filter(|(name, _)| own(name)) {
            build.env_remove(name);
        }
        if dir.ends_with("release") {
            build.arg("--release");
        }
        build.arg("--target-dir").arg(dir.parent().expect("the target directory"));
        assert!(build.status().expect("cargo runs").success(), "parvum builds");
        dir.join("parvum")
    })
}

/// A machine in a directory of its own.
pub struct TestMachine {
    /// Its directory. It goes with the machine, unless the test has made it.
    pub dir: PathBuf,
}

impl TestMachine {
    /// A directory without a machine yet.
    pub fn new() -> TestMachine {
        static LAST: AtomicU32 = AtomicU32::new(0);
        let number = LAST.fetch_add(1, Ordering::Relaxed);
        let dir = std::env::temp_dir().join(format!("parvum-test-{}-{number}", std::process::id()));
        TestMachine { dir }
    }

    /// A machine that is up.
    pub fn up() -> TestMachine {
        let machine = TestMachine::new();
        let up = machine.run(&["up"]);
        assert!(up.status.success(), "{up:?}");
        machine
    }

    /// The command, with this machine in its environment.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(parvum());
        command.args(args).env("PARVUM_DIR", &self.dir).env("PARVUM_BIN", parvum());
        command.env_remove("PARVUM_TID").env_remove("PARVUM_TICKET").stdin(Stdio::null());
        command
    }

    /// Runs the command to its end.
    pub fn run(&self, args: &[&str]) -> Finished {
        self.command(args).output().expect("parvum runs")
    }

    /// How a session of this machine begins.
    pub fn options(&self, role: Role) -> Options {
        Options {
            place: MachineDirectory::at(&self.dir),
            start: false,
            beside: Some(parvum().to_path_buf()),
            ..Options::new(role, "test")
        }
    }

    /// A task of this machine, living in the test's own process.
    pub fn task(&self) -> Session {
        Session::open(&self.options(Role::Task)).expect("a task enrols")
    }

    /// The daemon's process.
    pub fn daemon_pid(&self) -> u32 {
        let text = std::fs::read_to_string(self.dir.join("daemon.lock")).expect("a daemon has its lock");
        text.trim().parse().expect("its pid")
    }

    /// The daemon's log.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.dir.join("daemon.log")).unwrap_or_default()
    }

    /// The tasks.
    pub fn tasks(&self) -> Vec<TaskRow> {
        let mut session = Session::open(&self.options(Role::Tool)).expect("the machine is up");
        match session.request(Request::Tasks { of: None, deep: false }) {
            Ok(Reply::Tasks(rows)) => rows,
            other => panic!("{other:?}"),
        }
    }
}

impl TestMachine {
    /// Waits until the daemon has seen the end of the test's own sessions: `down`
    /// ends every task, and this process is one as long as it has a session. (A
    /// process that another test has just forked may still hold the socket.)
    fn await_own_sessions(&self) {
        let me = std::process::id();
        let until = Instant::now() + PATIENCE;
        loop {
            let mut session = match Session::open(&self.options(Role::Tool)) {
                Ok(session) => session,
                Err(parvum_task::SessionError::NoDaemon(_)) => return,
                // One that the test has killed may be called as long as the kernel has not closed its socket.
                Err(parvum_task::SessionError::Lost) if Instant::now() < until => continue,
                Err(error) => panic!("a tool cannot look: {error}"),
            };
            let rows = match session.request(Request::Tasks { of: None, deep: false }) {
                Ok(Reply::Tasks(rows)) => rows,
                Err(parvum_task::SessionError::Lost) if Instant::now() < until => continue,
                other => panic!("{other:?}"),
            };
            if rows.iter().all(|row| row.pid != me) {
                return;
            }
            assert!(Instant::now() < until, "own sessions stay open: {rows:?}");
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

impl Default for TestMachine {
    fn default() -> TestMachine {
        TestMachine::new()
    }
}

impl Drop for TestMachine {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.await_own_sessions();
        }
        let pids =
            std::fs::read_to_string(self.dir.join("daemon.lock")).ok().and_then(|t| t.trim().parse().ok());
        let down = self.run(&["down"]);
        if std::thread::panicking() {
            let _ = std::fs::remove_dir_all(&self.dir);
            return;
        }
        assert!(down.status.success(), "down: {down:?}");
        assert!(!self.dir.exists(), "{} is left: {:?}", self.dir.display(), entries(&self.dir));
        if let Some(pid) = pids {
            gone(pid);
        }
        // Tasks, keeper, whatever: its environment or arguments name the directory.
        eventually("no process is left", || processes_of(&self.dir).is_empty());
    }
}

fn entries(dir: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(dir).into_iter().flatten().flatten().map(|e| e.path()).collect()
}

/// The processes that carry the directory in their environment or arguments,
/// this one and its other children apart.
pub fn processes_of(dir: &Path) -> Vec<u32> {
    let text = dir.to_str().expect("a plain path");
    let me = std::process::id();
    let pids = std::fs::read_dir("/proc").expect("/proc").flatten();
    let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(|pid| *pid != me && alive(*pid))
        .filter(|pid| {
            ["environ", "cmdline"].iter().any(|file| {
                let bytes = std::fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
                // Whole words: one directory's name may begin another's.
                bytes.split(|b| *b == 0).any(|word| {
                    let word = String::from_utf8_lossy(word);
                    word == text || word.strip_prefix("PARVUM_DIR=") == Some(text)
                })
            })
        })
        .collect()
}

/// Whether the process runs (a zombie does not).
pub fn alive(pid: u32) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
    let state = stat.rsplit(')').next().and_then(|rest| rest.trim().chars().next());
    !matches!(state, None | Some('Z' | 'X'))
}

/// Waits until the process is gone.
pub fn gone(pid: u32) {
    eventually(&format!("process {pid} ends"), || !alive(pid));
}

/// Sends SIGKILL to exactly this process.
pub fn kill_hard(pid: u32) {
    let pid = rustix::process::Pid::from_raw(pid as i32).expect("a pid");
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).expect("it runs");
}

/// Waits until `what` holds.
pub fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    eventually_so(what, || if holds() { Ok(()) } else { Err(String::new()) });
}

/// Waits until what is told has these words; else it is shown.
pub fn eventually_told(what: &str, words: &str, mut told: impl FnMut() -> String) {
    eventually_so(what, || {
        let told = told();
        if told.contains(words) { Ok(()) } else { Err(format!("; told last:\n{told}")) }
    });
}

/// Asks again and again until it is so; what it was last is said when that is not in time.
fn eventually_so(what: &str, mut ask: impl FnMut() -> Result<(), String>) {
    let until = Instant::now() + PATIENCE;
    while let Err(last) = ask() {
        assert!(Instant::now() < until, "not in time: {what}{last}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Waits for the next event that `pick` likes; others are dropped.
pub fn await_event<T>(session: &mut Session, mut pick: impl FnMut(&Event) -> Option<T>) -> T {
    let until = Instant::now() + PATIENCE;
    loop {
        session.poll().expect("the session works");
        while let Some(arrival) = session.next_event() {
            if let Some(found) = pick(&arrival.event) {
                return found;
            }
        }
        assert!(!session.is_lost(), "the daemon is gone");
        assert!(Instant::now() < until, "no such event in time");
        session.wait_readable(Some(Duration::from_secs(1))).expect("the session works");
    }
}

/// A request to start `count` shells.
pub fn shell(script: &str, count: u32) -> SpawnRequest {
    SpawnRequest {
        program: Blob::from("/bin/sh"),
        args: vec![Blob::from("-c"), Blob::from(script)],
        count,
        cwd: Some(Blob::from("/")),
        output: Output::Spawner,
        ..Default::default()
    }
}

/// Starts programs, all of which must start.
pub fn spawn(session: &mut Session, plan: SpawnRequest) -> Vec<(Tid, u32)> {
    match session.request(Request::Spawn(plan)) {
        Ok(Reply::Spawned(results)) => {
            results.into_iter().map(|r| r.map(|s| (s.tid, s.pid)).expect("it starts")).collect()
        }
        other => panic!("{other:?}"),
    }
}
