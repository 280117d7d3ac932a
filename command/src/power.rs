//! `parvum up` and `parvum down`.

use crate::{options, tool};
use parvum_machine::StartError;
use parvum_task::{Place, Session, SessionError};
use parvum_wire::control::{ErrorKind, Request, Role};
use rustix::process::{Pid, Signal, kill_process};
use std::os::unix::ffi::OsStrExt;
use std::time::{Duration, Instant};

/// How long the daemon may take to end its tasks and itself.
const DOWN: Duration = Duration::from_secs(20);

pub fn up() -> Result<(), SessionError> {
    let (session, news) = match tool() {
        Ok(session) => (session, "is up already"),
        Err(SessionError::NoDaemon(_)) => (Session::open(&options(Role::Tool, true))?, "is up"),
        Err(error) => return Err(error),
    };
    println!("the machine {news} in {}, host {}", session.place().dir().display(), session.me.host);
    Ok(())
}

pub fn down() -> Result<(), SessionError> {
    let until = Instant::now() + DOWN;
    let mut session = loop {
        let place = match tool() {
            Err(SessionError::NoDaemon(_)) => Place::from_env(),
            // One of another release understands nothing but a signal.
            Err(error) if is_foreign(&error) => {
                let place = Place::from_env();
                if Instant::now() >= until || !terminate(&place) {
                    return Err(error);
                }
                std::thread::sleep(Duration::from_millis(20));
                continue;
            }
            other => break other?,
        };
        // A daemon that was killed may have left its socket and lock.
        match parvum_machine::sweep(&place) {
            Ok(()) => {
                println!("no machine is up in {}", place.dir().display());
                return Ok(());
            }
            // One that is just beginning, or just ending.
            Err(StartError::Running(_)) if Instant::now() < until => {
                std::thread::sleep(Duration::from_millis(2));
            }
            Err(error) => return Err(SessionError::Start(error.to_string())),
        }
    };
    stop(&mut session)?;
    println!("the machine in {} is down", session.place().dir().display());
    Ok(())
}

/// Whether the daemon is of another release.
fn is_foreign(error: &SessionError) -> bool {
    match error {
        SessionError::Version { .. } | SessionError::Protocol(_) => true,
        SessionError::Refused(why) => matches!(why.kind, ErrorKind::Version | ErrorKind::Protocol),
        _ => false,
    }
}

/// Tells the daemon of that place to end, as init would; whether there is one.
fn terminate(place: &Place) -> bool {
    let lock = std::fs::read_to_string(place.dir().join("daemon.lock")).unwrap_or_default();
    let Ok(pid) = lock.trim().parse::<i32>() else { return false };
    // The number may be another process's by now.
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let is_ours = line.split(|byte| *byte == 0).any(|word| word == place.dir().as_os_str().as_bytes());
    let Some(pid) = Pid::from_raw(pid).filter(|_| is_ours) else { return false };
    kill_process(pid, Signal::TERM).is_ok()
}

/// Stops the machine and waits until the daemon is gone.
pub fn stop(session: &mut Session) -> Result<(), SessionError> {
    let until = Instant::now() + DOWN;
    match session.ask(Request::Halt, &[], DOWN) {
        Ok(answer) => drop(answer.reply?),
        // Somebody else stopped it first: as good.
        Err(SessionError::Lost) => return Ok(()),
        Err(error) => return Err(error),
    }
    while !session.is_lost() {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(SessionError::Deadline(DOWN));
        }
        session.wait_readable(Some(left))?;
        session.poll()?;
    }
    Ok(())
}
