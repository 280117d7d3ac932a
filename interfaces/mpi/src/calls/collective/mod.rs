//! Collectives: on whole communicators, on neighbours, and reductions of local memory.

pub(in crate::calls) mod global;
pub(in crate::calls) mod neighbours;
pub(in crate::calls) mod reductions;

pub use global::*;
pub use neighbours::*;
pub use reductions::*;
