//! The threads of a process as the kernel sees them: name, state, and the place in the kernel where a thread sleeps.

use std::fs;

/// A thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    number: u32,
    name: String,
    state: String,
    /// The function of the kernel in which it sleeps.
    sleeps_in: String,
}

/// The threads of a process, in the order of their numbers. Empty if the process has ended.
pub fn threads(pid: u32) -> Vec<Thread> {
    let entries = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().filter_map(Result::ok);
    let mut threads: Vec<Thread> = entries
        .filter_map(|entry| {
            let number = entry.file_name().to_str()?.parse().ok()?;
            let text = |file: &str| fs::read_to_string(entry.path().join(file)).unwrap_or_default();
            let sleeps_in = text("wchan");
            let sleeps_in =
                if matches!(sleeps_in.trim(), "" | "0") { "-".into() } else { sleeps_in.trim().to_owned() };
            let state = state(&text("stat")).to_owned();
            Some(Thread { number, name: text("comm").trim().to_owned(), state, sleeps_in })
        })
        .collect();
    threads.sort_by_key(|thread| thread.number);
    threads
}

/// The state in the text of `/proc/PID/stat`, in a word.
fn state(stat: &str) -> &'static str {
    match stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next()) {
        Some('R') => "running",
        Some('S') => "sleeping",
        Some('D') => "waiting for a device",
        Some('T' | 't') => "stopped",
        Some('Z' | 'X') => "dead",
        Some('I') => "idle",
        _ => "unknown",
    }
}

pub fn table(threads: &[Thread]) -> Vec<Vec<String>> {
    let mut table = vec![["THREAD", "NAME", "STATE", "SLEEPS IN"].map(str::to_owned).to_vec()];
    table.extend(threads.iter().map(|thread| {
        vec![thread.number.to_string(), thread.name.clone(), thread.state.clone(), thread.sleeps_in.clone()]
    }));
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_is_read_behind_any_name() {
        for (stat, word) in [
            ("7 (a) S 1 2", "sleeping"),
            ("7 (a) b) R) R 1 2", "running"),
            ("7 (x) T 1", "stopped"),
            ("", "unknown"),
            ("7 (a)", "unknown"),
        ] {
            assert_eq!(state(stat), word, "{stat}");
        }
    }

    #[test]
    fn own_threads_are_listed() {
        let threads = threads(std::process::id());
        assert!(threads.iter().any(|thread| thread.number == std::process::id()), "{threads:?}");
        assert_eq!(table(&threads).len(), threads.len() + 1);
        assert_eq!(super::threads(u32::MAX), []);
    }
}
