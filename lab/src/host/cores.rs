//! Which cores the tasks are pinned to: distinct physical cores that we may use, lowest first.

use std::fs;

/// Parses the kernel's list notation, such as `0-3,8`.
pub fn parse_list(text: &str) -> Vec<u32> {
    let mut cores = Vec::new();
    for part in text.trim().split(',').filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        if let (Ok(first), Ok(last)) = (first.trim().parse::<u32>(), last.trim().parse::<u32>()) {
            cores.extend(first..=last.min(first + 4096));
        }
    }
    cores
}

/// The cores this process may use.
pub fn allowed() -> Vec<u32> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap_or("0");
    let cores = parse_list(list);
    if cores.is_empty() { vec![0] } else { cores }
}

/// How many cores are online.
pub fn online() -> usize {
    parse_list(&fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or_default())
        .len()
        .max(allowed().len())
}

/// Up to `most` cores that do not share their execution units.
pub fn physical(most: usize) -> Vec<u32> {
    let mut taken: Vec<u32> = Vec::new();
    let mut cores = Vec::new();
    for core in allowed() {
        if taken.contains(&core) || cores.len() == most {
            continue;
        }
        let path = format!("/sys/devices/system/cpu/cpu{core}/topology/thread_siblings_list");
        taken.extend(fs::read_to_string(path).map(|list| parse_list(&list)).unwrap_or_default());
        cores.push(core);
    }
    cores
}

/// Says that all hosts share so many processors, for they are one in truth: `./x hosts` sets it.
const OF_ALL_HOSTS: &str = "PARVUM_LAB_PROCESSORS";

/// How many processors all hosts share, if they are known to be of one machine.
pub fn of_all_hosts() -> Option<usize> {
    std::env::var(OF_ALL_HOSTS).ok().and_then(|number| number.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_lists_are_parsed() {
        assert_eq!(parse_list("0-2,8\n"), [0, 1, 2, 8]);
        assert_eq!(parse_list(""), Vec::<u32>::new());
        assert_eq!(parse_list("x-,3"), [3]);
    }

    #[test]
    fn physical_returns_at_least_one_core() {
        assert!(!physical(4).is_empty() && physical(4).len() <= 4);
    }
}
