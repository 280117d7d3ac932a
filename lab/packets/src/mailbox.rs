//! A container of a node, and the messages in it.

use super::header::HEADER;
use containers::Bounds;
use containers::Error;
use containers::buffers::{NetworkBuffer, NetworkBufferFreeList};
use std::collections::VecDeque;
use std::sync::Arc;

/// A message as it came: in network buffers, each with a header.
#[derive(Clone)]
pub(super) struct Message<A> {
    pub(super) from: A,
    pub(super) call: u32,
    pub(super) length: usize,
    pub(super) parts: Arc<Vec<NetworkBuffer>>,
}

impl<A> Message<A> {
    /// Copies it out; its buffers are free again when nobody else has it.
    pub(super) fn unload(self, room: &mut [u8], pool: &mut NetworkBufferFreeList) {
        let mut at = 0;
        for part in self.parts.iter() {
            let data = &part.used()[HEADER..];
            room[at..at + data.len()].copy_from_slice(data);
            at += data.len();
        }
        self.release(pool);
    }

    pub(super) fn release(self, pool: &mut NetworkBufferFreeList) {
        if let Ok(parts) = Arc::try_unwrap(self.parts) {
            parts.into_iter().for_each(|part| pool.put(part));
        }
    }
}

pub(super) struct Mailbox<A> {
    bounds: Bounds,
    bytes: u64,
    pub(super) messages: VecDeque<Message<A>>,
}

impl<A> Mailbox<A> {
    pub(super) fn new(bounds: Bounds) -> Mailbox<A> {
        Mailbox { bounds, bytes: 0, messages: VecDeque::new() }
    }

    pub(super) fn has_room(&self, length: usize) -> bool {
        let Bounds { messages, bytes } = self.bounds;
        (messages == 0 || self.messages.len() < messages as usize)
            && (bytes == 0 || self.bytes + length as u64 <= bytes)
    }

    pub(super) fn put(&mut self, message: Message<A>) {
        self.bytes += message.length as u64;
        self.messages.push_back(message);
    }

    /// The oldest message, if it fits into so much room.
    pub(super) fn take(&mut self, room: usize) -> Result<Message<A>, Error> {
        let length = self.messages.front().ok_or(Error::Empty)?.length;
        if length > room {
            return Err(Error::NoRoom { length });
        }
        self.bytes -= length as u64;
        self.messages.pop_front().ok_or(Error::Empty)
    }
}
