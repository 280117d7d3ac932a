//! Receives that take a message now and copy it later.
//!
//! A *claim* is a receive whose message had come before it was posted. Other receives can no longer get this message,
//! but it stays in the engine's memory until a call [fetches](Engine::fetch_claim) the claim. An interface can
//! therefore choose the call that makes the copy. A message that comes after the receive was posted is not a claim; it
//! goes to its destination.

use super::Engine;
use crate::ids::{MessageId, RequestId};
use crate::matching::{Body, Claim};
use crate::receiving::message::Pattern;
use crate::requests::{Destination, Receive, State};

impl Engine {
    /// Posts a receive that claims the oldest unexpected message that matches, if there is one in this task's memory. Data
    /// that is still with its sender is received at once.
    pub fn claim(&mut self, pattern: Pattern, into: Destination, announced: bool) -> RequestId {
        let receive = Receive { turn: self.core.queues.next_turn(), ..Receive::new(pattern, into, false) };
        let found = self.core.queues.find_match(&pattern);
        let is_here = |id: &MessageId| {
            let body = self.core.queues.get(*id).map(|message| &message.body);
            matches!(body, Some(Body::Whole(_) | Body::Filling { .. }))
        };
        let Some(message) = found.filter(is_here) else {
            return self.start_receive(receive, found, announced);
        };
        let receive = self.core.requests.insert(State::Receiving(receive), announced);
        self.core.hide(message);
        self.core.queues.claims.add(Claim { receive, message });
        self.core.publish_waiting();
        receive
    }

    /// The number of open claims.
    #[inline]
    pub fn claims(&self) -> usize {
        self.core.queues.claims.count()
    }

    /// Whether that receive has claimed a message and not copied it.
    pub fn is_claim(&self, id: RequestId) -> bool {
        self.core.queues.claims.has(id)
    }

    /// Copies the message that a receive has claimed to its destination, at once or as soon as all of it is here.
    pub fn fetch_claim(&mut self, id: RequestId) {
        if let Some(Claim { receive, message }) = self.core.queues.claims.take(id) {
            self.core.take_unexpected(&mut self.peers, message, receive);
            self.wind_up();
        }
    }

    /// Settles all claims, the oldest first.
    pub fn fetch_claims(&mut self) {
        for Claim { receive, message } in self.core.queues.claims.take_all() {
            self.core.take_unexpected(&mut self.peers, message, receive);
            self.wind_up();
        }
    }
}
