//! Shared segments: what the members of a group on one host have in common.
//!
//! A segment is a sealed memfd. Its first page holds the [`SegmentBarrier`], the barrier of the group. Behind the barrier lies memory in which the
//! members show each other data ([`GroupSegment`]): in turns, by [pairs](pair) of two members, or by announcements ([`bcast_ring`]), for which
//! nobody waits.
//!
//! Members change atomics by plain stores: a member that died half way leaves nothing locked. All `unsafe` of the crate is in `map`.
//! The barrier, the pair and the announcements run under loom.

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
