//! A receive and a message that has come before it, and how the two part again: put back, lost, or given up.
//!
//! Nothing here sends or pulls: answers are queued, and pulls noted for the engine to do directly after.

use crate::core::{Core, Fetch};
use crate::ids::{MessageId, RequestId};
use crate::ledger::Counter;
use crate::matching::{Body, Message};
use crate::peers::{OWN_PEER, Peers};
use crate::receiving::message::{Block, Envelope};
use crate::requests::{Completed, Outcome, Remote};
use parvum_wire::Tid;

impl Core {
    /// Joins an unexpected message and a receive.
    pub(crate) fn take_unexpected(&mut self, peers: &mut Peers, message: MessageId, id: RequestId) {
        self.hide(message);
        let Some(stored) = self.queues.get(message) else { return };
        let peer = stored.peer as usize;
        self.consume_message(&mut peers[peer].state, message);
        self.list_for_push(peers, peer);
        let Some(stored) = self.queues.get_mut(message) else { return };
        if let Body::Filling { claimed, .. } = &mut stored.body {
            *claimed = Some(id);
            return;
        }
        let Some(stored) = self.queues.remove(message) else { return };
        match stored.body {
            Body::Whole(block) => self.deliver_block(id, stored.envelope, block),
            Body::Offered { offer, route } => {
                if let Some(receive) = self.requests.receive(id) {
                    receive.matched = Some(stored.envelope);
                }
                let back = Some((stored.order(), stored.flags));
                self.fetches.push(Fetch { peer: stored.peer, route, offer, into: id, back });
            }
            Body::NoMemory => self.requests.finish(id, Outcome::NoMemory(stored.envelope)),
            Body::Gone => self.requests.finish(id, Outcome::Gone(stored.envelope.from)),
            Body::Filling { .. } => {}
        }
        self.publish_waiting();
    }

    /// The message that a receive has claimed is available again, in its old place. `false` when it has claimed none.
    pub(crate) fn give_up_claim(&mut self, peers: &mut Peers, id: RequestId) -> bool {
        let Some(claim) = self.queues.claims.take(id) else { return false };
        self.queues.unhide(claim.message);
        self.offer_again(peers, claim.message);
        true
    }

    /// A message was put back: a receive that was posted in between may want it.
    pub(crate) fn offer_again(&mut self, peers: &mut Peers, message: MessageId) {
        let Some(envelope) = self.queues.get(message).map(|message| message.envelope) else { return };
        if let Some(receive) = self.queues.match_posted(&envelope) {
            self.take_unexpected(peers, message, receive);
        }
        self.publish_waiting();
    }

    /// Drops a message. The receive that had been given to it.
    pub(crate) fn lose_message(&mut self, id: MessageId) -> Option<RequestId> {
        if self.queues.is_extracted(id) {
            self.queues.lose_extracted(id);
            self.ledger.add(Counter::Lost, 1);
            return None;
        }
        self.hide(id);
        match self.queues.remove(id)?.body {
            Body::Filling { claimed: Some(receive), .. } => Some(receive),
            _ => {
                self.ledger.add(Counter::Lost, 1);
                None
            }
        }
    }

    /// The message that a receive was given to cannot come any more. A receive that any task could satisfy waits again, in
    /// its old place, as if the message had never begun to come.
    pub(crate) fn wait_again(&mut self, peers: &mut Peers, id: RequestId, gone: Tid) {
        let Some(receive) = self.requests.receive(id) else { return };
        if let Some(message) = receive.stands_for {
            // No call knows this receive, but a call may wait for the message of this receive.
            self.requests.finish(id, Outcome::Gone(gone));
            self.requests.take(id);
            if let Some(waits) = self.lose_message(message) {
                self.wait_again(peers, waits, gone);
            }
            return;
        }
        if receive.only || receive.pattern.from.is_some() {
            return self.requests.finish(id, Outcome::Gone(gone));
        }
        receive.matched = None;
        let (pattern, turn, urgent) = (receive.pattern, receive.turn, receive.urgent);
        if let Some(memory) = receive.block.take().and_then(Block::into_memory) {
            drop(self.pool.give(memory));
        }
        match self.queues.find_match(&pattern) {
            Some(message) => self.take_unexpected(peers, message, id),
            None => self.queues.post(turn, pattern, id, urgent),
        }
    }

    /// Puts back messages that cancelled receives have got in between. Whether anything was.
    pub(crate) fn put_back_given_up(&mut self, peers: &mut Peers) -> bool {
        let mut waiting = std::mem::take(&mut self.given_up);
        let over = waiting.extract_if(.., |id| self.requests.is_over(*id)).collect::<Vec<_>>();
        self.given_up = waiting;
        for &id in &over {
            if let Some(message) = self.put_back(id) {
                self.offer_again(peers, message);
            }
        }
        !over.is_empty()
    }

    /// The message of a complete and cancelled receive becomes available again.
    fn put_back(&mut self, id: RequestId) -> Option<MessageId> {
        let Outcome::Received(Completed { envelope, block, remote }) = self.requests.take(id)? else {
            return None;
        };
        let message = match (block, remote) {
            // Its sender has had its credit back: it counts as this task's own.
            (Some(block), _) => Message::new(envelope, OWN_PEER, 0, Body::Whole(block)),
            (None, Some(Remote { peer, route, offer, envelope, .. })) => {
                Message::new(envelope, peer, 0, Body::Offered { offer, route })
            }
            (None, None) => return None,
        };
        // How many places later the other message of the same sender is in its order.
        let later = |other: &Envelope| match (other.order, envelope.order) {
            (Some(later), Some(order)) if other.from == envelope.from => later.wrapping_sub(order) as i32,
            _ => 0,
        };
        let next = self.queues.find(|_, other| later(other) > 0);
        let next = next.and_then(|next| self.queues.get(next));
        let place = next.map(|next| (next.arrival, next.put_back - later(&next.envelope) as u64));
        let id = self.queues.store(message);
        match (place, self.queues.get_mut(id)) {
            (Some(place), Some(message)) => {
                (message.arrival, message.put_back) = place;
                self.queues.unhide(id);
            }
            _ => self.enqueue(id),
        }
        Some(id)
    }
}
