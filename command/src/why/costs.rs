//! The cost of a message by each protocol on this host: measured once, and kept in a file of the user.

use crate::doctor::ptrace_scope;
use parvum_layers::protocols::{self, Protocol};
use rustix::thread::sched_getaffinity;
use serde_json::{Value, json};
use std::env;
use std::fs;
use std::path::PathBuf;

/// Lengths of messages that are measured.
const LENGTHS: [usize; 9] =
    [64, 1 << 10, 8 << 10, 16 << 10, 32 << 10, 128 << 10, 512 << 10, 2 << 20, 8 << 20];

/// The costs of this host's protocols.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Costs {
    /// Points of each protocol: bytes, and nanoseconds for one message.
    points: Vec<(Protocol, usize, u64)>,
    /// Other tasks used the cores during the measurement.
    pub is_rough: bool,
}

/// The file of a host's costs, and the processor and release that they hold for.
struct Place {
    file: Option<PathBuf>,
    key: String,
}

impl Costs {
    /// The costs of this host from the user's file, or else measured now. `renews`: measured in any case. An error is a
    /// sentence for people.
    pub fn of_this_host(renews: bool) -> Result<Costs, String> {
        let place = Place::of_this_host();
        let is_busy = is_busy();
        if !renews && let Some(kept) = place.kept().filter(|kept| is_busy || !kept.is_rough) {
            return Ok(kept);
        }
        let cores = two_cores()?;
        // The measurement pins its threads. In a separate thread, the command itself is not pinned.
        let measured = std::thread::spawn(move || protocols::measure(cores, &LENGTHS)).join();
        let measured = measured.map_err(|_| "the measurement failed".to_owned())??;
        let may_read = may_read_other_processes();
        let points = measured.iter().filter(|cost| may_read || cost.protocol != Protocol::InPlace);
        let points = points.map(|cost| (cost.protocol, cost.bytes, cost.nanoseconds));
        let costs = Costs { points: points.collect(), is_rough: is_busy };
        place.keep(&costs);
        Ok(costs)
    }

    /// Nanoseconds for one message of that length; `None` if messages of the length do not take the protocol here.
    pub fn at(&self, protocol: Protocol, bytes: u64) -> Option<u64> {
        if !protocol.takes(bytes as usize) {
            return None;
        }
        let points: Vec<_> = self.points.iter().filter(|(of, ..)| *of == protocol).collect();
        let behind = points.iter().position(|(_, length, _)| *length as u64 >= bytes);
        let (first, second) = match (behind, points.len()) {
            (_, 0) => return None,
            (Some(0), _) | (_, 1) => return Some(points[0].2),
            (Some(at), _) => (points[at - 1], points[at]),
            // Longer than all that were measured: as much more as between the last two.
            (None, count) => (points[count - 2], points[count - 1]),
        };
        let slope = (second.2 as f64 - first.2 as f64) / (second.1 as f64 - first.1 as f64);
        let time = first.2 as f64 + slope * (bytes as f64 - first.1 as f64);
        Some(time.max(1.0) as u64)
    }

    /// The measured lengths, each with the time of every protocol that takes it.
    pub fn table(&self) -> Vec<(usize, Vec<(Protocol, u64)>)> {
        let row = |length: usize| {
            let points = self.points.iter().filter(move |(_, bytes, _)| *bytes == length);
            (length, points.map(|&(protocol, _, time)| (protocol, time)).collect())
        };
        LENGTHS.into_iter().map(row).filter(|(_, times): &(usize, Vec<_>)| !times.is_empty()).collect()
    }

    fn as_json(&self, key: &str) -> Value {
        let points = self.points.iter().map(|(protocol, bytes, nanoseconds)| {
            json!({ "protocol": protocol.name(), "bytes": bytes, "nanoseconds": nanoseconds })
        });
        json!({ "of": key, "is_rough": self.is_rough, "costs": points.collect::<Value>() })
    }

    /// `None`: the file is of another processor or release, or it is damaged.
    fn from_json(value: &Value, key: &str) -> Option<Costs> {
        if value["of"].as_str() != Some(key) {
            return None;
        }
        let point = |point: &Value| {
            let name = point["protocol"].as_str()?;
            let protocol = Protocol::ALL.into_iter().find(|protocol| protocol.name() == name)?;
            let bytes = usize::try_from(point["bytes"].as_u64()?).ok()?;
            Some((protocol, bytes, point["nanoseconds"].as_u64()?))
        };
        let points: Option<Vec<_>> = value["costs"].as_array()?.iter().map(point).collect();
        let is_rough = value["is_rough"].as_bool()?;
        points.filter(|points| !points.is_empty()).map(|points| Costs { points, is_rough })
    }
}

impl Place {
    fn of_this_host() -> Place {
        let cache = env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
        let cache = cache.or_else(|| env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache")));
        // Hosts may share a home.
        let host = rustix::system::uname().nodename().to_string_lossy().replace('/', "-");
        let file = cache.map(|cache| cache.join("parvum").join(format!("protocols-{host}.json")));
        let processor = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let model = processor.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
        let model = model.map_or("unknown processor", |(_, model)| model.trim());
        Place { file, key: format!("{model}; Parvum {}", env!("CARGO_PKG_VERSION")) }
    }

    fn kept(&self) -> Option<Costs> {
        let text = fs::read(self.file.as_ref()?).ok()?;
        Costs::from_json(&serde_json::from_slice(&text).ok()?, &self.key)
    }

    /// A file that cannot be written is measured again at the next call.
    fn keep(&self, costs: &Costs) {
        let Some(file) = &self.file else { return };
        let text = costs.as_json(&self.key).to_string();
        let new = file.with_extension(format!("{}.new", std::process::id()));
        let written = file.parent().map(fs::create_dir_all).is_some_and(|made| made.is_ok())
            && fs::write(&new, text).is_ok()
            && fs::rename(&new, file).is_ok();
        if !written {
            let _ = fs::remove_file(&new);
        }
    }
}

/// Whether other tasks have used more than half of the cores in the last minute.
fn is_busy() -> bool {
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load: f64 = load.split(' ').next().and_then(|load| load.parse().ok()).unwrap_or(0.0);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    2.0 * load > cores as f64
}

/// Whether the kernel lets a task read the memory of another task of its user. The kernel always permits the measurement, because
/// both threads belong to one process.
fn may_read_other_processes() -> bool {
    !matches!(ptrace_scope().as_deref(), Ok("2" | "3")) || rustix::process::geteuid().is_root()
}

/// Two cores that this process may run on.
fn two_cores() -> Result<[usize; 2], String> {
    let set = sched_getaffinity(None).map_err(|why| format!("cannot read the allowed cores: {why}"))?;
    let mut cores = (0..rustix::thread::CpuSet::MAX_CPU).filter(|core| set.is_set(*core));
    match (cores.next(), cores.next()) {
        (Some(first), Some(second)) => Ok([first, second]),
        _ => Err("this process may run on one core only, and two tasks need two".to_owned()),
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// Costs that a test chooses.
    pub fn costs(points: &[(Protocol, usize, u64)]) -> Costs {
        Costs { points: points.to_vec(), is_rough: false }
    }

    #[test]
    fn cost_between_two_lengths_is_interpolated() {
        let costs = costs(&[(Protocol::Lent, 32 << 10, 1000), (Protocol::Lent, 64 << 10, 3000)]);
        assert_eq!(costs.at(Protocol::Lent, 48 << 10), Some(2000));
        assert_eq!(costs.at(Protocol::Lent, 20 << 10), Some(1000), "nothing shorter was measured");
        assert_eq!(costs.at(Protocol::Lent, 128 << 10), Some(7000));
        assert_eq!(costs.at(Protocol::Lent, 8 << 10), None, "short messages are eager");
        assert_eq!(costs.at(Protocol::InPlace, 48 << 10), None, "the kernel refused it");
    }

    #[test]
    fn file_of_another_processor_is_not_used() {
        let costs = costs(&[(Protocol::Eager, 64, 200), (Protocol::InPlace, 8 << 20, 9)]);
        let text = costs.as_json("one");
        assert_eq!(Costs::from_json(&text, "one"), Some(costs.clone()));
        let rough = Costs { is_rough: true, ..costs };
        assert_eq!(Costs::from_json(&rough.as_json("one"), "one"), Some(rough));
        assert_eq!(Costs::from_json(&text, "other"), None);
        for damaged in
            ["{}", "{\"of\":\"one\",\"costs\":[]}", "{\"of\":\"one\",\"costs\":[{\"protocol\":\"x\"}]}"]
        {
            let value = serde_json::from_str(damaged).expect("JSON");
            assert_eq!(Costs::from_json(&value, "one"), None, "{damaged}");
        }
    }
}
