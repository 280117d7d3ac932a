//! Races: accesses to one word by two nodes, one of them a write, that nothing orders.
//!
//! Every node is a *witness* ([`witness`]): it notes each word that its program touches, with the place in the program
//! and the locks held. The order of accesses is separate from the intervals of the protocol, which are too coarse. An
//! interval ends when the node sends its changes, so it may contain writes after a release. Reads open no interval.
//! Here every acquire and release ends a *segment* of a node. Each lock carries the vector clock of its last release.
//! At a barrier all nodes send their accesses since the last barrier to the manager, which compares the segments
//! ([`finder`]). A barrier orders everything before it with everything after it, so older accesses are never needed.
//!
//! Perkovic and Keleher (OSDI 1996) found races in a page-based shared memory while the program runs. They compared the
//! words of concurrent intervals, but did not find the places in the program.

mod finder;
mod witness;

pub(crate) use finder::Finder;
pub use finder::{Race, Side};
pub(crate) use witness::{Clock, Report, Witness};

use serde::{Deserialize, Serialize};

/// A place in a program, the same in all processes that run it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Site {
    /// The file that has the code; the program itself has no name.
    pub file: String,
    /// How far behind the file's start in memory.
    pub offset: u64,
    /// For code outside of the program: the file and the place of the call in the program.
    pub caller: Option<(String, u64)>,
}
