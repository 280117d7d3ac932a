//! A task's part in the virtual machine: groups, the group server, roles, and caught output.

pub(crate) mod attend;
pub(crate) mod group_server;
pub(crate) mod groups;
pub(crate) mod manager;
pub(crate) mod output;
