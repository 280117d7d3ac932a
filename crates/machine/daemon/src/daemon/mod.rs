//! The shell around the machine: sockets, processes, time.
//!
//! One thread, one tokio runtime, one [`shell::Shell`]. Every connection, child
//! and pipe has a small task that turns what happens into inputs; the shell
//! carries out the effects at once.

mod agreed;
mod awake;
#[allow(unsafe_code)]
mod child;
mod client;
#[allow(unsafe_code)]
mod exec;
mod fetch;
mod foreign;
mod hosted;
mod keeper;
mod lateness;
mod log;
mod manner;
mod network;
mod options;
mod output;
mod port;
mod recordings;
mod relay;
mod repeats;
mod shell;
mod start;
#[allow(unsafe_code)]
mod watch;

pub use fetch::{decline, is_refusal, way_to};
pub use keeper::keep;
pub use start::{Manner, StartError, launch, serve, serve_hosted, sweep};
