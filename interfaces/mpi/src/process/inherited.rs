//! What processes that are spawned take over from the one that spawns them, as children of its own would.

use parvum_wire::Tid;
use parvum_wire::control::{Inherited, Limit};

/// The limits that a process hands on.
const LIMITS: std::ops::Range<u32> = 0..16;

/// What this process hands on, which is a task of that host. Which processors they get is not its business: ranks are bound one by one.
pub(crate) fn inherited(host: Tid) -> Inherited {
    let limit = |resource: u32| {
        let mut both = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: a struct of two numbers, which the system fills.
        let is_known = unsafe { libc::getrlimit(resource, &mut both) } == 0;
        let number = |limit: u64| (limit != libc::RLIM_INFINITY).then_some(limit);
        is_known.then(|| Limit { resource, soft: number(both.rlim_cur), hard: number(both.rlim_max) })
    };
    // SAFETY: asks for the priority of this process, which is there.
    let nice = unsafe { libc::getpriority(libc::PRIO_PROCESS, 0) };
    Inherited { limits: LIMITS.filter_map(limit).collect(), umask: umask(), nice, cpus: Vec::new(), host }
}

/// The umask. There is a call only for setting it, which other threads would see.
fn umask() -> u32 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("Umask:"));
    line.and_then(|digits| u32::from_str_radix(digits.trim(), 8).ok()).unwrap_or(0o022)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inherited_limits_match_this_process() {
        let told = inherited(Tid(0x40000));
        let files = told.limits.iter().find(|limit| limit.resource == libc::RLIMIT_NOFILE);
        assert!(files.is_some_and(|files| files.soft.is_none_or(|soft| soft > 0)));
        assert!(told.limits.len() == 16 && told.umask <= 0o777 && told.cpus.is_empty());
    }
}
