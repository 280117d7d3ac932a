//! The conversation between a task and the daemon of its host.
