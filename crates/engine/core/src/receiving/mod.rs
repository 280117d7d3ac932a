//! Arriving data: the effect of each frame, and the matching of messages and receives.

pub(crate) mod arrivals;
pub(crate) mod message;
pub(crate) mod polling;
pub(crate) mod taking;
