//! Sends, receives, and their ends.

use super::Endpoint;
use crate::ofi::buffers::{BUFFER, slot_of};
use crate::ofi::layout::*;
use std::ffi::c_void;
use std::ptr::{from_mut, null_mut};

/// Completions that are read at once.
const AT_ONCE: usize = 16;

/// Whether the library took an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Posted {
    /// It is under way.
    Yes,
    /// Not now.
    Full,
    /// This will not work any more.
    Failed,
}

/// An operation that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The buffer.
    pub slot: u32,
    /// The bytes of a message that was received. `None`: the operation has failed.
    pub length: Option<usize>,
}

impl Endpoint {
    /// Lets the next message of anybody come into a buffer.
    pub fn receive_into(&mut self, slot: u32) -> Posted {
        let (block, at) = self.place(slot);
        let description = block.description();
        let (buffer, context) = block.lend(at);
        let ep = self.ep.get();
        // SAFETY: the buffer and its context belong to the library until the operation ends, or is not taken.
        let result = unsafe { ((*(*ep).msg).recv)(ep, buffer, BUFFER, description, UNSPEC, context) };
        self.posted(slot, result)
    }

    /// Sends the first bytes of a buffer.
    pub fn send(&mut self, slot: u32, length: usize, to: u64) -> Posted {
        let (block, at) = self.place(slot);
        let description = block.description();
        let (buffer, context) = block.lend(at);
        let ep = self.ep.get();
        // SAFETY: as in `receive_into`; the library reads no more than the buffer has.
        let result = unsafe { ((*(*ep).msg).send)(ep, buffer, length.min(BUFFER), description, to, context) };
        self.posted(slot, result)
    }

    /// Sends the first bytes of a buffer to a receive with this tag.
    pub fn send_tagged(&mut self, slot: u32, length: usize, to: u64, tag: u64) -> Posted {
        let (block, at) = self.place(slot);
        let (length, description) = (length.min(block.size()), block.description());
        let (buffer, context) = block.lend(at);
        let ep = self.ep.get();
        // SAFETY: as in `send`.
        let result = unsafe { ((*(*ep).tagged).send)(ep, buffer, length, description, to, tag, context) };
        self.posted(slot, result)
    }

    /// Lets the message with this tag come into a buffer.
    pub fn receive_tagged(&mut self, slot: u32, length: usize, tag: u64) -> Posted {
        let (block, at) = self.place(slot);
        let (length, description) = (length.min(block.size()), block.description());
        let (buffer, context) = block.lend(at);
        let ep = self.ep.get();
        // SAFETY: as in `receive_into`.
        let result =
            unsafe { ((*(*ep).tagged).recv)(ep, buffer, length, description, UNSPEC, tag, 0, context) };
        self.posted(slot, result)
    }

    /// Asks for the end of the operation that has this buffer. The operation still ends by a completion.
    pub fn cancel(&mut self, slot: u32) {
        let (block, at) = self.place(slot);
        let Some(context) = block.context(at) else { return };
        // SAFETY: the library has the context. It may refuse: then the operation ends by itself.
        unsafe { ((*(*self.ep.get()).ops).cancel)(self.ep.fid(), context) };
    }

    /// Sends the first bytes of a buffer, at most [`inject_size`](Self::inject_size) of them. The buffer is free at once.
    pub fn inject(&mut self, slot: u32, length: usize, to: u64) -> Posted {
        let (block, at) = self.place(slot);
        let bytes = &block.buffer(at)[..length];
        let (buffer, length) = (bytes.as_ptr().cast(), bytes.len());
        let ep = self.ep.get();
        // SAFETY: the library copies the bytes before it returns.
        match unsafe { ((*(*ep).msg).inject)(ep, buffer, length, to) } {
            0 => Posted::Yes,
            result if result == -EAGAIN => Posted::Full,
            _ => Posted::Failed,
        }
    }

    fn posted(&mut self, slot: u32, result: isize) -> Posted {
        if result == 0 {
            return Posted::Yes;
        }
        let (block, at) = self.place(slot);
        block.take_back(at);
        if result == -EAGAIN { Posted::Full } else { Posted::Failed }
    }

    /// Moves what is under way, and gives operations that have ended to `take`. False: the fabric works no more.
    pub fn poll(&mut self, mut take: impl FnMut(&mut Endpoint, Completion)) -> bool {
        let mut entries = [CqEntry { context: null_mut(), flags: 0, length: 0 }; AT_ONCE];
        let cq = self.cq.get();
        // SAFETY: the queue has the format of these entries, and there is room for all.
        let count = unsafe { ((*(*cq).ops).read)(cq, from_mut(&mut entries).cast(), AT_ONCE) };
        if count > 0 {
            for entry in &entries[..count as usize] {
                self.ended(entry.context, Some(entry.length), &mut take);
            }
            return true;
        }
        match count {
            0 => true,
            _ if count == -EAGAIN => true,
            _ if count == -EAVAIL => self.take_error(take),
            _ => false,
        }
    }

    fn take_error(&mut self, mut take: impl FnMut(&mut Endpoint, Completion)) -> bool {
        // SAFETY: zeros are a valid value of this plain structure.
        let mut error: CqError = unsafe { std::mem::zeroed() };
        let cq = self.cq.get();
        // SAFETY: the structure is as the library writes it, without its newest fields: those are written only for users of newer versions.
        let count = unsafe { ((*(*cq).ops).readerr)(cq, &mut error, 0) };
        if count == 1 {
            self.ended(error.context, None, &mut take);
        }
        count == 1 || count == -EAGAIN
    }

    fn ended(
        &mut self,
        context: *mut c_void,
        length: Option<usize>,
        take: &mut impl FnMut(&mut Endpoint, Completion),
    ) {
        if context.is_null() {
            return;
        }
        // SAFETY: each operation here has the context of its buffer, and blocks live as long as the endpoint.
        let slot = unsafe { slot_of(context) };
        let (block, at) = self.place(slot);
        block.take_back(at);
        let size = block.size();
        take(self, Completion { slot, length: length.map(|length| length.min(size)) });
    }
}
