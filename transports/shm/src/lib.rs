//! Shared memory between two tasks of one host.
//!
//! A pair of tasks shares one segment. One task makes it as a memfd, and the daemon hands it to the other task. The
//! segment has no name, so it leaves no file behind, and other processes cannot open it. The segment holds a [`ring`]
//! for each direction. Short data travels inside the ring's cells, longer data through the ring's bulk memory. If the
//! kernel permits it and the sender may wait, the receiver copies a long message once, straight from the sender's
//! memory (`single_copy`). Otherwise the message goes through an `arena`, and both sides copy at the same time.
//!
//! `unsafe` is in `ring` and `arena` (memory shared with another process), `segment`
//! (the mapping), `single_copy` (the system call) and the models of `fill` and `share`.

#![deny(unsafe_code)]
// Peers choose the bytes that this crate reads. A length of theirs must end in an error, not in a panic.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

#[cfg(not(loom))]
#[allow(unsafe_code)]
mod arena;
#[allow(unsafe_code)]
mod fill;
#[cfg(not(loom))]
mod inbox;
#[cfg(not(loom))]
mod link;
#[cfg(not(loom))]
mod pulls;
#[allow(unsafe_code)]
pub mod ring;
#[cfg(not(loom))]
#[allow(unsafe_code)]
mod segment;
mod share;
#[cfg(not(loom))]
#[allow(unsafe_code)]
pub mod single_copy;
mod sync;
#[cfg(not(loom))]
mod together;

#[cfg(not(loom))]
pub use inbox::PageInbox;
#[cfg(not(loom))]
pub use link::{Peer, PeerBell, ShmLink, TRANSPORT};
#[cfg(not(loom))]
pub use segment::{BadSegment, SEGMENT_BYTES, Segment, SingleCopy};
#[cfg(not(loom))]
#[doc(hidden)]
pub use share::receive_beside_nonsense;
