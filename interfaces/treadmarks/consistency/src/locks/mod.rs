//! Locks: their managers, the keys that are here, wishes for pages, and views.

pub(crate) mod keys;
pub(crate) mod managers;
pub(crate) mod views;
pub(crate) mod wishes;
