//! Messages that somebody has found and taken out of matching, to receive them later: MPI's matched probe.
//!
//! Between a probe and the receive of what it found another thread may receive that message. One that is taken out is
//! nobody else's: no receive, probe or search sees it until it is received or put back. It is not matched for all that:
//! its data stays where it is, and its sender keeps its credit. When the sender goes before all of the data is to be had, who
//! receives it is told.

use super::Engine;
use crate::ids::MessageId;
use crate::matching::Body;
use crate::receiving::message::{Envelope, Pattern};

impl Engine {
    /// Takes the oldest unexpected message that matches out of matching. [`Engine::receive_message`] receives it, and
    /// [`Engine::put_back`] makes it anybody's again.
    pub fn extract(&mut self, pattern: &Pattern) -> Option<(MessageId, Envelope)> {
        let (id, envelope) = self.probe(pattern)?;
        self.core.extract(id);
        self.core.publish_waiting();
        Some((id, envelope))
    }

    /// Puts a message back into its old place among those that wait; a receive that was posted meanwhile may get it. `false`
    /// when it was not taken out, or was received.
    pub fn put_back(&mut self, id: MessageId) -> bool {
        if !self.core.queues.end_extraction(id) {
            return false;
        }
        match self.core.queues.get(id).map(|message| &message.body) {
            // Nobody could receive it.
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
