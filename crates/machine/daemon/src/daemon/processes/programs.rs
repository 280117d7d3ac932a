//! Programs of processes that may never join the machine.

use parvum_wire::Tid;
use std::collections::HashMap;
use std::path::PathBuf;
use std::rc::Rc;
use tokio::sync::OnceCell;

/// What is known of programs, and the programs of processes that have not joined.
#[derive(Default)]
pub(crate) struct Programs {
    /// By device, number and time of change: how it has the library, if it carries PVM's.
    pub known: HashMap<(u64, u64, i64, i64), Option<&'static str>>,
    pub of_processes: HashMap<Tid, Rc<Begun>>,
}

/// A process that has begun and not joined.
pub(crate) struct Begun {
    pub program: PathBuf,
    /// Set when the program was looked at. A second look waits for the first look.
    pub looked_at: OnceCell<()>,
}
