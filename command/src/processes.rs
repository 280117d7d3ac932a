//! Processes that the command starts, or waits for.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// Waits until a process has ended. Returns whether it ended in time.
pub fn has_ended(process: &OwnedFd, until: Instant) -> bool {
    loop {
        let left = until.saturating_duration_since(Instant::now());
        let limit = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() };
        match poll(&mut [PollFd::new(process, PollFlags::IN)], Some(&limit)) {
            Err(Errno::INTR) => {}
            ended => return ended.is_ok_and(|ended| ended > 0),
        }
    }
}

/// The file of a program, by its name, in the folders of PATH.
pub fn in_path(name: &Path) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|path| path.is_file())
}

/// Runs a command without input, and returns its outputs. A command that takes longer is killed.
pub fn output(command: &mut Command, patience: Duration) -> Result<Output, String> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().map_err(|why| why.to_string())?;
    // The number of a process may be another process's by the time of the kill, this descriptor may not.
    let process = pidfd_open(Pid::from_child(&child), PidfdFlags::empty());
    let (end, ended) = mpsc::channel();
    // Not joined: processes that the command has started may hold its pipes after the kill.
    std::thread::spawn(move || {
        let _ = end.send(child.wait_with_output());
    });
    ended.recv_timeout(patience).map_or_else(
        |_| {
            if let Ok(process) = process {
                let _ = pidfd_send_signal(process, Signal::KILL);
            }
            Err(format!("no answer within {} s", patience.as_secs()))
        },
        |done| done.map_err(|why| why.to_string()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_has_both_streams_and_the_end() {
        let done =
            output(Command::new("sh").args(["-c", "echo a; echo b >&2; exit 3"]), Duration::from_secs(60));
        let done = done.expect("it runs");
        assert_eq!(
            (&done.stdout[..], &done.stderr[..], done.status.code()),
            (&b"a\n"[..], &b"b\n"[..], Some(3))
        );
    }

    #[test]
    fn slow_command_is_killed_and_missing_one_named() {
        let why = output(Command::new("sleep").arg("1000"), Duration::ZERO).expect_err("too slow");
        assert_eq!(why, "no answer within 0 s");
        assert!(output(&mut Command::new("/no/such/command"), Duration::ZERO).is_err());
    }
}
