//! The shared heap and the program's own memory: their addresses, and the allocated parts.

pub(crate) mod allocator;
#[allow(unsafe_code)]
pub(crate) mod heap;
#[allow(unsafe_code)]
pub(crate) mod image;
pub(crate) mod pages;
