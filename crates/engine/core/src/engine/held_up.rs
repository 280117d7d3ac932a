//! Sends that wait for credit, and circles of them.
//!
//! Credit bounds what a receiver must keep; a sender that has none left waits until the receiver takes something. When the receiver
//! itself waits to send, to this task or to another that waits in turn, nobody takes anything: a program that ran on PVM,
//! which buffers without a bound, would stand still. So a task that has waited in vain for a while, and holds up others
//! itself, keeps the data that it sends in its own memory, and goes on; up to a limit, beyond which the send is refused. A task that
//! waits to receive while a peer's credit is used up by messages that it does not want now lends that peer more: what
//! it waits for may be behind them.
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
    /// It does not wait for credit, or nobody waits for this task: it is to be waited for.
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

    /// What the messages of each peer take that are here, or with their sender, and that no receive has taken.
    fn not_taken(&self) -> Vec<u64> {
        let mut costs = vec![0; self.peers.len()];
        self.core.queues.find(|id, envelope| {
            let peer = self.core.queues.get(id).map_or(0, |message| message.peer as usize);
            costs[peer] += envelope.length + OVERHEAD;
            false
        });
        costs
    }

    /// Whether messages that are not taken here use up what some peer may send.
    pub fn holds_up_others(&self) -> bool {
        let credit = self.core.settings.credit;
        self.not_taken()
            .into_iter()
            .zip(self.peers.iter())
            .any(|(cost, peer)| is_used_up(&peer.state, cost, credit))
    }

    /// Keeps what a send that waits for credit has to send, if this task holds up others meanwhile, and lets those
    /// that follow it to the same peer do likewise until the peer gives credit: `limit` bytes at most for all peers.
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

    /// Lends credit to peers whose messages, which nobody takes here, use up theirs; as long as all that is not
    /// taken is less than `limit`. Whether any was lent.
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

/// Whether a peer may send nothing more when messages of that cost are not taken. The task itself has no credit with itself, and
/// vacant places no task.
fn is_used_up(state: &PeerState, not_taken: u64, credit: u64) -> bool {
    state.route != Route::OWN && state.credit.is_used_up(not_taken, credit)
}
