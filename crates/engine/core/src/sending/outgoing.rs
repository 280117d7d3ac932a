//! An outgoing message: its data, who may buffer it, and when its send is complete.

use crate::ids::RequestId;
use crate::memory::Keep;
use parvum_wire::Tid;
use std::sync::Arc;

pub use parvum_wire::{Buffering, Completion};

/// A message to be sent.
pub struct Outgoing<'a> {
    /// The receiver. It must be attached.
    pub to: Tid,
    /// The user's tag.
    pub tag: i32,
    /// The tag's context.
    pub context: u32,
    /// The interface's word: how the data is encoded.
    pub meta: u32,
    /// The data, in pieces.
    pub pieces: &'a [&'a [u8]],
    /// Owns the memory of the pieces; the send need not wait for the receiver then.
    pub keep: Option<Arc<dyn Keep>>,
    /// The place where it may be buffered.
    pub buffering: Buffering,
    /// When the send is over.
    pub completion: Completion,
}

/// How far a send came at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// It is over.
    Now,
    /// It is under way; the memory of the data belongs to the engine until the request is over.
    Later(RequestId),
}

/// Why nothing was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// The receiver was never attached: there is no route to it yet.
    #[error("no route to {0}")]
    NotAttached(Tid),
    /// The receiver is gone.
    #[error("{0} is gone")]
    Gone(Tid),
    /// As many bytes as the credit allows wait for the receiver already.
    #[error("{0} has not received what was sent to it, and the credit is used up")]
    Full(Tid),
}
