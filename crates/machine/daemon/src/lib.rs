//! The daemon of one host.
//!
//! `state` is the machine as a pure state; `daemon` the shell around it that
//! owns sockets, processes and time.

#![deny(unsafe_code)]

mod daemon;
mod shown;
pub mod state;

pub use daemon::{
    Asked, JOINED, Manner, StartError, decline, is_refusal, keep, launch, serve, serve_guest, serve_hosted,
    sweep, way_to,
};
pub use parvum_mesh::keys::Token;
