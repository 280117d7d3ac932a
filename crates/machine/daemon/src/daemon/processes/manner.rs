//! What a process has of whoever runs its job: limits, umask, nice, and the processors that it may use.

use crate::daemon::processes::exec::{Manner, own_hard_limit};
use crate::shown::shown;
use parvum_wire::Tid;
use parvum_wire::control::{Bind, ErrorKind, Failure, Limit, SpawnRequest};
use rustix::process::geteuid;
use std::collections::{BTreeMap, BTreeSet};

/// Where the system says how processors are built.
const SYSTEM: &str = "/sys/devices/system/cpu";

/// What the process of task `tid` gets; refused where it is to have a processor that this host has not.
pub(crate) fn manner(tid: Tid, plan: &SpawnRequest) -> Result<Manner, Failure> {
    let mut manner = Manner::default();
    if let Some(inherited) = &plan.details.inherited {
        manner.limits = inherited.limits.iter().map(limit).collect();
        manner.umask = Some(inherited.umask & 0o777);
        manner.nice = Some(inherited.nice);
        // Numbers of processors mean something on their own host alone.
        if inherited.host == tid.daemon() {
            manner.cpus = inherited.cpus.iter().copied().filter(|cpu| *cpu < MOST).collect();
        }
    }
    if let Some(bind) = &plan.details.bind {
        let turn = local_rank(plan);
        let allowed = allowed(&manner.cpus);
        manner.cpus = match bind {
            Bind::Core => of_turn(turn, &cores(&allowed)),
            Bind::Socket => of_turn(turn, &sockets(&allowed, package_of)),
            Bind::Processors(list) => {
                let processors: Vec<_> = list.iter().map(|cpu| vec![*cpu]).collect();
                let own = of_turn(turn, &processors);
                // Those of the daemon may be given as well as those of whoever runs the job.
                let usable: BTreeSet<u32> = allowed.union(&self::allowed(&[])).copied().collect();
                if let Some(missing) = own.iter().find(|cpu| !usable.contains(cpu)) {
                    let name = rustix::system::uname();
                    let host = shown(name.nodename().to_bytes());
                    let detail = format!(
                        "--cpu-list {missing}: host {host} has CPUs {}; help: choose among those",
                        ranges(&usable)
                    );
                    return Err(Failure::new(ErrorKind::BadParameter, detail));
                }
                own
            }
        };
    }
    Ok(manner)
}

/// No host has a processor of a higher number.
const MOST: u32 = 1 << 16;

/// Which of the request's tasks on this host it is.
fn local_rank(plan: &SpawnRequest) -> usize {
    let told = plan.env_add.iter().rev().find_map(|variable| {
        variable
            .0
            .strip_prefix(b"PARVUM_LOCAL_RANK=")
            .map(|digits| std::str::from_utf8(digits).unwrap_or_default())
    });
    told.and_then(|digits| digits.parse().ok()).unwrap_or(0)
}

/// The processors of the task of that turn. There may be more tasks than parts of the host: then they begin anew.
fn of_turn(turn: usize, parts: &[Vec<u32>]) -> Vec<u32> {
    match parts.len() {
        0 => Vec::new(),
        count => parts[turn % count].clone(),
    }
}

/// The processors that a task may use: those that were given, or the daemon's.
fn allowed(given: &[u32]) -> BTreeSet<u32> {
    if !given.is_empty() {
        return given.iter().copied().collect();
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    list(line.unwrap_or_default()).into_iter().collect()
}

/// The cores, each with those of its processors that may be used.
fn cores(allowed: &BTreeSet<u32>) -> Vec<Vec<u32>> {
    let mut cores = Vec::new();
    let mut seen: BTreeSet<u32> = BTreeSet::new();
    for cpu in allowed {
        if seen.contains(cpu) {
            continue;
        }
        let siblings = std::fs::read_to_string(format!("{SYSTEM}/cpu{cpu}/topology/thread_siblings_list"));
        let mut core = list(&siblings.unwrap_or_default());
        core.retain(|cpu| allowed.contains(cpu));
        if core.is_empty() {
            // A container may hide how they are built.
            core.push(*cpu);
        }
        seen.extend(&core);
        cores.push(core);
    }
    cores
}

/// The sockets, each with those of its processors that may be used.
fn sockets(allowed: &BTreeSet<u32>, package_of: impl Fn(u32) -> u32) -> Vec<Vec<u32>> {
    let mut sockets: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for cpu in allowed {
        sockets.entry(package_of(*cpu)).or_default().push(*cpu);
    }
    sockets.into_values().collect()
}

/// The package that a processor is in; 0 where a container hides it.
fn package_of(cpu: u32) -> u32 {
    let told = std::fs::read_to_string(format!("{SYSTEM}/cpu{cpu}/topology/physical_package_id"));
    told.ok().and_then(|digits| digits.trim().parse().ok()).unwrap_or(0)
}

/// A list of processors as the system writes it: `0-3,8`.
fn list(text: &str) -> Vec<u32> {
    let range = |part: &str| {
        let (first, last) = part.trim().split_once('-').unwrap_or((part.trim(), part.trim()));
        Some(first.parse::<u32>().ok()?..=last.parse::<u32>().ok()?.min(MOST))
    };
    text.split(',').filter_map(range).flatten().collect()
}

/// Processors as people write them: `0-3,8`.
fn ranges(cpus: &BTreeSet<u32>) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for cpu in cpus {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == *cpu => *last = *cpu,
            _ => ranges.push((*cpu, *cpu)),
        }
    }
    let text = |(first, last): &(u32, u32)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    };
    ranges.iter().map(text).collect::<Vec<_>>().join(",")
}

/// A limit as the process wants it, and as it can be had by a daemon that may not raise its own.
fn limit(limit: &Limit) -> (libc::__rlimit_resource_t, libc::rlimit, libc::rlimit) {
    let unlimited = |value: Option<u64>| value.unwrap_or(libc::RLIM_INFINITY);
    let wanted = libc::rlimit { rlim_cur: unlimited(limit.soft), rlim_max: unlimited(limit.hard) };
    let highest = if geteuid().is_root() {
        wanted.rlim_max
    } else {
        own_hard_limit(limit.resource).min(wanted.rlim_max)
    };
    let possible = libc::rlimit { rlim_cur: wanted.rlim_cur.min(highest), rlim_max: highest };
    (limit.resource as libc::__rlimit_resource_t, wanted, possible)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_limit_has_no_bound() {
        use rustix::process::{Resource, getrlimit};
        let own = getrlimit(Resource::Nofile).maximum.unwrap_or(libc::RLIM_INFINITY);
        assert_eq!(own_hard_limit(Resource::Nofile as u32), own);
        assert_eq!(own_hard_limit(4711), libc::RLIM_INFINITY);
    }

    #[test]
    fn cpu_lists_parse_as_in_the_kernel() {
        assert_eq!(list("0-3,8\n"), [0, 1, 2, 3, 8]);
        assert_eq!(list(" 5 "), [5]);
        assert_eq!(ranges(&BTreeSet::from([0, 1, 2, 5, 7, 8])), "0-2,5,7-8");
        assert_eq!((ranges(&BTreeSet::from([3])).as_str(), ranges(&BTreeSet::new()).as_str()), ("3", ""));
        assert_eq!(list(""), Vec::<u32>::new());
    }

    #[test]
    fn turn_has_its_own_processors_and_wraps() {
        let parts = [vec![0, 2], vec![1, 3]];
        assert_eq!(of_turn(1, &parts), [1, 3]);
        assert_eq!(of_turn(2, &parts), [0, 2]);
        assert_eq!(of_turn(0, &[]), Vec::<u32>::new());
    }

    #[test]
    fn socket_lists_allowed_processors_of_its_package() {
        let allowed = BTreeSet::from([0, 1, 2, 5, 6]);
        assert_eq!(sockets(&allowed, |cpu| cpu % 2), [vec![0, 2, 6], vec![1, 5]]);
        assert_eq!(sockets(&allowed, |_| 0), [vec![0, 1, 2, 5, 6]]);
        assert_eq!(sockets(&BTreeSet::new(), |_| 0), Vec::<Vec<u32>>::new());
    }
}
