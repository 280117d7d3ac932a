//! Races: accesses noted one instruction at a time, and what is said of two that no synchronisation orders.

pub(crate) mod findings;
pub(crate) mod places;
#[allow(unsafe_code)]
pub(crate) mod sites;
#[allow(unsafe_code)]
pub(crate) mod stepping;
