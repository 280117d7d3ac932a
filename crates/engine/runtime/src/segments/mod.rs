//! The segment of a group on one host: its barrier, the data that members show each other, the broadcast ring, open memory.

pub(crate) mod awaited;
pub(crate) mod barrier;
#[allow(unsafe_code)]
pub(crate) mod bcast_ring;
#[allow(unsafe_code)]
pub(crate) mod exchange;
#[allow(unsafe_code)]
pub(crate) mod memory;
#[allow(unsafe_code)]
pub(crate) mod segment;
