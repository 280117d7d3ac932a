//! Outflow: hands waiting messages over to the links of their peer, as far as there is room and credit.

use crate::core::{Core, Placed};
use crate::ledger::Counter;
use crate::peers::{Asking, Offered, Peer, Peers, Pending};
use crate::rendezvous::TOGETHER;
use crate::requests::Outcome;
use parvum_transport::{Gather, Limits, Refused, Route};
use parvum_wire::frame::{ASKING, FETCH_AT_ONCE, KEPT_BY_SENDER, LISTED_SHIFT, Offer};
use parvum_wire::{Header, Kind};

impl Core {
    /// Hands over to the peer's links what there is room for. Whether anything moved.
    pub(crate) fn push(&mut self, peers: &mut Peers, index: usize) -> bool {
        let mut moved = false;
        let broken = loop {
            match self.push_one(peers, index) {
                Ok(true) => moved = true,
                Ok(false) | Err((Refused::Full, _)) => break None,
                Err((Refused::Closed, route)) => break Some(route),
            }
        };
        match broken {
            Some(route) => {
                // The link is closed for sending; what is left in it is received before the peer is let go.
                peers[index].state.route = route;
                // Otherwise each received batch would try to send again.
                self.drop_sends_to(peers, index);
                peers.cut(index);
                true
            }
            None => {
                Self::flush(peers, index);
                self.list_for_push(peers, index);
                self.publish_sends(&mut peers[index].state);
                moved
            }
        }
    }

    fn flush(peers: &mut Peers, index: usize) {
        let Peer { links, state } = &mut peers[index];
        state.outbox.unflushed = 0;
        for (place, (link, limits)) in links.iter_mut().zip(state.limits).enumerate() {
            if let (Some(link), Some(Limits { buffered: true, .. })) = (link, limits) {
                state.outbox.unflushed |= u8::from(link.flush() == Ok(false)) << place;
            }
        }
    }

    /// Hands over the next frame, whatever it is. `Ok(false)` when there is none.
    fn push_one(&mut self, peers: &mut Peers, index: usize) -> Result<bool, (Refused, Route)> {
        let Peer { links, state } = &mut peers[index];
        if let Some(answer) = state.outbox.answers.front() {
            let route = answer.route;
            let Some(link) = &mut links[route.place()] else {
                state.outbox.answers.pop_front();
                return Ok(true);
            };
            link.send(&answer.header, Gather::EMPTY).map_err(|refused| (refused, route))?;
            state.outbox.answers.pop_front();
            return Ok(true);
        }
        if state.outbox.current.is_none() {
            let route = state.route;
            let next = match state.outbox.cleared.pop_front() {
                None if state.credit.outstanding < self.settings.credit => state.outbox.dequeue(),
                cleared => cleared,
            };
            let Some(pending) = next else { return Ok(false) };
            if pending.header.kind == Kind::Start {
                state.credit.outstanding += pending.cost;
            }
            state.outbox.current = Some((route, pending));
        }
        if peers.is_ahead(index) {
            return Ok(false);
        }
        let leaving = peers.farewells.leaving;
        let Peer { links, state } = &mut peers[index];
        let Some((route, pending)) = &mut state.outbox.current else { return Ok(false) };
        let route = *route;
        let Some(link) = &mut links[route.place()] else { return Err((Refused::Closed, route)) };
        if pending.handed {
            return match link.flush() {
                Ok(true) => {
                    self.handed_over(peers, index);
                    Ok(true)
                }
                Ok(false) => Err((Refused::Full, route)),
                Err(refused) => Err((refused, route)),
            };
        }
        if pending.offer {
            // Data that was copied since it was queued is offered, like all data that its sender keeps.
            let is_copied = pending.owned && link.limits().single_copy && pending.source.address().is_some();
            let asks = pending.header.flags & KEPT_BY_SENDER != 0 && !is_copied;
            let offer = if asks {
                Offer { cookie: state.offers.next_cookie | ASKING, address: 0 }
            } else if let Some(address) = pending.source.loan_address() {
                Offer { cookie: state.offers.next_cookie, address }
            } else {
                let places = if link.limits().single_copy { pending.source.places() } else { None };
                let (address, listed) = places.unwrap_or((0, 0));
                Offer { cookie: state.offers.next_cookie | (listed as u64) << LISTED_SHIFT, address }
            };
            if leaving {
                pending.header.flags |= FETCH_AT_ONCE;
            }
            let header = Header { kind: Kind::Offer, ..pending.header };
            link.send(&header, Gather::new(&[&offer.encode()])).map_err(|refused| (refused, route))?;
            self.offered(peers, index, offer);
            return Ok(true);
        }
        let limit = link.limits().frame;
        let kind = if pending.sent == 0 { pending.header.kind } else { Kind::More };
        let header = Header { kind, ..pending.header };
        let length = pending.source.length;
        let sent = pending.source.part(pending.sent, limit, |part| {
            // Its sender is still filling the memory that was lent to it.
            if part.is_empty() && pending.sent < length {
                return Err(Refused::Full);
            }
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
    fn offered(&mut self, peers: &mut Peers, index: usize, offer: Offer) {
        let cookie = offer.cookie;
        let state = &mut peers[index].state;
        let Some((route, pending)) = state.outbox.current.take() else { return };
        state.offers.next_cookie += 1;
        let request = if pending.owned {
            self.requests.finish(pending.request, Outcome::Sent);
            None
        } else {
            Some(pending.request)
        };
        let Pending { source, header, cost, .. } = pending;
        let asked = match (header.flags & KEPT_BY_SENDER != 0, request) {
            (false, _) => Asking::No,
            (true, None) => Asking::Unposted,
            (true, Some(request)) => {
                state.offers.asking = Some((request, cookie));
                Asking::Unanswered
            }
        };
        // The receiver reads it in place, and the sender helps while it waits.
        if request.is_some()
            && asked == Asking::No
            && offer.address != 0
            && source.length >= TOGETHER
            && source.loan_address().is_none()
        {
            self.placed.push(Placed { peer: index as u32, route, cookie });
        }
        // For data that the receiver buffers, it returns credit only when it consumes the data.
        let cost = if header.flags & FETCH_AT_ONCE != 0 { 0 } else { cost };
        state.offers.all.insert(cookie, Offered { route, request, source, header, cost, asked });
    }

    /// The current message has been handed over in full.
    fn handed_over(&mut self, peers: &mut Peers, index: usize) {
        let state = &mut peers[index].state;
        let Some((_, pending)) = state.outbox.current.take() else { return };
        if pending.header.kind == Kind::Answer {
            state.credit.returned(pending.cost);
        }
        self.requests.finish(pending.request, Outcome::Sent);
    }

    /// Ends all sends to a peer that is gone, or closed to them.
    pub(crate) fn drop_sends_to(&mut self, peers: &mut Peers, index: usize) {
        let Peer { state, .. } = &mut peers[index];
        let tid = state.tid;
        let mut over = state.outbox.clear();
        for (_, Offered { request, .. }) in state.offers.all.drain() {
            match request {
                Some(request) => over.push(request),
                None => self.ledger.add(Counter::Lost, 1),
            }
        }
        self.publish_sends(state);
        for request in over {
            if self.requests.is_known(request) {
                self.requests.finish(request, Outcome::Gone(tid));
            } else {
                // The send completed long ago, so the loss is counted here.
                self.ledger.add(Counter::Lost, 1);
            }
        }
    }
}
