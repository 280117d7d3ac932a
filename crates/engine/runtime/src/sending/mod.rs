//! A program's messages on their way to the engine: one receiver or many, data in one piece or many, and the remaining
//! work of a send.

pub(crate) mod asking;
pub(crate) mod copying;
pub(crate) mod lending;
#[allow(unsafe_code)]
pub(crate) mod multicast;
pub(crate) mod pusher;
#[allow(unsafe_code)]
pub(crate) mod scattered;
#[allow(unsafe_code)]
pub(crate) mod send;
