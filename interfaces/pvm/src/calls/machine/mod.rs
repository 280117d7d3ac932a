//! The machine: hosts, tasks, mailboxes, and the tasks that manage them.

pub(in crate::calls) mod hosts;
pub(in crate::calls) mod info;
pub(in crate::calls) mod mailbox;
pub(in crate::calls) mod manager;
