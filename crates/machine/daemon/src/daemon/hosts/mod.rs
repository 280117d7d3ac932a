//! Daemons of other hosts: how they start, and what goes between them.

pub(crate) mod agreed;
pub(crate) mod fetch;
pub(crate) mod hosted;
pub(crate) mod lateness;
pub(crate) mod network;
