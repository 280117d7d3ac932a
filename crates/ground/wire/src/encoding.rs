//! How a message's data is encoded: the low bits of a frame's `meta` word.
//!
//! Interfaces agree on these numbers so that a message sent through one can be
//! read through another. The other bits belong to the interface that packed.

/// The bits of `meta` that hold the encoding.
pub const MASK: u32 = 0xff;
/// As it lies in the sender's memory.
pub const RAW: u32 = 0;
/// XDR (RFC 4506), with PVM's rules for arrays and strings.
pub const XDR: u32 = 1;
