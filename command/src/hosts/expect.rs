//! `parvum up --expect N`: waits until the machine has N hosts.

use crate::look::views::host_rows;
use crate::terminal::out;
use crate::{complain, tool};
use parvum_task::{Session, SessionError};
use parvum_wire::control::HostRow;
use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// The time between two looks. Daemons tell tasks of hosts that come (`Request::Notify`), and a command is no task.
const PAUSE: Duration = Duration::from_millis(100);

pub fn wait(hosts: u32, seconds: Option<u64>, quiet: bool) -> ExitCode {
    match attempt(hosts as usize, seconds, quiet) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => complain(&why),
    }
}

fn attempt(wanted: usize, seconds: Option<u64>, quiet: bool) -> Result<(), String> {
    let text = |error: SessionError| error.to_string();
    // A time beyond the clock's is no limit.
    let until = seconds.and_then(|seconds| Instant::now().checked_add(Duration::from_secs(seconds)));
    let mut session = tool().map_err(text)?;
    let mut progress = Progress::new(quiet);
    let rows = until_there(&mut session, wanted, until, |rows| {
        progress.show(rows, wanted);
        true
    });
    progress.end();
    let rows = rows.map_err(text)?;
    if rows.len() >= wanted {
        return Ok(());
    }
    Err(format!(
        "E-EXPECT: {} of {wanted} hosts are in the machine after {} s: {}; help: `parvum invite` prints the line that another \
         host runs to join",
        rows.len(),
        seconds.unwrap_or_default(),
        names(&rows)
    ))
}

/// Waits until the machine has this number of hosts, the time is over, or `goes_on` is false. Returns the hosts.
pub fn until_there(
    session: &mut Session,
    wanted: usize,
    until: Option<Instant>,
    mut goes_on: impl FnMut(&[HostRow]) -> bool,
) -> Result<Vec<HostRow>, SessionError> {
    loop {
        let rows = host_rows(session)?;
        let is_over = until.is_some_and(|until| Instant::now() >= until);
        if !goes_on(&rows) || rows.len() >= wanted || is_over {
            return Ok(rows);
        }
        std::thread::sleep(PAUSE);
    }
}

fn names(rows: &[HostRow]) -> String {
    rows.iter().map(|row| row.name.as_str()).collect::<Vec<_>>().join(" ")
}

/// One line that changes on a terminal, else one line for each change.
struct Progress {
    quiet: bool,
    is_terminal: bool,
    last: String,
}

impl Progress {
    fn new(quiet: bool) -> Progress {
        Progress { quiet, is_terminal: std::io::stderr().is_terminal(), last: String::new() }
    }

    fn show(&mut self, rows: &[HostRow], wanted: usize) {
        let line = format!("{} of {wanted} hosts: {}", rows.len(), names(rows));
        if self.quiet || line == self.last {
            return;
        }
        if self.is_terminal {
            // A terminal that is gone shows nothing.
            let _ = write!(std::io::stderr(), "\r\x1b[K{}", crate::shown::shown(line.as_bytes()));
        } else {
            out::note(&line);
        }
        self.last = line;
    }

    fn end(&self) {
        if self.is_terminal && !self.quiet && !self.last.is_empty() {
            let _ = writeln!(std::io::stderr());
        }
    }
}
