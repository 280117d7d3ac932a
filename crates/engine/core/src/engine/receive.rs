//! Receiving: posting, matching what has arrived, probing, cancelling.

use super::Engine;
use crate::ids::{MessageId, RequestId};
use crate::peers::OWN_PEER;
use crate::receiving::message::{Block, Envelope, Pattern};
use crate::requests::{Completed, Destination, Outcome, Receive, State};

/// The answer to [`Engine::test`].
#[derive(Debug)]
pub enum Received {
    /// Not yet.
    Pending,
    /// It is over. The id is stale from now on, except after [`Engine::take_and_rest`].
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
    /// `None` if another call has received it.
    pub fn receive_message(&mut self, message: MessageId, into: Destination) -> Option<RequestId> {
        self.core.queues.get(message)?;
        self.core.queues.end_extraction(message);
        let receive = Receive { only: true, ..Receive::new(Pattern::ANY, into, false) };
        Some(self.start_receive(receive, Some(message), false))
    }

    pub(super) fn start_receive(
        &mut self,
        receive: Receive,
        found: Option<MessageId>,
        announced: bool,
    ) -> RequestId {
        let (pattern, urgent, turn) = (receive.pattern, receive.urgent, self.core.queues.next_turn());
        let receive = Receive { turn, ..receive };
        let id = self.core.requests.insert(State::Receiving(receive), announced);
        self.match_or_post(id, found, turn, (pattern, urgent));
        id
    }

    fn match_or_post(
        &mut self,
        id: RequestId,
        found: Option<MessageId>,
        turn: u64,
        (pattern, urgent): (Pattern, bool),
    ) {
        match found {
            Some(message) => {
                self.core.take_unexpected(&mut self.peers, message, id);
                self.wind_up();
            }
            None => {
                self.core.queues.post(turn, pattern, id, urgent);
                if !urgent {
                    self.peers.say_awaited(&pattern);
                }
            }
        }
    }

    /// Posts a receive again whose outcome [`Engine::take_and_rest`] has taken: under the same id, so threads that wait
    /// for the id go on waiting. False: no receive rests under the id.
    pub fn resume(&mut self, id: RequestId, pattern: Pattern, into: Destination) -> bool {
        let turn = self.core.queues.next_turn();
        let receive = Receive { turn, ..Receive::new(pattern, into, false) };
        if !self.core.requests.resume(id, receive) {
            return false;
        }
        let found = self.core.queues.find_match(&pattern);
        self.match_or_post(id, found, turn, (pattern, false));
        true
    }

    /// As [`Engine::test`]. The id stays, for [`Engine::resume`]: until then the operation is not over.
    pub fn take_and_rest(&mut self, id: RequestId) -> Received {
        match self.core.requests.take_and_rest(id) {
            Some(outcome) => Received::Over(outcome),
            None => Received::Pending,
        }
    }

    /// Whether an operation is over; asks and changes nothing.
    #[inline]
    pub fn is_over(&self, id: RequestId) -> bool {
        self.core.requests.is_over(id)
    }

    /// Whether `id` names an operation whose outcome has not been taken, or a receive that rests.
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

    /// Cancels a receive without a message, a receive that has [claimed](Engine::claim) a message, or a receive whose
    /// sender has not filled in its data yet. The receive then never existed. `false` when it is too late: the
    /// operation will be over by itself.
    pub fn cancel(&mut self, id: RequestId) -> bool {
        self.end_waiting(id);
        let was_posted = self.core.queues.withdraw(id)
            || self.core.give_up_claim(&mut self.peers, id)
            || self.core.give_up_pull(&mut self.peers, id);
        if !was_posted && self.core.requests.end_rest(id) {
            return true;
        }
        if was_posted {
            self.core.requests.finish(id, Outcome::Cancelled);
            self.wind_up();
        }
        was_posted
    }

    /// Cancels and forgets a receive in any state, because a signal handler has jumped out of its call. Its message
    /// goes back to the unexpected messages, before later messages of the same sender. Data that went to memory of the
    /// program stays there. A message that is on its way to it is put back when it is here.
    pub fn give_up(&mut self, id: RequestId) {
        if self.cancel(id) {
            self.core.requests.take(id);
        } else if self.core.requests.is_known(id) {
            self.core.given_up.push(id);
            self.core.put_back_given_up(&mut self.peers);
            self.wind_up();
        }
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

    /// Adds a message that came from no peer to the unexpected messages, or gives it to a receive. Examples are notices
    /// of the daemon, and messages that an interface makes itself.
    pub fn inject(&mut self, envelope: Envelope, data: &[u8]) {
        // Messages of the daemon are short, and were in memory a moment ago.
        let Some(mut block) = Block::new(data.len() as u64, &mut self.core.pool) else { return };
        block.bytes_mut().copy_from_slice(data);
        let envelope = Envelope { length: data.len() as u64, order: None, ..envelope };
        match self.core.queues.match_posted(&envelope) {
            Some(id) => self.core.deliver_block(id, envelope, block),
            None => self.core.enqueue_foreign(OWN_PEER, envelope, block),
        }
    }

    /// How many unexpected messages there have been: it changes when one comes.
    pub fn arrivals(&self) -> u64 {
        self.core.queues.arrivals
    }

    /// Gives the memory of a block back for later messages. If the engine has enough memory, the caller frees this
    /// block, best without the engine's lock, because freeing long memory takes long.
    pub fn recycle(&mut self, block: Block) -> Option<Vec<u8>> {
        self.core.pool.give(block.into_memory()?)
    }

    /// Takes the outcome of a receive that must be over, as its message.
    pub fn completed(&mut self, id: RequestId) -> Option<Completed> {
        match self.test(id) {
            Received::Over(Outcome::Received(completed)) => Some(completed),
            _ => None,
        }
    }
}
