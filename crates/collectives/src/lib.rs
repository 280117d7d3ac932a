//! Operations of groups: what members of an ordered set do together.
//!
//! [`operators`]: one table of what is done with two elements, for each type of element, on bytes as they lie in memory.

#![forbid(unsafe_code)]

pub mod operators;
