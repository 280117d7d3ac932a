//! Messages that came before their turn, over a quicker route than those before them.

use crate::core::{Core, Fetch};
use crate::ids::MessageId;
use crate::ledger::Counter;
use crate::matching::{Body, Message};
use crate::peers::PeerState;
use crate::requests::Outcome;
use crate::sending::credit::OVERHEAD;
use parvum_wire::frame::DISCARD_UNLESS_POSTED;

impl Core {
    /// Messages whose turn has come after the one before them.
    pub(super) fn release_early(&mut self, peer: u32, state: &mut PeerState) {
        while let Some(id) = state.incoming.next_early() {
            self.admit(peer, state, id);
        }
    }

    /// A stored message becomes visible: a receive takes it, or it is unexpected, or discarded.
    fn admit(&mut self, peer: u32, state: &mut PeerState, id: MessageId) {
        let Some(message) = self.queues.get_mut(id) else { return };
        let (envelope, flags) = (message.envelope, message.flags);
        let ledger = state.ledger(state.route);
        ledger.add(Counter::ArrivedBytes, envelope.length);
        let Some(request) = self.queues.match_posted(&envelope) else {
            let offered =
                matches!(self.queues.get(id).map(|message| &message.body), Some(Body::Offered { .. }));
            if flags & DISCARD_UNLESS_POSTED != 0 && !offered {
                ledger.add(Counter::Discarded, 1);
                self.consume(state, envelope.length + OVERHEAD);
                self.queues.remove(id);
            } else {
                ledger.add(Counter::Unexpected, 1);
                self.enqueue(id);
            }
            return;
        };
        ledger.add(Counter::Expected, 1);
        self.consume_message(state, id);
        if let Some(Message { body: Body::Filling { claimed, .. }, .. }) = self.queues.get_mut(id) {
            *claimed = Some(request);
            return;
        }
        match self.queues.remove(id).map(|message| message.body) {
            Some(Body::Whole(block)) => self.deliver_block(request, envelope, block),
            Some(Body::Offered { offer, route }) => {
                self.begin_receive(request, envelope, true);
                let back = Some(((self.queues.next_arrival(), u64::MAX), flags));
                self.fetches.push(Fetch { peer, route, offer, into: request, back });
            }
            Some(Body::NoMemory) => self.requests.finish(request, Outcome::NoMemory(envelope)),
            Some(Body::Filling { .. } | Body::Gone) | None => {}
        }
    }
}
