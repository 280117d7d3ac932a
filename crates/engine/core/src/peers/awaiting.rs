//! The words that a task publishes to a peer: which message it awaits from it, and for which long one it waits just now.
//!
//! Both are by the number that the message will have, and its tag. The module `rendezvous` explains the first word. A
//! sender uses the second word only to choose the protocol. The word has room for the context only mixed with the tag,
//! so different messages may look alike.

use super::Peers;
use super::incoming::Incoming;
use crate::receiving::message::{Pattern, TagMatch};
use parvum_transport::Link;
use parvum_wire::Header;

// The published word: the number of the message, whether the word is valid, whether any tag matches, the tag.
const NUMBER: u64 = u64::MAX << 34;
const SAYS: u64 = 1 << 33;
const ANY_TAG: u64 = 1 << 32;

/// From this length on, data stays in place if its receiver waits for it, and both ends make the single copy. For
/// shorter data outside of the caches, two copies at the same time through cached memory are faster: 1 MiB takes 90 us
/// instead of 95 us (four buffers in turns), but 4 MiB takes 480 us instead of 405 us.
pub(crate) const IN_PLACE: usize = 4 << 20;

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

/// The word to publish while this task waits for a long message with this number, with this tag or any tag.
fn wanted(order: u32, context: u32, tag: Option<i32>) -> u64 {
    let mixed = context.wrapping_mul(0x9e37_79b9);
    number(order) | SAYS | u64::from(tag.map_or(!mixed, |tag| mixed ^ tag as u32))
}

/// Whether the peer seems to wait for exactly this message now.
pub(crate) fn is_wanted(link: &dyn Link, header: &Header) -> bool {
    let word = link.wanted();
    [Some(header.tag), None].into_iter().any(|tag| word == wanted(header.order, header.context, tag))
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

    /// Publishes that this task waits for a long message of the pattern, if only one peer can send it. Or publishes the
    /// end of the wait.
    pub(crate) fn say_wanted(&mut self, pattern: &Pattern, is_wanted: bool) {
        let tag = match pattern.tag {
            TagMatch::Any => None,
            TagMatch::Exactly(tag) => Some(tag),
            TagMatch::Masked { .. } | TagMatch::Within { .. } | TagMatch::Among { .. } => return,
        };
        let Some(index) = pattern.from.and_then(|from| self.index_of(from)) else { return };
        let peer = &mut self[index];
        if let Some(link) = &mut peer.links[peer.state.route.place()] {
            let word = wanted(peer.state.incoming.expected, pattern.context.unwrap_or(0), tag);
            link.want_message(if is_wanted { word } else { 0 });
        }
    }

    /// Whether the published word for a peer is about a message that has already come.
    #[inline]
    pub(crate) fn is_published_late(&self, index: usize) -> bool {
        let incoming = &self[index].state.incoming;
        incoming.awaited.is_some_and(|awaited| awaited != incoming.expected)
    }

    /// Publishes again the awaited message of a peer; `None` is nothing.
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
