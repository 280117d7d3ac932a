//! Sending and receiving: PVM's rules, over the engine.

use crate::buffers::buffer::{Arrived, Buffer};
use crate::errors::{Pvm, PvmError};
use crate::machine::attend::HowLong;
use crate::options;
use crate::state::Locked;
use crate::trace::{Did, numbers};
use parvum_api::{
    ANY_TASK, CoreApi, Data, Message, Notes, Pattern, Receiving, SendTo, Status, TagKind, call,
};
use parvum_api::{Buffering, Completion};
use parvum_wire::{EAGER, Tid, encoding};
use std::sync::Arc;

/// Data is fetched from a sender that keeps it for us: the answer is on its way.
const FETCH: Notes = Notes { limit: -1, call: call::RECEIVE, peer: -1, tag: -1, context: -1 };

impl Locked {
    /// Sends the active send buffer.
    pub(crate) fn send(&mut self, to: i32, tag: i32, context: u32) -> Pvm<i32> {
        let api = self.machine()?;
        self.can_send()?;
        if self.tracing.is_on() {
            let sending = self.sending;
            let length = self.length(sending).unwrap_or(0) as i32;
            self.about(|| {
                numbers([
                    (Did::Bytes, length),
                    (Did::Destination, to),
                    (Did::Tag, tag),
                    (Did::Context, context as i32),
                ])
            });
        }
        if context == crate::machine::group_server::CONTEXT && Tid(to) == Tid(self.me()?.tid).daemon() {
            return self.ask_group_server(tag);
        }
        let reserved = self.may_use_reserved_tags();
        if reserved && tag < 0 && !Tid(to).is_task() {
            return self.order_daemon(tag);
        }
        if (tag < 0 && !reserved) || !Tid(to).is_task() {
            return Err(PvmError::BadParam);
        }
        if let Ok(Buffer::Arrived(_)) = self.active() {
            return self.send_on(api, to, tag, context);
        }
        let packed = self.packing()?;
        let how = SendTo {
            to,
            tag,
            context,
            meta: packed.meta(),
            buffering: Buffering::AtSender,
            completion: Completion::Copied,
        };
        let notes = Notes { limit: -1, call: call::SEND, peer: to, tag, context: context as i32 };
        packed.seal();
        let is_short = packed.left.is_empty() && packed.data.len() <= EAGER;
        if is_short && self.joined.has(to) {
            let packed = self.packing()?;
            if let Some(sending) = crate::calls::Sending::start(api, &how, packed)? {
                self.outside(|| sending.finish(&notes))?;
            }
            return Ok(0);
        }
        // To join a task may take seconds, and to copy long data milliseconds.
        let pieces = self.packing()?.shared();
        self.outside(|| match pieces.is_one() && !is_short {
            true => api.send_owned(how, &pieces.data, &notes),
            false => pieces.with(|pieces| api.send(how, pieces, &notes)),
        })?;
        self.joined.add(to);
        Ok(0)
    }

    /// Sends the active send buffer to several tasks.
    pub(crate) fn multicast(&mut self, to: &[i32], tag: i32) -> Pvm<i32> {
        let (api, context) = (self.machine()?, self.context);
        if self.tracing.is_on() || to.len() < 2 {
            // The trace has a record of each.
            for &tid in to {
                let sent = self.send(tid, tag, context);
                self.forgive_absence(sent)?;
            }
            return Ok(0);
        }
        let how = |meta| SendTo {
            to: ANY_TASK,
            tag,
            context,
            meta,
            buffering: Buffering::AtSender,
            completion: Completion::Copied,
        };
        let notes = Notes { limit: -1, call: call::SEND, peer: ANY_TASK, tag, context: context as i32 };
        let sent = if let Ok(Buffer::Arrived(_)) = self.active() {
            let (data, meta) = self.received_again()?;
            self.outside(|| api.multicast(how(meta), to, Data::Owned(&data), &notes))?
        } else {
            let packed = self.packing()?;
            let how = how(packed.meta());
            packed.seal();
            let is_short = packed.data.len() <= EAGER;
            let pieces = packed.shared();
            self.outside(|| match pieces.is_one() && !is_short {
                true => api.multicast(how, to, Data::Owned(&pieces.data), &notes),
                false => pieces.with(|pieces| api.multicast(how, to, Data::Pieces(pieces), &notes)),
            })?
        };
        for sent in sent {
            self.forgive_absence(sent.map(|()| 0).map_err(PvmError::from))?;
        }
        Ok(0)
    }

    /// That the receiver is gone is no failure, but that the machine is.
    pub(crate) fn forgive_absence(&mut self, sent: Pvm<i32>) -> Pvm<i32> {
        match sent {
            Err(PvmError::NoTask) if self.here().is_some_and(|api| api.progress().lost) => {
                Err(PvmError::SysErr)
            }
            Err(PvmError::NoTask) => Ok(0),
            sent => sent,
        }
    }

    /// Whether the active send buffer has something to send: packed, or received.
    pub(crate) fn can_send(&mut self) -> Pvm<()> {
        match self.buffers.get((self.sending as usize).wrapping_sub(1)) {
            Some(Some(Buffer::Packed(_) | Buffer::Arrived(_))) => Ok(()),
            _ => Err(PvmError::NoBuf),
        }
    }

    /// Sends a received message on, as it came.
    fn send_on(&mut self, api: CoreApi, to: i32, tag: i32, context: u32) -> Pvm<i32> {
        let (data, meta) = self.received_again()?;
        let how =
            SendTo { to, tag, context, meta, buffering: Buffering::AtSender, completion: Completion::Copied };
        let notes = Notes { limit: -1, call: call::SEND, peer: to, tag, context: context as i32 };
        self.outside(|| api.send_owned(how, &data, &notes))?;
        Ok(0)
    }

    /// The data of the active send buffer, which is a received message, and how it is encoded. It is a copy: another thread may free the
    /// buffer while this one waits.
    fn received_again(&mut self) -> Pvm<(Arc<Vec<u8>>, u32)> {
        self.bring(self.sending)?;
        let Buffer::Arrived(arrived) = self.active()? else { return Err(PvmError::NoBuf) };
        Ok((Arc::new(crate::calls::bytes_of(&arrived.message).to_vec()), arrived.message.meta))
    }

    /// Receives; 0 when the time is over first. The message becomes the active receive buffer.
    pub(crate) fn receive(&mut self, from: i32, tag: i32, how_long: HowLong) -> Pvm<i32> {
        let api = self.machine()?;
        self.about_receive(from, tag);
        let (pattern, notes) = self.wanted(from, tag, how_long.limit(), how_long.call())?;
        if let Some(id) = self.receive_found(api, &pattern, &notes)? {
            self.make_receiving(id);
            return Ok(id);
        }
        let mut arrived = self.blank();
        if let Err(why) = self.receive_new(api, &pattern, &notes, &mut arrived.message) {
            self.keep_blank(arrived);
            return if why == Status::Pending { Ok(0) } else { Err(why.into()) };
        }
        let id = self.arrived(arrived)?;
        self.make_receiving(id);
        Ok(id)
    }

    /// Receives into the program's memory, as much as has room; the active receive buffer stays.
    /// `chosen` is the buffer of a found message to be taken, if that is settled.
    pub(crate) fn receive_into(
        &mut self,
        from: i32,
        tag: i32,
        room: &mut [u8],
        chosen: Option<i32>,
    ) -> Pvm<Message> {
        let api = self.machine()?;
        self.about_receive(from, tag);
        let (pattern, notes) = self.wanted(from, tag, -1, call::RECEIVE)?;
        if chosen.is_none() && self.found == 0 {
            let mut message = Message::NONE;
            self.receive_new(api, &pattern, &notes, &mut message)?;
            return copy_out(api, message, room);
        }
        self.bring_all();
        let found = match chosen {
            Some(id) => match self.buffer(id)? {
                Buffer::Found(found) => **found,
                _ => return Err(PvmError::NoSuchBuf),
            },
            None => self.outside(|| api.probe(&pattern, &notes))?,
        };
        // Its buffer, if a probe gave it one, names nothing any more.
        if let Some(id) = self.found_buffer(found.handle) {
            self.free(id);
        }
        copy_out(api, api.take(&found, Receiving::Block, &notes)?, room)
    }

    fn about_receive(&mut self, from: i32, tag: i32) {
        let context = self.context as i32;
        self.about(|| {
            numbers([(Did::WantedSource, from), (Did::WantedTag, tag), (Did::WantedContext, context)])
        });
    }

    /// Finds a message without receiving it; 0 when there is none.
    pub(crate) fn probe(&mut self, from: i32, tag: i32) -> Pvm<i32> {
        let api = self.machine()?;
        self.about_receive(from, tag);
        let (pattern, notes) = self.wanted(from, tag, 0, call::PROBE)?;
        match api.probe(&pattern, &notes) {
            Ok(message) => Ok(self.found(message)),
            Err(Status::Pending) => Ok(0),
            Err(why) => Err(why.into()),
        }
    }

    /// A message that was probed keeps its buffer's id when it is received.
    fn receive_found(&mut self, api: CoreApi, pattern: &Pattern, notes: &Notes) -> Pvm<Option<i32>> {
        if self.found == 0 {
            return Ok(None);
        }
        let Ok(first) = api.probe(pattern, &Notes { limit: 0, ..*notes }) else { return Ok(None) };
        let Some(id) = self.found_buffer(first.handle) else { return Ok(None) };
        let message = api.take(&first, Receiving::Block, notes)?;
        self.replace_found(id, Arrived::new(message));
        Ok(Some(id))
    }

    #[inline]
    fn receive_new(
        &mut self,
        api: CoreApi,
        pattern: &Pattern,
        notes: &Notes,
        out: &mut Message,
    ) -> Result<(), Status> {
        if self.remote == 0 {
            return self.outside(|| api.receive_lazily(pattern, notes, out));
        }
        // A task that holds data for this task may itself wait for this task, so this task must not wait before it has
        // the data.
        match api.receive_lazily(pattern, &Notes { limit: 0, call: call::RECEIVE, ..*notes }, out) {
            Err(Status::Pending) => {
                self.bring_all();
                if notes.limit == 0 {
                    Err(Status::Pending)
                } else {
                    self.outside(|| api.receive_lazily(pattern, notes, out))
                }
            }
            other => other,
        }
    }

    #[inline]
    fn arrived(&mut self, mut arrived: Box<Arrived>) -> Pvm<i32> {
        let message = &mut arrived.message;
        if message.is_remote() {
            // XDR is decoded from memory; raw data goes straight to where it is unpacked.
            if message.meta & encoding::MASK == encoding::XDR {
                let api = self.machine()?;
                *message = self.outside(|| api.fetch_remote(message, &FETCH))?;
            } else {
                self.remote += 1;
            }
        }
        arrived.understand();
        Ok(self.keep(Buffer::Arrived(arrived)))
    }

    /// Gets all data that is still with its sender, before this task waits for anything.
    pub(crate) fn bring_all(&mut self) {
        if self.remote == 0 {
            return;
        }
        for at in 1..=self.buffers.len() as i32 {
            // If the data is lost with its sender, unpacking reports the error.
            let _ = self.bring(at);
        }
    }

    /// Gets the data of a received message here. On an error the data is lost with its sender.
    pub(crate) fn bring(&mut self, id: i32) -> Pvm<()> {
        let api = self.machine()?;
        if !matches!(self.buffer(id), Ok(Buffer::Arrived(arrived)) if arrived.message.is_remote()) {
            return Ok(());
        }
        let brought = self.aside(id, |buffer| {
            let Buffer::Arrived(arrived) = buffer else { return Ok(()) };
            let brought = api.fetch_remote(&arrived.message, &FETCH);
            match brought {
                Ok(message) => arrived.message = message,
                Err(_) => {
                    arrived.message = arrived.message.without_data();
                    arrived.length = arrived.cursor;
                }
            }
            brought.map(|_| ())
        })?;
        self.remote -= 1;
        Ok(brought?)
    }

    /// The active receive buffer may have been read to its end: its sender need not keep it then.
    pub(crate) fn release_if_read(&mut self) {
        let Ok(arrived) = self.unpacking() else { return };
        if arrived.message.is_remote() && arrived.cursor == arrived.length {
            let read = arrived.message;
            arrived.message = read.without_data();
            self.remote -= 1;
            if let Some(api) = self.api {
                api.give_back(&read);
            }
        }
    }

    /// The pattern of a receive; invalid ids and tags are errors.
    fn wanted(&self, from: i32, tag: i32, limit: i64, call: u32) -> Pvm<(Pattern, Notes)> {
        self.check_wanted(from, tag)?;
        let tags = if tag == -1 { TagKind::Any } else { TagKind::Exactly };
        let context = i64::from(self.context);
        let pattern = Pattern { from, tags, tag, other: 0, context };
        Ok((pattern, Notes { limit, call, peer: from, tag, context: self.context as i32 }))
    }

    /// Refuses ids and tags that no message can have.
    pub(crate) fn check_wanted(&self, from: i32, tag: i32) -> Pvm<()> {
        let is_daemon = Tid(from) == Tid::LOCAL_DAEMON || (from > 0 && Tid(from).daemon() == Tid(from));
        let known = from == ANY_TASK || Tid(from).is_task() || is_daemon;
        if (tag < -1 && !self.may_use_reserved_tags()) || !known {
            return Err(PvmError::BadParam);
        }
        Ok(())
    }

    /// Whether the program asked to use tags that PVM keeps for itself.
    pub(crate) fn may_use_reserved_tags(&self) -> bool {
        self.options.as_ref().is_some_and(|options| options.get(options::RESERVED_TAGS) == Ok(1))
    }
}

/// Copies as much of a received message as has room, and gives the message back. Its data may still be with its sender.
/// The properties contain the length of the data, without the table of types at its end.
fn copy_out(api: CoreApi, message: Message, room: &mut [u8]) -> Pvm<Message> {
    let length = message.length.saturating_sub(crate::buffers::buffer::table_length(message.meta) as u64);
    let fits = room.len().min(length as usize);
    let room = &mut room[..fits];
    let read = match message.is_remote() {
        true => api.read_remote_into(&message, 0, room),
        false => {
            room.copy_from_slice(&crate::calls::bytes_of(&message)[..fits]);
            Ok(())
        }
    };
    api.give_back(&message);
    read?;
    Ok(Message { length, ..message })
}
