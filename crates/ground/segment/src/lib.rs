//! Shared segments: the memory that the members of a group on one host have in common.
//!
//! A segment is a sealed memfd. Its first page holds the barrier of the group ([`SegmentBarrier`]). Behind the barrier each member has
//! slots, in which it shows data to the others ([`GroupSegment`]). Members exchange data in rounds: by the barrier if there are three or
//! more, by a [pair of lines](pair) if there are two. A root can also write into the [broadcast ring](bcast_ring), and waits for nobody.
//!
//! Members change atomics by plain stores, so a member that dies half way leaves nothing locked. All `unsafe` of the crate is in `map`.
//! The barrier, the pair and the ring run under loom.

#![deny(unsafe_code)]

pub mod barrier;
pub mod bcast_ring;
#[cfg(not(loom))]
mod layout;
#[cfg(not(loom))]
#[allow(unsafe_code)]
mod map;
pub mod pair;
#[cfg(not(loom))]
mod segment;

pub use barrier::{Arrival, LARGEST_BARRIER, Outcome, SegmentBarrier};
#[cfg(not(loom))]
pub use layout::{ANNOUNCED_ROOM, ANNOUNCEMENTS, MOST_MEMBERS, SLOT_BYTES};
#[cfg(not(loom))]
pub use segment::GroupSegment;
