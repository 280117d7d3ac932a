//! `parvum up --expect N`: waits until the machine has N hosts.

use crate::terminal::out;
use crate::{complain, tool};
use parvum_task::SessionError;
use parvum_wire::control::{Reply, Request};
use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// The time between two looks.
const PAUSE: Duration = Duration::from_millis(100);

pub fn wait(hosts: u32, seconds: Option<u64>, quiet: bool) -> ExitCode {
    match attempt(hosts, seconds, quiet) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => complain(&why),
    }
}

fn attempt(wanted: u32, seconds: Option<u64>, quiet: bool) -> Result<(), String> {
    let text = |error: SessionError| error.to_string();
    // A time beyond the clock's is no limit.
    let until = seconds.and_then(|seconds| Instant::now().checked_add(Duration::from_secs(seconds)));
    let mut session = tool().map_err(text)?;
    let mut progress = Progress::new(quiet);
    loop {
        let Reply::Hosts(rows) = session.request(Request::Hosts).map_err(text)? else {
            return Err("E-PROTOCOL: odd answer".into());
        };
        let names: Vec<_> = rows.iter().map(|row| row.name.as_str()).collect();
        progress.show(&names, wanted);
        if names.len() >= wanted as usize {
            progress.end();
            return Ok(());
        }
        if until.is_some_and(|until| Instant::now() >= until) {
            progress.end();
            return Err(format!(
                "E-EXPECT: {} of {wanted} hosts are in the machine after {} s: {}; help: `parvum invite` prints the \
                 line that another host runs to join",
                names.len(),
                seconds.unwrap_or_default(),
                names.join(" ")
            ));
        }
        std::thread::sleep(PAUSE);
    }
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

    fn show(&mut self, names: &[&str], wanted: u32) {
        let line = format!("{} of {wanted} hosts: {}", names.len(), names.join(" "));
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
