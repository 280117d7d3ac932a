//! Data that stays with its sender until it is wanted: what each frame about it does. `rendezvous` describes the whole
//! protocol.

use crate::core::{Asker, Core, Fetch, Placed};
use crate::ids::MessageId;
use crate::ledger::Counter;
use crate::matching::{Body, Message};
use crate::peers::{Asking, CREDITED, PeerState, sensible};
use crate::receiving::message::{Block, Envelope, Pattern};
use crate::rendezvous::Learned;
use crate::requests::{Destination, Outcome, Receive, State};
use crate::sending::credit::OVERHEAD;
use parvum_transport::{Limits, Route};
use parvum_wire::frame::{ASKING, DISCARD_UNLESS_POSTED, FETCH_AT_ONCE, KEPT, LISTED_SHIFT, Offer};
use parvum_wire::{EAGER, Header, Kind};

impl Core {
    /// Data that waits at the sender is announced.
    pub(super) fn offer(
        &mut self,
        peer: u32,
        state: &mut PeerState,
        route: Route,
        header: &Header,
        payload: &[u8],
    ) {
        let Ok(offer) = Offer::decode(payload) else { return };
        let header = &sensible(header);
        let envelope = state.envelope(header);
        let ledger = state.ledger(route);
        let body = Body::Offered { offer, route };
        if header.order != state.incoming.expected {
            let id = self.queues.store(Message::new(envelope, peer, header.flags, body));
            state.incoming.early.push((header.order, id));
            return;
        }
        state.incoming.expected = state.incoming.expected.wrapping_add(1);
        ledger.add(Counter::ArrivedBytes, header.length);
        if offer.address != 0 {
            self.time_offer(state, header);
        }
        if let Some(id) = self.queues.match_posted(&envelope) {
            ledger.add(Counter::Expected, 1);
            if header.flags & FETCH_AT_ONCE != 0 {
                self.consume(state, header.length + OVERHEAD);
            }
            self.begin_receive(id, envelope, true);
            let back = Some(((self.queues.next_arrival(), u64::MAX), header.flags));
            self.fetches.push(Fetch { peer, route, offer, into: id, back });
        } else if header.flags & DISCARD_UNLESS_POSTED != 0 {
            ledger.add(Counter::Discarded, 1);
            state.outbox.answer(route, Kind::Done, offer.cookie, 0);
        } else {
            ledger.add(Counter::Unexpected, 1);
            if offer.cookie & ASKING != 0 {
                let cookie = offer.cookie;
                self.askers.push(Asker { peer, from: state.tid, route, cookie });
            }
            if header.flags & FETCH_AT_ONCE != 0 {
                self.fetch_unexpected(peer, route, envelope, header.flags, offer);
            } else {
                let id = self.queues.store(Message::new(envelope, peer, header.flags, body));
                self.enqueue(id);
                if offer.cookie & ASKING != 0 {
                    state.incoming.left = Some((offer.cookie, id));
                }
            }
        }
        if !state.incoming.early.is_empty() {
            self.release_early(peer, state);
        }
    }

    /// Times a long message from now on, if this task waits for it.
    fn time_offer(&mut self, state: &mut PeerState, header: &Header) {
        let Some(clock) = self.clock.filter(|_| header.length > EAGER as u64) else { return };
        let incoming = &mut state.incoming;
        let learned = incoming.learned.get_or_insert_with(|| Box::new(Learned::new()));
        if incoming.waits_for == Some(header.order) {
            learned.begin(header.order, clock());
        }
    }

    /// Fetches the data of an unexpected message: a receive without a pattern gets the data, and the message waits for
    /// its real receive.
    fn fetch_unexpected(&mut self, peer: u32, route: Route, envelope: Envelope, flags: u16, offer: Offer) {
        let body = Body::Filling { block: Block::EMPTY, got: 0, claimed: None };
        let id = self.queues.store(Message::new(envelope, peer, flags, body));
        self.enqueue(id);
        self.fetch_for(id, peer, route, envelope, offer);
    }

    /// The sender of an offer cannot keep its data any longer.
    pub(super) fn fetch_offered(&mut self, peer: u32, state: &PeerState, route: Route, cookie: u64) {
        let early = state.incoming.early.iter().map(|&(_, id)| id);
        for id in self.queues.of_peer(peer).into_iter().chain(early) {
            let Some(message) = self.queues.get_mut(id) else { continue };
            let envelope = message.envelope;
            match message.body {
                Body::Offered { offer, route: over } if (offer.cookie, over) == (cookie, route) => {
                    message.body = Body::Filling { block: Block::EMPTY, got: 0, claimed: None };
                    self.queues.bytes_here += envelope.length;
                    return self.fetch_for(id, peer, route, envelope, offer);
                }
                _ => {}
            }
        }
    }

    /// Fetches the data of a stored message, whose body is `Filling`.
    fn fetch_for(&mut self, id: MessageId, peer: u32, route: Route, envelope: Envelope, offer: Offer) {
        self.ledger.add(Counter::BufferedHere, envelope.length);
        let plain = Receive::new(Pattern::ANY, Destination::Block, false);
        let receive = Receive { matched: Some(envelope), stands_for: Some(id), ..plain };
        let into = self.requests.insert(State::Receiving(receive), false);
        self.fetches.push(Fetch { peer, route, offer, into, back: None });
    }

    /// The data of an offer that we cleared begins; the stream goes to the slot we named.
    pub(super) fn answer(&mut self, state: &mut PeerState, route: Route, header: &Header, payload: &[u8]) {
        let from = state.tid;
        let Some((id, receive)) = self.requests.receive_at(header.order) else { return };
        if receive.matched.is_none_or(|envelope| envelope.from != from || envelope.length != header.length) {
            return;
        }
        state.incoming.wanted.retain(|&(_, into)| into != id);
        // The data should have stayed at its sender, which sends it anyway.
        if receive.block.is_none() && !receive.into.is_the_program_s() {
            receive.block = Block::new(header.length, &mut self.pool);
            if let (None, Some(envelope)) = (&receive.block, receive.matched) {
                return self.requests.finish(id, Outcome::NoMemory(envelope));
            }
        }
        self.receive_part(state, route, id, 0, header.length, payload);
    }

    /// The receiver has the data of an offer.
    pub(super) fn done(&mut self, state: &mut PeerState, header: &Header) {
        let Some(offered) = state.offers.all.remove(&Offer::name(header.length)) else { return };
        state.offers.is_silent = false;
        if header.order != CREDITED {
            state.credit.returned(offered.cost);
        }
        if let Some(request) = offered.request {
            self.requests.finish(request, Outcome::Sent);
        }
    }

    /// A short message that this task does not await, and that its sender has kept: only its properties stay here.
    pub(super) fn leave_with_sender(
        &mut self,
        peer: u32,
        state: &mut PeerState,
        route: Route,
        envelope: Envelope,
        header: &Header,
    ) {
        let offer = Offer { cookie: KEPT | ASKING | u64::from(header.order), address: 0 };
        let body = Body::Offered { offer, route };
        let id = self.queues.store(Message::new(envelope, peer, header.flags, body));
        self.enqueue(id);
        state.incoming.left = Some((offer.cookie, id));
    }

    /// The sender has kept a copy of a message that asked, and may send its address. A receive fetches the copy there.
    pub(super) fn was_kept(&mut self, peer: u32, state: &mut PeerState, route: Route, header: &Header) {
        let (cookie, address) = (header.length, header.address());
        if address != 0
            && let Some(into) = state.incoming.take_wanted(cookie)
        {
            let offer = Offer { cookie, address };
            return self.fetches.push(Fetch { peer, route, offer, into, back: None });
        }
        let is_it = |offer: &Offer, of: u32| (offer.cookie, of) == (cookie, peer);
        if let Some(fetch) = self.fetches.iter_mut().find(|fetch| is_it(&fetch.offer, fetch.peer)) {
            fetch.offer.address = address;
            return;
        }
        let last = state.incoming.left.filter(|&(left, _)| left == cookie).map(|(_, id)| id);
        // Only over several routes at once may it be another than the last.
        let others = || self.queues.of_peer(peer);
        let left = if last.is_none() && cookie & KEPT != 0 { others() } else { Vec::from_iter(last) };
        for id in left {
            if let Some(Message { body: Body::Offered { offer, .. }, peer: of, .. }) = self.queues.get_mut(id)
                && is_it(offer, *of)
            {
                offer.address = address;
                return;
            }
        }
        if cookie & KEPT != 0 && last.is_none() {
            // It went into its receive when it came: the copy is not needed.
            state.outbox.answer(route, Kind::Done, cookie, CREDITED);
        }
    }

    /// The receiver has a receive for what was asked about: tell where the data lies, or send it.
    pub(super) fn ready(&mut self, peer: u32, state: &mut PeerState, route: Route, header: &Header) {
        state.offers.is_silent = false;
        let (cookie, slot) = (header.length, header.order);
        let limits = state.limits[route.place()];
        let Some(offered) = state.offers.all.get_mut(&cookie) else { return };
        // A copy is fetched from the first announced address, because it must not come twice.
        let is_told = offered.asked == Asking::Kept;
        let can_place = |limits: Limits| limits.single_copy && offered.header.length > limits.eager as u64;
        let may_read = is_told || limits.is_some_and(can_place);
        match if may_read { offered.source.places() } else { None } {
            Some((address, listed)) => {
                offered.asked = Asking::Placed;
                let place = Header::place(cookie | (listed as u64) << LISTED_SHIFT, slot, address);
                state.outbox.say(route, place);
                self.placed.push(Placed { peer, route, cookie });
            }
            _ => {
                let requests = &mut self.requests;
                state.clear(cookie, slot, || requests.insert(State::Sending, false));
            }
        }
    }

    /// The data of a matched message lies there.
    pub(super) fn place(&mut self, peer: u32, state: &mut PeerState, route: Route, header: &Header) {
        let Some(into) = state.incoming.take_wanted(Offer::name(header.length)) else { return };
        if self.requests.receive(into).is_some() {
            let offer = Offer { cookie: header.length, address: header.address() };
            self.fetches.push(Fetch { peer, route, offer, into, back: None });
        }
    }
}
