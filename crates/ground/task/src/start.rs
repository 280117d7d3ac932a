//! Finding the daemon, and starting it when there is none.

use crate::session::SessionError;
use parvum_socket::MachineDirectory;
use parvum_wire::control::Role;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How a session begins.
#[derive(Clone, Debug)]
pub struct Options {
    /// What the connection is.
    pub role: Role,
    /// The program's name, for people.
    pub name: String,
    /// Which machine.
    pub place: MachineDirectory,
    /// Start the daemon when there is none.
    pub start: bool,
    /// Where the caller's own file lies (the shared library, the command): the
    /// `parvum` command is looked for beside it and in `../bin`.
    pub beside: Option<PathBuf>,
    /// How long everything together may take.
    pub deadline: Duration,
}

impl Options {
    /// A session of the machine that the environment names, started when need be.
    pub fn new(role: Role, name: impl Into<String>) -> Options {
        // A person asks again. Of a program that gives up much may be lost, and a daemon whose host is crowded does answer.
        let deadline = Duration::from_secs(if role == Role::Tool { 10 } else { 60 });
        Options {
            role,
            name: name.into(),
            place: MachineDirectory::from_env(),
            start: true,
            beside: None,
            deadline,
        }
    }
}

/// Where the `parvum` command is: `$PARVUM_BIN`, else near `beside` (a file or
/// directory), else in PATH.
pub fn find_command(beside: Option<&Path>) -> Result<PathBuf, SessionError> {
    if let Some(named) = std::env::var_os("PARVUM_BIN").filter(|v| !v.is_empty()).map(PathBuf::from) {
        let named = if named.is_dir() { named.join("parvum") } else { named };
        return if is_program(&named) { Ok(named) } else { Err(SessionError::NoCommand(Some(named))) };
    }
    let near = beside.into_iter().flat_map(|beside| {
        let dir = if beside.is_dir() { Some(beside) } else { beside.parent() };
        dir.into_iter().flat_map(|dir| [dir.join("parvum"), dir.join("../bin/parvum")])
    });
    let path = std::env::var_os("PATH").unwrap_or_default();
    let in_path = std::env::split_paths(&path).map(|dir| dir.join("parvum")).collect::<Vec<_>>();
    near.chain(in_path).find(|p| is_program(p)).ok_or(SessionError::NoCommand(None))
}

fn is_program(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}

/// Starts the daemon of the place and waits until it serves, or says why not.
/// Another starter's daemon is as good as one's own.
pub(crate) fn start_daemon(options: &Options, until: Instant) -> Result<(), SessionError> {
    let command = find_command(options.beside.as_deref())?;
    let system = |what: &str, error| SessionError::System(format!("{what} {}", command.display()), error);
    let mut child = Command::new(&command)
        .args(["daemon", "--launch", "--dir"])
        .arg(options.place.dir())
        // What this program was told about its messages is not for every task to come.
        .env_remove("PARVUM_ROUTE")
        .env_remove("PARVUM_FABRIC")
        .env_remove("PARVUM_CREDIT")
        .env_remove("PARVUM_MEMORY")
        .env_remove("PARVUM_SINGLE_COPY")
        .env_remove("PARVUM_TID")
        .env_remove("PARVUM_TICKET")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| system("start", error))?;
    let mut pipe = child.stdout.take().expect("it was asked for");
    let mut said = Vec::new();
    let heard = loop {
        let left = until.saturating_duration_since(Instant::now());
        let mut fds = [PollFd::new(&pipe, PollFlags::IN)];
        let limit = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() };
        match poll(&mut fds, Some(&limit)) {
            Ok(0) => break false,
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => continue,
            Err(error) => return Err(system("wait for", error.into())),
        }
        let mut chunk = [0; 1024];
        match pipe.read(&mut chunk) {
            Ok(0) => break true,
            Ok(length) => said.extend_from_slice(&chunk[..length]),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(system("hear of", error)),
        }
        if said.ends_with(b"\n") {
            break true;
        }
    };
    // The launcher ends as soon as the daemon is on its own feet. A program that
    // ignores SIGCHLD has no child to wait for, and that is fine as well.
    let _ = if heard { child.wait() } else { child.kill().and_then(|()| child.wait()) };
    let said = String::from_utf8_lossy(&said).trim().to_string();
    match said.as_str() {
        "ready" => Ok(()),
        text if text.starts_with("E-RUNNING") => Ok(()),
        _ if !heard => Err(SessionError::SlowStart(options.deadline, options.place.log())),
        "" => Err(SessionError::Start(format!(
            "E-START: {} ended without a word; help: read its log: {}",
            command.display(),
            options.place.log().display()
        ))),
        text => Err(SessionError::Start(text.to_string())),
    }
}
