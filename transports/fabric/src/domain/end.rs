//! One link at the endpoint that all links of a process share.

use super::prefix::Prefix;
use std::collections::VecDeque;

/// The state of one link at the endpoint.
#[derive(Default)]
pub(super) struct End {
    /// Messages that have come.
    pub(super) messages: VecDeque<Message>,
    /// The long payloads of some of them, in their order.
    pub(super) longs: VecDeque<Long>,
    /// How many long payloads were announced.
    pub(super) announced: u32,
    /// Sends that have not ended, short and long.
    pub(super) sending: [u32; 2],
    pub(super) has_failed: bool,
    /// Messages with another key are not the peer's.
    pub(super) key: u64,
    /// Whether the link takes messages now.
    pub(super) is_open: bool,
    /// Whether the link counts among those with a message to take.
    is_counted: bool,
}

/// A message that has come.
#[derive(Clone, Copy, Debug)]
pub(super) struct Message {
    pub(super) slot: u32,
    pub(super) length: usize,
    pub(super) has_long: bool,
}

/// A long payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Long {
    Announced { length: u32, tag: u64 },
    Coming { slot: u32 },
    Come { slot: u32, length: usize },
}

/// The tag of a long payload: the receiver's number of the link, and the number of the payload on the link.
pub(super) fn tag(link: u32, number: u32) -> u64 {
    u64::from(link) << 32 | u64::from(number)
}

impl End {
    /// A link whose peer knows this key.
    pub(super) fn new(key: u64) -> End {
        End { key, ..End::default() }
    }

    /// Whether the link can take a message now: it waits for neither its turn nor a long payload.
    fn is_ready(&self) -> bool {
        let has_come = |long: Option<&Long>| matches!(long, Some(Long::Come { .. }));
        self.is_open
            && self.messages.front().is_some_and(|message| !message.has_long || has_come(self.longs.front()))
    }

    /// Counts the link among those with a message to take, or not any more.
    pub(super) fn count(&mut self, ready: &mut usize) {
        if self.is_ready() != self.is_counted {
            self.is_counted = !self.is_counted;
            if self.is_counted { *ready += 1 } else { *ready -= 1 }
        }
    }

    /// The link is no more.
    pub(super) fn uncount(&self, ready: &mut usize) {
        *ready -= usize::from(self.is_counted);
    }

    /// Whether the payload of a message is under way to this link.
    pub(super) fn awaits_long(&self) -> bool {
        self.longs.iter().any(|long| !matches!(long, Long::Announced { .. }))
    }

    pub(super) fn announce(&mut self, prefix: &Prefix) {
        self.longs.push_back(Long::Announced { length: prefix.long, tag: tag(prefix.link, self.announced) });
        self.announced = self.announced.wrapping_add(1);
    }

    /// A long payload has come, or will not come.
    pub(super) fn has_come(&mut self, slot: u32, length: Option<usize>) {
        let coming = self.longs.iter_mut().find(|long| **long == Long::Coming { slot });
        match (coming, length) {
            (Some(long), Some(length)) => *long = Long::Come { slot, length },
            (Some(long), None) => {
                *long = Long::Come { slot, length: 0 };
                self.has_failed = true;
            }
            (None, _) => {}
        }
    }
}
