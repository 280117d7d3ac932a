//! Receives that nobody waits for any more: a signal handler has jumped out of the call that they were for.
//!
//! Such a receive is taken back. What it had been given goes among the unexpected messages again, before those that the same
//! sender sent later; data that had gone to memory of the program's own is the program's.

use crate::arrive::Core;
use crate::engine::{Engine, OWN_PEER};
use crate::message::Envelope;
use crate::queues::{Body, Message};
use crate::requests::{Completed, Outcome, RequestId};

impl Engine {
    /// Takes back a receive, whatever has become of it, and forgets it. A message that is on its way to it is put back
    /// when it is here.
    pub fn give_up(&mut self, id: RequestId) {
        if self.cancel(id) {
            self.core.requests.take(id);
        } else if self.core.requests.is_known(id) {
            self.core.given_up.push(id);
            self.put_back_given_up();
        }
    }

    /// Puts back what receives that were given up have been given meanwhile. Whether anything was.
    pub(crate) fn put_back_given_up(&mut self) -> bool {
        let mut waiting = std::mem::take(&mut self.core.given_up);
        let over = waiting.extract_if(.., |id| self.core.requests.is_over(*id)).collect::<Vec<_>>();
        self.core.given_up = waiting;
        over.iter().for_each(|&id| self.core.put_back(id));
        !over.is_empty()
    }
}

impl Core {
    /// The message of a receive that is over and given up becomes anybody's.
    fn put_back(&mut self, id: RequestId) {
        let Some(Outcome::Received(Completed { envelope, block, remote })) = self.requests.take(id) else {
            return;
        };
        let message = match (block, remote) {
            // Its sender has had its credit back: it counts as this task's own.
            (Some(block), _) => Message::new(envelope, OWN_PEER, 0, Body::Whole(block)),
            (None, Some(remote)) => remote.into_message(),
            (None, None) => return,
        };
        let later = |other: &Envelope| match (other.order, envelope.order) {
            (Some(other_order), Some(order)) => {
                other.from == envelope.from && (other_order.wrapping_sub(order) as i32) > 0
            }
            _ => false,
        };
        let next = self.queues.find(|_, other| later(other));
        let arrival = next.and_then(|next| self.queues.get(next)).map(|next| next.arrival);
        let id = self.queues.store(message);
        match (arrival, self.queues.get_mut(id)) {
            (Some(arrival), Some(message)) => {
                message.arrival = arrival;
                self.queues.unhide(id);
            }
            _ => self.enqueue(id),
        }
        self.publish_waiting();
    }
}
