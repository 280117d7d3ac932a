//! The factors that decide a measurement besides the systems themselves; recorded with it, since a number without its
//! machine is a rumour.

use crate::host::cores;
use serde::Serialize;
use std::fs;
use std::sync::OnceLock;
use std::time::{SystemTime, UNIX_EPOCH};

/// The machine, as found.
#[derive(Debug, Clone, Serialize)]
pub struct Factors {
    /// When, in UTC.
    pub date: String,
    /// Kernel name and version.
    pub kernel: String,
    /// Distribution.
    pub distribution: String,
    /// Processor.
    pub processor: String,
    /// Caches as the kernel names them.
    pub caches: String,
    /// Processors online, and how many of them we may use.
    pub cores: String,
    /// Simultaneous multithreading.
    pub smt: String,
    /// Frequency governor.
    pub governor: String,
    /// Clock source.
    pub clock: String,
    /// Memory in GiB.
    pub memory_gib: f64,
    /// Transparent huge pages.
    pub huge_pages: String,
    /// Virtual machine or container, as far as it shows.
    pub confinement: String,
    /// Who may read another process's memory.
    pub ptrace: String,
    /// Size of /dev/shm, as mounted.
    pub shm: String,
    /// Compiler of the programs.
    pub compiler: String,
    /// Load average.
    pub load: String,
    /// Cores the ring's tasks were pinned to.
    pub pinning: String,
    /// The network between hosts, where it is an emulated one: its name, a colon, what it is like.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub network: String,
}

/// The load before the first of a command's sessions: those that follow begin beside what they left of it.
static BEFORE: OnceLock<String> = OnceLock::new();

/// Says what network joins the hosts: `./x hosts --network` sets it.
const NETWORK: &str = "PARVUM_LAB_NETWORK";

impl Factors {
    /// Looks at the machine.
    pub fn record() -> Self {
        let read =
            |path: &str| fs::read_to_string(path).map(|text| text.trim().to_owned()).unwrap_or_default();
        let or = |text: String, other: &str| if text.is_empty() { other.to_owned() } else { text };
        let field = |path: &str, name: &str| {
            read(path)
                .lines()
                .find_map(|line| line.split_once(':').filter(|(key, _)| key.trim() == name))
                .map(|(_, value)| value.trim().to_owned())
                .unwrap_or_default()
        };
        let memory = field("/proc/meminfo", "MemTotal");
        let kib: f64 = memory.split_whitespace().next().and_then(|n| n.parse().ok()).unwrap_or(0.0);
        let distribution = read("/etc/os-release")
            .lines()
            .find_map(|line| line.strip_prefix("PRETTY_NAME="))
            .map(|name| name.trim_matches('"').to_owned())
            .unwrap_or_default();
        Factors {
            date: date_and_time(),
            kernel: format!("{} {}", read("/proc/sys/kernel/ostype"), read("/proc/sys/kernel/osrelease")),
            distribution,
            processor: or(field("/proc/cpuinfo", "model name"), "not reported"),
            caches: caches(),
            cores: counted_cores(cores::online(), cores::allowed().len()),
            smt: match read("/sys/devices/system/cpu/smt/active").as_str() {
                "1" => "on".into(),
                "0" => "off".into(),
                _ => "not reported".into(),
            },
            governor: or(read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"), "not visible"),
            clock: or(
                read("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
                "not reported",
            ),
            memory_gib: (kib / 1024.0 / 1024.0 * 10.0).round() / 10.0,
            huge_pages: chosen(&read("/sys/kernel/mm/transparent_hugepage/enabled")),
            confinement: confinement(&read("/proc/cpuinfo"), &read("/proc/1/cgroup")),
            ptrace: match read("/proc/sys/kernel/yama/ptrace_scope").as_str() {
                "" => "no Yama".into(),
                scope => format!("yama ptrace_scope {scope}"),
            },
            shm: shm_mount(&read("/proc/mounts")),
            compiler: compiler(),
            load: BEFORE.get_or_init(load).clone(),
            pinning: cores::physical(4).iter().map(u32::to_string).collect::<Vec<_>>().join(","),
            network: String::new(),
        }
    }

    /// The network that joins the hosts, where it is known.
    pub fn note_network(&mut self) {
        self.network = std::env::var(NETWORK).unwrap_or_default();
    }

    /// Name and value of each, for the report.
    pub fn rows(&self) -> Vec<(&'static str, String)> {
        let mut rows = vec![
            ("date (UTC)", self.date.clone()),
            ("processor", self.processor.clone()),
            ("caches", self.caches.clone()),
            ("cores", self.cores.clone()),
            ("cores pinned to", self.pinning.clone()),
            ("SMT", self.smt.clone()),
            ("frequency governor", self.governor.clone()),
            ("clock source", self.clock.clone()),
            ("memory", format!("{} GiB", self.memory_gib)),
            ("transparent huge pages", self.huge_pages.clone()),
            ("/dev/shm", self.shm.clone()),
            ("kernel", self.kernel.clone()),
            ("distribution", self.distribution.clone()),
            ("confinement", self.confinement.clone()),
            ("single-copy permission", self.ptrace.clone()),
            ("compiler", self.compiler.clone()),
            ("load before the run", self.load.clone()),
        ];
        if !self.network.is_empty() {
            rows.push(("network between the hosts, emulated", self.network.clone()));
        }
        rows
    }
}

/// How many processors are online, and how many of them this process may use.
fn counted_cores(online: usize, allowed: usize) -> String {
    let noun = if online == 1 { "processor" } else { "processors" };
    if allowed == online {
        format!("{online} {noun}")
    } else {
        format!("{online} {noun}, {allowed} of them to be used")
    }
}

/// The load average now.
pub fn load() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().take(3).collect::<Vec<_>>().join(" ")
}

/// The word in brackets of the kernel's choice files.
fn chosen(text: &str) -> String {
    match (text.find('['), text.find(']')) {
        (Some(open), Some(close)) if open < close => text[open + 1..close].to_owned(),
        _ => "not reported".to_owned(),
    }
}

fn caches() -> String {
    let mut found = Vec::new();
    for index in 0..5 {
        let folder = format!("/sys/devices/system/cpu/cpu0/cache/index{index}");
        let read =
            |name: &str| fs::read_to_string(format!("{folder}/{name}")).unwrap_or_default().trim().to_owned();
        let (level, kind, size) = (read("level"), read("type"), read("size"));
        if !size.is_empty() && kind != "Instruction" {
            found.push(format!("L{level} {size}"));
        }
    }
    if found.is_empty() { "not visible".into() } else { found.join(", ") }
}

fn confinement(cpuinfo: &str, cgroup: &str) -> String {
    let mut found = Vec::new();
    if cpuinfo.lines().any(|line| line.starts_with("flags") && line.contains(" hypervisor")) {
        found.push("virtual machine");
    }
    let container = ["docker", "kubepods", "lxc", "containerd"].iter().any(|word| cgroup.contains(word));
    if container || fs::metadata("/.dockerenv").is_ok() {
        found.push("container");
    }
    if found.is_empty() { "none seen".into() } else { found.join(", ") }
}

fn shm_mount(mounts: &str) -> String {
    mounts
        .lines()
        .find(|line| line.split_whitespace().nth(1) == Some("/dev/shm"))
        .and_then(|line| line.split_whitespace().nth(3))
        .map_or_else(
            || "not mounted".into(),
            |options| {
                let size = options.split(',').find(|o| o.starts_with("size="));
                size.map_or_else(|| "mounted, no size limit stated".into(), str::to_owned)
            },
        )
}

fn compiler() -> String {
    let name = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    let output = std::process::Command::new(name).arg("--version").output();
    output
        .ok()
        .and_then(|o| String::from_utf8_lossy(&o.stdout).lines().next().map(str::to_owned))
        .unwrap_or_else(|| "not reported".into())
}

/// Now, as `2026-11-21 21:43:08`.
pub fn date_and_time() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    let (year, month, day) = civil(seconds / 86400);
    let (h, m, s) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02} {h:02}:{m:02}:{s:02}")
}

/// Days since 1970 as a date: count from 1 March of year 0, where leap days fall last.
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (year_of_era + era * 400 + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_computed_from_days() {
        assert_eq!(civil(0), (1970, 1, 1));
        assert_eq!(civil(19_782), (2024, 2, 29));
        assert_eq!(civil(20_778), (2026, 11, 21));
    }

    #[test]
    fn kernel_choice_is_parsed_from_brackets() {
        assert_eq!(chosen("always [madvise] never"), "madvise");
        assert_eq!(chosen(""), "not reported");
    }

    #[test]
    fn factors_all_have_a_value() {
        assert!(Factors::record().rows().iter().all(|(_, value)| !value.is_empty()));
    }
}
