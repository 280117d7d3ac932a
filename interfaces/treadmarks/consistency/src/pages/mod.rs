//! What a node knows of pages: copies, changes, homes, and who has a page open.

pub(crate) mod claims;
pub(crate) mod diff;
pub(crate) mod home;
pub(crate) mod memory;
pub(crate) mod moving;
pub(crate) mod page;
