//! Arriving: what each frame does.
//!
//! While frames arrive, their link is borrowed, so this code cannot send or pull. It queues answers, and records pulls,
//! which the engine makes directly afterwards.

mod deliver;
mod offer;
mod order;
mod stream;

use crate::core::Core;
use crate::ids::MessageId;
use crate::ledger::{Counter, PairCounters};
use crate::matching::{Body, Message};
use crate::peers::{PeerState, Stream, sensible};
use crate::receiving::message::{Block, Envelope};
use crate::requests::State;
use crate::sending::credit::OVERHEAD;
use parvum_transport::{Route, Sink};
use parvum_wire::frame::{DISCARD_UNLESS_POSTED, KEPT_BY_SENDER, Offer};
use parvum_wire::{Header, Kind};

/// The receiver of a link's frames.
pub(crate) struct Arrivals<'a> {
    pub(crate) core: &'a mut Core,
    pub(crate) peer: u32,
    pub(crate) state: &'a mut PeerState,
    pub(crate) route: Route,
}

/// Whether a message of this task to itself takes the way through its link all the same: one in 64. A task that sends to nobody else
/// then still looks at the links of its other peers.
#[inline]
pub(crate) fn looks_around(order: u32) -> bool {
    order.is_multiple_of(64)
}

impl Sink for Arrivals<'_> {
    #[inline]
    fn frame(&mut self, header: &Header, payload: &[u8]) {
        self.core.arrive(self.peer, self.state, self.route, header, payload);
    }

    fn room(&mut self, length: usize) -> &mut [u8] {
        self.core.room(self.state, self.route, length)
    }

    fn filled(&mut self, length: usize) {
        self.core.filled(self.state, self.route, length);
    }
}

impl Core {
    /// One frame from a peer.
    #[inline]
    fn arrive(&mut self, peer: u32, state: &mut PeerState, route: Route, header: &Header, payload: &[u8]) {
        match header.kind {
            Kind::Start => self.start(peer, state, route, header, payload),
            Kind::More => self.more(state, route, payload),
            Kind::Offer => self.offer(peer, state, route, header, payload),
            Kind::Answer => self.answer(state, route, header, payload),
            Kind::Clear => {
                // The receiver may not fetch itself: do not offer this again.
                state.ledger(route).add(Counter::Refused, 1);
                if let Some(limits) = &mut state.limits[route.place()] {
                    limits.single_copy = false;
                }
                let requests = &mut self.requests;
                state.clear(Offer::name(header.length), header.order, || {
                    requests.insert(State::Sending, false)
                });
            }
            Kind::Done => self.done(state, header),
            Kind::Fetch => self.fetch_offered(peer, state, route, header.length),
            Kind::Ready => self.ready(peer, state, route, header),
            Kind::Place => self.place(peer, state, route, header),
            Kind::Unposted => state.offers.unposted(header.length),
            Kind::Kept => self.was_kept(peer, state, route, header),
            Kind::Credit => {
                state.credit.returned(header.length);
                state.credit.keeps = false;
            }
        }
    }

    /// A message begins.
    #[inline]
    fn start(&mut self, peer: u32, state: &mut PeerState, route: Route, header: &Header, payload: &[u8]) {
        if payload.len() as u64 > header.length {
            // No sender of ours cuts a message so.
            return;
        }
        let header = &sensible(header);
        let envelope = state.envelope(header);
        let ledger = state.ledger(route);
        let whole = payload.len() as u64 == header.length;
        if header.order != state.incoming.expected {
            let (id, rest) = self.keep(peer, ledger, envelope, header.flags, payload);
            state.incoming.early.push((header.order, id));
            state.incoming.streams[route.place()] = rest;
            return;
        }
        state.incoming.expected = state.incoming.expected.wrapping_add(1);
        ledger.add(Counter::ArrivedBytes, header.length);
        if let Some(id) = self.queues.match_posted(&envelope) {
            ledger.add(Counter::Expected, 1);
            self.consume(state, header.length + OVERHEAD);
            if self.begin_receive(id, envelope, false) {
                self.receive_part(state, route, id, 0, header.length, payload);
            } else {
                state.incoming.streams[route.place()] = Stream::skip(header.length - payload.len() as u64);
            }
        } else if header.flags & DISCARD_UNLESS_POSTED != 0 {
            ledger.add(Counter::Discarded, 1);
            self.consume(state, header.length + OVERHEAD);
            state.incoming.streams[route.place()] = Stream::skip(header.length - payload.len() as u64);
        } else if header.flags & KEPT_BY_SENDER != 0 && whole && !state.incoming.has_awaited(header.order) {
            ledger.add(Counter::Unexpected, 1);
            self.leave_with_sender(peer, state, route, envelope, header);
        } else {
            ledger.add(Counter::Unexpected, 1);
            let (id, rest) = self.keep(peer, ledger, envelope, header.flags, payload);
            self.enqueue(id);
            state.incoming.streams[route.place()] = rest;
        }
        if !state.incoming.early.is_empty() {
            self.release_early(peer, state);
        }
    }

    /// A whole message of this task to itself meets a receive that is posted, with one copy and without the link. False: an
    /// earlier message is under way, or no receive wants this message. Nothing has happened then.
    pub(crate) fn meet_own(&mut self, state: &mut PeerState, header: &Header, payload: &[u8]) -> bool {
        let is_under_way = state.incoming.streams[state.route.place()] != Stream::Idle;
        if is_under_way || header.order != state.incoming.expected || looks_around(header.order) {
            return false;
        }
        let envelope = state.envelope(header);
        let Some(id) = self.queues.match_posted(&envelope) else { return false };
        state.incoming.expected = state.incoming.expected.wrapping_add(1);
        let ledger = state.ledger(state.route);
        ledger.add(Counter::ArrivedBytes, header.length);
        ledger.add(Counter::Expected, 1);
        // Without memory for the message, the receive is over here.
        if self.begin_receive(id, envelope, false) {
            // A wrong program may send from the memory of the receive.
            let is_apart = self.requests.receive(id).is_some_and(|receive| receive.is_apart(payload));
            let copy = if is_apart { Vec::new() } else { payload.to_vec() };
            let payload = if is_apart { payload } else { &copy };
            self.receive_part(state, state.route, id, 0, header.length, payload);
        }
        true
    }

    /// Stores an unexpected message with what has come of it. The second part of the result is the destination of the
    /// rest.
    fn keep(
        &mut self,
        peer: u32,
        ledger: PairCounters,
        envelope: Envelope,
        flags: u16,
        payload: &[u8],
    ) -> (MessageId, Stream) {
        let left = envelope.length - payload.len() as u64;
        let Some(mut block) = Block::new(envelope.length, &mut self.pool) else {
            let id = self.queues.store(Message::new(envelope, peer, flags, Body::NoMemory));
            return (id, Stream::skip(left));
        };
        block.bytes_mut()[..payload.len()].copy_from_slice(payload);
        ledger.add(Counter::CopiedOut, payload.len() as u64);
        ledger.add(Counter::BufferedHere, payload.len() as u64);
        if left == 0 {
            return (
                self.queues.store(Message::new(envelope, peer, flags, Body::Whole(block))),
                Stream::Idle,
            );
        }
        let body = Body::Filling { block, got: payload.len(), claimed: None };
        let id = self.queues.store(Message::new(envelope, peer, flags, body));
        (id, Stream::Message(id))
    }
}
