//! Messages: buffers, packing, sending, receiving, and what programs run when a message comes.

pub(in crate::calls) mod facts;
pub(in crate::calls) mod handlers;
pub(in crate::calls) mod message;
pub(in crate::calls) mod packing;
pub(in crate::calls) mod variadic;
