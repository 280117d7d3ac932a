//! The folder of a run, with Parvum's machine: `parvum-suites-PID` among the temporary files. A run that was killed leaves its own.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const PREFIX: &str = "parvum-suites-";

/// That of this run.
pub fn mine() -> PathBuf {
    std::env::temp_dir().join(format!("{PREFIX}{}", std::process::id()))
}

/// Ends the machines of runs whose process is gone, and removes their folders.
pub fn clear(parvum: &Path) {
    for room in left(&std::env::temp_dir(), &is_running) {
        println!("suites: ending the machine of a run that was killed: {}", room.display());
        let mut down = Command::new(parvum);
        down.arg("down").env("PARVUM_DIR", room.join("machine")).stdin(Stdio::null());
        // Without a machine there is nothing to end.
        let _ = down.stdout(Stdio::null()).stderr(Stdio::null()).status();
        let _ = fs::remove_dir_all(&room);
    }
}

/// The folders of this user's runs whose process is gone.
fn left(among: &Path, is_running: &dyn Fn(u32) -> bool) -> Vec<PathBuf> {
    let me = rustix::process::getuid().as_raw();
    let entries = fs::read_dir(among).into_iter().flatten().flatten();
    let is_left = |entry: &fs::DirEntry| {
        let name = entry.file_name();
        let pid = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.parse::<u32>().ok());
        let is_ours = entry.metadata().is_ok_and(|about| about.is_dir() && about.uid() == me);
        is_ours && pid.is_some_and(|pid| !is_running(pid))
    };
    entries.filter(is_left).map(|entry| entry.path()).collect()
}

/// Whether a process of that number runs suites; the number may have been given out again.
fn is_running(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name.trim() == "suites")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leftover_rooms_are_those_of_ended_runs_only() {
        let among = std::env::temp_dir().join(format!("parvum-rooms-{}", std::process::id()));
        for name in ["parvum-suites-1", "parvum-suites-2", "parvum-suites-x", "parvum-lab-1"] {
            fs::create_dir_all(among.join(name)).expect("made");
        }
        assert_eq!(left(&among, &|pid| pid == 2), [among.join("parvum-suites-1")]);
        fs::remove_dir_all(among).expect("ours");
    }

    #[test]
    fn process_id_of_other_program_is_no_run() {
        // Tests run in a program of another name.
        assert!(!is_running(std::process::id()));
    }
}
