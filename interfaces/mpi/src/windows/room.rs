//! How much memory the control groups of this process leave: what goes beyond that is no refused allocation, but the end of a process.

use std::path::Path;

const GROUPS: &str = "/sys/fs/cgroup";

/// So many bytes may still be used; nothing where no group has a limit.
pub(crate) fn room() -> Option<u64> {
    let groups = std::fs::read_to_string("/proc/self/cgroup").ok()?;
    // The memory of a process is counted by one of the two versions, whichever the system has.
    let second = groups.lines().find_map(|line| line.strip_prefix("0::"));
    let first = groups.lines().find_map(|line| {
        let (controllers, group) = line.split_once(':')?.1.split_once(':')?;
        controllers.split(',').any(|name| name == "memory").then_some(group)
    });
    let second = second.and_then(|group| room_of(Path::new(GROUPS), group, left_in));
    let first = first.and_then(|group| room_of(&Path::new(GROUPS).join("memory"), group, left_in_first));
    second.into_iter().chain(first).min()
}

/// The same of a group and all above it. In a container the group's own folder may be missing, and is then the root.
fn room_of(root: &Path, group: &str, left: impl Fn(&Path) -> Option<u64>) -> Option<u64> {
    let folder = root.join(group.trim_start_matches('/'));
    folder.ancestors().take_while(|folder| folder.starts_with(root)).filter_map(left).min()
}

fn number(folder: &Path, name: &str) -> Option<u64> {
    std::fs::read_to_string(folder.join(name)).ok()?.trim().parse().ok()
}

/// A line of `memory.stat`.
fn statistic(folder: &Path, name: &str) -> u64 {
    let stat = std::fs::read_to_string(folder.join("memory.stat")).unwrap_or_default();
    let mut lines = stat.lines();
    lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.trim().parse().ok()).unwrap_or(0)
}

/// What one group of version 1 leaves.
fn left_in_first(folder: &Path) -> Option<u64> {
    let most = number(folder, "memory.limit_in_bytes")?;
    // No limit is a number that no machine has.
    if most >= i64::MAX as u64 - 0xffff {
        return None;
    }
    let used = number(folder, "memory.usage_in_bytes")?;
    let files = statistic(folder, "total_cache").saturating_sub(statistic(folder, "total_shmem"));
    let swap =
        number(folder, "memory.memsw.limit_in_bytes").map_or(u64::MAX, |both| both.saturating_sub(most));
    Some(most.saturating_sub(used.saturating_sub(files)).saturating_add(swap.min(free_swap())))
}

/// What one group leaves. Copies of files give way when memory is wanted, so they are not counted.
fn left_in(folder: &Path) -> Option<u64> {
    let (most, used) = (number(folder, "memory.max")?, number(folder, "memory.current")?);
    let files = statistic(folder, "file").saturating_sub(statistic(folder, "shmem"));
    // What does not fit may go to the swap space that the group has.
    let swap = match std::fs::read_to_string(folder.join("memory.swap.max")) {
        Ok(most) if most.trim() == "max" => free_swap(),
        _ => number(folder, "memory.swap.max").unwrap_or(0),
    };
    let swap = swap.saturating_sub(number(folder, "memory.swap.current").unwrap_or(0));
    Some(most.saturating_sub(used.saturating_sub(files)).saturating_add(swap))
}

/// Bytes of swap space that the system has left.
fn free_swap() -> u64 {
    let facts = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let free = facts
        .lines()
        .find_map(|line| line.strip_prefix("SwapFree:")?.split_whitespace().next()?.parse().ok());
    free.map_or(0, |kilobytes: u64| kilobytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn memory_room_uses_narrowest_group_without_page_cache() {
        let root = std::env::temp_dir().join(format!("parvum-room-{}", std::process::id()));
        let inner = root.join("job/step");
        fs::create_dir_all(&inner).expect("made");
        let write = |folder: &Path, most: &str, used: &str, stat: &str| {
            fs::write(folder.join("memory.max"), most).expect("written");
            fs::write(folder.join("memory.current"), used).expect("written");
            fs::write(folder.join("memory.stat"), stat).expect("written");
        };
        write(&inner, "max\n", "10\n", "");
        assert_eq!(room_of(&root, "/job/step", left_in), None);
        write(&root.join("job"), "1000\n", "700\n", "anon 100\nfile 500\nshmem 200\n");
        assert_eq!(room_of(&root, "/job/step", left_in), Some(600));
        write(&inner, "50\n", "80\n", "");
        assert_eq!(room_of(&root, "/job/step", left_in), Some(0));
        fs::write(inner.join("memory.swap.max"), "30\n").expect("written");
        fs::write(inner.join("memory.swap.current"), "10\n").expect("written");
        assert_eq!(room_of(&root, "/job/step", left_in), Some(20));
        fs::remove_dir_all(root).expect("ours");
    }

    #[test]
    fn memory_room_reads_cgroup_version_1() {
        let root = std::env::temp_dir().join(format!("parvum-room-first-{}", std::process::id()));
        fs::create_dir_all(root.join("job")).expect("made");
        let write = |name: &str, text: &str| fs::write(root.join("job").join(name), text).expect("written");
        write("memory.limit_in_bytes", "9223372036854771712\n");
        write("memory.usage_in_bytes", "700\n");
        assert_eq!(room_of(&root, "/job", left_in_first), None);
        write("memory.limit_in_bytes", "1000\n");
        // No swap space may be used beyond the limit.
        write("memory.memsw.limit_in_bytes", "1000\n");
        write("memory.stat", "cache 1\ntotal_cache 500\ntotal_shmem 200\n");
        assert_eq!(room_of(&root, "/job", left_in_first), Some(600));
        // In a container the folder of the group is the root.
        assert_eq!(room_of(&root.join("job"), "/elsewhere/group", left_in_first), Some(600));
        fs::remove_dir_all(root).expect("ours");
    }
}
