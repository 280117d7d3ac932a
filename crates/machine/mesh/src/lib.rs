//! The connections between the daemons of one virtual machine.
//!
//! Each daemon opens one [`Mesh`]: one UDP endpoint that speaks QUIC. Both
//! ends of a connection show certificates of the machine's own authority
//! ([`keys`]); nobody else gets further than the handshake. There is one
//! connection per pair of daemons, whoever dialled. It carries
//!
//! - control messages, ordered and reliable, up to [`Settings::max_message`];
//! - streams for task data, each slowed by its own reader only;
//! - liveness: a peer that is watched, or owes an answer, and falls silent is
//!   [`MeshEvent::Down`] within [`Settings::detect`], and a clean end says why.
//!
//! What a network can reach is decoded by the pure functions of [`wire`].
//! A mesh lives on a current-thread tokio runtime with a `LocalSet`, or on a
//! local one. That thread must never be held up for half of
//! [`Settings::detect`]: peers would take the host for dead.
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use parvum_mesh::{Mesh, MeshEvent, Settings, keys::{Authority, HostKeys, Identity, SignRequest}};
//!
//! let authority = Authority::make()?;
//! let keys = HostKeys::make()?;
//! let request = SignRequest::new(keys.public(), 0, 1, "alpha");
//! let identity = Identity::new(keys, authority.sign(&request)?)?;
//! let (mesh, mut events) = Mesh::open(identity, Settings::default())?;
//! mesh.connect(1, &["192.0.2.7:4711".parse()?]).await?;
//! mesh.send(1, "hello".into())?;
//! while let Some(event) = events.next().await {
//!     if let MeshEvent::Message { host, bytes } = event {
//!         println!("host {host} says {bytes:?}");
//!     }
//! }
//! # Ok(()) }
//! ```

#![deny(unsafe_code)]
// Peers choose the bytes that this crate reads. A length of theirs must end in an error, not in a panic.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

mod carrier;
mod errors;
mod events;
mod handshake;
mod inner;
pub mod keys;
mod link;
mod mesh;
mod serving;
mod session;
mod settings;
mod simulation;
mod socket;
mod streams;
mod watching;
pub mod wire;

pub use errors::{MeshError, StreamError};
pub use events::{Ended, Events, MeshEvent};
pub use handshake::candidates::{Candidate, Reach, local_candidates};
pub use handshake::outcome::{ConnectError, Connected, Outcome, Tried};
pub use handshake::refusal::{Refusal, RefusalKind};
pub use mesh::{LinkRow, Mesh};
pub use settings::{PROTOCOL, Settings};
pub use simulation::faults::{Faults, Rates};
pub use simulation::memory::MemoryNetwork;
pub use streams::reader::StreamReader;
pub use streams::sender::StreamSender;
pub use wire::frames::Farewell;

/// The number of a host in its machine.
pub type Host = u32;
/// Which life of a host: it grows each time its daemon joins.
pub type Incarnation = u64;
