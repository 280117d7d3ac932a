//! Communicators, groups, topologies, and what is attached to communicators.

pub(in crate::calls) mod attributes;
pub(in crate::calls) mod communicators;
pub(in crate::calls) mod groups;
pub(in crate::calls) mod topologies;

pub use attributes::*;
pub use communicators::*;
pub use groups::*;
pub use topologies::*;
