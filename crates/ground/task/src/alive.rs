//! What the daemon is doing when it does not answer.

use std::fmt;
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

/// The daemon's process, as far as the system shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Daemon {
    pid: Option<i32>,
    is_stopped: bool,
}

impl Daemon {
    /// The process at the other end of a socket.
    pub(crate) fn behind(socket: BorrowedFd<'_>) -> Daemon {
        let pid = rustix::net::sockopt::socket_peercred(socket).ok().map(|peer| peer.pid.as_raw_pid());
        Daemon { pid, is_stopped: pid.is_some_and(is_stopped) }
    }
}

/// Whether a process is stopped, by a signal or a debugger.
fn is_stopped(pid: i32) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
    // The name in brackets may have any characters.
    let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
    matches!(state, Some('T' | 't'))
}

impl fmt::Display for Daemon {
    /// What to do about it, to stand behind "did not answer".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Daemon { pid: None, .. } => {
                write!(f, "its process is not known; help: read daemon.log in the machine's directory")
            }
            Daemon { pid: Some(pid), is_stopped: true } => write!(
                f,
                "process {pid} is stopped (state T); help: `kill -CONT {pid}` lets it go on; help: `kill -KILL {pid}` ends it and the machine"
            ),
            Daemon { pid: Some(pid), is_stopped: false } => write!(
                f,
                "process {pid} is not stopped, so the host is overloaded or the daemon hangs; help: try again; \
                 help: `kill -KILL {pid}` ends it and the machine"
            ),
        }
    }
}

/// A wait for the daemon, which ends early when the daemon is stopped: nobody knows for how long.
pub(crate) struct Patience {
    limit: Duration,
    until: Instant,
    stopped_since: Option<Instant>,
}

impl Patience {
    /// A stopped daemon is waited for so long.
    const STOPPED: Duration = Duration::from_secs(5);
    /// So often its state is looked at.
    const LOOK: Duration = Duration::from_millis(500);

    pub(crate) fn new(limit: Duration) -> Patience {
        Patience { limit, until: Instant::now() + limit, stopped_since: None }
    }

    /// How long to wait before the next call of this. The error: the daemon is not waited for any more.
    pub(crate) fn next(&mut self, socket: BorrowedFd<'_>) -> Result<Duration, (Duration, Daemon)> {
        let now = Instant::now();
        let left = self.until.saturating_duration_since(now);
        let daemon = Daemon::behind(socket);
        self.stopped_since = daemon.is_stopped.then(|| self.stopped_since.unwrap_or(now));
        let stopped = self.stopped_since.map_or(Duration::ZERO, |since| now - since);
        match left.is_zero() || stopped >= Patience::STOPPED {
            true => Err((self.limit - left, daemon)),
            false => Ok(left.min(Patience::LOOK)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixStream;

    #[test]
    fn daemon_error_names_process_and_remedy() {
        let stopped = Daemon { pid: Some(7), is_stopped: true }.to_string();
        assert!(stopped.contains("kill -CONT 7"), "{stopped}");
        let hangs = Daemon { pid: Some(7), is_stopped: false }.to_string();
        assert!(hangs.contains("process 7") && !hangs.contains("CONT"), "{hangs}");
    }

    #[test]
    fn wait_for_running_daemon_lasts_as_requested() {
        let (here, _there) = UnixStream::pair().expect("a pair");
        assert_eq!(Daemon::behind(here.as_fd()).pid, Some(std::process::id() as i32));
        assert!(Patience::new(Duration::from_secs(9)).next(here.as_fd()).is_ok());
        let (waited, daemon) = Patience::new(Duration::ZERO).next(here.as_fd()).expect_err("over");
        assert_eq!((waited, daemon.is_stopped), (Duration::ZERO, false));
    }
}
