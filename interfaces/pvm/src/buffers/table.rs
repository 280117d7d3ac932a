//! The message buffers of a task, by id.

use crate::buffers::buffer::{Arrived, Buffer, Info, Packed, Packing};
use crate::buffers::memory::Memory;
use crate::calls::{bytes_of, with_pieces};
use crate::errors::{Pvm, PvmError};
use crate::state::{Locked, State};
use parvum_api::{CoreApi, Message};

/// Memory of send buffers kept for the next ones; part of a task's stated own cost. Memory for a length that the program
/// used twice lately also stays. The system takes longer to give new memory than the processor to copy the data.
const SPARE: usize = 2 << 20;
/// The bound on this memory.
const SPARE_AT_MOST: usize = 64 << 20;
/// The number of send buffers that count as recent.
const LATELY: usize = 8;
/// The number of receive buffers that are kept for reuse. Only programs that keep their messages use more at once.
const BLANKS: usize = 8;

/// The number of bytes from which other threads should not wait for the work on a buffer.
pub(crate) const LONG: usize = 256 * 1024;

/// A freed long buffer, for the system. The call gives the state away first, because that takes long.
pub(crate) enum Spent {
    Packed(Memory),
    Received(Box<Arrived>),
}

/// Frees what calls have left over. Called without the state.
pub(crate) fn bury(spent: Vec<Spent>, api: Option<CoreApi>) {
    for buffer in spent {
        match buffer {
            Spent::Packed(memory) => drop(memory),
            Spent::Received(arrived) => api.iter().for_each(|api| api.give_back(&arrived.message)),
        }
    }
}

/// The lengths of the last send buffers.
#[derive(Default)]
pub(crate) struct Lengths {
    last: [usize; LATELY],
    at: usize,
}

impl Lengths {
    pub(crate) const NONE: Lengths = Lengths { last: [0; LATELY], at: 0 };

    fn add(&mut self, length: usize) {
        self.last[self.at] = length;
        self.at = (self.at + 1) % LATELY;
    }

    /// Whether memory of this size may stay for the next send buffers. Growing memory may be twice as long as its data.
    #[inline]
    fn may_need(&self, bytes: usize) -> bool {
        bytes <= SPARE
            || bytes <= SPARE_AT_MOST && self.last.iter().filter(|length| bytes / 2 <= **length).count() >= 2
    }
}

impl Locked {
    /// Works on a buffer with the state given away. The buffer keeps its id, but other threads do not find it.
    pub(crate) fn aside<R>(&mut self, id: i32, work: impl FnOnce(&mut Buffer) -> R) -> Pvm<R> {
        self.buffer(id)?;
        let mut buffer = self.buffers[id as usize - 1].take().ok_or(PvmError::NoSuchBuf)?;
        let result = self.outside(|| work(&mut buffer));
        // Another thread may have left the virtual machine in between, which frees all buffers.
        if let Some(place @ None) = self.buffers.get_mut(id as usize - 1) {
            *place = Some(buffer);
        }
        Ok(result)
    }

    /// Works on the active send buffer; without the state if there are many bytes to work on.
    #[inline]
    pub(crate) fn on_packed<R>(&mut self, bytes: usize, work: impl FnOnce(&mut Packed) -> Pvm<R>) -> Pvm<R> {
        let packed = self.packing()?;
        if bytes < LONG {
            return work(packed);
        }
        self.aside(self.sending, |buffer| match buffer {
            Buffer::Packed(packed) => work(packed),
            _ => Err(PvmError::NoBuf),
        })?
    }

    /// Works on the active receive buffer; without the state if there are many bytes to work on.
    #[inline]
    pub(crate) fn on_arrived<R>(
        &mut self,
        bytes: usize,
        work: impl FnOnce(&mut Arrived) -> Pvm<R>,
    ) -> Pvm<R> {
        let arrived = self.unpacking()?;
        if bytes < LONG {
            return work(arrived);
        }
        self.aside(self.receiving, |buffer| match buffer {
            Buffer::Arrived(arrived) => work(arrived),
            _ => Err(PvmError::NoBuf),
        })?
    }

    /// The bytes of a message, with the table of types at the end of a typed message, and the word about them.
    pub(crate) fn whole(&mut self, id: i32) -> Pvm<(u32, Vec<u8>)> {
        self.bring(id)?;
        let read = |buffer: &mut Buffer| match buffer {
            Buffer::Packed(packed) => {
                packed.seal();
                Ok((packed.meta(), with_pieces(packed, |pieces| pieces.concat())))
            }
            Buffer::Arrived(arrived) => Ok((arrived.message.meta, bytes_of(&arrived.message).to_vec())),
            Buffer::Found(_) => Err(PvmError::NoSuchBuf),
        };
        if self.length(id)? < LONG { read(self.buffer(id)?) } else { self.aside(id, read)? }
    }
}

impl State {
    /// The active send buffer, whichever kind it is.
    pub(crate) fn active(&mut self) -> Pvm<&mut Buffer> {
        self.buffer(self.sending)
    }

    /// The buffer that a probed message of that name has.
    pub(crate) fn found_buffer(&self, handle: u64) -> Option<i32> {
        let is =
            |buffer: &Option<Buffer>| matches!(buffer, Some(Buffer::Found(found)) if found.handle == handle);
        self.buffers.iter().position(is).map(|at| at as i32 + 1)
    }

    /// Bytes of a message.
    pub(crate) fn length(&mut self, id: i32) -> Pvm<usize> {
        Ok(match self.buffer(id)? {
            Buffer::Packed(packed) => packed.length(),
            Buffer::Arrived(arrived) => arrived.length,
            Buffer::Found(found) => {
                (found.length as usize).saturating_sub(crate::buffers::buffer::table_length(found.meta))
            }
        })
    }

    /// The properties of a message.
    pub(crate) fn info(&mut self, id: i32) -> Pvm<Info> {
        let of = |message: &Message| {
            // A message that was not sent has no receiver.
            let (from, to) = (Some(message.from), None);
            let (context, tag) = (message.context as i32, message.tag);
            let wait_id = crate::buffers::buffer::wait_id(message.meta);
            Info { context, tag, wait_id, from, to, ..Info::default() }
        };
        Ok(match self.buffer(id)? {
            Buffer::Packed(packed) => {
                packed.info.as_deref().copied().unwrap_or(Info { to: Some(0), ..Info::default() })
            }
            Buffer::Arrived(arrived) => {
                arrived.info.as_deref().copied().unwrap_or_else(|| of(&arrived.message))
            }
            Buffer::Found(found) => of(found),
        })
    }

    pub(crate) fn set_info(&mut self, id: i32, info: Info) -> Pvm<i32> {
        match self.buffer(id)? {
            Buffer::Packed(packed) => packed.info = Some(Box::new(info)),
            Buffer::Arrived(arrived) => arrived.info = Some(Box::new(info)),
            Buffer::Found(_) => return Err(PvmError::NoSuchBuf),
        }
        Ok(0)
    }

    /// Tag, sender and context of a message.
    pub(crate) fn envelope(&mut self, id: i32) -> Pvm<(i32, i32, u32)> {
        let info = self.info(id)?;
        Ok((info.tag, info.from.unwrap_or(0), info.context as u32))
    }

    /// Makes a buffer the active receive buffer, and frees the one before.
    pub(crate) fn make_receiving(&mut self, id: i32) {
        if self.receiving != 0 && self.receiving != id && self.receiving != self.sending {
            self.free(self.receiving);
        }
        self.receiving = id;
    }

    /// A message that was found and not received gets a buffer, once.
    pub(crate) fn found(&mut self, message: Message) -> i32 {
        self.found_buffer(message.handle).unwrap_or_else(|| {
            self.found += 1;
            self.keep(Buffer::Found(Box::new(message)))
        })
    }

    /// A found message was received.
    pub(crate) fn replace_found(&mut self, id: i32, arrived: Arrived) {
        if let Ok(buffer) = self.buffer(id) {
            *buffer = Buffer::Arrived(Box::new(arrived));
            self.found -= 1;
        }
    }

    /// How many buffers there are, and how many bytes they hold.
    pub(crate) fn buffers_held(&self) -> (usize, usize) {
        let length = |buffer: &Buffer| match buffer {
            Buffer::Packed(packed) => packed.length(),
            Buffer::Arrived(arrived) => arrived.length,
            Buffer::Found(_) => 0,
        };
        let held = self.buffers.iter().flatten();
        (held.clone().count(), held.map(length).sum())
    }

    /// Keeps a buffer under an id.
    #[inline]
    pub(crate) fn keep(&mut self, buffer: Buffer) -> i32 {
        match self.unused.pop() {
            Some(id) => {
                self.buffers[id as usize - 1] = Some(buffer);
                id
            }
            None => {
                self.buffers.push(Some(buffer));
                self.buffers.len() as i32
            }
        }
    }

    /// The buffer of that id.
    pub(crate) fn buffer(&mut self, id: i32) -> Pvm<&mut Buffer> {
        if id < 1 {
            return Err(PvmError::BadParam);
        }
        self.buffers.get_mut(id as usize - 1).and_then(Option::as_mut).ok_or(PvmError::NoSuchBuf)
    }

    /// Frees a buffer, if there is one of that id.
    pub(crate) fn free(&mut self, id: i32) {
        let Some(buffer) = self.buffers.get_mut((id as usize).wrapping_sub(1)).and_then(Option::take) else {
            return;
        };
        self.unused.push(id);
        match buffer {
            Buffer::Packed(packed) => {
                self.lengths.add(packed.data.len());
                self.keep_memory(packed.data);
            }
            Buffer::Arrived(arrived) => {
                self.remote -= usize::from(arrived.message.is_remote());
                if arrived.length >= LONG {
                    self.spent.push(Spent::Received(arrived));
                    return;
                }
                if let Some(api) = self.api {
                    api.give_back(&arrived.message);
                }
                self.keep_blank(arrived);
            }
            Buffer::Found(_) => self.found -= 1,
        }
    }

    /// Room to receive a message into. The properties of a message are larger than a short message, so they are boxed
    /// and not moved.
    #[inline]
    pub(crate) fn blank(&mut self) -> Box<Arrived> {
        self.blanks.pop().unwrap_or_else(|| Box::new(Arrived::BLANK))
    }

    #[inline]
    pub(crate) fn keep_blank(&mut self, mut arrived: Box<Arrived>) {
        if self.blanks.len() < BLANKS {
            arrived.clear();
            self.blanks.push(arrived);
        }
    }

    fn keep_memory(&mut self, data: Memory) {
        // Memory that the program needs no longer goes first.
        let unneeded = |memory: &mut Memory| !self.lengths.may_need(memory.capacity());
        self.spent.extend(self.spare.extract_if(.., unneeded).map(Spent::Packed));
        let mut kept: usize = self.spare.iter().map(Memory::capacity).sum();
        while !self.lengths.may_need(kept)
            && let Some(memory) = self.spare.pop()
        {
            kept -= memory.capacity();
            self.spent.push(Spent::Packed(memory));
        }
        if data.capacity() > 0 && self.lengths.may_need(kept + data.capacity()) {
            self.spare.push(data);
        } else if data.capacity() >= LONG {
            self.spent.push(Spent::Packed(data));
        }
    }

    /// Memory for a new send buffer: empty, and no longer used by a message on its way.
    fn memory(&mut self) -> Memory {
        let unused = self.spare.iter_mut().position(Memory::empty);
        unused.map_or_else(Memory::default, |at| self.spare.swap_remove(at))
    }

    /// A new, empty buffer to pack into.
    pub(crate) fn make(&mut self, packing: Packing) -> i32 {
        let data = self.memory();
        self.keep(Buffer::Packed(Box::new(Packed::new(packing, data))))
    }

    /// Clears the active send buffer, as if the program had freed it and made it again with the same id.
    #[inline]
    pub(crate) fn begin(&mut self, packing: Packing) -> i32 {
        let sending = self.sending;
        if let Some(Some(Buffer::Packed(packed))) = self.buffers.get_mut((sending as usize).wrapping_sub(1))
            && self.lengths.may_need(packed.data.capacity())
        {
            let length = packed.data.len();
            if packed.start_anew(packing) {
                self.lengths.add(length);
                return sending;
            }
        }
        self.free(sending);
        self.sending = self.make(packing);
        self.sending
    }

    /// The active send buffer.
    #[inline]
    pub(crate) fn packing(&mut self) -> Pvm<&mut Packed> {
        match self.buffers.get_mut((self.sending as usize).wrapping_sub(1)) {
            Some(Some(Buffer::Packed(packed))) => Ok(packed),
            _ => Err(PvmError::NoBuf),
        }
    }

    /// The active receive buffer.
    #[inline]
    pub(crate) fn unpacking(&mut self) -> Pvm<&mut Arrived> {
        match self.buffers.get_mut((self.receiving as usize).wrapping_sub(1)) {
            Some(Some(Buffer::Arrived(arrived))) => Ok(arrived),
            _ => Err(PvmError::NoBuf),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_memory_stays_only_for_lengths_used_twice_lately() {
        let (long, mut lengths) = (16 << 20, Lengths::NONE);
        assert!(lengths.may_need(SPARE) && !lengths.may_need(long));
        lengths.add(long);
        assert!(!lengths.may_need(long), "a single long message");
        lengths.add(100);
        lengths.add(long);
        assert!(lengths.may_need(long) && lengths.may_need(2 * long), "memory grows in doubles");
        assert!(!lengths.may_need(4 * long));
        (0..2).for_each(|_| lengths.add(1 << 30));
        assert!(!lengths.may_need(1 << 30), "the bound");
        (0..2).for_each(|_| lengths.add(long));
        (0..LATELY - 1).for_each(|_| lengths.add(100));
        assert!(!lengths.may_need(long));
    }
}
