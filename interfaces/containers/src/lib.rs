//! Message containers, as the operating system Choices had them, on Parvum's engine.
//!
//! A [`MessageContainer`] is a mailbox that buffers messages until a call receives them. Its task binds it to a name at
//! the [`DistributedNameServer`]; others look the name up, once, and get a [`ContainerRepresentative`], a handle that
//! sends. On top of that lie calls with an answer ([`ReliableRpc`]), calls of several servers ([`MultiRpc`]) and
//! messages to a [`ContainerGroup`].
//!
//! ```no_run
//! use containers::{Bounds, DistributedNameServer as Names, MessageContainer};
//! use std::time::Duration;
//! # fn main() -> Result<(), containers::Error> {
//! // One task:
//! let inbox = MessageContainer::new(Bounds::default())?;
//! Names::bind("inbox", &inbox)?;
//! let mut room = [0; 100];
//! let received = inbox.receive(&mut room)?;
//! println!("{} bytes from task {:x}", received.length, received.from.task);
//! // Another:
//! let to = Names::lookup("inbox", Some(Duration::from_secs(1)))?;
//! to.send(b"hello")?;
//! # Ok(())
//! # }
//! ```
//!
//! Signatures are this project's own; the names of classes and their parts are history.

#![deny(unsafe_code)]

mod api;
pub mod buffers;
#[allow(unsafe_code)]
mod c;
mod engine;
mod errors;
mod state;

pub use api::{
    ContainerGroup, ContainerRepresentative, DistributedNameServer, GangScheduler, GroupRepresentative,
    MessageContainer, MultiRpc, OneWay, Reference, ReliableRpc, reply,
};
pub use errors::Error;
pub use state::{ClientState, Decision, Handler, Protocol};

/// How much a container holds for each representative that sends to it; beyond that the sender waits.
///
/// Zero stands for no bound of the container's own: then the engine's credit for a pair of tasks counts
/// (`PARVUM_CREDIT`). A sender that waits goes on when at most one part in 64 of the bound has been taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// Messages.
    pub messages: u32,
    /// Bytes; a longer message is refused.
    pub bytes: u64,
}

/// The sender of a message, and whether it expects an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sender {
    /// The engine's id of the task, as PVM has it.
    pub task: i32,
    /// The number of the call that the message is; 0: the sender does not wait for an answer.
    pub call: u32,
    /// The sender's address, if the port has its own addresses; otherwise 0.
    pub place: u64,
}

/// What was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received {
    /// Bytes of data.
    pub length: usize,
    /// Who sent it.
    pub from: Sender,
}

/// The counters of a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Questions to the name server.
    pub exchanges: u64,
}

/// The counters of this process.
pub fn counts() -> Counts {
    Counts { exchanges: engine::exchanges() }
}

/// The engine's id of this task: it joins the machine, and starts it if need be.
pub fn my_task() -> Result<i32, Error> {
    engine::me()
}
