//! A message meets its receive: its data goes where the receive wants it, and the receive is over.

use crate::core::Core;
use crate::ids::{MessageId, RequestId};
use crate::ledger::Counter;
use crate::matching::{Body, Message};
use crate::peers::PeerState;
use crate::receiving::message::{Block, Envelope};
use crate::requests::{Completed, Destination, Outcome};
use crate::sending::credit::OVERHEAD;
use parvum_wire::frame::FETCH_AT_ONCE;

impl Core {
    /// A stored message has been matched. One whose data stays with the sender
    /// takes no memory here; its sender gets the credit back with the answer.
    pub(crate) fn consume_message(&mut self, state: &mut PeerState, id: MessageId) {
        let Some(message) = self.queues.get(id) else { return };
        if !matches!(message.body, Body::Offered { .. }) || message.flags & FETCH_AT_ONCE != 0 {
            self.consume(state, message.envelope.length + OVERHEAD);
        }
    }

    /// The receive now belongs to that message; it gets a block when it brought no memory. False: there is no memory
    /// for one, and so the receive is over.
    pub(super) fn begin_receive(&mut self, id: RequestId, envelope: Envelope, offered: bool) -> bool {
        let Some(receive) = self.requests.receive(id) else { return false };
        receive.matched = Some(envelope);
        // A block for offered data is found when it is fetched.
        if !offered && !receive.into.is_the_program_s() {
            receive.block = Block::new(envelope.length, &mut self.pool);
            if receive.block.is_none() {
                self.requests.finish(id, Outcome::NoMemory(envelope));
                return false;
            }
        }
        true
    }

    /// Gives a whole message to a receive.
    pub(crate) fn deliver_block(&mut self, id: RequestId, envelope: Envelope, block: Block) {
        let Some(receive) = self.requests.receive(id) else { return };
        receive.matched = Some(envelope);
        match receive.into {
            Destination::Block | Destination::Lazily | Destination::ByReference => {
                receive.block = Some(block)
            }
            Destination::User(_) | Destination::Pieces(_) | Destination::Scattered(_) => {
                receive.write(0, block.bytes());
                self.ledger.add(Counter::CopiedOut, envelope.length);
                self.ledger.add(Counter::CopiedFromHere, envelope.length);
                if let Some(memory) = block.into_memory() {
                    drop(self.pool.give(memory));
                }
            }
        }
        self.finish_receive(id);
    }

    /// Keeps a message that came from no peer until it is received.
    pub(crate) fn enqueue_foreign(&mut self, peer: u32, envelope: Envelope, block: Block) {
        let id = self.queues.store(Message::new(envelope, peer, 0, Body::Whole(block)));
        self.enqueue(id);
    }

    /// All data of a receive is in place.
    #[inline]
    pub(crate) fn finish_receive(&mut self, id: RequestId) {
        let Some(receive) = self.requests.take_receive(id) else { return };
        let Some(envelope) = receive.matched else { return };
        if let Some(message) = receive.stands_for {
            self.finish_unexpected(id, message, receive.block);
            return;
        }
        if !receive.again {
            self.count_received(&envelope);
        }
        self.requests
            .finish(id, Outcome::Received(Completed { envelope, block: receive.block, remote: None }));
    }

    /// The data of an unexpected message was fetched and is complete.
    fn finish_unexpected(&mut self, id: RequestId, message: MessageId, block: Option<Block>) {
        self.requests.finish(id, Outcome::Cancelled);
        self.requests.take(id);
        let Some(stored) = self.queues.get_mut(message) else { return };
        let Some(block) = block else { return };
        let Body::Filling { claimed, .. } = stored.body else { return };
        stored.body = Body::Whole(block);
        if let Some(request) = claimed
            && let Some(Message { envelope, body: Body::Whole(block), .. }) = self.queues.remove(message)
        {
            self.deliver_block(request, envelope, block);
        }
    }
}
