//! Programs of others and of every interface over several hosts.

pub(crate) mod compared;
pub(crate) mod npb;
pub(crate) mod players;
pub(crate) mod pvmtime;
pub(crate) mod python;
pub(crate) mod rival;
pub(crate) mod tasks;
pub(crate) mod tracing;
