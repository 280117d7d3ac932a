//! How much memory the control groups of this process leave: what goes beyond that is no refused allocation, but the end of a process.

use std::path::Path;

const GROUPS: &str = "/sys/fs/cgroup";

/// So many bytes may still be used; nothing where no group has a limit.
pub(crate) fn room() -> Option<u64> {
    let groups = std::fs::read_to_string("/proc/self/cgroup").ok()?;
    room_of(Path::new(GROUPS), groups.lines().find_map(|line| line.strip_prefix("0::"))?)
}

/// The same of a group and all above it.
fn room_of(root: &Path, group: &str) -> Option<u64> {
    let folder = root.join(group.trim_start_matches('/'));
    folder.ancestors().take_while(|folder| folder.starts_with(root)).filter_map(left_in).min()
}

/// What one group leaves. Copies of files give way when memory is wanted, so they are not counted.
fn left_in(folder: &Path) -> Option<u64> {
    let number = |name: &str| std::fs::read_to_string(folder.join(name)).ok()?.trim().parse::<u64>().ok();
    let (most, used) = (number("memory.max")?, number("memory.current")?);
    let stat = std::fs::read_to_string(folder.join("memory.stat")).unwrap_or_default();
    let of = |name: &str| {
        let found = stat.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<u64>().ok());
        found.unwrap_or(0)
    };
    let files = of("file ").saturating_sub(of("shmem "));
    // What does not fit may go to the swap space that the group has.
    let swap = match std::fs::read_to_string(folder.join("memory.swap.max")) {
        Ok(most) if most.trim() == "max" => free_swap(),
        _ => number("memory.swap.max").unwrap_or(0),
    };
    let swap = swap.saturating_sub(number("memory.swap.current").unwrap_or(0));
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
    fn the_narrowest_group_counts_and_copies_of_files_do_not() {
        let root = std::env::temp_dir().join(format!("parvum-room-{}", std::process::id()));
        let inner = root.join("job/step");
        fs::create_dir_all(&inner).expect("made");
        let write = |folder: &Path, most: &str, used: &str, stat: &str| {
            fs::write(folder.join("memory.max"), most).expect("written");
            fs::write(folder.join("memory.current"), used).expect("written");
            fs::write(folder.join("memory.stat"), stat).expect("written");
        };
        write(&inner, "max\n", "10\n", "");
        assert_eq!(room_of(&root, "/job/step"), None);
        write(&root.join("job"), "1000\n", "700\n", "anon 100\nfile 500\nshmem 200\n");
        assert_eq!(room_of(&root, "/job/step"), Some(600));
        write(&inner, "50\n", "80\n", "");
        assert_eq!(room_of(&root, "/job/step"), Some(0));
        fs::write(inner.join("memory.swap.max"), "30\n").expect("written");
        fs::write(inner.join("memory.swap.current"), "10\n").expect("written");
        assert_eq!(room_of(&root, "/job/step"), Some(20));
        fs::remove_dir_all(root).expect("ours");
    }
}
