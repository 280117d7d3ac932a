//! The tasks with which this task can take turns on a core: tasks in the same scheduling group of the kernel.
//!
//! The kernel first shares the processor between groups, and then inside each group. A task that yields lets only tasks
//! of its own group run. With `sched_autogroup_enabled`, a session of a terminal is a separate group. A task started by
//! hand is then in another group than tasks of the daemon. A control group with the cpu controller is a separate group
//! too.

use rustix::time::{ClockId, clock_gettime};
use std::cell::Cell;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::time::Duration;

/// How many threads this process has now; `None` if the system does not report it.
pub(crate) fn threads() -> Option<usize> {
    Some(std::fs::read_dir("/proc/self/task").ok()?.count())
}

thread_local! {
    /// How often the kernel had taken the core away from this thread when that was last asked.
    static TAKEN_AWAY: Cell<i64> = const { Cell::new(0) };
}

/// Whether the kernel has taken the core away from this thread, to let another run, since this was last asked. Yields that let others run count.
pub(crate) fn was_taken_away() -> bool {
    let times = times_taken_away();
    times > TAKEN_AWAY.replace(times)
}

fn times_taken_away() -> i64 {
    // SAFETY: a struct of numbers, for which zeroes are values; the call fills it in.
    let used = unsafe {
        let mut used: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_THREAD, &mut used);
        used
    };
    used.ru_nivcsw
}

/// The processor time of this thread.
pub(crate) fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// A number for this process's group; never zero.
pub(crate) fn group() -> u32 {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let automatic = match read("/proc/sys/kernel/sched_autogroup_enabled").trim() {
        "1" => read("/proc/self/autogroup"),
        _ => String::new(),
    };
    number(&automatic, &read("/proc/self/cgroup"))
}

fn number(automatic: &str, control: &str) -> u32 {
    // "/autogroup-25 nice 0": the nice value may change.
    let automatic = automatic.split_whitespace().next().unwrap_or_default();
    // "4:cpu,cpuacct:/path", or "0::/path" where all controllers share one tree.
    let with_cpu = |line: &&str| {
        let controllers = line.split(':').nth(1).unwrap_or_default();
        controllers.is_empty() || controllers.split(',').any(|name| name == "cpu")
    };
    let control: Vec<&str> = control.lines().filter(with_cpu).collect();
    // The same in every process of a build, which is all that is asked of it.
    let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one((automatic, control));
    hash as u32 | 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scheduling_number_differs_by_session_and_control_group() {
        let here = number("/autogroup-7 nice 0\n", "3:memory:/a\n2:cpu,cpuacct:/x\n0::/u\n");
        assert_eq!(here, number("/autogroup-7 nice 5\n", "3:memory:/b\n2:cpu,cpuacct:/x\n0::/u\n"));
        assert_ne!(here, number("/autogroup-8 nice 0\n", "3:memory:/a\n2:cpu,cpuacct:/x\n0::/u\n"));
        assert_ne!(here, number("/autogroup-7 nice 0\n", "3:memory:/a\n2:cpu,cpuacct:/y\n0::/u\n"));
        assert_ne!(here, number("/autogroup-7 nice 0\n", "3:memory:/a\n2:cpu,cpuacct:/x\n0::/v\n"));
    }

    #[test]
    fn scheduling_group_of_process_is_stable() {
        assert_ne!(group(), 0);
        assert_eq!(group(), group());
    }
}
