//! The message engine: one per process, under every interface.
//!
//! It matches sends with receives, chooses how data travels (at once, offered
//! for a single copy, or streamed), keeps what must be kept, and bounds memory
//! by credits. It has no sockets, threads or clocks: [`Engine::progress`] does
//! all the work there is at present and returns, and whoever calls decides how
//! to wait. Tests drive two engines over a simulated link from a seed.
//!
//! Read in this order: [`Engine`] (state, progress), `send`, `arrive` (what
//! each frame does), `direct` (its short cut), `fetch` (offered data), `ask` (data that only its sender may buffer), `queues` (matching), `peer` (what is kept per peer).

mod arrive;
mod ask;
mod bins;
mod claims;
mod direct;
mod engine;
mod extracted;
mod fetch;
mod given_up;
mod gone;
mod held_up;
mod inbox;
mod ledger;
mod memory;
mod message;
mod multicast;
mod peer;
mod queues;
mod receive;
mod recorder;
mod requests;
mod send;

pub use ask::Asked;
pub use direct::{Look, Room};
pub use engine::{Engine, Settings};
pub use fetch::Remote;
pub use held_up::Kept;
pub use ledger::{Counter, Ledger};
pub use memory::{Keep, UserBuffer, UserPieces};
pub use message::{Block, Envelope, Pattern, TagMatch};
pub use parvum_transport::PullRefused;
pub use queues::MessageId;
pub use receive::{Destination, Received};
pub use recorder::Recorder;
pub use requests::{Completed, Outcome, RequestId};
pub use send::{Buffering, Completion, Outgoing, SendError, Sent};

#[cfg(test)]
mod tests;
