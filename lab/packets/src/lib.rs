//! Containers on networks of packets: what does not depend on the machine, and ports for machines.
//!
//! A [`Node`] has the containers of one process and the protocols: cutting and putting together, reliable transmission in
//! order, calls that run at most once, calls of several, pools of buffers. It has no sockets and no clock: packets come
//! and go through a [`Port`], and time is an argument. On Parvum's engine, which has all that, none of it is used; here
//! is what the engine's port leaves out, for machines that have less.
//!
//! Large messages go by *blast*: all fragments in a row, then one answer, which says what is missing; that is sent again. A
//! conversation has one message under way, so messages of one keep their order, and what comes twice is known by its number.
//!
//! A model for study, beside the product: no library of Parvum's contains it.

#![forbid(unsafe_code)]

mod cube;
mod ethernet;
mod faults;
mod header;
mod incoming;
mod loopback;
mod mailbox;
mod names;
mod node;
mod outgoing;
mod port;
#[cfg(test)]
mod tests;

pub use containers::buffers::{NetworkBuffer, NetworkBufferFreeList};
pub use cube::{Cube, CubePort};
pub use ethernet::{Ethernet, EthernetPort, Station};
pub use faults::Faults;
pub use loopback::{LoopbackPort, Place};
pub use names::SharedNames;
pub use node::{Call, Counts, Node, Representative, Sender};
pub use port::{Address, Limits, NameServer, NetworkDriver, Port, Transfer};

/// Microseconds of a clock that only goes forward.
pub type Now = u64;
