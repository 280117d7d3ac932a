//! Sending: who may buffer a message, how much may be under way, and how messages reach the links.

pub(crate) mod copies;
pub(crate) mod credit;
pub(crate) mod outflow;
pub(crate) mod outgoing;
pub(crate) mod policy;
pub(crate) mod scattered;
