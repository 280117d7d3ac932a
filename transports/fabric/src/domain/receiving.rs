//! Receiving messages and long payloads for all links of a process.

use super::Shared;
use super::end::{Long, Message};
use super::prefix::Prefix;
use crate::flow::{TELLING, WINDOW};
use crate::ofi::{Completion, Posted, is_long};

impl Shared {
    /// Polls the endpoint.
    pub fn poll(&mut self) {
        let Shared {
            endpoint,
            free,
            senders,
            lost,
            idle,
            long_out,
            long_in,
            askers,
            unasked,
            links,
            ready_links,
            ..
        } = self;
        let works = endpoint.poll(|endpoint, Completion { slot, length }| {
            if let Some(number) = senders.remove(&slot) {
                let end = links.get_mut(&number);
                match (is_long(slot), end.is_some()) {
                    (true, link_lives) => long_out.ended(slot, link_lives),
                    (false, link_lives) => {
                        free.push(slot);
                        *lost = lost.saturating_sub(u32::from(!link_lives));
                    }
                }
                if let Some(end) = end {
                    end.sending[usize::from(is_long(slot))] -= 1;
                    end.has_failed |= length.is_none();
                }
            } else if let Some(number) = askers.remove(&slot) {
                match links.get_mut(&number) {
                    Some(end) => {
                        end.has_come(slot, length);
                        end.count(ready_links);
                    }
                    None => long_in.ended(slot, false),
                }
            } else {
                let come = length.and_then(|length| Prefix::decode(&endpoint.buffer(slot)[..length]));
                let end = come.and_then(|prefix| Some((links.get_mut(&prefix.link)?, prefix)));
                match end.filter(|(end, prefix)| end.key == prefix.key) {
                    // More than the window: the peer does not wait for its turn.
                    Some((end, _)) if end.messages.len() > (WINDOW + TELLING) as usize => {
                        end.has_failed = true;
                        idle.push(slot);
                    }
                    Some((end, prefix)) => {
                        let (length, has_long) = (length.unwrap_or_default(), prefix.has_long());
                        end.messages.push_back(Message { slot, length, has_long });
                        if has_long {
                            end.announce(&prefix);
                            unasked.push_back(prefix.link);
                        }
                        end.count(ready_links);
                    }
                    // The link has gone, or the message is damaged, or a stranger has sent it.
                    None => idle.push(slot),
                }
            }
        });
        self.is_broken |= !works;
        if !self.unasked.is_empty() {
            self.ask();
        }
        if !self.idle.is_empty() {
            self.post();
        }
    }

    /// Asks for long payloads, as far as there are buffers for them.
    fn ask(&mut self) {
        while let Some(&number) = self.unasked.front() {
            let Some(end) = self.links.get_mut(&number) else {
                self.unasked.pop_front();
                continue;
            };
            // The senders of other links may be slow: a link without a payload on its way gets buffers.
            let may_grow = !end.awaits_long();
            let announced = end.longs.iter_mut().find(|long| matches!(long, Long::Announced { .. }));
            let Some(long @ &mut Long::Announced { length, tag }) = announced else {
                self.unasked.pop_front();
                continue;
            };
            if self.long_in.refill(&mut self.endpoint, may_grow).is_err() {
                end.has_failed = true;
                self.unasked.pop_front();
                continue;
            }
            let Some(&slot) = self.long_in.free.last() else { return };
            match self.endpoint.receive_tagged(slot, length as usize, tag) {
                Posted::Yes => {
                    *long = Long::Coming { slot };
                    self.long_in.free.pop();
                    self.askers.insert(slot, number);
                    self.unasked.pop_front();
                }
                Posted::Full => return,
                Posted::Failed => {
                    self.is_broken = true;
                    return;
                }
            }
        }
    }

    /// Gives the next message of the link to `take`, with its long payload if it has one. False: nothing has come.
    pub fn next_message(&mut self, number: u32, take: impl FnOnce(&mut [u8], Option<&[u8]>)) -> bool {
        let Shared { endpoint, links, .. } = self;
        let Some(end) = links.get_mut(&number) else { return false };
        let Some(&Message { slot, length, has_long }) = end.messages.front() else { return false };
        let message = &mut endpoint.buffer(slot)[..length];
        if has_long {
            let Some(&Long::Come { slot: long, length: long_length }) = end.longs.front() else {
                return false;
            };
            // The message before a long payload is short.
            let mut head = [0; 64];
            let head = &mut head[..length.min(64)];
            head.copy_from_slice(&message[..head.len()]);
            end.longs.pop_front();
            take(head, Some(&endpoint.buffer(long)[..long_length]));
            self.long_in.free.push(long);
            self.ask();
        } else {
            take(message, None);
        }
        if let Some(end) = self.links.get_mut(&number) {
            end.messages.pop_front();
            end.count(&mut self.ready_links);
        }
        self.idle.push(slot);
        self.post();
        true
    }

    /// Lets messages come into idle buffers.
    pub(super) fn post(&mut self) {
        while let Some(&slot) = self.idle.last() {
            match self.endpoint.receive_into(slot) {
                Posted::Yes => {
                    self.idle.pop();
                }
                Posted::Full => return,
                Posted::Failed => {
                    self.is_broken = true;
                    return;
                }
            }
        }
    }
}
