//! The word that a task publishes to a peer: which message it awaits from it.
//!
//! It is by the number that the message will have, and its tag. What it is for says the module `rendezvous`.

use super::Peers;
use super::incoming::Incoming;
use crate::message::{Pattern, TagMatch};
use parvum_transport::Link;
use parvum_wire::Header;

// The published word: the number of the message, whether it says anything, whether any tag is meant, the tag.
const NUMBER: u64 = u64::MAX << 34;
const SAYS: u64 = 1 << 33;
const ANY_TAG: u64 = 1 << 32;

fn number(order: u32) -> u64 {
    u64::from(order) << 34
}

/// Whether the peer has published that it awaits this very message.
#[inline]
pub(crate) fn is_awaited(link: &dyn Link, header: &Header) -> bool {
    let word = link.awaited();
    word & SAYS != 0
        && word & NUMBER == number(header.order)
        && (word & ANY_TAG != 0 || word as u32 as i32 == header.tag)
        && header.context == 0
}

impl Peers {
    /// Publishes that this task awaits such a message, if only one peer could send it and the words suffice. To be called
    /// when nothing but its arrival, or the peer's end, will end the wait.
    #[inline]
    pub(crate) fn say_awaited(&mut self, pattern: &Pattern) {
        let Some(from) = pattern.from else { return };
        if let Some(index) = self.index_of(from) {
            self.publish(index, pattern);
        }
    }

    #[inline]
    fn publish(&mut self, index: usize, pattern: &Pattern) {
        let peer = &mut self[index];
        let tag = match pattern.tag {
            TagMatch::Any => ANY_TAG,
            TagMatch::Exactly(tag) => u64::from(tag as u32),
            TagMatch::Masked { .. } | TagMatch::Within { .. } | TagMatch::Among { .. } => return,
        };
        if pattern.context.is_some_and(|context| context != 0) {
            return;
        }
        let Some(link) = &mut peer.links[peer.state.route.place()] else { return };
        peer.state.incoming.awaited = Some(peer.state.incoming.expected);
        link.await_message(number(peer.state.incoming.expected) | SAYS | tag);
    }

    /// Whether what was published of a peer's messages is about one that has come.
    #[inline]
    pub(crate) fn is_published_late(&self, index: usize) -> bool {
        let incoming = &self[index].state.incoming;
        incoming.awaited.is_some_and(|awaited| awaited != incoming.expected)
    }

    /// Publishes anew what is awaited from a peer; `None` is nothing.
    pub(crate) fn publish_anew(&mut self, index: usize, awaited: Option<&Pattern>) {
        self[index].state.incoming.awaited = None;
        if let Some(pattern) = awaited {
            self.publish(index, pattern);
        }
    }
}

impl Incoming {
    /// Whether this task has ever published that it awaits the message of that number.
    pub(crate) fn has_awaited(&self, order: u32) -> bool {
        self.awaited.is_some_and(|awaited| number(awaited) == number(order))
    }
}
