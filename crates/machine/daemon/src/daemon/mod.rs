//! The shell around the machine: sockets, processes, time.
//!
//! One thread, one tokio runtime, one [`shell::Shell`]. Every connection, child
//! and pipe has a small task that turns what happens into inputs; the shell
//! carries out the effects at once.

mod awake;
mod hosts;
mod life;
mod processes;
mod shell;
mod tasks;
#[allow(unsafe_code)]
mod watch;

pub use hosts::fetch::way_to;
pub use hosts::guest::{Asked, IN as JOINED};
pub use hosts::joining::{decline, is_refusal};
pub use life::directory::{StartError, sweep};
pub use life::keeper::keep;
pub use life::start::{Manner, launch, serve, serve_guest, serve_hosted};
