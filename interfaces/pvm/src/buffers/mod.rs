//! Message buffers and what is packed into them.

pub(crate) mod buffer;
pub(crate) mod memory;
pub(crate) mod pack;
pub(crate) mod table;
pub(crate) mod words;
