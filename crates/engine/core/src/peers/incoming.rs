//! The incoming messages of one peer: the next message, and the destination of messages that have begun.

use crate::ids::{MessageId, RequestId};
use crate::rendezvous::Learned;
use parvum_transport::Route;

/// The destination of the rest of a message that began on a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stream {
    /// No message is under way.
    Idle,
    /// Into an unexpected message.
    Message(MessageId),
    /// Into a receive; `got` bytes of `length` have come.
    Receive { id: RequestId, got: u64, length: u64 },
    /// Nowhere: `left` bytes of a discarded message are still to come.
    Skip { left: u64 },
}

impl Stream {
    /// This number of unwanted bytes is still to come.
    pub(crate) fn skip(left: u64) -> Stream {
        if left > 0 { Stream::Skip { left } } else { Stream::Idle }
    }
}

/// The incoming messages of one peer.
pub(crate) struct Incoming {
    /// The next message from the peer must have this number.
    pub(crate) expected: u32,
    /// Messages that came before their turn, over a quicker route.
    pub(crate) early: Vec<(u32, MessageId)>,
    /// The message under way on each route.
    pub(crate) streams: [Stream; Route::BOUND],
    /// The number of the awaited message, which this task has published.
    pub(crate) awaited: Option<u32>,
    /// The last message whose data was left with its sender on arrival, and its cookie.
    pub(crate) left: Option<(u64, MessageId)>,
    /// The receives whose sender has not sent the address of its data yet: the cookie, and the receive.
    pub(crate) wanted: Vec<(u64, RequestId)>,
    /// The number of the long message that this task waits for just now, as published.
    pub(crate) waits_for: Option<u32>,
    /// Which protocol is faster for long messages; since the first of them.
    pub(crate) learned: Option<Box<Learned>>,
}

impl Incoming {
    pub(crate) fn new() -> Incoming {
        let streams = [Stream::Idle; Route::BOUND];
        Incoming {
            expected: 0,
            early: Vec::new(),
            streams,
            awaited: None,
            left: None,
            wanted: Vec::new(),
            waits_for: None,
            learned: None,
        }
    }

    /// The receive that wants this message, whose sender now sends the address; further addresses for it are too late.
    pub(crate) fn take_wanted(&mut self, cookie: u64) -> Option<RequestId> {
        let at = self.wanted.iter().position(|&(of, _)| of == cookie)?;
        Some(self.wanted.swap_remove(at).1)
    }

    /// The next message in order, if it is here already.
    pub(crate) fn next_early(&mut self) -> Option<MessageId> {
        let at = self.early.iter().position(|&(order, _)| order == self.expected)?;
        let (_, id) = self.early.swap_remove(at);
        self.expected = self.expected.wrapping_add(1);
        Some(id)
    }

    /// Messages that came before their turn and whose turn will not come, in the order sent.
    pub(crate) fn take_early(&mut self) -> Vec<MessageId> {
        let mut early = std::mem::take(&mut self.early);
        early.sort_by_key(|&(order, _)| order.wrapping_sub(self.expected));
        early.into_iter().map(|(_, id)| id).collect()
    }
}
