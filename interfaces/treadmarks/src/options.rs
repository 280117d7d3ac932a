//! The user's options from the environment; they are the same for all nodes.

use crate::errors::Trouble;
use crate::limits::{BARRIERS, LOCKS, NODES, VIEWS};
use parvum_consistency::{Homes, Setup, Start};
use std::path::PathBuf;

/// The number of requests in a row after which requests for a page are a habit.
const HABIT: u32 = 2;

/// The most further pages that come with a page, and the most bytes of these pages.
const FURTHER: u32 = 31;
const FURTHER_BYTES: u64 = 128 << 10;

/// Whether the system gives huge pages to shared memory.
const SHMEM_ENABLED: &str = "/sys/kernel/mm/transparent_hugepage/shmem_enabled";

/// Whether this processor can step by one instruction, so that races can be found.
const STEPS: bool = cfg!(target_arch = "x86_64");

/// How memory is shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    /// The same memory on one host, else lazily.
    Auto,
    /// As TreadMarks was in 1994: node 0 has all pages first, and diffs are sent one by one.
    Classic,
    /// All processes begin with zeros, and several changes are sent as one.
    Lazy,
    /// Every page has a home.
    Home,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) protocol: Protocol,
    pub(crate) heap: u64,
    pub(crate) page: u64,
    pub(crate) records: u64,
    /// Pages that a node requests again and again are pushed.
    pub(crate) push: bool,
    /// A walk through memory gets several pages with one request.
    pub(crate) ahead: bool,
    /// The output for races, if the race detector is on.
    pub(crate) races: Option<LogTarget>,
    /// Every process keeps another's memory as well.
    pub(crate) replicas: bool,
    /// The maximum number of tasks of a host in one node of the protocol. `None`: all tasks of one host, if the user
    /// has not set it.
    pub(crate) group: Option<usize>,
    /// Whether pages are closed by userfaultfd(2), where each process has its own; `None`: where the kernel can.
    pub(crate) userfault: Option<bool>,
    /// Huge pages for the heap that all map; `true` only where the system gives them.
    pub(crate) huge: bool,
}

/// The destination of reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LogTarget {
    Stderr,
    /// Behind what is in the file. A file that does not exist here may be on another host. The output then goes to
    /// standard error.
    File(PathBuf),
    /// In the machine's mailbox, under that name, for the command that has started the run. It may be on another host.
    Mailbox(String),
}

impl Options {
    pub(crate) fn read() -> Result<Options, Trouble> {
        let replicas = match variable("TMK_REPLICAS").as_deref() {
            None | Some("" | "0") => false,
            Some("1") => true,
            Some(other) => return Err(refused("TMK_REPLICAS", other, "0 or 1")),
        };
        let protocol = match variable("TMK_PROTOCOL").as_deref() {
            None | Some("" | "auto" | "home") if replicas => Protocol::Home,
            Some(_) if replicas => {
                return Err(Trouble::NotWithReplicas("TMK_PROTOCOL but home"));
            }
            None | Some("" | "auto") => Protocol::Auto,
            Some("classic") => Protocol::Classic,
            Some("lazy") => Protocol::Lazy,
            Some("home") => Protocol::Home,
            Some(other) => return Err(refused("TMK_PROTOCOL", other, "auto, classic, lazy or home")),
        };
        let page = bytes("TMK_PAGE", 4096)?;
        if !page.is_power_of_two() || !(4096..=65536).contains(&page) {
            return Err(refused("TMK_PAGE", &page.to_string(), "4096, 8192, 16384, 32768 or 65536"));
        }
        let heap = bytes("TMK_HEAP", 16 << 30)?;
        if !(1 << 20..=8 << 40).contains(&heap) {
            return Err(refused("TMK_HEAP", &heap.to_string(), "1M to 8T"));
        }
        let heap = heap.next_multiple_of(65536);
        let push = match variable("TMK_PUSH").as_deref() {
            None | Some("" | "yes") => protocol != Protocol::Classic && !replicas,
            Some("no") => false,
            Some(other) => return Err(refused("TMK_PUSH", other, "yes or no")),
        };
        let ahead = match variable("TMK_AHEAD").as_deref() {
            None | Some("" | "yes") => protocol != Protocol::Classic,
            Some("no") => false,
            Some(other) => return Err(refused("TMK_AHEAD", other, "yes or no")),
        };
        let races = match variable("TMK_RACES").as_deref() {
            None | Some("" | "no") => None,
            Some("yes") => Some(LogTarget::Stderr),
            Some(said) if said.starts_with("mailbox:") => {
                Some(LogTarget::Mailbox(said["mailbox:".len()..].into()))
            }
            Some(path) if path.starts_with('/') => Some(LogTarget::File(path.into())),
            Some(other) => return Err(refused("TMK_RACES", other, "yes, no or the path of a file")),
        };
        if races.is_some() && !STEPS {
            return Err(Trouble::NoStepping);
        }
        if races.is_some() && replicas {
            return Err(Trouble::NotWithReplicas("TMK_RACES"));
        }
        let group = match variable("TMK_GROUP").as_deref() {
            None | Some("") if protocol == Protocol::Auto && races.is_none() => None,
            None | Some("" | "1") => Some(1),
            Some(_) if replicas => return Err(Trouble::NotWithReplicas("TMK_GROUP but 1")),
            Some(_) if races.is_some() => return Err(Trouble::NotWithRaces),
            Some("host") => Some(usize::MAX),
            Some(other) => match other.parse() {
                Ok(count) if (1..=NODES).contains(&count) => Some(count),
                _ => return Err(refused("TMK_GROUP", other, "host, or a number from 1 to 256")),
            },
        };
        let records = bytes("TMK_RECORDS", heap / 4)?;
        let userfault = match variable("TMK_FAULTS").as_deref() {
            None | Some("" | "auto") => None,
            Some("userfaultfd") => Some(true),
            Some("mprotect") => Some(false),
            Some(other) => return Err(refused("TMK_FAULTS", other, "auto, userfaultfd or mprotect")),
        };
        let huge = match variable("TMK_HUGE").as_deref() {
            None | Some("" | "no") => false,
            Some("yes") if protocol != Protocol::Auto || races.is_some() => {
                return Err(Trouble::NoHuge(
                    "each process has pages of its own; help: choose TMK_PAGE".into(),
                ));
            }
            Some("yes") => match std::fs::read_to_string(SHMEM_ENABLED) {
                Ok(said) if !said.contains("[never]") && !said.contains("[deny]") => true,
                Ok(said) => {
                    return Err(Trouble::NoHuge(format!(
                        "{SHMEM_ENABLED} says {}; help: as root, `echo advise > {SHMEM_ENABLED}`",
                        said.trim()
                    )));
                }
                Err(why) => return Err(Trouble::NoHuge(format!("{SHMEM_ENABLED}: {why}"))),
            },
            Some(other) => return Err(refused("TMK_HUGE", other, "yes or no")),
        };
        Ok(Options { replicas, protocol, heap, page, records, push, ahead, races, group, userfault, huge })
    }

    /// For comparing them with others'.
    pub(crate) fn words(&self) -> [u64; 4] {
        let more = u64::from(self.races.is_some()) << 8
            | u64::from(self.push) << 9
            | u64::from(self.replicas) << 10
            | u64::from(self.huge) << 11
            | u64::from(self.ahead) << 12;
        let more = more | self.group.map_or(0, |count| count.min(u16::MAX.into()) as u64) << 16;
        [self.protocol as u64 | more, self.heap, self.page, self.records]
    }

    pub(crate) fn setup(&self, nodes: usize) -> Setup {
        let classic = self.protocol == Protocol::Classic;
        Setup {
            nodes,
            page_bytes: self.page as usize,
            pages: (self.heap / self.page) as u32,
            locks: LOCKS,
            barriers: BARRIERS,
            views: VIEWS,
            start: if classic { Start::First } else { Start::Everybody },
            homes: if self.protocol == Protocol::Home { Homes::InTurn } else { Homes::None },
            move_homes: !self.replicas,
            fold: !classic,
            room: self.records,
            push: self.push.then_some(HABIT),
            // The detector wants to see each access.
            further: match self.ahead && self.races.is_none() {
                true => FURTHER.min((FURTHER_BYTES / self.page) as u32),
                false => 0,
            },
            races: self.races.is_some(),
            replicas: self.replicas,
        }
    }
}

/// Whether a line of statistics is wanted in the end.
pub(crate) fn wants_statistics() -> Result<bool, Trouble> {
    match variable("TMK_STATISTICS").as_deref() {
        None | Some("" | "no") => Ok(false),
        Some("yes") => Ok(true),
        Some(other) => Err(refused("TMK_STATISTICS", other, "yes or no")),
    }
}

/// The number of processes that a directly started program starts: from the environment, or after a lone `--`.
pub(crate) fn wanted_nodes(arguments: &[String]) -> Result<Option<usize>, Trouble> {
    let named = variable("TMK_NODES");
    let behind = arguments.iter().position(|word| word == "--").map(|at| &arguments[at + 1..]);
    let said = match behind {
        Some([option, count]) if option == "-n" => Some(count.clone()),
        _ => named,
    };
    let Some(said) = said else { return Ok(None) };
    match said.parse() {
        Ok(count) if (1..=NODES).contains(&count) => Ok(Some(count)),
        _ => Err(refused("TMK_NODES", &said, "a number from 1 to 256")),
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
}

/// A number of bytes, with K, M, G or T behind it or not.
fn bytes(name: &str, otherwise: u64) -> Result<u64, Trouble> {
    let Some(said) = variable(name).filter(|said| !said.is_empty()) else { return Ok(otherwise) };
    let (digits, shift) = match said.char_indices().last() {
        Some((at, 'K' | 'k')) => (&said[..at], 10),
        Some((at, 'M' | 'm')) => (&said[..at], 20),
        Some((at, 'G' | 'g')) => (&said[..at], 30),
        Some((at, 'T' | 't')) => (&said[..at], 40),
        _ => (&said[..], 0),
    };
    let number = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(1 << shift));
    number.ok_or_else(|| refused(name, &said, "a number of bytes, as 512M or 16G"))
}

fn refused(name: &str, said: &str, remedy: &str) -> Trouble {
    Trouble::BadOption(format!("{name}={said} is not valid; help: use {remedy}"))
}
