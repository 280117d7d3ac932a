//! Sending: how data travels is chosen here, from size, buffering and what the link can do.
//!
//! ```text
//! short, room, credit          Start                            copied into the link
//! long, buffered by the sender Offer, then a copy into memory of the link; the receiver follows ... Done
//! long, single copy possible   Offer ... the receiver pulls ... Done
//!                              Offer ... Clear, Answer, More    when it may not pull
//! long, no single copy         Start, More, More ...            as fast as there is room
//! never buffered               Offer, whatever the length; Start when it is short and awaited: see `ask`
//! at the sender if unposted    see `ask`
//! ```

use crate::ask;
use crate::engine::Engine;
use crate::ledger::Counter;
use crate::memory::{Keep, Source};
use crate::peer::{Answer, Asking, Offered, Peer, PeerState, Pending};
use crate::requests::{Outcome, RequestId, State};
use parvum_transport::{Gather, Limits, Loan, Refused, Route};
use parvum_wire::frame::{ASKING, DISCARD_UNLESS_POSTED, FETCH_AT_ONCE, KEPT_BY_SENDER, LISTED_SHIFT, Offer};
use parvum_wire::{Header, Kind, Tid};
use std::sync::Arc;

/// Who may buffer a message, and so how often it is copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Buffering {
    /// By size: short messages in the transport; longer ones in memory of the link, where both sides copy at once; those that
    /// find no room there stay in place until wanted.
    BySize,
    /// Nobody: data moves only after a receive was posted.
    Never,
    /// The sender: data that cannot leave at once is copied to memory of the engine.
    AtSender,
    /// The receiver: data is fetched on arrival, posted or not.
    AtReceiver,
    /// Nobody, and the message is dropped when no receive is posted on arrival.
    OrDiscard,
    /// Nobody when a receive is posted, else the sender; never the receiver. See `ask.rs`.
    SenderIfUnposted,
}

/// When a send is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completion {
    /// When the memory of the data may be reused.
    Reusable,
    /// When the receiver has matched the message with a receive, and the memory may be reused.
    Matched,
}

/// A message to be sent.
pub struct Outgoing<'a> {
    /// The receiver. It must be attached.
    pub to: Tid,
    /// The user's tag.
    pub tag: i32,
    /// The tag's context.
    pub context: u32,
    /// The interface's word: how the data is encoded.
    pub meta: u32,
    /// The data, in pieces.
    pub pieces: &'a [&'a [u8]],
    /// Owns the memory of the pieces; the send need not wait for the receiver then.
    pub keep: Option<Arc<dyn Keep>>,
    /// Who may buffer it.
    pub buffering: Buffering,
    /// When the send is over.
    pub completion: Completion,
}

/// How far a send came at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// It is over.
    Now,
    /// It is under way; the memory of the data belongs to the engine until the request is over.
    Later(RequestId),
}

/// Why nothing was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// The receiver was never attached: there is no route to it yet.
    #[error("no route to {0}")]
    NotAttached(Tid),
    /// The receiver is gone.
    #[error("{0} is gone")]
    Gone(Tid),
    /// As many bytes as the credit allows wait for the receiver already.
    #[error("{0} has not received what was sent to it, and the credit is used up")]
    Full(Tid),
}

/// What a message costs in memory besides its data: its place in queues.
pub(crate) const OVERHEAD: u64 = 64;

/// What a send that could not go at once takes besides its data: its place in the queue,
/// and the allocations behind it.
pub(crate) const PLACE: u64 = 512;

impl Engine {
    /// Starts to send a message.
    ///
    /// # Safety
    /// When the result is [`Sent::Later`] and `keep` is `None`, the memory of the
    /// pieces must stay valid and unchanged until the request is over. What
    /// `keep` owns must be the pieces' memory.
    #[inline(always)]
    pub unsafe fn send(&mut self, message: Outgoing<'_>) -> Result<Sent, SendError> {
        let Some(index) = self.index_of(message.to) else { return Err(self.no_way_to(message.to)) };
        let Peer { links, state } = &mut self.peers[index];
        let (Some(limits), Some(link)) = (state.limits[state.route.place()], &mut links[state.route.place()])
        else {
            return Err(SendError::NotAttached(message.to));
        };
        let gather = Gather::new(message.pieces);
        let asks = message.buffering == Buffering::SenderIfUnposted;
        if asks && state.outstanding + state.queued >= self.core.settings.credit && message.to != self.me {
            return Err(SendError::Full(message.to));
        }
        let ledger = state.ledger(state.route);
        ledger.add(Counter::Sent, 1);
        ledger.add(Counter::SentBytes, gather.len() as u64);
        let header = Header {
            kind: Kind::Start,
            flags: match message.buffering {
                Buffering::OrDiscard => DISCARD_UNLESS_POSTED,
                Buffering::SenderIfUnposted => KEPT_BY_SENDER,
                _ => 0,
            },
            tag: message.tag,
            context: message.context,
            length: gather.len() as u64,
            meta: message.meta,
            order: state.next_order,
        };
        self.core.record_sent(message.to, state.route, &header);

        let at_once = gather.len() <= limits.eager
            && gather.len() <= limits.frame
            && state.outstanding < self.core.settings.credit
            && state.is_idle()
            && match message.buffering {
                // It has its receive already, whatever the send waits for.
                Buffering::Never => ask::is_awaited(&**link, &header),
                _ if message.completion == Completion::Matched => false,
                Buffering::SenderIfUnposted => state.is_prompt || ask::is_awaited(&**link, &header),
                _ => true,
            };
        if at_once && link.send(&header, gather).is_ok() {
            state.next_order = state.next_order.wrapping_add(1);
            if state.tid != self.me {
                state.outstanding += header.length + OVERHEAD;
            }
            ledger.add(Counter::CopiedIn, header.length);
            // Looked at only now: by the time that the peer's line has come here, the peer has the message.
            let unseen = asks && !ask::is_awaited(&**link, &header);
            if asks {
                state.is_prompt = !unseen;
            }
            if limits.buffered && link.flush() != Ok(true) {
                self.flush_later(index, header);
            }
            if unseen {
                self.keep_what_went(index, header, gather);
            }
            return Ok(Sent::Now);
        }
        // SAFETY: the caller's promise is the one that `queue` asks for.
        Ok(unsafe { self.queue(index, header, message, limits) })
    }

    /// Why nothing can be sent to a task that is not joined.
    #[cold]
    pub(crate) fn no_way_to(&self, peer: Tid) -> SendError {
        if self.is_gone(peer) { SendError::Gone(peer) } else { SendError::NotAttached(peer) }
    }

    /// The link took the message and keeps some of it back: nothing goes before that has left.
    #[cold]
    fn flush_later(&mut self, index: usize, header: Header) {
        let request = self.core.requests.insert(State::Sending, false);
        let state = &mut self.peers[index].state;
        let source = Source::nothing();
        let pending = Pending {
            request,
            header,
            source,
            sent: 0,
            offer: false,
            owned: false,
            handed: true,
            cost: 0,
            group: None,
        };
        state.current = Some((state.route, pending));
        self.core.requests.finish(request, Outcome::Sent);
        self.core.requests.take(request);
        self.list_for_push(index);
    }

    /// Queues what could not go at once, and pushes.
    ///
    /// # Safety
    /// As for [`Engine::send`].
    #[cold]
    unsafe fn queue(&mut self, index: usize, header: Header, message: Outgoing<'_>, limits: Limits) -> Sent {
        let length = header.length as usize;
        // Two copies that both sides make at the same time are quicker than one that the receiver makes alone of what
        // its sender has just written.
        let may_copy = matches!(message.buffering, Buffering::BySize | Buffering::AtSender)
            && message.completion == Completion::Reusable;
        let route = self.peers[index].state.route;
        let ledger = self.peers[index].state.ledger(route);
        let loan = match may_copy && length > limits.eager && message.to != self.me {
            true => self.peers[index].lend(length),
            false => None,
        };
        let offer = match message.buffering {
            _ if loan.is_some() => true,
            Buffering::Never | Buffering::SenderIfUnposted => true,
            Buffering::OrDiscard => length > limits.eager,
            _ => message.completion == Completion::Matched || (limits.single_copy && length > limits.eager),
        };
        let copy = message.buffering == Buffering::AtSender && message.keep.is_none();
        let mut source = if let Some(loan) = &loan {
            ledger.add(Counter::BufferedAtSender, header.length);
            Source::lent(loan.clone(), length)
        } else {
            // SAFETY: the memory outlives the request or belongs to the keeper,
            // as the caller promised; the source is dropped when the request is over,
            // or has a copy of its own before the caller's memory is given back.
            unsafe { Source::new(message.pieces, message.keep.clone()) }
        };
        if copy && offer && loan.is_none() {
            ledger.add(Counter::BufferedAtSender, header.length);
            source.own_from(0);
        }
        let copied = copy || loan.is_some();
        let owned = (copied || message.keep.is_some()) && message.completion == Completion::Reusable;
        // Data offered in place takes no memory of ours on either side.
        let asks = message.buffering == Buffering::SenderIfUnposted;
        let kept = copied
            || (message.keep.is_some() && !asks)
            || !offer
            || message.buffering == Buffering::AtReceiver;
        let request = self.core.requests.insert(State::Sending, false);
        let state = &mut self.peers[index].state;
        state.next_order = state.next_order.wrapping_add(1);
        let fetch = if offer && message.buffering == Buffering::AtReceiver { FETCH_AT_ONCE } else { 0 };
        let room = state.outstanding + state.queued < self.core.settings.credit
            || (self.peers[index].state.keeps && self.keeps_for(index, header.length));
        let state = &mut self.peers[index].state;
        state.queued += header.length + PLACE;
        state.queue.push_back(Pending {
            request,
            header: Header { flags: header.flags | fetch, ..header },
            source,
            sent: 0,
            offer,
            owned,
            handed: false,
            // Nobody but this task itself could give it credit back.
            cost: if message.to == self.me {
                0
            } else if kept {
                OVERHEAD + header.length
            } else {
                OVERHEAD
            },
            group: None,
        });
        if state.outstanding >= self.core.settings.credit {
            ledger.add(Counter::CreditStalls, 1);
        }
        self.push(index);
        if let Some(loan) = loan {
            // The receiver may be reading behind us.
            message.pieces.iter().for_each(|piece| loan.fill(piece));
        } else if copy && !offer {
            // The link takes what it can straight from the program.
            self.own_rest(index, request);
        }
        self.outcome_so_far(request, owned && room)
    }

    /// How far a send came that has just been pushed. One that the engine may finish alone is over.
    pub(crate) fn outcome_so_far(&mut self, request: RequestId, alone: bool) -> Sent {
        match self.core.requests.take(request) {
            Some(Outcome::Sent) => Sent::Now,
            Some(other) => {
                // The peer went while we pushed: let the caller learn it from the request.
                let again = self.core.requests.insert(State::Sending, false);
                self.core.requests.finish(again, other);
                Sent::Later(again)
            }
            // The data is ours, and there is room for it: nobody need wait until it has left.
            None if alone => {
                self.core.requests.finish(request, Outcome::Sent);
                self.core.requests.take(request);
                Sent::Now
            }
            None => Sent::Later(request),
        }
    }

    /// Copies what has not left yet of a message that was sent a moment ago.
    pub(crate) fn own_rest(&mut self, index: usize, request: RequestId) {
        let state = &mut self.peers[index].state;
        let ledger = state.ledger(state.route);
        let current = state.current.as_mut().map(|(_, pending)| pending);
        // Mostly the last; behind it there is another when one multicast names a peer twice.
        let mut waiting = current.into_iter().chain(state.queue.iter_mut().rev());
        let Some(Pending { source, sent, .. }) = waiting.find(|pending| pending.request == request) else {
            return;
        };
        ledger.add(Counter::BufferedAtSender, (source.length - *sent) as u64);
        source.own_from(*sent);
    }

    /// Whether messages to `peer` wait here until they can be handed over to a link.
    #[inline]
    pub fn is_behind(&mut self, peer: Tid) -> bool {
        let Some(index) = self.index_of(peer) else { return false };
        !self.peers[index].state.is_idle()
    }

    /// How many bytes of its memory the link to `peer` lends to messages that the peer has not taken.
    pub fn lent_to(&mut self, peer: Tid) -> usize {
        let Some(index) = self.index_of(peer) else { return 0 };
        let Peer { links, state } = &self.peers[index];
        links[state.route.place()].as_ref().map_or(0, |link| link.lent())
    }

    /// Whether messages to anybody do.
    pub fn is_behind_at_all(&self) -> bool {
        self.peers.iter().any(|peer| !peer.state.is_idle())
    }

    /// The task is about to leave: receivers shall fetch now what waits here for
    /// them, wanted or not. [`Engine::unfinished`] says when all is handed over.
    pub fn hand_over(&mut self) {
        self.leaving = true;
        for index in 0..self.peers.len() {
            let state = &mut self.peers[index].state;
            let may_wait = |(_, offered): &(&u64, &Offered)| offered.header.flags & FETCH_AT_ONCE == 0;
            let mut waiting: Vec<_> = state.offers.iter().filter(may_wait).collect();
            // In the order sent, and the same in every run.
            waiting.sort_unstable_by_key(|(_, offered)| offered.header.order.wrapping_sub(state.next_order));
            for (&cookie, &Offered { route, .. }) in waiting {
                state.answers.push_back(Answer { route, header: Header::answer(Kind::Fetch, cookie, 0) });
            }
            self.push(index);
        }
    }

    /// Hands over to the peer's links what there is room for. Whether anything moved.
    pub(crate) fn push(&mut self, index: usize) -> bool {
        let mut moved = false;
        let broken = loop {
            match self.push_one(index) {
                Ok(true) => moved = true,
                Ok(false) | Err((Refused::Full, _)) => break None,
                Err((Refused::Closed, route)) => break Some(route),
            }
        };
        match broken {
            Some(route) => {
                let tid = self.peers[index].state.tid;
                // The link is closed for sending; receive what is left, then let go.
                self.peers[index].state.route = route;
                // Else each batch that is received would try to send again, inside the one before.
                self.drop_sends_to(index);
                self.peer_gone(tid);
                true
            }
            None => {
                self.flush(index);
                self.list_for_push(index);
                self.core.publish_sends(&mut self.peers[index].state);
                moved
            }
        }
    }

    fn flush(&mut self, index: usize) {
        let Peer { links, state } = &mut self.peers[index];
        state.unflushed = false;
        for (link, limits) in links.iter_mut().zip(state.limits) {
            if let (Some(link), Some(Limits { buffered: true, .. })) = (link, limits) {
                state.unflushed |= link.flush() == Ok(false);
            }
        }
    }

    /// Hands over the next frame, whatever it is. `Ok(false)` when there is none.
    fn push_one(&mut self, index: usize) -> Result<bool, (Refused, Route)> {
        let Peer { links, state } = &mut self.peers[index];
        if let Some(answer) = state.answers.front() {
            let route = answer.route;
            let Some(link) = &mut links[route.place()] else {
                state.answers.pop_front();
                return Ok(true);
            };
            link.send(&answer.header, Gather::EMPTY).map_err(|refused| (refused, route))?;
            state.answers.pop_front();
            return Ok(true);
        }
        if state.current.is_none() {
            let route = state.route;
            let next = match state.cleared.pop_front() {
                Some(cleared) => Some(cleared),
                None if state.outstanding < self.core.settings.credit => {
                    let next = state.queue.pop_front();
                    state.queued -= next.as_ref().map_or(0, |pending| pending.header.length + PLACE);
                    next
                }
                None => None,
            };
            let Some(pending) = next else { return Ok(false) };
            if pending.header.kind == Kind::Start {
                state.outstanding += pending.cost;
            }
            state.current = Some((route, pending));
        }
        if self.is_ahead(index) {
            return Ok(false);
        }
        let Peer { links, state } = &mut self.peers[index];
        let Some((route, pending)) = &mut state.current else { return Ok(false) };
        let route = *route;
        let Some(link) = &mut links[route.place()] else { return Err((Refused::Closed, route)) };
        if pending.handed {
            return match link.flush() {
                Ok(true) => {
                    self.handed_over(index);
                    Ok(true)
                }
                Ok(false) => Err((Refused::Full, route)),
                Err(refused) => Err((refused, route)),
            };
        }
        if pending.offer {
            let asks = pending.header.flags & KEPT_BY_SENDER != 0;
            let offer = if asks {
                Offer { cookie: state.next_cookie | ASKING, address: 0 }
            } else if let Some(address) = pending.source.loan_address() {
                Offer { cookie: state.next_cookie, address }
            } else {
                let places = if link.limits().single_copy { pending.source.places() } else { None };
                let (address, listed) = places.unwrap_or((0, 0));
                Offer { cookie: state.next_cookie | (listed as u64) << LISTED_SHIFT, address }
            };
            if self.leaving {
                pending.header.flags |= FETCH_AT_ONCE;
            }
            let header = Header { kind: Kind::Offer, ..pending.header };
            link.send(&header, Gather::new(&[&offer.encode()])).map_err(|refused| (refused, route))?;
            self.offered(index, offer.cookie);
            return Ok(true);
        }
        let limit = link.limits().frame;
        let kind = if pending.sent == 0 { pending.header.kind } else { Kind::More };
        let header = Header { kind, ..pending.header };
        let sent = pending.source.part(pending.sent, limit, |part| {
            match &pending.group {
                None => link.send(&header, part),
                Some(group) => link.send_alike(&header, part, (group.number, pending.sent)),
            }
            .map(|()| part.len())
        });
        let sent = sent.map_err(|refused| (refused, route))?;
        pending.sent += sent;
        state.ledgers[route.place()].add(Counter::CopiedIn, sent as u64);
        if pending.sent == pending.source.length {
            // The next round flushes and finishes it; a link that keeps nothing back is done.
            pending.handed = true;
        }
        Ok(true)
    }

    /// The current message's offer is out: keep its data until it is wanted.
    fn offered(&mut self, index: usize, cookie: u64) {
        let state = &mut self.peers[index].state;
        let Some((route, pending)) = state.current.take() else { return };
        state.next_cookie += 1;
        let request = if pending.owned {
            self.core.requests.finish(pending.request, Outcome::Sent);
            None
        } else {
            Some(pending.request)
        };
        let Pending { source, header, cost, .. } = pending;
        let asked = match (header.flags & KEPT_BY_SENDER != 0, request) {
            (false, _) => Asking::No,
            (true, None) => Asking::Unposted,
            (true, Some(request)) => {
                state.asking = Some((request, cookie));
                Asking::Unanswered
            }
        };
        // What the receiver buffers it gives credit back for when it consumes it, not before.
        let cost = if header.flags & FETCH_AT_ONCE != 0 { 0 } else { cost };
        state.offers.insert(cookie, Offered { route, request, source, header, cost, asked });
    }

    /// The current message has been handed over in full.
    fn handed_over(&mut self, index: usize) {
        let state = &mut self.peers[index].state;
        let Some((_, pending)) = state.current.take() else { return };
        if pending.header.kind == Kind::Answer {
            state.outstanding -= pending.cost.min(state.outstanding);
        }
        self.core.requests.finish(pending.request, Outcome::Sent);
    }
}

impl Peer {
    /// Memory of the link for a message that its receiver may read while it is copied there.
    fn lend(&mut self, length: usize) -> Option<Arc<dyn Loan>> {
        self.links[self.state.route.place()].as_mut()?.lend(length)
    }
}

impl PeerState {
    /// The receiver asks for the data of an offer: it goes to its slot.
    pub(crate) fn clear(&mut self, cookie: u64, slot: u32, never: impl FnOnce() -> RequestId) {
        let Some(Offered { request, source, header, cost, .. }) = self.offers.remove(&cookie) else { return };
        let request = request.unwrap_or_else(never);
        let header = Header { kind: Kind::Answer, order: slot, flags: 0, ..header };
        self.cleared.push_back(Pending {
            request,
            header,
            source,
            sent: 0,
            offer: false,
            owned: true,
            handed: false,
            cost,
            group: None,
        });
    }
}
