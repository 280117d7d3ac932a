//! The state of a process in a run. The files of this folder hold its calls, one topic each.

pub(crate) mod asking;
pub(crate) mod leaving;
pub(crate) mod sharing;

use crate::errors::{Trouble, name_node};
use crate::host::Host;
use crate::memory::allocator::Allocator;
use crate::memory::heap::Heap;
use crate::nodes::far::Far;
use crate::nodes::near::Near;
use crate::nodes::peers::Peers;
use crate::nodes::reduce::Reduces;
use crate::options::Protocol;
use crate::races::findings::Races;
use crate::shown::Shown;
use parvum_sync::fork;
use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock};

static RUN: OnceLock<Run> = OnceLock::new();

/// The run that this process is part of.
#[inline]
pub(crate) fn run() -> Option<&'static Run> {
    RUN.get()
}

/// The same, for a call.
#[inline]
pub(crate) fn of_call(name: &'static str) -> Result<&'static Run, Trouble> {
    match RUN.get() {
        Some(run) if !fork::is_child() => Ok(run),
        _ => Err(Trouble::Early(name)),
    }
}

pub(crate) fn begin(run: Run) -> &'static Run {
    name_node(run.peers.own);
    RUN.get_or_init(|| run)
}

/// How memory is shared.
pub(crate) enum Sharing {
    /// All map the same pages.
    Near(Near),
    /// The tasks of a host map the same pages.
    Host(Box<Host>),
    /// Each has its own.
    Far(Box<Far>),
}

impl Sharing {
    /// The number by which tools know it (`way` in `words.rs`).
    pub(crate) fn number(&self, protocol: Protocol) -> u64 {
        match (self, protocol) {
            (Sharing::Near(_), _) => 1,
            (Sharing::Host(_), _) => 5,
            // Behind those by mprotect(2) the same by userfaultfd(2).
            (Sharing::Far(far), _) => {
                let protocol = match protocol {
                    Protocol::Auto | Protocol::Lazy => 2,
                    Protocol::Classic => 3,
                    Protocol::Home => 4,
                };
                protocol + if far.has_userfault() { 4 } else { 0 }
            }
        }
    }
}

/// How processes leave; see [`leaving`].
#[derive(Default)]
pub(crate) struct Leaving {
    /// The processes that want to leave, and the processes that know that all want to leave.
    pub(crate) want: Mutex<BTreeSet<usize>>,
    pub(crate) known: Mutex<BTreeSet<usize>>,
    /// At the process with the list: it has told the others that they may leave.
    pub(crate) told: AtomicBool,
    go: AtomicBool,
    left: AtomicBool,
}

pub(crate) struct Run {
    pub(crate) peers: Peers,
    pub(crate) heap: Heap,
    pub(crate) way: Sharing,
    /// At process 0.
    pub(crate) allocator: Arc<Mutex<Allocator>>,
    pub(crate) leaving: Leaving,
    pub(crate) shown: Shown,
    /// A line is wanted in the end.
    pub(crate) tells: bool,
    /// Present if the run searches for races.
    pub(crate) races: Option<Races>,
    /// Each process also keeps the memory of another process, so the run continues when one dies.
    pub(crate) replicas: bool,
    pub(crate) reduces: Reduces,
}

impl Run {
    /// Whether a process has died, and no barrier has reported this yet.
    fn is_stranded(&self) -> bool {
        matches!(&self.way, Sharing::Far(far) if far.is_stranded(&self.peers))
    }
}
