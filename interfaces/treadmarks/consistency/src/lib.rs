//! Lazy release consistency of shared pages: TreadMarks' protocol as a machine that does no I/O.
//!
//! A [`Node`] is one process of a program whose pages are kept consistent. Its program's calls and faults go in, and so do the
//! messages of other nodes; messages to others come out ([`Node::outbox`]). It has no memory protection, signals, sockets or
//! clock: the pages are behind the trait [`Memory`].
//!
//! The rules are those of Keleher, Dwarkadas, Cox and Zwaenepoel (USENIX Winter 1994) and of Amza and others (IEEE Computer
//! 1996); home-based pages are those of Zhou, Iftode and Li (OSDI 1996).
//!
//! - A node's run is cut into *intervals* ([`intervals`]). What a node knows is a vector of their numbers ([`stamp`]). At an
//!   acquire it learns of the intervals that happened before, and of the pages changed in them, which become invalid.
//! - The first write to a page makes a *twin*; what differs from it later is a *diff* ([`diff`]), made when somebody wants it or
//!   the page becomes invalid, and not before.
//! - A touched page that is invalid is a *miss* ([`miss`]): diffs come from the smallest set of nodes that hold all of them, or
//!   the whole page when there is no copy. [`serve`] is the other side, [`home`] the pages that have a home, which may be [`moving`].
//! - [`views`] are parts of the memory with a consistency of their own, whose data comes with the grant.
//! - [`pushing`] sends to those who ask for the same pages each time what they will ask for; [`wishes`] come with a request for a
//!   lock.
//! - [`races`] are found when that is wanted, by what each node has touched between barriers.
//! - [`replicas`] are pages kept at the next node as well, for [`survivors`] to go on with when one dies.
//! - [`locks`] have managers and queues; a [`barrier`] has one manager, and there old records are thrown away ([`collect`]).
//!
//! - Several [`tasks`] may share the pages of a node, as those of one host do. For them pages are opened [`ahead`]. [`keys`]
//!   and [`claims`] are what they share to take locks and open pages without the node.
//!
//! What a program may rely on: one without data races sees what it would see in one memory. Words have [`WORD`] bytes; two
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
