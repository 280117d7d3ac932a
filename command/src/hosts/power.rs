//! `parvum up` and `parvum down`.

use crate::processes::has_ended;
use crate::settings::arguments::Arguments;
use crate::{options, terminal::out, tool};
use parvum_machine::StartError;
use parvum_task::{MachineDirectory, Session, SessionError};
use parvum_wire::control::{ErrorKind, Request, Role};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// How long the daemon may take to end its tasks and itself.
const DOWN: Duration = Duration::from_secs(20);

pub fn up(quiet: bool) -> Result<(), SessionError> {
    let (session, news) = match tool() {
        Ok(session) => (session, "is up already"),
        Err(SessionError::NoDaemon(_)) => (Session::open(&options(Role::Tool, true))?, "is up"),
        Err(error) => return Err(error),
    };
    let (dir, host) = (session.place().dir().display(), &session.me.host);
    if quiet { Ok(()) } else { out::line(format!("the machine {news} in {dir}, host {host}")) }
}

/// Starts the machine with what a hostfile says.
pub fn up_with(quiet: bool, file: PathBuf) -> ExitCode {
    let arguments = Arguments { hostfile: Some(file), ..Arguments::default() };
    match begin_with(quiet, &arguments) {
        Ok(remarks) => {
            remarks.iter().for_each(out::note);
            if remarks.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(lines) => {
            lines.iter().for_each(out::note);
            ExitCode::FAILURE
        }
    }
}

/// What there is to say about the file's hosts, if the machine has started; else why it has not.
fn begin_with(quiet: bool, arguments: &Arguments) -> Result<Vec<String>, Vec<String>> {
    let one = |error: SessionError| vec![error.to_string()];
    match tool() {
        Err(SessionError::NoDaemon(_)) => {}
        Err(error) => return Err(one(error)),
        Ok(_) => {
            let why = "E-RUNNING: the machine is up already and reads no hostfile; help: `parvum down` stops it first";
            return Err(vec![why.into()]);
        }
    }
    let (settings, mut remarks, others) = arguments.settings()?;
    let mut session = Session::open(&options(Role::Tool, true)).map_err(one)?;
    session.request(Request::Configure(settings)).map_err(one)?;
    let failed = crate::hosts::membership::add_all(&mut session, others).map_err(one)?;
    remarks.extend(failed.iter().map(|(_, why)| why.to_string()));
    let (dir, host) = (session.place().dir().display(), &session.me.host);
    if !quiet {
        out::line(format!("the machine is up in {dir}, host {host}")).map_err(one)?;
    }
    Ok(remarks)
}

pub fn down(quiet: bool) -> Result<(), SessionError> {
    let say = |what: String| if quiet { Ok(()) } else { out::line(what) };
    let until = Instant::now() + DOWN;
    let mut session = loop {
        let place = match tool() {
            Err(SessionError::NoDaemon(_)) => MachineDirectory::from_env(),
            // One of another release understands nothing but a signal.
            Err(error) if is_foreign(&error) => {
                let place = MachineDirectory::from_env();
                let Some(daemon) = foreign_daemon(&place) else { return Err(error) };
                if !end(&daemon, until) {
                    return Err(error);
                }
                continue;
            }
            other => break other?,
        };
        // A daemon that was killed may have left its socket and lock.
        match parvum_machine::sweep(&place) {
            Ok(()) => {
                return say(format!("no machine is up in {}", place.dir().display()));
            }
            // One that is just beginning, or just ending.
            Err(StartError::Running(_)) if Instant::now() < until => {
                // Its lock could be waited for, but one that begins keeps it: look which of the two it was.
                std::thread::sleep(Duration::from_millis(2));
            }
            Err(error) => return Err(SessionError::Start(error.to_string())),
        }
    };
    stop(&mut session)?;
    say(format!("the machine in {} is down", session.place().dir().display()))
}

/// Whether the daemon is of another release.
fn is_foreign(error: &SessionError) -> bool {
    match error {
        SessionError::Version { .. } | SessionError::Protocol(_) => true,
        SessionError::Refused(why) => matches!(why.kind, ErrorKind::Version | ErrorKind::Protocol),
        _ => false,
    }
}

/// The daemon of that place, of whatever release, if there is one.
fn foreign_daemon(place: &MachineDirectory) -> Option<OwnedFd> {
    let lock = std::fs::read_to_string(place.dir().join("daemon.lock")).ok()?;
    let pid = Pid::from_raw(lock.trim().parse().ok()?)?;
    // First the process, then its name: the number may be another's by now, but this stays the same one.
    let daemon = pidfd_open(pid, PidfdFlags::empty()).ok()?;
    let line = std::fs::read(format!("/proc/{}/cmdline", pid.as_raw_pid())).ok()?;
    let is_ours = line.split(|byte| *byte == 0).any(|word| word == place.dir().as_os_str().as_bytes());
    is_ours.then_some(daemon)
}

/// Tells it to end, as init would, and waits until it has; whether it did in time.
fn end(daemon: &OwnedFd, until: Instant) -> bool {
    match pidfd_send_signal(daemon, Signal::TERM) {
        Ok(()) => {}
        // It has ended already, or is not ours to end.
        Err(why) => return why == Errno::SRCH,
    }
    has_ended(daemon, until)
}

/// Stops the machine and waits until the daemon is gone.
pub fn stop(session: &mut Session) -> Result<(), SessionError> {
    let until = Instant::now() + DOWN;
    let daemon = daemon_of(session);
    match session.ask(Request::Halt, &[], DOWN) {
        Ok(answer) => drop(answer.reply?),
        // Somebody else stopped it first: as good.
        Err(SessionError::Lost) => return Ok(()),
        Err(error) => return Err(error),
    }
    while !session.is_lost() {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(SessionError::Deadline { waited: DOWN, daemon: session.daemon() });
        }
        session.wait_readable(Some(left))?;
        session.poll()?;
    }
    // It closes our connection before it has tidied up.
    match daemon {
        Some(daemon) if !has_ended(&daemon, until) => {
            Err(SessionError::Deadline { waited: DOWN, daemon: session.daemon() })
        }
        _ => Ok(()),
    }
}

/// The process at the other end of a session.
pub fn daemon_of(session: &Session) -> Option<OwnedFd> {
    let peer = rustix::net::sockopt::socket_peercred(session.fd()).ok()?;
    pidfd_open(peer.pid, PidfdFlags::empty()).ok()
}
