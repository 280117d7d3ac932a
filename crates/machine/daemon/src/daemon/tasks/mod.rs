//! Tasks of this host: their connections, routed messages, and recordings.

pub(crate) mod client;
pub(crate) mod io;
pub(crate) mod port;
pub(crate) mod recorder;
pub(crate) mod recordings;
pub(crate) mod relay;
pub(crate) mod serving;
