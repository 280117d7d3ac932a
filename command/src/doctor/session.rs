//! The doctor of another host, as long as it is asked.

use super::finding::Finding;
use crate::processes::has_ended;
use crate::shown::shown;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// The doctor over there.
pub struct Doctor {
    name: String,
    /// The command that has started it.
    words: String,
    reach: String,
    program: String,
    child: Child,
    lines: Receiver<Vec<u8>>,
    errors: Receiver<Vec<u8>>,
    patience: Duration,
    /// It has answered before.
    heard: bool,
}

impl Doctor {
    pub fn start(name: &str, reach: &str, program: &str, patience: Duration) -> Result<Doctor, Finding> {
        let words = format!("{reach} {program} doctor --probe");
        let mut split = words.split_whitespace();
        let mut command = Command::new(split.next().unwrap_or("ssh"));
        command.args(split).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Its own process group: all of it ends with the check.
        let mut child = command.process_group(0).spawn().map_err(|why| {
            let first = words.split_whitespace().next().unwrap_or("ssh");
            Finding::error(
                "ssh",
                format!("cannot run `{first}`: {why}"),
                "install it (`apt-get install openssh-client`), or set PARVUM_START_BY",
            )
        })?;
        let (say, lines) = channel();
        let (complain, errors) = channel();
        if let Some(output) = child.stdout.take() {
            std::thread::spawn(move || {
                // One line is no longer than what a doctor writes. A shell may greet in any encoding.
                for line in BufReader::new(output.take(1 << 20)).split(b'\n').map_while(Result::ok) {
                    let _ = say.send(line);
                }
            });
        }
        if let Some(output) = child.stderr.take() {
            std::thread::spawn(move || {
                let mut text = Vec::new();
                let _ = output.take(4096).read_to_end(&mut text);
                let _ = complain.send(text);
            });
        }
        let [name, reach, program] = [name, reach, program].map(str::to_owned);
        Ok(Doctor { name, words, reach, program, child, lines, errors, patience, heard: false })
    }

    pub fn say(&mut self, line: &Value) {
        if let Some(input) = &mut self.child.stdin {
            // If the command has ended, the next read reports it.
            let _ = writeln!(input, "{line}");
        }
    }

    /// The next line with that field. A shell may greet before.
    pub fn hear(&mut self, field: &str) -> Result<Value, Finding> {
        let until = Instant::now() + self.patience;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left) {
                Ok(line) => match serde_json::from_slice::<Value>(&line) {
                    Ok(value) if value.get(field).is_some() => {
                        self.heard = true;
                        return Ok(value);
                    }
                    _ => continue,
                },
                Err(RecvTimeoutError::Timeout) => return Err(self.silent()),
                Err(RecvTimeoutError::Disconnected) => return Err(self.ended()),
            }
        }
    }

    fn silent(&mut self) -> Finding {
        let Doctor { name, words, .. } = self;
        let text = format!("{name} gave no answer within {} s, by `{words}`", self.patience.as_secs());
        let check = if self.heard { "answer" } else { "ssh" };
        Finding::error(check, text, format!("`{} true` must end immediately, without a question", self.reach))
            .help("`--timeout 60` waits longer for a slow host")
    }

    /// Translates the last words of the command into a finding.
    fn ended(&mut self) -> Finding {
        let said = self.errors.recv_timeout(Duration::from_secs(1)).unwrap_or_default();
        let said = shown(&said);
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        let status = self.wait();
        let Doctor { name, reach, program, .. } = self;
        let code = status.and_then(|status| status.code());
        let ended = match (code, said.is_empty()) {
            (Some(code), true) => format!("exit code {code}"),
            (Some(code), false) => format!("exit code {code}: {said}"),
            (None, _) => format!("it was killed: {said}"),
        };
        let has = |words: &str| said.contains(words);
        let works = format!("`{reach} true` must work without a question");
        match code {
            _ if has("Could not resolve hostname") => Finding::error(
                "ssh",
                format!("{name}: ssh cannot resolve the name"),
                format!("`getent hosts {name}`; correct the name, or /etc/hosts"),
            ),
            _ if has("Permission denied") => Finding::error(
                "ssh",
                format!("{name} refuses this user's key ({ended})"),
                format!("`ssh-copy-id {name}`"),
            )
            .help(works),
            _ if has("Host key verification failed") => Finding::error(
                "ssh",
                format!("{name} has a host key that ssh does not know"),
                format!("`ssh {name} true` once by hand, and compare the key"),
            ),
            _ if has("Connection refused") => Finding::error(
                "ssh",
                format!("{name} refuses the connection: no sshd listens ({ended})"),
                format!("on {name} as root, `systemctl start ssh`"),
            ),
            _ if has("timed out") || has("No route to host") || has("unreachable") => Finding::error(
                "ssh",
                format!("{name} cannot be reached ({ended})"),
                format!("`ping {name}`; check network and firewall"),
            ),
            Some(127) => Finding::error(
                "release",
                format!("{name} has no `{program}` in its PATH ({ended})"),
                format!("`parvum add --push {name}` copies this release"),
            )
            .help(format!("or `--remote PATH`, the path of parvum on {name}")),
            Some(126) => Finding::error(
                "release",
                format!("{name} cannot execute `{program}` ({ended})"),
                format!("`parvum add --push {name}` copies this release"),
            ),
            Some(2) if has("--probe") || has("doctor") => Finding::error(
                "release",
                format!(
                    "{name} has an earlier release, without `parvum doctor`: hosts of two releases do not join"
                ),
                format!("`parvum add --push {name}` copies this release"),
            ),
            _ => Finding::error("ssh", format!("`{}` ended without an answer ({ended})", self.words), works),
        }
    }

    fn wait(&mut self) -> Option<ExitStatus> {
        drop(self.child.stdin.take());
        let process = pidfd_open(Pid::from_child(&self.child), PidfdFlags::empty()).ok()?;
        has_ended(&process, Instant::now() + Duration::from_secs(1));
        self.child.try_wait().ok().flatten()
    }

    pub fn end(mut self) {
        self.wait();
    }
}

impl Drop for Doctor {
    fn drop(&mut self) {
        let group = Pid::from_child(&self.child);
        // The command may have ended and left processes in its group.
        let _ = kill_process_group(group, Signal::KILL);
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
