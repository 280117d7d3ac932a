//! Networks that are not there: damage on purpose, and a network in the memory of one process.

pub(crate) mod faults;
pub(crate) mod memory;
