//! Processes that a run leaves behind. A program may start others that survive their launcher; a comparison leaves none.

use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, Instant};

/// The variable by which the processes of a run are known.
const VARIABLE: &str = "PARVUM_COMPARE";
/// A process that is about to end anyway gets so long.
const GRACE: Duration = Duration::from_secs(1);

/// Finds the processes of one comparison.
#[derive(Debug, Clone)]
pub struct Left {
    value: String,
}

impl Left {
    /// For this process's runs; the word, which no other process has, tells them from those of other comparisons.
    pub fn new(word: &str) -> Left {
        Left { value: format!("{}-{word}", std::process::id()) }
    }

    /// The mark in the environment of each process of a run.
    pub fn variable(&self) -> (String, std::ffi::OsString) {
        (VARIABLE.to_owned(), self.value.clone().into())
    }

    /// Ends the processes that are left of a run; their names, each with its number of processes.
    pub fn end(&self) -> Option<String> {
        let until = Instant::now() + GRACE;
        let mut pause = Duration::from_millis(5);
        let left = loop {
            let left = self.processes();
            if left.is_empty() {
                return None;
            }
            if Instant::now() >= until {
                break left;
            }
            // A launcher ends a moment before its last helper, and nobody tells of that end.
            std::thread::sleep(pause);
            pause *= 2;
        };
        let mut names: BTreeMap<String, usize> = BTreeMap::new();
        for (pid, name) in left {
            // A process that has ended since needs no signal.
            let _ = kill_process(pid, Signal::KILL);
            *names.entry(name).or_default() += 1;
        }
        let words = names.into_iter().map(|(name, count)| match count {
            1 => name,
            count => format!("{name} ({count} processes)"),
        });
        Some(words.collect::<Vec<_>>().join(", "))
    }

    /// Living processes with the variable.
    fn processes(&self) -> Vec<(Pid, String)> {
        let wanted = format!("{VARIABLE}={}", self.value);
        let all = fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok().and_then(Pid::from_raw));
        pids.filter(|pid| {
            let environment = fs::read(format!("/proc/{}/environ", pid.as_raw_nonzero()));
            environment.is_ok_and(|text| text.split(|byte| *byte == 0).any(|one| one == wanted.as_bytes()))
        })
        .map(|pid| {
            let name = fs::read_to_string(format!("/proc/{}/comm", pid.as_raw_nonzero()));
            (pid, name.unwrap_or_default().trim().to_owned())
        })
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn processes_of_a_run_end_and_are_named() {
        let (own, other) = (Left::new("own"), Left::new("other"));
        let mut children: Vec<_> = [&own, &own, &other]
            .map(|left| {
                let (name, value) = left.variable();
                Command::new("sleep").arg("300").env(name, value).spawn().expect("sleep")
            })
            .into();
        let found = own.end();
        assert_eq!(found.as_deref(), Some("sleep (2 processes)"));
        let mut last = children.pop().expect("the other");
        for mut child in children {
            assert!(!child.wait().expect("our child").success(), "the signal has ended the process");
        }
        assert_eq!(own.end(), None);
        assert!(last.try_wait().expect("our child").is_none(), "a process of another comparison lives");
        last.kill().expect("our child");
        last.wait().expect("our child");
    }
}
