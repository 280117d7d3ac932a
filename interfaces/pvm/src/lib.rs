//! PVM 3.4 on Parvum's engine: `libpvm3.so.3`, which is `libgpvm3.so.3` as well.
//!
//! Thin: names, argument rules, error codes, and PVM's buffering (the sender
//! packs, the receiver unpacks). [`state`] is what a PVM task has; `calls` are
//! the functions of `pvm3.h`, one file for each section of the manual.

#![deny(unsafe_code)]

mod buffers;
#[allow(unsafe_code)]
mod calls;
mod errors;
mod exchange;
mod machine;
mod options;
mod state;
mod trace;
