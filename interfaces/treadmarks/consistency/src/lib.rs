//! Lazy release consistency of shared pages: TreadMarks' protocol as a machine that does no I/O.
//!
//! A [`Node`] is one process of a program whose pages are kept consistent. Its program's calls and faults go in, and so do the
//! messages of other nodes; messages to others come out ([`Node::outbox`]). It has no memory protection, signals, sockets or
//! clock: the pages are behind the trait [`Memory`].
//!
//! The rules are from Keleher, Dwarkadas, Cox and Zwaenepoel (USENIX Winter 1994) and from Amza and others (IEEE
//! Computer 1996). Home-based pages are from Zhou, Iftode and Li (OSDI 1996).
//!
//! - A node's run is cut into *intervals* ([`intervals`]). A node keeps the latest known numbers in a vector
//!   ([`stamp`]). At an acquire it learns of the intervals that happened before, and of the pages changed in them,
//!   which become invalid.
//! - The first write to a page makes a *twin*; a *diff* ([`diff`]) is the difference from the twin. The node makes a
//!   diff only when another node wants it, or when the page becomes invalid.
//! - An access to an invalid page is a *miss* ([`miss`]). The smallest set of nodes that hold all diffs sends the
//!   diffs, or one node sends the whole page if there is no copy. [`further`] pages come in the same answer if misses
//!   follow each other. [`serve`] is the other side. [`home`] has the pages
//!   with a home, and homes may be [`moving`].
//! - [`views`] are parts of the memory with separate consistency; their data comes with the grant.
//! - [`pushing`] sends pages before the request to nodes that ask for the same pages each time. [`wishes`] come with a
//!   request for a lock.
//! - [`races`] finds data races on request, from the accesses of each node between barriers.
//! - [`replicas`] are copies of pages at the next node, with which [`survivors`] continue when a node dies.
//! - [`locks`] have managers and queues; a [`barrier`] has one manager. At a barrier nodes discard old records
//!   ([`collect`]).
//!
//! - Several [`tasks`] may share the pages of a node, as the tasks of one host do. For them pages are opened [`ahead`].
//!   [`keys`] and [`claims`] are what they share to take locks and open pages without the node.
//!
//! The guarantee: a program without data races sees the same values as with one memory. Words have [`WORD`] bytes; two
//! nodes that write to the same word without synchronisation race.

#![deny(unsafe_code)]

mod counts;
mod locks;
mod message;
mod node;
mod pages;
mod races;
mod setup;
mod stamp;
mod state;
mod tasks;
#[cfg(test)]
mod tests;

pub use counts::Counts;
pub use locks::keys::{Keys, Taken};
pub use pages::claims::Claims;
pub use pages::diff::WORD;
pub use pages::memory::{Access, Memory};
pub use races::{Race, Side, Site};
pub use setup::{Fault, Homes, Letter, Progress, Setup, Start};
pub use state::Node;
pub use tasks::Tasks;
