//! The short path of a short message: into the link, and from the link straight to the waiting receive.
//!
//! If no receive is posted and no message is stored, a task that waits for one message may look at the links itself,
//! one frame at a time. A frame with the whole message is copied once, to its destination, without a request, queue or
//! store. Every other frame takes the usual way, and so does the receive from then on.

use super::Engine;
use crate::ledger::Counter;
use crate::peers::{OWN_PEER, Peer, is_awaited};
use crate::receiving::arrivals::{Arrivals, looks_around};
use crate::receiving::message::{Block, Envelope, Pattern};
use crate::sending::credit::OVERHEAD;
use crate::sending::outgoing::Buffering;
use parvum_transport::{Gather, Route, Sink};
use parvum_wire::frame::KEPT_BY_SENDER;
use parvum_wire::{Header, Kind, Tid};

/// The destination of the data of a message.
pub enum Room<'a> {
    /// In the program's memory; what does not fit is lost.
    Memory(&'a mut [u8]),
    /// Inside as far as [`Block::INLINE`] bytes, else in a block.
    Inside {
        /// For a short one.
        inside: &'a mut [u8; 64],
        /// For a longer one. Not a part of the answer: it is large, and seldom there.
        block: &'a mut Option<Block>,
    },
    /// In the program's memory if all of it fits there, else as [`Room::Inside`].
    Fitting {
        /// The program's.
        memory: &'a mut [u8],
        /// For a short one.
        inside: &'a mut [u8; 64],
        /// For a longer one.
        block: &'a mut Option<Block>,
    },
}

impl Room<'_> {
    /// Bytes of the program's memory.
    pub fn length(&self) -> usize {
        match self {
            Room::Memory(memory) | Room::Fitting { memory, .. } => memory.len(),
            Room::Inside { .. } => 0,
        }
    }
}

/// A message whose data goes into a link at once.
#[derive(Clone, Copy, Debug)]
pub struct Short<'a> {
    /// The user's tag.
    pub tag: i32,
    /// The tag's context.
    pub context: u32,
    /// The interface's word: how the data is encoded.
    pub meta: u32,
    /// The data.
    pub data: &'a [u8],
    /// The place where it may be buffered.
    pub buffering: Buffering,
}

/// The result of a look at the links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// The message. Its data and its properties are where the caller wanted them.
    Taken,
    /// Nothing.
    Nothing,
    /// Another frame, which took the usual way.
    Other,
}

struct Direct<'a, 'b> {
    usual: Arrivals<'a>,
    pattern: &'a Pattern,
    room: &'a mut Room<'b>,
    envelope: &'a mut Envelope,
    taken: bool,
}

impl Sink for Direct<'_, '_> {
    #[inline]
    fn frame(&mut self, header: &Header, payload: &[u8]) {
        let state = &*self.usual.state;
        let whole = header.kind == Kind::Start
            && header.length == payload.len() as u64
            && header.order == state.incoming.expected
            && state.incoming.early.is_empty();
        let Header { tag, context, meta, length, order, .. } = *header;
        let envelope = Envelope { from: state.tid, tag, context, meta, length, order: Some(order) };
        if !(whole && !self.taken && self.pattern.matches(&envelope) && self.take(&envelope, payload)) {
            self.usual.frame(header, payload);
        }
    }

    fn room(&mut self, length: usize) -> &mut [u8] {
        self.usual.room(length)
    }

    fn filled(&mut self, length: usize) {
        self.usual.filled(length);
    }
}

impl Direct<'_, '_> {
    /// False: there is no memory for the data.
    #[inline]
    fn take(&mut self, envelope: &Envelope, payload: &[u8]) -> bool {
        let Arrivals { core, state, route, .. } = &mut self.usual;
        match self.room {
            Room::Memory(memory) => {
                let fits = payload.len().min(memory.len());
                memory[..fits].copy_from_slice(&payload[..fits]);
            }
            Room::Fitting { memory, .. } if payload.len() <= memory.len() => {
                memory[..payload.len()].copy_from_slice(payload);
            }
            Room::Inside { inside, .. } | Room::Fitting { inside, .. } if payload.len() <= Block::INLINE => {
                inside[..payload.len()].copy_from_slice(payload);
            }
            Room::Inside { block, .. } | Room::Fitting { block, .. } => {
                let Some(new) = Block::new(payload.len() as u64, &mut core.pool) else { return false };
                block.insert(new).bytes_mut().copy_from_slice(payload);
            }
        }
        state.incoming.expected = state.incoming.expected.wrapping_add(1);
        let pair = state.ledger(*route);
        pair.add(Counter::ArrivedBytes, envelope.length);
        pair.add(Counter::Expected, 1);
        pair.add(Counter::CopiedOut, envelope.length);
        core.ledger.add(Counter::Received, 1);
        core.ledger.add(Counter::ReceivedBytes, envelope.length);
        core.record_received(envelope);
        core.consume(state, envelope.length + OVERHEAD);
        *self.envelope = *envelope;
        self.taken = true;
        true
    }
}

impl Engine {
    /// Sends a message whose data goes into the link at once. False when anything is in its way: it was not sent then,
    /// and [`Engine::send`] knows what to do. A message that must not be buffered goes only to a receive that is known
    /// to be posted. Its send is therefore complete for both kinds of completion.
    #[inline(always)]
    pub fn send_short(&mut self, to: Tid, over: Route, message: Short<'_>) -> bool {
        let Short { tag, context, meta, data, buffering } = message;
        let Some(index) = self.peers.index_of(to) else { return false };
        let Peer { links, state } = &mut self.peers[index];
        let (Some(limits), Some(link)) = (&state.limits[over.place()], &mut links[over.place()]) else {
            return false;
        };
        let asks = buffering == Buffering::SenderIfUnposted;
        let may_go = state.route == over
            // Else it is to be asked about first.
            && (!asks || state.offers.is_prompt)
            && buffering != Buffering::OrDiscard
            && data.len() <= limits.eager.min(limits.frame)
            && !limits.buffered
            && state.credit.outstanding < self.core.settings.credit
            && state.outbox.is_idle()
            // A recorder hears of a message before its receiver does, and once.
            && self.core.recorder.is_none();
        if !may_go {
            return false;
        }
        let (length, order) = (data.len() as u64, state.outbox.next_order);
        let flags = if asks { KEPT_BY_SENDER } else { 0 };
        let header = Header { kind: Kind::Start, flags, tag, context, length, meta, order };
        if buffering == Buffering::Never && !is_awaited(&**link, &header) {
            return false;
        }
        if link.send(&header, Gather::one(&[data])).is_err() {
            return false;
        }
        let ledger = state.ledger(over);
        ledger.add(Counter::Sent, 1);
        ledger.add(Counter::SentBytes, length);
        ledger.add(Counter::CopiedIn, length);
        state.outbox.next_order = order.wrapping_add(1);
        state.credit.outstanding += length + OVERHEAD;
        // Looked at only now: by the time that the peer's line has come here, the peer has the message.
        if asks && !is_awaited(&**link, &header) {
            state.offers.is_prompt = false;
            self.keep_what_went(index, header, Gather::one(&[data]));
        }
        true
    }

    /// Hands a message of this task to a receive of this task that begins now, with one copy. False: nothing has happened,
    /// because an earlier message or receive comes first, or because the two differ. The properties of the message go to
    /// `envelope`.
    #[inline]
    pub fn pass_to_self(
        &mut self,
        message: Short<'_>,
        pattern: &Pattern,
        room: &mut [u8],
        envelope: &mut Envelope,
    ) -> bool {
        let Short { tag, context, meta, data, .. } = message;
        let Peer { state, .. } = &mut self.peers[OWN_PEER as usize];
        let (from, length, order) = (state.tid, data.len() as u64, state.outbox.next_order);
        let passed = Envelope { from, tag, context, meta, length, order: Some(order) };
        // All messages of the task to itself have arrived, and none is stored.
        let is_next =
            state.incoming.expected == order && !looks_around(order) && self.core.recorder.is_none();
        if !(is_next && self.core.queues.is_empty() && pattern.matches(&passed)) {
            return false;
        }
        let fits = data.len().min(room.len());
        room[..fits].copy_from_slice(&data[..fits]);
        state.outbox.next_order = order.wrapping_add(1);
        state.incoming.expected = state.outbox.next_order;
        let pair = state.ledger(state.route);
        pair.add(Counter::Sent, 1);
        pair.add(Counter::SentBytes, length);
        pair.add(Counter::ArrivedBytes, length);
        pair.add(Counter::Expected, 1);
        pair.add(Counter::CopiedOut, length);
        self.core.ledger.add(Counter::Received, 1);
        self.core.ledger.add(Counter::ReceivedBytes, length);
        *envelope = passed;
        true
    }

    /// Whether the next message may go straight to a receive before the receive is posted. There must be no other
    /// receives, earlier messages and pending sends.
    #[inline]
    pub fn is_quiet(&self) -> bool {
        self.core.queues.is_empty() && !self.peers.has_output()
    }

    /// Looks once, only for a message of the pattern, at the links that it could come by. The properties of the message
    /// go to `envelope`. To be called only while the engine [is quiet](Engine::is_quiet). Never blocks.
    #[inline]
    pub fn take_next(&mut self, pattern: &Pattern, room: &mut Room<'_>, envelope: &mut Envelope) -> Look {
        if let Some(from) = pattern.from {
            let Some(index) = self.peers.index_of(from) else { return Look::Nothing };
            let route = self.peers[index].state.route;
            return self.look_at(index, route, pattern, room, envelope);
        }
        if self.peers.is_crowded() {
            return Look::Other;
        }
        let mut at = 0;
        while let Some((index, route)) = self.peers.polled_at(at) {
            match self.look_at(index, route, pattern, room, envelope) {
                Look::Nothing => at += 1,
                found => return found,
            }
        }
        Look::Nothing
    }

    #[inline(always)]
    fn look_at(
        &mut self,
        index: usize,
        route: Route,
        pattern: &Pattern,
        room: &mut Room<'_>,
        envelope: &mut Envelope,
    ) -> Look {
        let Peer { links, state } = &mut self.peers[index];
        let Some(link) = &mut links[route.place()] else { return Look::Nothing };
        let usual = Arrivals { core: &mut self.core, peer: index as u32, state: &mut *state, route };
        let mut direct = Direct { usual, pattern, room, envelope, taken: false };
        let got = link.receive(1, &mut direct);
        let taken = direct.taken;
        match got {
            Ok(0) => return Look::Nothing,
            Ok(_) if taken && state.outbox.answers.is_empty() => return Look::Taken,
            Ok(_) => self.core.after_arrivals(&mut self.peers, index),
            Err(_) => self.core.close(&mut self.peers, index, route),
        }
        self.wind_up();
        if taken { Look::Taken } else { Look::Other }
    }
}
