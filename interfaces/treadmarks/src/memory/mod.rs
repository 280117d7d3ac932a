//! The shared heap and the program's own memory: where both lie, and who has which part.

pub(crate) mod allocator;
#[allow(unsafe_code)]
pub(crate) mod heap;
#[allow(unsafe_code)]
pub(crate) mod image;
pub(crate) mod pages;
