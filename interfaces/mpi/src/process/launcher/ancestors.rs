//! The processes above this process. A child of an MPI program has the launcher's variables as well, and is none of its ranks.

use std::fs;

/// No chain of wrappers (`sh`, `numactl`, `time`) is longer.
const MOST: u32 = 16;

/// The variables that tell a rank of a launcher from all others.
const RANK: [&str; 5] = ["PMIX_NAMESPACE", "PMIX_RANK", "SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_PROCID"];

/// Whether a process above this process is the same rank of the launcher and has loaded Parvum's engine.
pub(super) fn has_engine() -> bool {
    let own = RANK.map(|name| std::env::var(name).ok());
    let mut process = std::os::unix::process::parent_id();
    for _ in 0..MOST {
        if process <= 1 {
            return false;
        }
        // Above the first process of the rank is the launcher. The files of another user's process cannot be read.
        let Ok(environment) = fs::read(format!("/proc/{process}/environ")) else { return false };
        if RANK.map(|name| value(&environment, name)) != own {
            return false;
        }
        let Ok(maps) = fs::read(format!("/proc/{process}/maps")) else { return false };
        if has_library(&maps) {
            return true;
        }
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        process = parent(&stat).unwrap_or(0);
    }
    false
}

/// A variable in the text of `/proc/PID/environ`.
fn value(environment: &[u8], name: &str) -> Option<String> {
    let mut all = environment.split(|byte| *byte == 0);
    let found = all.find_map(|one| one.strip_prefix(name.as_bytes())?.strip_prefix(b"="));
    String::from_utf8(found?.to_vec()).ok()
}

/// Whether the list of files in the memory of a process has the engine.
fn has_library(maps: &[u8]) -> bool {
    const NAME: &[u8] = b"/libparvum.so";
    maps.windows(NAME.len()).any(|part| part == NAME)
}

/// The parent in the text of `/proc/PID/stat`.
fn parent(stat: &str) -> Option<u32> {
    let (_, rest) = stat.rsplit_once(") ")?;
    rest.split(' ').nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parent_is_read_behind_any_name() {
        assert_eq!(parent("12 (a) S 7 12 12"), Some(7));
        assert_eq!(parent("12 (a) b) (c) S 9 12"), Some(9));
        assert_eq!((parent(""), parent("12 (a)"), parent("12 (a) S x")), (None, None, None));
    }

    #[test]
    fn variable_is_found_by_its_whole_name() {
        let environment = b"A=1\0PMIX_RANK=3\0PMIX_RANKS=4\0";
        assert_eq!(value(environment, "PMIX_RANK").as_deref(), Some("3"));
        assert_eq!((value(environment, "PMIX"), value(b"", "A")), (None, None));
    }

    #[test]
    fn engine_is_found_by_its_file() {
        assert!(has_library(b"7f00-7f01 r-xp 0 08:01 5 /opt/lib/libparvum.so.0\n"));
        assert!(!has_library(b"7f00-7f01 r-xp 0 08:01 5 /opt/lib/libparvum_profile.so\n"));
    }
}
