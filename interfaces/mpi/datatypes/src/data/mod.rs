//! The data of items: where it lies, and how it is copied.

pub(crate) mod layout;
pub(crate) mod pack;
pub(crate) mod pieces;
pub(crate) mod walk;
