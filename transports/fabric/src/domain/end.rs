//! One link at the endpoint that all links of a process share.

use super::prefix::Prefix;
use std::collections::VecDeque;

/// The state of one link at the endpoint.
#[derive(Default)]
pub(super) struct End {
    /// Messages that have come: buffer and length.
    pub(super) messages: VecDeque<(u32, usize)>,
    /// The long payloads of some of them, in their order.
    pub(super) longs: VecDeque<Long>,
    /// How many long payloads were announced.
    pub(super) announced: u32,
    /// Sends that have not ended, short and long.
    pub(super) sending: [u32; 2],
    pub(super) has_failed: bool,
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
