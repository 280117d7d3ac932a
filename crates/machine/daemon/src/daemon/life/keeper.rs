//! The keeper: a small process that outlives a daemon which is killed.
//!
//! The kernel ends the daemon's children with it, but not what those have
//! started. The keeper holds the list of their process groups; when the pipe
//! from the daemon breaks without a goodbye, it ends those groups and removes
//! the dead daemon's socket and lock. The log stays: it may tell why.

use crate::daemon::life::directory::remove_remains;
use parvum_socket::MachineDirectory;
use rustix::process::{Pid, Signal, kill_process_group};
use std::cell::RefCell;
use std::collections::HashSet;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Duration;

/// The daemon's end.
pub(crate) struct Keeper {
    inner: RefCell<Option<(Child, ChildStdin)>>,
}

impl Keeper {
    /// Starts the keeper. A machine without one works as well, only less tidily
    /// after a kill -9.
    pub fn start(place: &MachineDirectory) -> std::io::Result<Keeper> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("daemon").arg("--keep").arg("--dir").arg(place.dir());
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn()?;
        let mut pipe = child.stdin.take().expect("it was asked for");
        // In the pipe, for the daemon may be dead before the keeper can ask.
        writeln!(pipe, "={}", std::process::id())?;
        Ok(Keeper { inner: RefCell::new(Some((child, pipe))) })
    }

    /// For when it could not be started.
    pub fn none() -> Keeper {
        Keeper { inner: RefCell::new(None) }
    }

    /// A process group began.
    pub fn add(&self, pid: u32) {
        self.say(&format!("+{pid}\n"));
    }

    /// A process group ended.
    pub fn remove(&self, pid: u32) {
        self.say(&format!("-{pid}\n"));
    }

    /// All is well: there is nothing to keep any more.
    pub fn dismiss(&self) {
        self.say("bye\n");
        if let Some((mut child, pipe)) = self.inner.borrow_mut().take() {
            drop(pipe);
            let _ = child.wait();
        }
    }

    fn say(&self, line: &str) {
        let mut inner = self.inner.borrow_mut();
        let broken = inner.as_mut().is_some_and(|(_, pipe)| pipe.write_all(line.as_bytes()).is_err());
        if broken && let Some((mut child, _)) = inner.take() {
            // Somebody killed the keeper.
            let _ = child.wait();
        }
    }
}

/// Is the keeper until the daemon ends, one way or the other.
pub fn keep(place: &MachineDirectory) {
    // A keyboard's ^C is not meant for it.
    let _ = rustix::process::setsid();
    let (mut groups, mut daemon) = (HashSet::new(), None);
    for line in BufReader::new(std::io::stdin()).lines().map_while(Result::ok) {
        let pid = line.get(1..).and_then(|digits| digits.parse::<i32>().ok());
        match (line.as_bytes().first(), pid) {
            (Some(b'='), Some(pid)) => daemon = Pid::from_raw(pid),
            (Some(b'+'), Some(pid)) => drop(groups.insert(pid)),
            (Some(b'-'), Some(pid)) => drop(groups.remove(&pid)),
            _ => return,
        }
    }
    for pid in groups.into_iter().filter_map(Pid::from_raw) {
        let _ = kill_process_group(pid, Signal::KILL);
    }
    tidy(place, daemon);
}

/// Removes what process `dead` has left. The kernel may still be closing its
/// files, its lock among them; and a new daemon may have the directory already,
/// in which case nothing is touched.
fn tidy(place: &MachineDirectory, dead: Option<Pid>) {
    let holder = || std::fs::read_to_string(place.lock()).ok()?.trim().parse().ok().and_then(Pid::from_raw);
    for _ in 0..1000 {
        if dead.is_none() || holder() != dead || remove_remains(place).is_ok() {
            return;
        }
        // Whether the kernel has let go of a dead process's lock can only be tried.
        std::thread::sleep(Duration::from_millis(2));
    }
}
