//! What tasks take over from whoever runs their job.

use parvum_wire::Tid;
use parvum_wire::control::{Inherited, Limit};
use rustix::process::{Resource, getpriority_process, getrlimit};
use rustix::thread::{CpuSet, sched_getaffinity};

/// The limits that a process hands on to what it starts.
const LIMITS: [Resource; 16] = [
    Resource::Cpu,
    Resource::Fsize,
    Resource::Data,
    Resource::Stack,
    Resource::Core,
    Resource::Rss,
    Resource::Nproc,
    Resource::Nofile,
    Resource::Memlock,
    Resource::As,
    Resource::Locks,
    Resource::Sigpending,
    Resource::Msgqueue,
    Resource::Nice,
    Resource::Rtprio,
    Resource::Rttime,
];

/// What this process would hand on to a child of its own; `host` is the daemon of its host.
pub fn inherited(host: Tid) -> Inherited {
    let limits = LIMITS.into_iter().map(|resource| {
        let limit = getrlimit(resource);
        Limit { resource: resource as u32, soft: limit.current, hard: limit.maximum }
    });
    let set = sched_getaffinity(None).ok();
    let may_use = |cpu: &u32| set.as_ref().is_some_and(|set| set.is_set(*cpu as usize));
    Inherited {
        limits: limits.collect(),
        umask: umask(),
        nice: getpriority_process(None).unwrap_or(0),
        cpus: (0..CpuSet::MAX_CPU as u32).filter(may_use).collect(),
        host,
    }
}

/// The umask. There is a call only for setting it, which other threads would see.
fn umask() -> u32 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("Umask:"));
    line.and_then(|digits| u32::from_str_radix(digits.trim(), 8).ok()).unwrap_or(0o022)
}
