//! PVM 3.4 on Parvum's engine: `libpvm3.so.3`, which is `libgpvm3.so.3` as well.
//!
//! Thin: names, argument rules, error codes, and PVM's buffering (the sender
//! packs, the receiver unpacks). [`state`] is what a PVM task has; `calls` are
//! the functions of `pvm3.h`, one file for each section of the manual.

#![deny(unsafe_code)]

mod attend;
mod buffer;
mod buffers;
#[allow(unsafe_code)]
mod calls;
mod errors;
mod exchange;
mod group_server;
mod groups;
mod manager;
mod memory;
mod names;
mod options;
mod output;
mod pack;
mod state;
mod trace;
mod words;
