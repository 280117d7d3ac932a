//! Tasks of this host: their connections, routed messages, and recordings.

pub(crate) mod client;
pub(crate) mod port;
pub(crate) mod recordings;
pub(crate) mod relay;
