//! Races: accesses to one word by two nodes, one of them a write, that nothing orders.
//!
//! Every node is a *witness* ([`witness`]): it notes each word that its program touches, with the place in the program and the
//! locks held. What orders accesses is kept apart from the intervals of the protocol, which are too coarse for it: an interval is
//! cut when others are told something, so it may have writes of after a release in it, and reading opens none. Here a node's run
//! is cut into *segments* at every acquire and release, and a vector clock goes with each lock as it was when the lock was last
//! released. At a barrier all tell its manager what they have noted since the last one, and there the segments are compared
//! ([`finder`]): a barrier orders all that is before it with all that is behind, so nothing older is ever needed.
//!
//! That a page-based shared memory can find races while the program runs is from Perkovic and Keleher (OSDI 1996), who compared
//! the words that concurrent intervals had touched; the places in the program were not part of it.

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
    /// Of code that is not the program's: from which file and place of the program's it was called.
    pub caller: Option<(String, u64)>,
}
