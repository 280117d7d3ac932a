//! Races: accesses recorded one instruction at a time, and reports of two accesses without synchronisation between
//! them.

pub(crate) mod findings;
pub(crate) mod places;
#[allow(unsafe_code)]
pub(crate) mod sites;
#[allow(unsafe_code)]
pub(crate) mod stepping;
