//! Containers on Parvum's engine: the port for shared memory, and for every route that the engine has.
//!
//! The engine matches, buffers, splits, keeps order and loses no data. This port therefore has none of the protocols of
//! [`packets`](crate::packets). A message to a container is an ordinary message of the engine: its tag is the
//! container's number, its context [`CONTEXT`]. A container for a tag of context 0 receives messages of PVM, NX and
//! CMMD programs with this tag. A representative for a tag sends messages that these programs can receive.

mod container;
pub(crate) mod gangs;
pub(crate) mod group;
#[allow(unsafe_code)]
mod memory;
mod names;
mod representative;
mod rpc;
mod station;
mod words;

pub(crate) use container::{Container, HeldMessage};
pub(crate) use names::{bind, bind_group, leave_group};
pub(crate) use names::{exchanges, lookup, lookup_group, unbind};
pub(crate) use representative::{Representative, WhenFull};
pub(crate) use rpc::{Ask, call, call_many, reply};
pub(crate) use station::{me, reason};

/// Messages to containers. Contexts of PVM programs lie below.
pub(crate) const CONTEXT: u32 = 0x4348_0001;
/// Answers of calls: the tag is the call's number.
const REPLIES: u32 = 0x4348_0002;
/// The context of messages between the libraries of two tasks; the tag is the kind.
const CONTROL: u32 = 0x4348_0003;

/// In the interface's part of a message's `meta`: it is a call, whose number stands above.
const CALL: u32 = 1 << 8;
/// In the `meta` of an answer: there is none, for the container is gone.
const FAILED: u32 = 1 << 8;
const CALL_SHIFT: u32 = 9;
const CALL_NUMBERS: u32 = 1 << (32 - CALL_SHIFT);

/// The number of the call that a message is, if it is one.
fn call_of(meta: u32) -> Option<u32> {
    (meta & CALL != 0).then_some(meta >> CALL_SHIFT)
}
