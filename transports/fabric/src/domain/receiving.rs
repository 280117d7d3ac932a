//! Receiving messages and long payloads for all links of a process.

use super::Shared;
use super::end::Long;
use super::prefix::Prefix;
use crate::ofi::{Completion, LONG_TOGETHER, Posted, is_long};

impl Shared {
    /// Polls the endpoint.
    pub fn poll(&mut self) {
        let Shared {
            endpoint, free, senders, lost, idle, free_long, askers, unasked, links, waiting, ..
        } = self;
        let works = endpoint.poll(|endpoint, Completion { slot, length }| {
            if let Some(number) = senders.remove(&slot) {
                let kind = usize::from(is_long(slot));
                free[kind].push(slot);
                match links.get_mut(&number) {
                    Some(end) => {
                        end.sending[kind] -= 1;
                        end.has_failed |= length.is_none();
                    }
                    None => lost[kind] = lost[kind].saturating_sub(1),
                }
            } else if let Some(number) = askers.remove(&slot) {
                match links.get_mut(&number) {
                    Some(end) => end.has_come(slot, length),
                    None => free_long.push(slot),
                }
            } else {
                let come = length.and_then(|length| Prefix::decode(&endpoint.buffer(slot)[..length]));
                match come.and_then(|prefix| Some((links.get_mut(&prefix.link)?, prefix))) {
                    Some((end, prefix)) => {
                        end.messages.push_back((slot, length.unwrap_or_default()));
                        *waiting += 1;
                        if prefix.has_long() {
                            end.announce(&prefix);
                            unasked.push_back(prefix.link);
                        }
                    }
                    // For a link that is no more, or damaged.
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
            let announced = self
                .links
                .get_mut(&number)
                .and_then(|end| end.longs.iter_mut().find(|long| matches!(long, Long::Announced { .. })));
            let Some(long @ &mut Long::Announced { length, tag }) = announced else {
                self.unasked.pop_front();
                continue;
            };
            if !self.takes_long {
                let Ok(first) = self.endpoint.add_long_buffers() else { return };
                self.free_long.extend(first..first + LONG_TOGETHER);
                self.takes_long = true;
            }
            let Some(&slot) = self.free_long.last() else { return };
            match self.endpoint.receive_tagged(slot, length as usize, tag) {
                Posted::Yes => {
                    *long = Long::Coming { slot };
                    self.free_long.pop();
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

    /// Gives the next message of the link to `take`, with its long payload if it has one. False: there is none yet.
    pub fn next_message(&mut self, number: u32, take: impl FnOnce(&mut [u8], Option<&[u8]>)) -> bool {
        let Shared { endpoint, links, .. } = self;
        let Some(end) = links.get_mut(&number) else { return false };
        let Some(&(slot, length)) = end.messages.front() else { return false };
        let message = &mut endpoint.buffer(slot)[..length];
        if Prefix::decode(message).is_some_and(|prefix| prefix.has_long()) {
            let Some(&Long::Come { slot: long, length: long_length }) = end.longs.front() else {
                return false;
            };
            // The message before a long payload is short.
            let mut head = [0; 64];
            let head = &mut head[..length.min(64)];
            head.copy_from_slice(&message[..head.len()]);
            end.longs.pop_front();
            take(head, Some(&endpoint.buffer(long)[..long_length]));
            self.free_long.push(long);
            self.ask();
        } else {
            take(message, None);
        }
        if let Some(end) = self.links.get_mut(&number) {
            end.messages.pop_front();
        }
        self.waiting -= 1;
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
