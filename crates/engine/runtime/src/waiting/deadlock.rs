//! Waits that would never end because all tasks wait to send: the actions of a task after a time without progress.

use crate::inside::Inside;
use crate::waiting::waiters::Until;
use parvum_engine::KeepOutcome;
use std::path::Path;
use std::time::Duration;

/// A send that waits for credit looks so often whether it holds up others.
pub(crate) const HELD: Duration = Duration::from_millis(20);
/// The time without progress after which a send without memory fails.
const FULL: Duration = Duration::from_secs(5);
/// The time without progress after which another wait lends credit.
const STILL: Duration = Duration::from_millis(400);

impl Inside {
    /// This wait has been without progress for `still`. Keeps the data to send, or lets peers send more, if this task
    /// blocks them.
    pub(crate) fn break_circle(&mut self, until: &Until, still: Duration) {
        if let Until::Over(request) = *until
            && self.engine.is_held_up(request)
        {
            let limit = self.memory();
            if self.engine.keep(request, limit) == KeepOutcome::Full && still >= FULL {
                self.engine.refuse(request);
            }
        } else if still >= STILL {
            let limit = self.memory();
            self.engine.lend_credit(limit);
        }
    }

    /// How many bytes may be kept for peers beyond the credit: `PARVUM_MEMORY`, or a quarter of what there is.
    fn memory(&mut self) -> u64 {
        *self.services.memory.get_or_insert_with(|| available() / 4)
    }
}

/// The memory of this host, or of the control group that this process is in.
fn available() -> u64 {
    let host = std::fs::read_to_string("/proc/meminfo").ok();
    let total = host.as_deref().and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
        Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? << 10)
    });
    let groups = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    total.into_iter().chain(limits(Path::new("/sys/fs/cgroup"), &groups)).min().unwrap_or(1 << 30)
}

/// The limits of a process's control group and of those around it.
fn limits(root: &Path, groups: &str) -> Vec<u64> {
    let Some(own) = groups.lines().find_map(|line| line.strip_prefix("0::/")) else { return Vec::new() };
    let inner = root.join(own);
    let all = inner.ancestors().take_while(|group| group.starts_with(root));
    let limit = |group: &Path| std::fs::read_to_string(group.join("memory.max")).ok()?.trim().parse().ok();
    all.filter_map(limit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_limit_is_the_smallest_of_parent_groups() {
        let root = std::env::temp_dir().join(format!("parvum-circles-{}", std::process::id()));
        let inner = root.join("a/b");
        std::fs::create_dir_all(&inner).expect("a directory");
        std::fs::write(root.join("a/memory.max"), "4096\n").expect("a file");
        std::fs::write(inner.join("memory.max"), "max\n").expect("a file");
        assert_eq!(limits(&root, "1:name=x:/y\n0::/a/b\n"), [4096], "`max` is none");
        assert_eq!(limits(&root, "0::/\n"), []);
        std::fs::remove_dir_all(root).expect("it is ours");
    }

    #[test]
    fn available_memory_of_host_exceeds_one_mib() {
        assert!(available() > 1 << 20);
    }
}
