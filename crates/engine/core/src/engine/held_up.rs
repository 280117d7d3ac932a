//! Sends that wait for credit, and circles of them.
//!
//! Credit bounds what a receiver must keep; a sender that has none left waits until the receiver takes something. If
//! the receiver itself waits to send, to this task or to another waiting task, no task receives. PVM buffers without a
//! bound, so programs that ran on PVM would hang. A task that has waited for a while, and itself blocks other tasks,
//! therefore keeps its data in its own memory and continues. Beyond a limit the send fails. A task may wait to receive
//! while other messages use up the credit of a peer. It then lends this peer more credit, because the wanted message
//! may come after the others.
//!
//! How long "a while" is the caller knows: there are no clocks here.

use super::Engine;
use crate::ids::RequestId;
use crate::peers::PeerState;
use crate::receiving::message::Envelope;
use crate::requests::Outcome;
use crate::sending::credit::{OVERHEAD, PLACE};
use parvum_transport::Route;
use parvum_wire::Kind;

/// What [`Engine::keep`] answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeepOutcome {
    /// The send is over; its data is kept here until there is credit for it.
    Yes,
    /// The send does not wait for credit, or no task waits for this task: the caller should wait.
    NotNeeded,
    /// As much is kept as may be.
    Full,
}

impl Engine {
    /// Whether that send waits for credit.
    pub fn is_held_up(&self, request: RequestId) -> bool {
        self.held_up_at(request).is_some()
    }

    /// The peer that a send waits for, and its place in the queue, if it waits for credit.
    fn held_up_at(&self, request: RequestId) -> Option<(usize, usize)> {
        let credit = self.core.settings.credit;
        let waits = |state: &PeerState| state.outbox.current.is_none() && state.credit.outstanding >= credit;
        self.peers.iter().enumerate().filter(|(_, peer)| waits(&peer.state)).find_map(|(index, peer)| {
            let at = peer
                .state
                .outbox
                .queue
                .iter()
                .position(|pending| pending.request == request && pending.owned)?;
            Some((index, at))
        })
    }

    /// Bytes that are kept here for peers who are behind.
    fn kept(&self) -> u64 {
        self.peers.iter().map(|peer| peer.state.outbox.queued).sum()
    }

    /// The cost, for each peer, of messages that no receive has taken, here or at their sender.
    fn not_taken(&self) -> Vec<u64> {
        let mut costs = vec![0; self.peers.len()];
        self.core.queues.find(|id, envelope| {
            let peer = self.core.queues.get(id).map_or(0, |message| message.peer as usize);
            costs[peer] += envelope.length + OVERHEAD;
            false
        });
        costs
    }

    /// Whether a peer has used up its credit because this task has not received its messages.
    pub fn holds_up_others(&self) -> bool {
        let credit = self.core.settings.credit;
        self.not_taken()
            .into_iter()
            .zip(self.peers.iter())
            .any(|(cost, peer)| is_used_up(&peer.state, cost, credit))
    }

    /// Keeps the data of a send that waits for credit, if this task blocks others. Later sends to the same peer do the
    /// same until the peer gives credit. The limit for all peers is `limit` bytes.
    pub fn keep(&mut self, request: RequestId, limit: u64) -> KeepOutcome {
        let Some((index, _)) = self.held_up_at(request) else { return KeepOutcome::NotNeeded };
        if !self.holds_up_others() {
            return KeepOutcome::NotNeeded;
        }
        if self.kept() > limit {
            return KeepOutcome::Full;
        }
        self.keep_limit = limit;
        self.peers[index].state.credit.keeps = true;
        self.core.requests.finish(request, Outcome::Sent);
        KeepOutcome::Yes
    }

    /// Whether a send to the peer that finds no credit is kept at once, as those before it were.
    pub(super) fn keeps_for(&self, index: usize, length: u64) -> bool {
        self.peers[index].state.credit.keeps && self.kept() + length + PLACE <= self.keep_limit
    }

    /// Refuses a send that waits for credit, as if it had never been: [`Outcome::NoMemory`]. False: it is too late, or others
    /// stand behind it.
    pub fn refuse(&mut self, request: RequestId) -> bool {
        let Some((index, at)) = self.held_up_at(request) else { return false };
        let me = self.peers.me;
        let state = &mut self.peers[index].state;
        if at + 1 != state.outbox.queue.len() {
            return false;
        }
        let Some(pending) = state.outbox.take_back() else { return false };
        let envelope = Envelope {
            from: me,
            tag: pending.header.tag,
            context: pending.header.context,
            meta: pending.header.meta,
            length: pending.header.length,
            order: None,
        };
        self.core.publish_sends(state);
        self.core.requests.finish(request, Outcome::NoMemory(envelope));
        true
    }

    /// Lends credit to peers whose unreceived messages use up their credit, as long as all unreceived messages take
    /// less than `limit`. Whether any was lent.
    pub fn lend_credit(&mut self, limit: u64) -> bool {
        let credit = self.core.settings.credit;
        let not_taken = self.not_taken();
        if not_taken.iter().sum::<u64>() >= limit {
            return false;
        }
        let mut lent = false;
        for (index, cost) in not_taken.into_iter().enumerate() {
            let state = &mut self.peers[index].state;
            if !is_used_up(state, cost, credit) {
                continue;
            }
            let more = credit / 4;
            state.credit.lend(more);
            state.outbox.answer(state.route, Kind::Credit, more, 0);
            lent = true;
            self.core.push(&mut self.peers, index);
        }
        self.wind_up();
        lent
    }
}

/// Whether a peer must stop sending while messages of this cost are not received. Between a task and itself there is no
/// credit, and vacant places have no task.
fn is_used_up(state: &PeerState, not_taken: u64, credit: u64) -> bool {
    state.route != Route::OWN && state.credit.is_used_up(not_taken, credit)
}
