//! The message engine: one per process, under every interface.
//!
//! The engine matches sends with receives, and chooses how data travels (at once, offered for a single copy, or
//! streamed). It buffers data if necessary, and bounds memory by credits. The engine has no sockets, threads or clocks.
//! [`Engine::progress`] does all present work and returns, and the caller decides how to wait. Tests drive two engines
//! over a simulated link from a seed.
//!
//! Its face is `engine`, and everything a task can ask of it is there. Under it are layers; each uses those below it, and none
//! those above:
//!
//! ```text
//! engine                            the face
//! parting::unfinished               receives what a peer had sent, and ends the rest
//! receiving::polling                looks at links for what has come
//! rendezvous                        fetches what was offered, or leaves long copies to threads
//! sending::outflow, receiving::taking   what goes out; a receive whose message was here first
//! receiving::arrivals               what each frame does
//! core                              what they share
//! peers                             per peer: links, order, credit, what waits to go and what was offered
//! requests, matching                operations under way; queues, bins and claims
//! parting::farewell, sending::credit   how far a peer has parted; credit
//! receiving::message, memory, ledger   what is moved and counted
//! sending::scattered                data whose layout only its owner knows
//! ```

#![deny(unsafe_code)]

mod core;
mod engine;
mod ids;
mod ledger;
mod matching;
#[allow(unsafe_code)]
mod memory;
mod parting;
mod peers;
mod receiving;
mod recorder;
mod rendezvous;
mod requests;
mod sending;
#[cfg(test)]
#[allow(unsafe_code)]
mod tests;

pub use engine::{AskOutcome, Engine, KeepOutcome, Look, Received, Room, Short};
pub use ids::{MessageId, RequestId};
pub use ledger::{Counter, Counters};
pub use memory::{Keep, UserBuffer, UserPieces};
pub use parvum_transport::PullRefused;
pub use receiving::message::{Block, Envelope, Pattern, TagMatch};
pub use recorder::Recorder;
pub use rendezvous::{Copy, RemoteReader};
pub use requests::{Completed, Destination, Outcome, Remote};
pub use sending::copies::Kept as KeptBytes;
pub use sending::credit::Settings;
pub use sending::outgoing::{Buffering, Completion, Outgoing, SendError, Sent};
pub use sending::scattered::Scattered;
