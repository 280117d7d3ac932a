//! The effects of a peer that leaves or dies.

pub(in crate::tests) mod deadlocks;
pub(in crate::tests) mod farewell;
pub(in crate::tests) mod gone;
