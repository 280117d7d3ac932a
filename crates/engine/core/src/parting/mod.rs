//! How a task and a peer part, whichever of them goes.

pub(crate) mod farewell;
pub(crate) mod unfinished;
