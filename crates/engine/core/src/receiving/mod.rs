//! What arrives: what each frame does, and how messages and receives come together.

pub(crate) mod arrivals;
pub(crate) mod message;
pub(crate) mod polling;
pub(crate) mod taking;
