//! A receive under way: what it wants, and the memory that its message goes to.

use crate::ids::MessageId;
use crate::memory::{UserBuffer, UserPieces};
use crate::receiving::message::{Block, Envelope, Pattern};
use crate::sending::scattered::{self, Scattered};
use std::io::IoSliceMut;

/// The destination of the data of a received message.
#[derive(Debug)]
pub enum Destination {
    /// In a block that the engine provides.
    Block,
    /// In place, if the memory outlives its sender: the data is copied later, piece by piece. Else in a block that the
    /// engine provides. See [`Remote`](crate::Remote).
    Lazily,
    /// As [`Destination::Lazily`]; and if it lies in memory of the sender's own, it may stay there too, and be lost with its sender.
    ByReference,
    /// In the program's own memory; data that does not fit is lost, and the outcome shows this.
    User(UserBuffer),
    /// As [`Destination::User`], in pieces of the program's memory.
    Pieces(Box<UserPieces>),
    /// As [`Destination::User`], in memory of the program's whose layout copies the data there.
    Scattered(Box<dyn Scattered>),
}

impl Destination {
    /// Whether it is memory of the program's.
    pub fn is_the_program_s(&self) -> bool {
        matches!(self, Destination::User(_) | Destination::Pieces(_) | Destination::Scattered(_))
    }
}

/// A receive under way.
pub(crate) struct Receive {
    pub(crate) pattern: Pattern,
    pub(crate) into: Destination,
    /// The message it has been matched with.
    pub(crate) matched: Option<Envelope>,
    /// The data so far, when it lies in a block.
    pub(crate) block: Option<Block>,
    pub(crate) urgent: bool,
    /// Its place among all receives, in the order they were posted.
    pub(crate) turn: u64,
    /// It takes the one message that it was given, and no other.
    pub(crate) only: bool,
    /// The message was received before, and counted; its data was left where it lies.
    pub(crate) again: bool,
    /// The unexpected message whose data this receive fetches.
    pub(crate) stands_for: Option<MessageId>,
    /// A thread copies the data: the memory is with that thread.
    pub(crate) is_taken: bool,
    /// The sender of data in place copies no part of the data.
    pub(crate) is_alone: bool,
}

impl Receive {
    /// A receive that no message has been matched with.
    pub(crate) fn new(pattern: Pattern, into: Destination, urgent: bool) -> Receive {
        let (matched, block, stands_for) = (None, None, None);
        let (only, again, is_taken, is_alone) = (false, false, false, false);
        Receive {
            pattern,
            into,
            matched,
            block,
            urgent,
            turn: 0,
            only,
            again,
            stands_for,
            is_taken,
            is_alone,
        }
    }

    /// The memory for byte `from` of the message on; shorter than asked where it, or a piece of it, ends. None of scattered memory.
    #[inline]
    pub(crate) fn room(&mut self, from: usize, length: usize) -> &mut [u8] {
        match (&mut self.into, &mut self.block) {
            (Destination::User(buffer), _) => part(buffer.bytes_mut(), from, length),
            (Destination::Pieces(pieces), _) => pieces.run(from, length),
            (Destination::Scattered(_), _) => &mut [],
            (_, Some(block)) => part(block.bytes_mut(), from, length),
            (_, None) => &mut [],
        }
    }

    /// Whether the memory of the receive is known to lie apart from these bytes.
    pub(crate) fn is_apart(&mut self, bytes: &[u8]) -> bool {
        match &mut self.into {
            Destination::User(buffer) => {
                let (room, bytes) = (buffer.bytes_mut().as_ptr_range(), bytes.as_ptr_range());
                room.end <= bytes.start || bytes.end <= room.start
            }
            Destination::Pieces(_) | Destination::Scattered(_) => false,
            Destination::Block | Destination::Lazily | Destination::ByReference => true,
        }
    }

    /// The same in all its pieces.
    pub(crate) fn rooms(&mut self, from: usize, length: usize) -> SomeRooms<'_> {
        match (&mut self.into, &mut self.block) {
            (Destination::User(buffer), _) => SomeRooms::one(part(buffer.bytes_mut(), from, length)),
            (Destination::Pieces(pieces), _) => SomeRooms::Many(pieces.runs(from, length)),
            (Destination::Scattered(_), _) => SomeRooms::one(&mut []),
            (_, Some(block)) => SomeRooms::one(part(block.bytes_mut(), from, length)),
            (_, None) => SomeRooms::one(&mut []),
        }
    }

    /// How many bytes of the message from `from` on there is memory for.
    pub(crate) fn room_behind(&self, from: usize) -> usize {
        let room = match (&self.into, &self.block) {
            (Destination::User(buffer), _) => buffer.length(),
            (Destination::Pieces(pieces), _) => pieces.length(),
            (Destination::Scattered(memory), _) => memory.length(),
            (_, Some(block)) => block.bytes().len(),
            (_, None) => 0,
        };
        room.saturating_sub(from)
    }

    /// Writes arriving data; what does not fit is dropped.
    #[inline]
    pub(crate) fn write(&mut self, mut from: usize, mut bytes: &[u8]) {
        if let Destination::Scattered(into) = &mut self.into {
            return scattered::write(&mut **into, from, bytes);
        }
        loop {
            let room = self.room(from, bytes.len());
            let (now, later) = bytes.split_at(room.len());
            room.copy_from_slice(now);
            if now.is_empty() || later.is_empty() {
                return;
            }
            (from, bytes) = (from + now.len(), later);
        }
    }
}

/// Memory in one piece or in many.
pub(crate) enum SomeRooms<'a> {
    One([IoSliceMut<'a>; 1]),
    Many(Vec<IoSliceMut<'a>>),
}

/// At most `length` bytes from byte `from` on, up to the end.
#[inline]
fn part(all: &mut [u8], from: usize, length: usize) -> &mut [u8] {
    let from = from.min(all.len());
    let length = length.min(all.len() - from);
    &mut all[from..from + length]
}

impl<'a> SomeRooms<'a> {
    fn one(room: &'a mut [u8]) -> SomeRooms<'a> {
        SomeRooms::One([IoSliceMut::new(room)])
    }

    pub(crate) fn all(&mut self) -> &mut [IoSliceMut<'a>] {
        match self {
            SomeRooms::One(one) => one,
            SomeRooms::Many(many) => many,
        }
    }
}
