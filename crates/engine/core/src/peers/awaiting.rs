//! The words that a task publishes to a peer: which message it awaits from it, and for which long one it waits just now.
//!
//! Both are by the number that the message will have, and its tag. The module `rendezvous` explains the first word. A
//! sender uses the second word only to choose the protocol. The word has room for the context only mixed with the tag,
//! so different messages may look alike. It also says which lengths the receiver wants in place.

use super::Peers;
use super::incoming::Incoming;
use crate::receiving::message::{Pattern, TagMatch};
use crate::rendezvous::{Learned, class};
use parvum_transport::Link;
use parvum_wire::Header;

// The published word: the number of the message, whether the word is valid, whether any tag matches, the tag.
const NUMBER: u64 = u64::MAX << 34;
const SAYS: u64 = 1 << 33;
const ANY_TAG: u64 = 1 << 32;

/// From this length on, data stays in place if its receiver waits for it, until the times of messages say otherwise
/// ([`Learned`]). Both ends make the single copy. On an AMD guest, shorter data outside of the caches was faster through cached
/// memory. With four buffers in turns, 1 MiB took 90 us instead of 95 us. In contrast, 4 MiB took 480 us instead of 405 us.
pub(crate) const IN_PLACE: usize = 4 << 20;
// The second word begins with the last bits of the number of the message. One bit for each class of lengths follows: the
// receiver wants these lengths in place. Then the word says that it is valid. The context and the tag, mixed, end the word.
// In one context, different tags give different words.
const LAST_BITS: u32 = 44;
const CLASSES: u32 = 34;

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
    u64::from(order) << LAST_BITS | SAYS | u64::from(tag.map_or(!mixed, |tag| mixed ^ tag as u32))
}

/// Whether the peer seems to wait for exactly this message now, and wants its data in place.
pub(crate) fn is_wanted_in_place(link: &dyn Link, header: &Header) -> bool {
    let word = link.wanted();
    const ALL_CLASSES: u64 = (1 << (LAST_BITS - CLASSES)) - 1;
    let classes = word >> CLASSES & ALL_CLASSES;
    let message = word & !(ALL_CLASSES << CLASSES);
    classes & 1 << class(header.length) != 0
        && [Some(header.tag), None]
            .into_iter()
            .any(|tag| message == wanted(header.order, header.context, tag))
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

    /// Publishes that this task waits for a long message of the pattern, if only one peer can send it. `room` is the length
    /// of the memory for the message. Shorter messages than [`IN_PLACE`] are published if long messages have come before.
    pub(crate) fn say_wanted(&mut self, pattern: &Pattern, room: usize) {
        let tag = match pattern.tag {
            TagMatch::Any => None,
            TagMatch::Exactly(tag) => Some(tag),
            TagMatch::Masked { .. } | TagMatch::Within { .. } | TagMatch::Among { .. } => return,
        };
        let Some(index) = pattern.from.and_then(|from| self.index_of(from)) else { return };
        let peer = &mut self[index];
        let incoming = &mut peer.state.incoming;
        let classes = match &incoming.learned {
            Some(learned) => learned.wanted(),
            None if room >= IN_PLACE => Learned::UNKNOWN,
            None => return,
        };
        if let Some(link) = &mut peer.links[peer.state.route.place()] {
            incoming.waits_for = Some(incoming.expected);
            let word = wanted(incoming.expected, pattern.context.unwrap_or(0), tag);
            link.want_message(word | u64::from(classes) << CLASSES);
        }
    }

    /// Publishes the end of the wait for a long message of the pattern, if the wait was published.
    pub(crate) fn say_unwanted(&mut self, pattern: &Pattern) {
        let Some(index) = pattern.from.and_then(|from| self.index_of(from)) else { return };
        let peer = &mut self[index];
        if peer.state.incoming.waits_for.take().is_some()
            && let Some(link) = &mut peer.links[peer.state.route.place()]
        {
            link.want_message(0);
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
