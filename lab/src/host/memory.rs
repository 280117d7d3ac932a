//! How much memory a daemon took while a launch ran, as the kernel counts it.

use std::fs;

/// Begins to watch a process's largest size; gives what it has now, in KiB. Nothing where the kernel does not let us.
pub fn begin(pid: u32) -> Option<u64> {
    // 5 sets the largest size to the present one.
    fs::write(format!("/proc/{pid}/clear_refs"), "5").ok()?;
    field(pid, "VmRSS:")
}

/// By how many KiB its largest size since then is above what it had.
pub fn grown(pid: u32, before: u64) -> Option<u64> {
    Some(field(pid, "VmHWM:")?.saturating_sub(before))
}

fn field(pid: u32, name: &str) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix(name))?.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_of_living_process_is_measured() {
        let pid = std::process::id();
        let Some(before) = begin(pid) else { return assert!(field(pid, "VmRSS:").is_some()) };
        // An optimizer sees that nobody reads it, and takes none.
        let taken = std::hint::black_box(vec![1u8; 64 << 20]);
        let grown = grown(pid, before).expect("it is still there");
        assert!(grown > 32 << 10 && taken[taken.len() - 1] == 1, "{grown}");
        assert_eq!(begin(0), None);
    }
}
