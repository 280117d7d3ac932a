//! What a task has of the machine: groups, the group server, parts that one task plays, and caught output.

pub(crate) mod attend;
pub(crate) mod group_server;
pub(crate) mod groups;
pub(crate) mod manager;
pub(crate) mod output;
