//! Shared segments of a group on one host: its barrier, and what its members show each other without messages.

pub(crate) mod barrier;
#[allow(unsafe_code)]
pub(crate) mod bcast_ring;
pub(crate) mod meets;
#[allow(unsafe_code)]
pub(crate) mod memory;
#[allow(unsafe_code)]
pub(crate) mod segment;
