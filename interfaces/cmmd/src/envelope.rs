//! The envelope of a message: node, tag and context, and the call that waits for it.

use parvum_api::{Buffering, Completion, Notes, SendTo};
use parvum_wire::encoding;

/// In place of a node or a tag: any.
pub(crate) const ANY: i32 = -1;

/// Contexts in which this interface talks to itself; what programs send is in context 0.
pub(crate) mod context {
    const CMMD: u32 = 0x434d_4d44;
    /// Group operations of `parvum-partition`.
    pub(crate) const TOGETHER: u32 = CMMD;
    /// Broadcasts from one of the nodes.
    pub(crate) const BROADCAST: u32 = CMMD + 1;
    /// The split barrier.
    pub(crate) const SYNC: u32 = CMMD + 2;
    /// Between host and nodes.
    pub(crate) const HOST: u32 = CMMD + 3;
    /// The global OR.
    pub(crate) const OR: u32 = CMMD + 4;
    /// Channels.
    pub(crate) const CHANNEL: u32 = CMMD + 5;
    /// What nodes write together.
    pub(crate) const FILES: u32 = CMMD + 6;
}

/// The message that was received or found last.
#[derive(Clone, Copy)]
pub(crate) struct Last {
    pub(crate) from: i32,
    pub(crate) tag: i32,
    pub(crate) bytes: u64,
}

/// How something of the interface's own is sent.
pub(crate) fn own(to: i32, context: u32, tag: i32, meta: u32) -> SendTo {
    SendTo { to, tag, context, meta, buffering: Buffering::BySize, completion: Completion::Copied }
}

/// How a message of the program is sent.
#[inline]
pub(crate) fn user(to: i32, tag: i32, buffering: Buffering, completion: Completion) -> SendTo {
    SendTo { to, tag, context: 0, meta: encoding::RAW, buffering, completion }
}

/// A wait without end.
#[inline]
pub(crate) fn notes(call: u32, peer: i32, tag: i32) -> Notes {
    Notes { limit: -1, call, peer, tag, context: 0 }
}
