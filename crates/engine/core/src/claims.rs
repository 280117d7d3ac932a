//! Receives that take a message now and copy it later.
//!
//! A *claim* is a receive whose message had come before it was posted. No other receive gets that message any more, but
//! it stays in the engine's memory until somebody [fetches](Engine::fetch_claim) the claim: so an interface decides in which of
//! its calls the copy is made. A message that comes after the receive was posted is no claim; it goes where it shall lie.

use crate::engine::Engine;
use crate::message::Pattern;
use crate::queues::{Body, MessageId};
use crate::receive::{Destination, Receive};
use crate::requests::{RequestId, State};

/// A receive, and the message it has claimed.
#[derive(Clone, Copy)]
pub(crate) struct Claim {
    receive: RequestId,
    message: MessageId,
}

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
        self.core.claims.push(Claim { receive, message });
        self.core.publish_waiting();
        receive
    }

    /// How many claims nobody has settled.
    #[inline]
    pub fn claims(&self) -> usize {
        self.core.claims.len()
    }

    /// Whether that receive has claimed a message and not copied it.
    pub fn is_claim(&self, id: RequestId) -> bool {
        self.core.claims.iter().any(|claim| claim.receive == id)
    }

    /// Copies the message that a receive has claimed to where it shall lie; at once, or as soon as all of it is here.
    pub fn fetch_claim(&mut self, id: RequestId) {
        if let Some(at) = self.core.claims.iter().position(|claim| claim.receive == id) {
            let claim = self.core.claims.remove(at);
            self.take_unexpected(claim.message, claim.receive);
        }
    }

    /// Settles all claims, the oldest first.
    pub fn fetch_claims(&mut self) {
        for claim in std::mem::take(&mut self.core.claims) {
            self.take_unexpected(claim.message, claim.receive);
        }
    }

    /// The message is anybody's again, in its old place. `false` when the receive has claimed none.
    pub(crate) fn give_up_claim(&mut self, id: RequestId) -> bool {
        let Some(at) = self.core.claims.iter().position(|claim| claim.receive == id) else { return false };
        let claim = self.core.claims.remove(at);
        self.core.queues.unhide(claim.message);
        self.offer_again(claim.message);
        true
    }

    /// A message was put back: a receive that was posted meanwhile may want it.
    pub(crate) fn offer_again(&mut self, message: MessageId) {
        let Some(envelope) = self.core.queues.get(message).map(|message| message.envelope) else { return };
        if let Some(receive) = self.core.queues.match_posted(&envelope) {
            self.take_unexpected(message, receive);
        }
        self.core.publish_waiting();
    }

    /// A peer is gone: what it had not sent in full is lost to those who have claimed it. Who they are.
    pub(crate) fn take_claims_on(&mut self, index: usize) -> Vec<RequestId> {
        let mut lost = Vec::new();
        for Claim { receive, message } in std::mem::take(&mut self.core.claims) {
            let is_lost = self.core.queues.get(message).is_none_or(|stored| {
                stored.peer as usize == index && matches!(stored.body, Body::Filling { .. })
            });
            if is_lost {
                self.core.queues.remove(message);
                lost.push(receive);
            } else {
                self.core.claims.push(Claim { receive, message });
            }
        }
        lost
    }
}
