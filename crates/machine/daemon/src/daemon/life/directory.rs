//! The directory of a daemon: its lock, and what a dead daemon has left in it.

use crate::daemon::life::log::Log;
use parvum_socket::{MachineDirectory, PlaceError};
use rustix::fs::{FlockOperation, flock, fstat, stat};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::time::{Duration, Instant};

/// Why the daemon did not start. The texts go to whoever started it.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The directory cannot be used.
    #[error(transparent)]
    MachineDirectory(#[from] PlaceError),
    /// Another daemon has the directory.
    #[error("E-RUNNING: another daemon runs in {0} already; help: use it, or stop it with `parvum down`")]
    Running(String),
    /// A variable makes no sense.
    #[error("{0}")]
    Option(String),
    /// It was invited to a machine, and could not join.
    #[error("{0}")]
    NotJoined(String),
    /// Something in the directory could not be made.
    #[error("E-DIR: {what} cannot be made: {error}; help: make room, or set PARVUM_DIR to another directory")]
    Make {
        /// What.
        what: String,
        /// The system's reason.
        error: io::Error,
    },
    /// The system refused something else.
    #[error("E-SYSTEM: the daemon could not {what}: {error}")]
    System {
        /// What it was about to do.
        what: &'static str,
        /// The system's reason.
        error: io::Error,
    },
}

/// A daemon whose host is out of the machine hears so; it has so long to end.
const TO_END: Duration = Duration::from_secs(3);

/// Takes the lock of the directory once the daemon that has it has ended. Its life is over; it is killed when it does not know that.
pub(crate) fn lock_in_time(place: &MachineDirectory) -> Result<File, StartError> {
    let until = Instant::now() + Duration::from_secs(10);
    let mut kills_at = Some(Instant::now() + TO_END);
    loop {
        match lock(place) {
            Err(StartError::Running(_)) if Instant::now() < until => {
                if kills_at.take_if(|at| *at <= Instant::now()).is_some() {
                    kill_other(place);
                }
                std::thread::sleep(Duration::from_millis(5));
            }
            other => return other,
        }
    }
}

/// Kills the daemon that has the directory; its keeper tidies up.
fn kill_other(place: &MachineDirectory) {
    let who = || std::fs::read_to_string(place.lock()).ok()?.trim().parse().ok().and_then(Pid::from_raw);
    let Some(pid) = who() else { return };
    let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) else { return };
    // While it has the lock its number is its own, so the handle is of this very process.
    if matches!(lock(place), Err(StartError::Running(_))) && who() == Some(pid) {
        // It may have ended by itself just now.
        let _ = pidfd_send_signal(&handle, Signal::KILL);
    }
}

/// Takes the lock of the directory.
///
/// The file is removed when a daemon ends, so the lock counts only when the file
/// locked is still the one that has the name.
pub(crate) fn lock(place: &MachineDirectory) -> Result<File, StartError> {
    let path = place.lock();
    let made = |error: io::Error| StartError::Make { what: path.display().to_string(), error };
    for _ in 0..1000 {
        let file = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(&path);
        let mut file = match file {
            // The directory went with the last daemon.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                place.prepare()?;
                continue;
            }
            other => other.map_err(made)?,
        };
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(rustix::io::Errno::WOULDBLOCK) => {
                return Err(StartError::Running(place.dir().display().to_string()));
            }
            Err(error) => return Err(made(error.into())),
        }
        let mine = fstat(&file).map_err(|e| made(e.into()))?;
        if stat(&path).is_ok_and(|s| (s.st_dev, s.st_ino) == (mine.st_dev, mine.st_ino)) {
            let _ = file.set_len(0);
            // For people only; a full disk may refuse it.
            let _ = writeln!(file, "{}", std::process::id());
            return Ok(file);
        }
    }
    Err(StartError::Running(place.dir().display().to_string()))
}

/// Removes what a daemon that was killed has left in the directory. Does nothing
/// when a daemon serves there.
pub fn sweep(place: &MachineDirectory) -> Result<(), StartError> {
    if place.dir().exists() {
        place.check()?;
        let _lock = lock(place)?;
        clean_up(place);
    }
    Ok(())
}

/// Removes socket and lock of a daemon that was killed, and keeps its log.
pub(crate) fn remove_remains(place: &MachineDirectory) -> Result<(), StartError> {
    place.check()?;
    let _lock = lock(place)?;
    for file in [place.socket(), place.machine(), place.lock()] {
        let _ = std::fs::remove_file(file);
    }
    Ok(())
}

/// Leaves the directory as it was found: gone if we made it, else with nothing of ours in it.
pub(crate) fn clean_up(place: &MachineDirectory) {
    for file in [place.socket(), place.machine(), place.log(), Log::old(&place.log()), place.lock()] {
        let _ = std::fs::remove_file(file);
    }
    place.remove_if_made();
}
