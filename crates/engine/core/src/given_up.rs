//! Receives that nobody waits for any more: a signal handler has jumped out of the call that they were for.
//!
//! Such a receive is taken back. What it had been given goes among the unexpected messages again, before those that the same
//! sender sent later; data that had gone to memory of the program's own is the program's.

use crate::arrive::Core;
use crate::engine::{Engine, OWN_PEER};
use crate::message::Envelope;
use crate::queues::{Body, Message, MessageId};
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
        for &id in &over {
            if let Some(message) = self.core.put_back(id) {
                self.offer_again(message);
            }
        }
        !over.is_empty()
    }
}

impl Core {
    /// The message of a receive that is over and given up becomes anybody's.
    fn put_back(&mut self, id: RequestId) -> Option<MessageId> {
        let Outcome::Received(Completed { envelope, block, remote }) = self.requests.take(id)? else {
            return None;
        };
        let message = match (block, remote) {
            // Its sender has had its credit back: it counts as this task's own.
            (Some(block), _) => Message::new(envelope, OWN_PEER, 0, Body::Whole(block)),
            (None, Some(remote)) => remote.into_message(),
            (None, None) => return None,
        };
        // How many of the same sender's messages later.
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
