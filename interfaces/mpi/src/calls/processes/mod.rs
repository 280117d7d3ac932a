//! This process and others: start, end, sessions, spawned processes, lost processes.

pub(in crate::calls) mod environment;
pub(in crate::calls) mod failure;
pub(in crate::calls) mod sessions;
pub(in crate::calls) mod spawning;

pub use environment::*;
pub use failure::*;
pub use sessions::*;
pub use spawning::*;
