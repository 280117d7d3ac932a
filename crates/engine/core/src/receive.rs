//! Receiving: posting, matching what has arrived, probing, cancelling.

use crate::engine::Engine;
use crate::fetch::Fetch;
use crate::memory::{UserBuffer, UserPieces};
use crate::message::{Block, Envelope, Pattern};
use crate::queues::{Body, MessageId};
use crate::requests::{Completed, Outcome, RequestId, State};
use std::io::IoSliceMut;

/// Where the data of a received message shall lie.
#[derive(Debug)]
pub enum Destination {
    /// In a block that the engine provides.
    Block,
    /// Where it lies, if it lies in memory that outlives its sender: it is copied later, piece by piece. Else in a block
    /// that the engine provides. See [`Remote`](crate::Remote).
    Lazily,
    /// As [`Destination::Lazily`]; and if it lies in memory of the sender's own, it may stay there too, and be lost with its sender.
    ByReference,
    /// In the program's own memory; what does not fit is lost and the outcome says so.
    User(UserBuffer),
    /// As [`Destination::User`], in pieces of the program's memory.
    Pieces(Box<UserPieces>),
}

impl Destination {
    /// Whether it is memory of the program's.
    pub fn is_the_program_s(&self) -> bool {
        matches!(self, Destination::User(_) | Destination::Pieces(_))
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
    /// The message that this receive fetches the data of before anybody asked for it.
    pub(crate) stands_for: Option<MessageId>,
}

impl Receive {
    /// A receive that no message has been matched with.
    pub(crate) fn new(pattern: Pattern, into: Destination, urgent: bool) -> Receive {
        let (matched, block, stands_for) = (None, None, None);
        Receive { pattern, into, matched, block, urgent, turn: 0, only: false, again: false, stands_for }
    }

    /// The memory for byte `from` of the message on; shorter than asked where it, or a piece of it, ends.
    #[inline]
    pub(crate) fn room(&mut self, from: usize, length: usize) -> &mut [u8] {
        match (&mut self.into, &mut self.block) {
            (Destination::User(buffer), _) => part(buffer.bytes_mut(), from, length),
            (Destination::Pieces(pieces), _) => pieces.run(from, length),
            (_, Some(block)) => part(block.bytes_mut(), from, length),
            (_, None) => &mut [],
        }
    }

    /// The memory for byte `from` of the message on, in all its pieces.
    pub(crate) fn rooms(&mut self, from: usize, length: usize) -> SomeRooms<'_> {
        match (&mut self.into, &mut self.block) {
            (Destination::User(buffer), _) => SomeRooms::one(part(buffer.bytes_mut(), from, length)),
            (Destination::Pieces(pieces), _) => SomeRooms::Many(pieces.runs(from, length)),
            (_, Some(block)) => SomeRooms::one(part(block.bytes_mut(), from, length)),
            (_, None) => SomeRooms::one(&mut []),
        }
    }

    /// Writes arriving data; what does not fit is dropped.
    #[inline]
    pub(crate) fn write(&mut self, mut from: usize, mut bytes: &[u8]) {
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

/// So many bytes from byte `from` on, as far as there are any.
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

/// The answer to [`Engine::test`].
#[derive(Debug)]
pub enum Received {
    /// Not yet.
    Pending,
    /// It is over; the id is stale from now on.
    Over(Outcome),
}

impl Engine {
    /// Posts a receive. An unexpected message that matches is taken at once, the
    /// oldest first; else the next one to arrive.
    ///
    /// Handlers are `urgent`: they go before other receives. An `announced`
    /// receive is reported by [`Engine::next_completed`].
    pub fn post(&mut self, pattern: Pattern, into: Destination, urgent: bool, announced: bool) -> RequestId {
        let receive = Receive::new(pattern, into, urgent);
        let found = self.core.queues.find_match(&pattern);
        self.start_receive(receive, found, announced)
    }

    /// Receives one certain message that was found by [`Engine::probe`], [`Engine::find`] or [`Engine::extract`].
    /// `None` when somebody else has received it.
    pub fn receive_message(&mut self, message: MessageId, into: Destination) -> Option<RequestId> {
        self.core.queues.get(message)?;
        self.core.queues.end_extraction(message);
        let receive = Receive { only: true, ..Receive::new(Pattern::ANY, into, false) };
        Some(self.start_receive(receive, Some(message), false))
    }

    pub(crate) fn start_receive(
        &mut self,
        receive: Receive,
        found: Option<MessageId>,
        announced: bool,
    ) -> RequestId {
        let (pattern, urgent, turn) = (receive.pattern, receive.urgent, self.core.queues.next_turn());
        let receive = Receive { turn, ..receive };
        let id = self.core.requests.insert(State::Receiving(receive), announced);
        match found {
            Some(message) => self.take_unexpected(message, id),
            None => {
                self.core.queues.post(turn, pattern, id, urgent);
                if !urgent {
                    self.say_awaited(&pattern);
                }
            }
        }
        id
    }

    /// Joins an unexpected message and a receive.
    pub(crate) fn take_unexpected(&mut self, message: MessageId, id: RequestId) {
        self.core.hide(message);
        let Some(stored) = self.core.queues.get(message) else { return };
        let peer = stored.peer as usize;
        self.core.consume_message(&mut self.peers[peer].state, message);
        self.list_for_push(peer);
        let Some(stored) = self.core.queues.get_mut(message) else { return };
        if let Body::Filling { claimed, .. } = &mut stored.body {
            *claimed = Some(id);
            return;
        }
        let Some(stored) = self.core.queues.remove(message) else { return };
        match stored.body {
            Body::Whole(block) => self.core.deliver_block(id, stored.envelope, block),
            Body::Offered { offer, route } => {
                if let Some(receive) = self.core.requests.receive(id) {
                    receive.matched = Some(stored.envelope);
                }
                let back = Some((stored.order(), stored.flags));
                self.fetch(Fetch { peer: stored.peer, route, offer, into: id, back });
                self.push(peer);
            }
            Body::NoMemory => self.core.requests.finish(id, Outcome::NoMemory(stored.envelope)),
            Body::Gone => self.core.requests.finish(id, Outcome::Gone(stored.envelope.from)),
            Body::Filling { .. } => {}
        }
        self.core.publish_waiting();
    }

    /// Whether an operation is over; asks and changes nothing.
    #[inline]
    pub fn is_over(&self, id: RequestId) -> bool {
        self.core.requests.is_over(id)
    }

    /// Whether `id` names an operation whose outcome has not been taken.
    pub fn is_known(&mut self, id: RequestId) -> bool {
        self.core.requests.is_known(id)
    }

    /// Takes the outcome of an operation that is over; its id is stale afterwards.
    pub fn test(&mut self, id: RequestId) -> Received {
        match self.core.requests.take(id) {
            Some(outcome) => Received::Over(outcome),
            None => Received::Pending,
        }
    }

    /// How many operations have ended so far: as long as that stays, none of those under way is over.
    #[inline]
    pub fn finished(&self) -> u64 {
        self.core.requests.finished
    }

    /// The next announced operation that is over.
    pub fn next_completed(&mut self) -> Option<RequestId> {
        self.core.requests.next_announced()
    }

    /// Takes back a receive that no message has been matched with, that has [claimed](Engine::claim) one, or whose
    /// sender has not filled in its data yet: that is as if it had never been.
    /// `false` when it is too late: the operation will be over by itself.
    pub fn cancel(&mut self, id: RequestId) -> bool {
        let was_posted = self.core.queues.withdraw(id) || self.give_up_claim(id) || self.give_up_pull(id);
        if was_posted {
            self.core.requests.finish(id, Outcome::Cancelled);
        }
        was_posted
    }

    /// The oldest unexpected message that matches; it stays where it is.
    pub fn probe(&mut self, pattern: &Pattern) -> Option<(MessageId, Envelope)> {
        let id = self.core.queues.find_match(pattern)?;
        self.core.queues.get(id).map(|message| (id, message.envelope))
    }

    /// The oldest unexpected message that `wanted` accepts; it stays where it is.
    pub fn find(&self, wanted: impl FnMut(MessageId, &Envelope) -> bool) -> Option<(MessageId, Envelope)> {
        let id = self.core.queues.find(wanted)?;
        self.core.queues.get(id).map(|message| (id, message.envelope))
    }

    /// Puts a message that came from no peer among the unexpected ones, or gives
    /// it to a receive: notices of the machine, and what an interface makes itself.
    pub fn inject(&mut self, envelope: Envelope, data: &[u8]) {
        // What the machine says is short, and was in memory a moment ago.
        let Some(mut block) = Block::new(data.len() as u64, &mut self.core.pool) else { return };
        block.bytes_mut().copy_from_slice(data);
        let envelope = Envelope { length: data.len() as u64, order: None, ..envelope };
        let own = self.own_peer();
        match self.core.queues.match_posted(&envelope) {
            Some(id) => self.core.deliver_block(id, envelope, block),
            None => self.core.enqueue_foreign(own as u32, envelope, block),
        }
    }

    /// How many unexpected messages there have been: it changes when one comes.
    pub fn arrivals(&self) -> u64 {
        self.core.queues.arrivals
    }

    /// Gives the memory of a block back for later messages.
    pub fn recycle(&mut self, block: Block) {
        if let Some(memory) = block.into_memory() {
            self.core.pool.give(memory);
        }
    }

    /// Takes the outcome of a receive that must be over, as its message.
    pub fn completed(&mut self, id: RequestId) -> Option<Completed> {
        match self.test(id) {
            Received::Over(Outcome::Received(completed)) => Some(completed),
            _ => None,
        }
    }
}
