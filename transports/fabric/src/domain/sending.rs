//! Sending messages and long payloads from the buffers that all links of a process share.

use super::Shared;
use super::end::tag;
use crate::ofi::{Posted, TOGETHER};

/// A long payload in a buffer.
#[derive(Clone, Copy)]
pub struct Filled {
    slot: u32,
    length: usize,
}

impl Shared {
    /// A free buffer for a message.
    fn free_short(&mut self) -> Option<u32> {
        if self.free.is_empty() && self.lost >= TOGETHER {
            let first = self.endpoint.add_buffers().ok()?;
            self.lost -= TOGETHER;
            self.free.extend(first..first + TOGETHER);
        }
        self.free.last().copied()
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
            self.free.pop();
            self.is_sent(number, slot, false);
        }
        posted
    }

    /// Puts a long payload into a buffer by `write`, which returns the length. `None`: there is no buffer now.
    pub fn fill_long(&mut self, number: u32, write: impl FnOnce(&mut [u8]) -> usize) -> Option<Filled> {
        // The receivers of other links may be slow: a link without a payload under way gets buffers.
        let has_none = self.links.get(&number).is_some_and(|end| end.sending[1] == 0);
        self.long_out.refill(&mut self.endpoint, has_none).ok()?;
        let slot = self.long_out.free.pop()?;
        let length = write(self.endpoint.buffer(slot));
        Some(Filled { slot, length })
    }

    /// Gives the buffer back: the payload is not sent.
    pub fn take_back(&mut self, filled: Filled) {
        self.long_out.free.push(filled.slot);
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
