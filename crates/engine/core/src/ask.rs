//! Data that nobody buffers when a receive is posted, and else only its sender.
//!
//! The sender asks first. Its offer names no address, so it can change its mind: until it has told where the data lies,
//! it may copy the data and be done, whatever the receiver has answered or will.
//!
//! ```text
//! posted          Offer (asking) ->      <- Ready        Place -> the receiver fetches ... <- Done
//!                                                        Answer, More -> when short, or it may not fetch
//! not posted      Offer (asking) ->      <- Unposted     the sender copies, and goes on
//!   later         the receive comes      <- Ready        Place or Answer, from the copy
//! no answer       the caller's patience ends             the sender copies, and goes on
//! ```
//!
//! A short message does not wait for that if it can be seen in the pair's memory that its receiver awaits it: each task
//! publishes there which message it awaits from the peer, by the number that the message will have, and its tag. To read
//! that takes as long as the message itself, so a sender whose receiver was waiting the last time looks after it has sent:
//!
//! ```text
//! it is awaited   Start ->   look: awaited                  nobody has buffered anything
//! it is not       Start ->   look: not awaited, so copy     Kept ->
//!                 the receiver drops the data, if no receive is posted, and fetches the copy later;
//!                 else it has the message, and the copy is freed    <- Done
//! ```
//!
//! A send that nobody may buffer looks first, and goes the same way when its receiver awaits it: its data lies in the link, on
//! its way to a receive that is posted. Else it is offered.
//!
//! What a task has published holds: a message with that number and tag finds a receive. If it does not all the same (the
//! receive was cancelled), its data is kept by the receiver rather than lost.

use crate::arrive::Core;
use crate::engine::Engine;
use crate::fetch::Fetch;
use crate::ledger::Counter;
use crate::memory::Source;
use crate::message::{Envelope, Pattern, TagMatch};
use crate::peer::{Answer, Asking, Offered, PeerState};
use crate::queues::{Body, Message};
use crate::requests::{Outcome, RequestId, State};
use crate::send::{OVERHEAD, PLACE};
use parvum_transport::{Gather, Limits, Link, Route};
use parvum_wire::frame::{ASKING, KEPT, Offer};
use parvum_wire::{Header, Kind, Tid};

/// In `Done`: the credit for the message comes another way.
pub(crate) const CREDITED: u32 = 1;

/// What has become of a send that asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// It is over.
    Over,
    /// The receiver has not answered yet.
    Unanswered,
    /// No receive was posted.
    Unposted,
    /// A receive is posted, and the data is on its way.
    Posted,
}

// The published word: the number of the message, whether it says anything, whether any tag is meant, the tag.
const NUMBER: u64 = u64::MAX << 34;
const SAYS: u64 = 1 << 33;
const ANY_TAG: u64 = 1 << 32;

fn number(order: u32) -> u64 {
    u64::from(order) << 34
}

/// Whether the peer has published that it awaits this very message.
#[inline]
pub(crate) fn is_awaited(link: &dyn Link, header: &Header) -> bool {
    let word = link.awaited();
    word & SAYS != 0
        && word & NUMBER == number(header.order)
        && (word & ANY_TAG != 0 || word as u32 as i32 == header.tag)
        && header.context == 0
}

impl Engine {
    /// Publishes that this task awaits such a message, if only one peer could send it and the words suffice. To be called
    /// when nothing but its arrival, or the peer's end, will end the wait.
    #[inline]
    pub fn say_awaited(&mut self, pattern: &Pattern) {
        let Some(from) = pattern.from else { return };
        if let Some(index) = self.index_of(from) {
            self.publish(index, pattern);
        }
    }

    #[inline]
    fn publish(&mut self, index: usize, pattern: &Pattern) {
        let peer = &mut self.peers[index];
        let tag = match pattern.tag {
            TagMatch::Any => ANY_TAG,
            TagMatch::Exactly(tag) => u64::from(tag as u32),
            TagMatch::Masked { .. } | TagMatch::Within { .. } | TagMatch::Among { .. } => return,
        };
        if pattern.context.is_some_and(|context| context != 0) {
            return;
        }
        let Some(link) = &mut peer.links[peer.state.route.place()] else { return };
        peer.state.awaited = Some(peer.state.expected);
        link.await_message(number(peer.state.expected) | SAYS | tag);
    }

    /// Publishes anew what is awaited from a peer, after something has come.
    pub(crate) fn await_on(&mut self, index: usize) {
        let state = &mut self.peers[index].state;
        if state.awaited == Some(state.expected) {
            return;
        }
        state.awaited = None;
        if let Some(&pattern) = self.core.queues.first_posted_for(state.tid) {
            self.publish(index, &pattern);
        }
    }

    /// A short message has left before anybody knew that no receive was posted: its sender keeps a copy.
    #[cold]
    pub(crate) fn keep_what_went(&mut self, index: usize, header: Header, data: Gather<'_>) {
        let state = &mut self.peers[index].state;
        let mut copy = vec![0; data.len()];
        data.copy_to(&mut copy);
        state.ledger(state.route).add(Counter::BufferedAtSender, header.length);
        let cookie = KEPT | ASKING | u64::from(header.order);
        let (route, cost) = (state.route, header.length + OVERHEAD);
        let source = Source::copied(copy);
        state
            .offers
            .insert(cookie, Offered { route, request: None, source, header, cost, asked: Asking::Unposted });
        state.answers.push_back(Answer { route, header: Header::answer(Kind::Kept, cookie, 0) });
        self.push(index);
    }

    /// How far a send to `to` has come that asks.
    pub fn asked(&mut self, to: Tid, id: RequestId) -> Asked {
        if self.core.requests.is_over(id) {
            return Asked::Over;
        }
        let Some(index) = self.index_of(to) else { return Asked::Over };
        let state = &mut self.peers[index].state;
        match state.cookie_of(id).and_then(|cookie| state.offers.get(&cookie)) {
            Some(Offered { asked: Asking::Unanswered, .. }) => Asked::Unanswered,
            Some(Offered { asked: Asking::Unposted, .. }) => Asked::Unposted,
            Some(_) => Asked::Posted,
            None if state.queue.iter().any(|pending| pending.request == id) => Asked::Unanswered,
            None => Asked::Posted,
        }
    }

    /// Ends the wait for an answer: copies the data of a send that asks, and the send is over. `false` when that is too late:
    /// the receiver may be reading the program's memory, and the send will be over when it has.
    pub fn keep_at_sender(&mut self, to: Tid, id: RequestId) -> bool {
        if self.core.requests.is_over(id) {
            return true;
        }
        let Some(index) = self.index_of(to) else { return true };
        let state = &mut self.peers[index].state;
        let ledger = state.ledger(state.route);
        if let Some(offered) = state.cookie_of(id).and_then(|cookie| state.offers.get_mut(&cookie)) {
            if offered.asked == Asking::Placed {
                return false;
            }
            state.is_silent |= offered.asked == Asking::Unanswered;
            offered.source.own_from(0);
            offered.request = None;
            let more = offered.header.length + PLACE;
            offered.cost += more;
            state.outstanding += more;
            ledger.add(Counter::BufferedAtSender, offered.header.length);
        } else {
            let current = state.current.as_mut().map(|(_, pending)| pending);
            let mut waiting = current.into_iter().chain(&mut state.cleared).chain(&mut state.queue);
            let Some(pending) = waiting.find(|pending| pending.request == id) else { return true };
            let left = pending.source.length - pending.sent;
            pending.source.own_from(pending.sent);
            if pending.header.kind == Kind::Start {
                pending.cost += left as u64;
            }
            pending.owned = true;
            ledger.add(Counter::BufferedAtSender, left as u64);
        }
        self.core.requests.finish(id, Outcome::Sent);
        true
    }

    /// Whether the peer did not answer the last question in time, and has answered nothing since.
    pub fn is_silent(&mut self, peer: Tid) -> bool {
        self.index_of(peer).is_some_and(|index| self.peers[index].state.is_silent)
    }
}

impl PeerState {
    fn cookie_of(&self, id: RequestId) -> Option<u64> {
        match self.asking {
            Some((request, cookie)) if request == id => Some(cookie),
            // Seldom: several sends ask at once.
            _ => {
                self.offers.iter().find(|(_, offered)| offered.request == Some(id)).map(|(&cookie, _)| cookie)
            }
        }
    }

    /// Whether this task has ever published that it awaits the message of that number.
    pub(crate) fn has_awaited(&self, order: u32) -> bool {
        self.awaited.is_some_and(|awaited| number(awaited) == number(order))
    }

    /// The receiver had no receive posted when our question came.
    pub(crate) fn unposted(&mut self, cookie: u64) {
        self.is_silent = false;
        if let Some(offered) = self.offers.get_mut(&cookie)
            && offered.asked == Asking::Unanswered
        {
            offered.asked = Asking::Unposted;
        }
    }

    /// The sender of a short message has kept a copy: it is needed if the message was not, or else freed.
    pub(crate) fn was_kept(&mut self, route: Route, cookie: u64) {
        if self.left != Some(cookie as u32) {
            self.answers.push_back(Answer { route, header: Header::answer(Kind::Done, cookie, CREDITED) });
        }
    }
}

impl Core {
    /// A short message that nobody awaits, and that its sender has kept: only what is known of it stays here.
    pub(crate) fn leave_with_sender(
        &mut self,
        peer: u32,
        state: &mut PeerState,
        route: Route,
        envelope: Envelope,
        header: &Header,
    ) {
        state.left = Some(header.order);
        let offer = Offer { cookie: KEPT | ASKING | u64::from(header.order), address: 0 };
        let body = Body::Offered { offer, route };
        let id = self.queues.store(Message::new(envelope, peer, header.flags, body));
        self.enqueue(id);
    }

    /// The receiver has a receive for what was asked about: tell where the data lies, or send it.
    pub(crate) fn ready(&mut self, state: &mut PeerState, route: Route, header: &Header) {
        state.is_silent = false;
        let (cookie, slot) = (header.length, header.order);
        let limits = state.limits[route.place()];
        let Some(offered) = state.offers.get_mut(&cookie) else { return };
        let can_place = |limits: Limits| limits.single_copy && offered.header.length > limits.eager as u64;
        match (limits.is_some_and(can_place), offered.source.address()) {
            (true, Some(address)) => {
                offered.asked = Asking::Placed;
                state.answers.push_back(Answer { route, header: Header::place(cookie, slot, address) });
            }
            _ => {
                let requests = &mut self.requests;
                state.clear(cookie, slot, || requests.insert(State::Sending, false));
            }
        }
    }

    /// The data of a matched message lies there.
    pub(crate) fn place(&mut self, peer: u32, state: &mut PeerState, route: Route, header: &Header) {
        let from = state.tid;
        let Some((into, receive)) = self.requests.receive_at(header.order) else { return };
        if receive.matched.is_some_and(|envelope| envelope.from == from) {
            let offer = Offer { cookie: header.length, address: header.address() };
            self.fetches.push(Fetch { peer, route, offer, into, back: None });
        }
    }
}
