//! Sending messages and long payloads from the buffers that all links of a process share.

use super::end::tag;
use super::{MOST_LONG_BLOCKS, Shared};
use crate::ofi::{LONG_TOGETHER, Posted, TOGETHER};

/// A long payload in a buffer.
#[derive(Clone, Copy)]
pub struct Filled {
    slot: u32,
    length: usize,
}

impl Shared {
    /// A free buffer for a message.
    fn free_short(&mut self) -> Option<u32> {
        if self.free[0].is_empty() && self.lost[0] >= TOGETHER {
            let first = self.endpoint.add_buffers().ok()?;
            self.lost[0] -= TOGETHER;
            self.free[0].extend(first..first + TOGETHER);
        }
        self.free[0].last().copied()
    }

    /// A free buffer for a long payload of a link. A link without one under way does not wait for the receivers of others.
    fn free_long(&mut self, number: u32) -> Option<u32> {
        let has_none = self.links.get(&number).is_some_and(|end| end.sending[1] == 0);
        let may_grow = self.long_blocks[1] < MOST_LONG_BLOCKS && has_none;
        if self.free[1].is_empty() && (may_grow || self.lost[1] >= LONG_TOGETHER) {
            let first = self.endpoint.add_long_buffers().ok()?;
            match self.lost[1] >= LONG_TOGETHER {
                true => self.lost[1] -= LONG_TOGETHER,
                false => self.long_blocks[1] += 1,
            }
            self.free[1].extend(first..first + LONG_TOGETHER);
        }
        self.free[1].pop()
    }

    /// Sends a message that `write` puts into a buffer; it returns the length. `is_last`: the link wants to know when it has left.
    pub fn send(
        &mut self,
        number: u32,
        to: u64,
        is_last: bool,
        write: impl FnOnce(&mut [u8]) -> usize,
    ) -> Posted {
        let Some(slot) = self.free_short() else { return Posted::Full };
        let length = write(self.endpoint.buffer(slot));
        if length <= self.endpoint.inject_size() && !is_last {
            return self.endpoint.inject(slot, length, to);
        }
        let posted = self.endpoint.send(slot, length, to);
        if posted == Posted::Yes {
            self.free[0].pop();
            self.is_sent(number, slot, false);
        }
        posted
    }

    /// Puts a long payload into a buffer by `write`, which returns the length. `None`: there is no buffer now.
    pub fn fill_long(&mut self, number: u32, write: impl FnOnce(&mut [u8]) -> usize) -> Option<Filled> {
        let slot = self.free_long(number)?;
        let length = write(self.endpoint.buffer(slot));
        Some(Filled { slot, length })
    }

    /// Gives the buffer back: the payload is not sent.
    pub fn take_back(&mut self, filled: Filled) {
        self.free[1].push(filled.slot);
    }

    /// Sends a long payload: the peer's number of the link, and which long payload of the link it is. The peer must know of it already:
    /// some providers let nothing else through until it is asked for.
    pub fn send_long(&mut self, number: u32, to: u64, [link, which]: [u32; 2], filled: Filled) -> Posted {
        let posted = self.endpoint.send_tagged(filled.slot, filled.length, to, tag(link, which));
        if posted == Posted::Yes {
            self.is_sent(number, filled.slot, true);
        }
        posted
    }

    fn is_sent(&mut self, number: u32, slot: u32, is_long: bool) {
        self.senders.insert(slot, number);
        if let Some(end) = self.links.get_mut(&number) {
            end.sending[usize::from(is_long)] += 1;
        }
    }
}
