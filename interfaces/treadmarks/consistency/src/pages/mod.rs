//! The pages of a node: copies, changes, homes, and the tasks that have a page open.

pub(crate) mod claims;
pub(crate) mod diff;
pub(crate) mod home;
pub(crate) mod memory;
pub(crate) mod moving;
pub(crate) mod page;
