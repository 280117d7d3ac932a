//! Sends that ask whether a receive is posted: what has become of them, and the end of patience with them. See `rendezvous`.

use super::Engine;
use crate::core::Asker;
use crate::ids::RequestId;
use crate::ledger::Counter;
use crate::memory::Source;
use crate::peers::{Asking, Offered};
use crate::receiving::message::Pattern;
use crate::requests::{Destination, Outcome};
use crate::sending::credit::{OVERHEAD, PLACE};
use parvum_transport::{Gather, Limits, Route};
use parvum_wire::frame::{ASKING, KEPT};
use parvum_wire::{EAGER, Header, Kind, Tid};

/// The address of the copy of a message, for a peer that can read this task's memory. The peer then need not wait for
/// the next call of this task.
fn tells(limits: &[Option<Limits>; Route::BOUND], offered: &mut Offered) -> Option<u64> {
    limits[offered.route.place()].filter(|limits| limits.single_copy)?;
    let address = offered.source.address()?;
    offered.asked = Asking::Kept;
    Some(address)
}

/// The outcome of a send that asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AskOutcome {
    /// It is over.
    Over,
    /// The receiver has not answered yet.
    Unanswered,
    /// No receive was posted.
    Unposted,
    /// A receive is posted, and the data is on its way.
    Posted,
}

impl Engine {
    /// Publishes that this task awaits such a message, if only one peer could send it and the words suffice. To be called
    /// when nothing but its arrival, or the peer's end, will end the wait.
    #[inline]
    pub fn say_awaited(&mut self, pattern: &Pattern) {
        self.peers.say_awaited(pattern);
    }

    /// Publishes, where it matters to the sender, that this task waits for such a message just now, for which it has so much room.
    #[inline]
    pub fn start_waiting_for(&mut self, pattern: &Pattern, room: usize) {
        if room > EAGER {
            self.peers.say_wanted(pattern, room);
        }
    }

    /// The same of a receive, if no message has been matched with it. Whether that was published: it may have to be taken back.
    #[inline]
    pub fn start_waiting(&mut self, id: RequestId) -> bool {
        let wish = self.long_wish(id);
        if let Some((pattern, room)) = &wish {
            self.peers.say_wanted(pattern, *room);
        }
        wish.is_some()
    }

    /// The wait has ended without it.
    #[cold]
    pub fn end_waiting(&mut self, id: RequestId) {
        if let Some((pattern, _)) = self.long_wish(id) {
            self.peers.say_unwanted(&pattern);
        }
    }

    /// The wait for a message of the pattern has ended without the message. See [`Engine::start_waiting_for`].
    #[cold]
    pub fn end_waiting_for(&mut self, pattern: &Pattern) {
        self.peers.say_unwanted(pattern);
    }

    /// The pattern of a receive and the length of its room. `None`: the room has pieces, or it is too short for data that
    /// stays in place.
    #[inline]
    fn long_wish(&mut self, id: RequestId) -> Option<(Pattern, usize)> {
        let receive = self.core.requests.receive(id)?;
        let Destination::User(buffer) = &receive.into else { return None };
        let is_long = buffer.length() > EAGER && receive.matched.is_none();
        is_long.then_some((receive.pattern, buffer.length()))
    }

    /// A short message has left before its sender knew that no receive was posted: the sender keeps a copy.
    #[cold]
    pub(super) fn keep_what_went(&mut self, index: usize, header: Header, data: Gather<'_>) {
        let state = &mut self.peers[index].state;
        let mut copy = self.core.kept.take(data.len());
        data.copy_to(&mut copy);
        state.ledger(state.route).add(Counter::BufferedAtSender, header.length);
        let cookie = KEPT | ASKING | u64::from(header.order);
        let (route, cost) = (state.route, header.length + OVERHEAD);
        let source = Source::copied(copy);
        let mut offered = Offered { route, request: None, source, header, cost, asked: Asking::Unposted };
        let address = tells(&state.limits, &mut offered).unwrap_or(0);
        state.offers.all.insert(cookie, offered);
        state.outbox.say(route, Header::kept(cookie, address));
        self.core.push(&mut self.peers, index);
        self.wind_up();
    }

    /// Whether a sender has asked for a posted receive, and has no answer yet.
    #[inline]
    pub fn has_askers(&self) -> bool {
        !self.core.askers.is_empty()
    }

    /// Answers these senders that no receive was posted. Call this when the task continues to wait. The end of a wait
    /// often comes together with the next message, and the program posts the receive for that message a moment later.
    /// An answer that has become wrong is not heeded.
    #[cold]
    pub fn answer_askers(&mut self) {
        for Asker { peer, from, route, cookie } in std::mem::take(&mut self.core.askers) {
            let state = &mut self.peers[peer as usize].state;
            // Its place may be another's now.
            if state.tid == from {
                state.outbox.answer(route, Kind::Unposted, cookie, 0);
                self.core.push(&mut self.peers, peer as usize);
            }
        }
        self.wind_up();
    }

    /// How far a send to `to` has come that asks.
    pub fn asked(&mut self, to: Tid, id: RequestId) -> AskOutcome {
        if self.core.requests.is_over(id) {
            return AskOutcome::Over;
        }
        let Some(index) = self.peers.index_of(to) else { return AskOutcome::Over };
        let state = &mut self.peers[index].state;
        match state.offers.of_request(id) {
            Some((_, Offered { asked: Asking::Unanswered, .. })) => AskOutcome::Unanswered,
            Some((_, Offered { asked: Asking::Unposted, .. })) => AskOutcome::Unposted,
            Some(_) => AskOutcome::Posted,
            None if state.outbox.queue.iter().any(|pending| pending.request == id) => AskOutcome::Unanswered,
            None => AskOutcome::Posted,
        }
    }

    /// Ends the wait for an answer: copies the data of a send that asks, and the send is over. `false` when that is too late:
    /// the receiver may be reading the program's memory, and the send will be over when it has.
    pub fn keep_at_sender(&mut self, to: Tid, id: RequestId) -> bool {
        if self.core.requests.is_over(id) {
            return true;
        }
        let Some(index) = self.peers.index_of(to) else { return true };
        let state = &mut self.peers[index].state;
        let ledger = state.ledger(state.route);
        if let Some((cookie, offered)) = state.offers.of_request(id) {
            if offered.asked == Asking::Placed {
                return false;
            }
            let is_silent = offered.asked == Asking::Unanswered;
            offered.source.own_from(0, &self.core.kept);
            offered.request = None;
            let more = offered.header.length + PLACE;
            offered.cost += more;
            ledger.add(Counter::BufferedAtSender, offered.header.length);
            let (route, can_tell) = (offered.route, tells(&state.limits, offered));
            state.credit.outstanding += more;
            state.offers.is_silent |= is_silent;
            if let Some(address) = can_tell {
                state.outbox.say(route, Header::kept(cookie, address));
            }
        } else {
            let Some(pending) = state.outbox.find(id) else { return true };
            let left = pending.source.length - pending.sent;
            pending.source.own_from(pending.sent, &self.core.kept);
            if pending.header.kind == Kind::Start {
                pending.cost += left as u64;
            }
            pending.owned = true;
            ledger.add(Counter::BufferedAtSender, left as u64);
        }
        self.core.requests.finish(id, Outcome::Sent);
        self.core.push(&mut self.peers, index);
        self.wind_up();
        true
    }

    /// Whether the peer has missed the time limit of the last question, and is silent since.
    pub fn is_silent(&mut self, peer: Tid) -> bool {
        self.peers.index_of(peer).is_some_and(|index| self.peers[index].state.offers.is_silent)
    }
}
