//! Messages that a call has found and taken out of matching, to receive them later: MPI's matched probe.
//!
//! Between a probe and the receive of what it found another thread may receive that message. Receives, probes and
//! searches do not see an extracted message until it is received or put back. It is not matched for all that: its data
//! stays where it is, and its sender keeps its credit. If the sender goes before all data has come, the receive returns
//! an error.

use super::Engine;
use crate::ids::MessageId;
use crate::matching::Body;
use crate::receiving::message::{Envelope, Pattern};

impl Engine {
    /// Takes the oldest unexpected message that matches out of matching. [`Engine::receive_message`] receives it, and
    /// [`Engine::put_back`] makes it available again.
    pub fn extract(&mut self, pattern: &Pattern) -> Option<(MessageId, Envelope)> {
        let (id, envelope) = self.probe(pattern)?;
        self.core.extract(id);
        self.core.publish_waiting();
        Some((id, envelope))
    }

    /// Puts a message back into its old place in the queue. A receive that was posted in between may get it. `false`
    /// when it was not taken out, or was received.
    pub fn put_back(&mut self, id: MessageId) -> bool {
        if !self.core.queues.end_extraction(id) {
            return false;
        }
        match self.core.queues.get(id).map(|message| &message.body) {
            // No call could receive it.
            Some(Body::Gone) | None => drop(self.core.queues.remove(id)),
            Some(_) => {
                self.core.queues.unhide(id);
                self.core.offer_again(&mut self.peers, id);
                self.wind_up();
            }
        }
        true
    }
}
