//! One-sided access.

pub(in crate::calls) mod access;
pub(in crate::calls) mod creation;

pub use access::*;
pub use creation::*;
