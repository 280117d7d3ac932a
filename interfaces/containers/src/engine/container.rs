//! A container of this task.

use super::station::Sight;
use super::{CONTEXT, call_of, memory, station, words};
use crate::errors::Error;
use crate::{Bounds, Received, Sender};
use parvum_api::{ANY_TASK, CoreApi, Message, Notes, Pattern, Status, TagKind};
use parvum_sync::{BiasedLock, fork};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// The number of messages after which a receiver looks for notes of tasks that cannot notify it.
const NOW_AND_THEN: u32 = 64;

/// See [`crate::MessageContainer`].
pub(crate) struct Container {
    api: CoreApi,
    generation: u32,
    pub(crate) number: i32,
    pub(crate) context: u32,
    pub(crate) bounds: Bounds,
    pattern: Pattern,
    notes: Notes,
    sight: Sight,
    /// Messages that had no room where they were received, the oldest first.
    kept: BiasedLock<VecDeque<Message>>,
    has_kept: AtomicBool,
    taken: AtomicU32,
}

/// A message that was received, wherever its data is. Gone, it is given back.
pub(crate) struct HeldMessage {
    api: CoreApi,
    message: Message,
}

impl Container {
    pub(crate) fn new(bounds: Bounds) -> Result<Container, Error> {
        station::with(|station| {
            let number = station.open()?;
            Ok(Container::at(station.api, number, CONTEXT, bounds))
        })
    }

    /// For what is sent under a tag of context 0, by whatever interface.
    pub(crate) fn tagged(tag: i32) -> Result<Container, Error> {
        if tag < 0 {
            return Err(Error::BadArgument);
        }
        station::with(|station| Ok(Container::at(station.api, tag, 0, Bounds::default())))
    }

    fn at(api: CoreApi, number: i32, context: u32, bounds: Bounds) -> Container {
        Container {
            api,
            generation: fork::generation(),
            number,
            context,
            bounds,
            pattern: Pattern {
                from: ANY_TASK,
                tags: TagKind::Exactly,
                tag: number,
                other: 0,
                context: context.into(),
            },
            notes: Notes {
                limit: -1,
                call: words::receive(),
                peer: ANY_TASK,
                tag: number,
                context: context as i32,
            },
            sight: Sight::new(api),
            kept: BiasedLock::new(VecDeque::new()),
            has_kept: AtomicBool::new(false),
            taken: AtomicU32::new(0),
        }
    }

    /// Receives, waiting at most `limit` nanoseconds; negative: without limit; 0: looks once.
    #[inline]
    pub(crate) fn receive(&self, room: &mut [u8], limit: i64) -> Result<Received, Error> {
        let mut message = Message::NONE;
        if let Some(kept) = self.before_receive(limit)? {
            return self.unload(&kept, room);
        }
        let notes = Notes { limit, ..self.notes };
        match self.api.receive_fitting(&self.pattern, room, &notes, &mut message) {
            Ok(true) => Ok(Received { length: message.length as usize, from: sender_of(&message) }),
            Ok(false) => self.unload(&message, room),
            Err(why) => Err(self.failed(why)),
        }
    }

    /// Copies a message out, if it fits, and gives it back; else it stays.
    #[inline(never)]
    fn unload(&self, message: &Message, room: &mut [u8]) -> Result<Received, Error> {
        let length = message.length as usize;
        let Some(room) = room.get_mut(..length) else { return Err(self.keep(*message)) };
        let copied = memory::copy(self.api, message, 0, room);
        self.api.give_back(message);
        copied.map_err(|why| self.failed(why))?;
        Ok(Received { length, from: sender_of(message) })
    }

    /// Receives without copying: the data stays where it is until it is read.
    pub(crate) fn receive_reference(&self, limit: i64) -> Result<HeldMessage, Error> {
        Ok(HeldMessage { api: self.api, message: self.next(limit)? })
    }

    fn next(&self, limit: i64) -> Result<Message, Error> {
        if let Some(message) = self.before_receive(limit)? {
            return Ok(message);
        }
        let notes = Notes { limit, ..self.notes };
        self.api.receive_by_reference(&self.pattern, &notes).map_err(|why| self.failed(why))
    }

    /// The oldest message that was kept, if there is one.
    #[inline]
    fn before_receive(&self, limit: i64) -> Result<Option<Message>, Error> {
        if self.generation != fork::generation() {
            return Err(Error::Forked);
        }
        // Relaxed: who keeps a message is this thread, or has let go of the turn.
        if self.has_kept.load(Ordering::Relaxed)
            && let Some(message) = self.oldest_kept()
        {
            return Ok(Some(message));
        }
        self.sight.take_notices();
        // Relaxed: a count for ourselves.
        let taken = self.taken.load(Ordering::Relaxed);
        self.taken.store(taken.wrapping_add(1), Ordering::Relaxed);
        if taken.is_multiple_of(NOW_AND_THEN) || limit == 0 {
            station::look_after(self.api);
        }
        Ok(None)
    }

    #[cold]
    fn oldest_kept(&self) -> Option<Message> {
        let mut kept = self.kept.take();
        let oldest = kept.pop_front();
        self.has_kept.store(!kept.is_empty(), Ordering::Relaxed);
        oldest
    }

    /// The message stays for a receive with more room, before all others.
    #[cold]
    fn keep(&self, message: Message) -> Error {
        let length = message.length as usize;
        self.kept.take().push_front(message);
        self.has_kept.store(true, Ordering::Relaxed);
        Error::NoRoom { length }
    }

    #[cold]
    fn failed(&self, why: Status) -> Error {
        Error::of(why, || self.api.last_error())
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        if self.generation != fork::generation() {
            return;
        }
        for message in self.kept.take().drain(..) {
            self.api.give_back(&message);
        }
        if self.context == CONTEXT {
            let _ = station::with(|station| {
                station.close(self.number);
                Ok(())
            });
        }
    }
}

impl HeldMessage {
    pub(crate) fn length(&self) -> usize {
        self.message.length as usize
    }

    pub(crate) fn from(&self) -> Sender {
        sender_of(&self.message)
    }

    pub(crate) fn is_with_sender(&self) -> bool {
        self.message.is_remote()
    }

    pub(crate) fn read(&self, from: usize, out: &mut [u8]) -> Result<(), Error> {
        if from.checked_add(out.len()).is_none_or(|end| end > self.length()) {
            return Err(Error::BadArgument);
        }
        memory::copy(self.api, &self.message, from, out).map_err(|why| Error::of(why, String::new))
    }
}

impl Drop for HeldMessage {
    fn drop(&mut self) {
        self.api.give_back(&self.message);
    }
}

#[inline]
fn sender_of(message: &Message) -> Sender {
    Sender { task: message.from, call: call_of(message.meta).unwrap_or(0), ..Sender::default() }
}
