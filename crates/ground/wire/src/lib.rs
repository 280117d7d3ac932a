//! What travels: identities, frames, data encodings and control messages.
//!
//! Every other room may use this one. It does no I/O, keeps no state and
//! contains no `unsafe`.

#![forbid(unsafe_code)]
// Peers choose the bytes that this crate reads. A length of theirs must end in an error, not in a panic.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

pub mod byte_names;
pub mod calls;
pub mod choices;
pub mod control;
pub mod counter;
pub mod encoding;
pub mod frame;
pub mod routed;
pub mod tid;
pub mod trace;
pub mod words;
pub mod xdr;

pub use choices::{Buffering, Completion, EAGER};
pub use counter::Counter;
pub use frame::{Header, Kind};
pub use tid::Tid;
