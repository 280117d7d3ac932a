//! How a daemon becomes the daemon of its directory, and what outlives it.

pub(crate) mod directory;
pub(crate) mod keeper;
pub(crate) mod log;
pub(crate) mod options;
pub(crate) mod start;
pub(crate) mod starter;
