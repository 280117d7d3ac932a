//! Arriving: what each frame does.
//!
//! While frames arrive their link is lent out, so nothing here sends or pulls:
//! answers are queued, and pulls noted for the engine to do directly after.

use crate::ask;
use crate::claims::Claim;
use crate::engine::Settings;
use crate::fetch::{Fetch, Pulling};
use crate::ledger::{Counter, Ledger, PairLedger};
use crate::message::{Block, Envelope, Pattern, Pool};
use crate::peer::{Answer, PeerState, Stream};
use crate::queues::{Body, Message, MessageId, Queues};
use crate::receive::{Destination, Receive};
use crate::recorder::Recorder;
use crate::requests::{Completed, Outcome, RequestId, Requests, State};
use crate::send::OVERHEAD;
use parvum_transport::{Route, Sink};
use parvum_wire::frame::{ASKING, DISCARD_UNLESS_POSTED, FETCH_AT_ONCE, KEPT_BY_SENDER, Offer};
use parvum_wire::{Header, Kind};

/// Everything but the peers, so that a peer and the rest can be borrowed apart.
pub(crate) struct Core {
    pub(crate) settings: Settings,
    pub(crate) ledger: Ledger,
    pub(crate) pool: Pool,
    pub(crate) requests: Requests,
    pub(crate) queues: Queues,
    pub(crate) fetches: Vec<Fetch>,
    /// Those whose senders are still filling in the data.
    pub(crate) pulling: Vec<Pulling>,
    /// Receives that have claimed a message and not copied it, oldest first.
    pub(crate) claims: Vec<Claim>,
    /// Receives that nobody waits for, and that are not over yet.
    pub(crate) given_up: Vec<RequestId>,
    /// Sends under way to all peers.
    pub(crate) waiting_sends: u64,
    /// Hears of messages, if anybody records.
    pub(crate) recorder: Option<Box<dyn Recorder>>,
}

/// What a link gives its frames to.
pub(crate) struct Arrivals<'a> {
    pub(crate) core: &'a mut Core,
    pub(crate) peer: u32,
    pub(crate) state: &'a mut PeerState,
    pub(crate) route: Route,
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
                // The receiver may not fetch for itself: do not offer it that again.
                if let Some(limits) = &mut state.limits[route.place()] {
                    limits.single_copy = false;
                }
                let requests = &mut self.requests;
                state.clear(header.length, header.order, || requests.insert(State::Sending, false));
            }
            Kind::Done => self.done(state, header),
            Kind::Fetch => self.fetch_offered(peer, state, route, header.length),
            Kind::Ready => self.ready(state, route, header),
            Kind::Place => self.place(peer, state, route, header),
            Kind::Unposted => state.unposted(header.length),
            Kind::Kept => state.was_kept(route, header.length),
            Kind::Credit => {
                state.outstanding -= header.length.min(state.outstanding);
                state.keeps = false;
            }
        }
    }

    fn envelope(state: &PeerState, header: &Header) -> Envelope {
        let Header { tag, context, meta, length, order, .. } = *header;
        Envelope { from: state.tid, tag, context, meta, length, order: Some(order) }
    }

    /// A message begins.
    #[inline]
    fn start(&mut self, peer: u32, state: &mut PeerState, route: Route, header: &Header, payload: &[u8]) {
        if payload.len() as u64 > header.length {
            // No sender of ours cuts a message so.
            return;
        }
        let header = &sensible(header);
        let envelope = Self::envelope(state, header);
        let ledger = state.ledger(route);
        let whole = payload.len() as u64 == header.length;
        if header.order != state.expected {
            let (id, rest) = self.keep(peer, ledger, envelope, header.flags, payload);
            state.early.push((header.order, id));
            state.streams[route.place()] = rest;
            return;
        }
        state.expected = state.expected.wrapping_add(1);
        ledger.add(Counter::ArrivedBytes, header.length);
        if let Some(id) = self.queues.match_posted(&envelope) {
            ledger.add(Counter::Expected, 1);
            self.consume(state, header.length + OVERHEAD);
            if self.begin_receive(id, envelope, false) {
                self.receive_part(state, route, id, 0, header.length, payload);
            } else {
                state.streams[route.place()] = Stream::skip(header.length - payload.len() as u64);
            }
        } else if header.flags & DISCARD_UNLESS_POSTED != 0 {
            ledger.add(Counter::Discarded, 1);
            self.consume(state, header.length + OVERHEAD);
            state.streams[route.place()] = Stream::skip(header.length - payload.len() as u64);
        } else if header.flags & KEPT_BY_SENDER != 0 && whole && !state.has_awaited(header.order) {
            ledger.add(Counter::Unexpected, 1);
            self.leave_with_sender(peer, state, route, envelope, header);
        } else {
            ledger.add(Counter::Unexpected, 1);
            let (id, rest) = self.keep(peer, ledger, envelope, header.flags, payload);
            self.enqueue(id);
            state.streams[route.place()] = rest;
        }
        if !state.early.is_empty() {
            self.release_early(peer, state);
        }
    }

    /// Stores an unexpected message with what has come of it. Where the rest of it goes is the answer's second part.
    fn keep(
        &mut self,
        peer: u32,
        ledger: PairLedger,
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

    /// Messages whose turn has come after the one before them.
    fn release_early(&mut self, peer: u32, state: &mut PeerState) {
        while let Some(at) = state.early.iter().position(|&(order, _)| order == state.expected) {
            let (_, id) = state.early.swap_remove(at);
            state.expected = state.expected.wrapping_add(1);
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

    /// The receive now belongs to that message; it gets a block when it brought no memory. False: there is no memory
    /// for one, and so the receive is over.
    fn begin_receive(&mut self, id: RequestId, envelope: Envelope, offered: bool) -> bool {
        let Some(receive) = self.requests.receive(id) else { return false };
        receive.matched = Some(envelope);
        // A block for offered data is found when it is fetched.
        if !offered && !receive.into.is_the_program_s() {
            receive.block = Block::new(envelope.length, &mut self.pool);
            if receive.block.is_none() {
                self.requests.finish(id, Outcome::NoMemory(envelope));
                return false;
            }
        }
        true
    }

    /// Writes the next part of a matched message, and finishes it with the last.
    #[inline]
    fn receive_part(
        &mut self,
        state: &mut PeerState,
        route: Route,
        id: RequestId,
        got: u64,
        length: u64,
        payload: &[u8],
    ) {
        if let Some(receive) = self.requests.receive(id) {
            receive.write(got as usize, payload);
        }
        self.received_part(state, route, id, got + payload.len() as u64, length, payload.len());
    }

    /// The last `part` bytes of the `got` that have come lie where they belong.
    #[inline]
    fn received_part(
        &mut self,
        state: &mut PeerState,
        route: Route,
        id: RequestId,
        got: u64,
        length: u64,
        part: usize,
    ) {
        state.ledger(route).add(Counter::CopiedOut, part as u64);
        if got >= length {
            state.streams[route.place()] = Stream::Idle;
            self.finish_receive(id);
        } else {
            state.streams[route.place()] = Stream::Receive { id, got, length };
        }
    }

    /// Where the next bytes of the message under way are to lie.
    fn room(&mut self, state: &PeerState, route: Route, most: usize) -> &mut [u8] {
        match state.streams[route.place()] {
            Stream::Receive { id, got, .. } => match self.requests.receive(id) {
                Some(receive) => receive.room(got as usize, most),
                None => &mut [],
            },
            Stream::Message(id) => match self.queues.get_mut(id).map(|message| &mut message.body) {
                Some(Body::Filling { block, got, .. }) => {
                    let room = &mut block.bytes_mut()[*got..];
                    let most = most.min(room.len());
                    &mut room[..most]
                }
                _ => &mut [],
            },
            Stream::Idle | Stream::Skip { .. } => &mut [],
        }
    }

    /// The link has written the next bytes there.
    fn filled(&mut self, state: &mut PeerState, route: Route, part: usize) {
        match state.streams[route.place()] {
            Stream::Receive { id, got, length } => {
                self.received_part(state, route, id, got + part as u64, length, part)
            }
            Stream::Message(id) => self.filled_message(state, route, id, part),
            Stream::Idle | Stream::Skip { .. } => {}
        }
    }

    /// A message goes on.
    fn more(&mut self, state: &mut PeerState, route: Route, payload: &[u8]) {
        match state.streams[route.place()] {
            Stream::Idle => {}
            Stream::Receive { id, got, length } => self.receive_part(state, route, id, got, length, payload),
            Stream::Skip { left } => {
                state.streams[route.place()] = Stream::skip(left.saturating_sub(payload.len() as u64));
            }
            Stream::Message(id) => self.fill(state, route, id, payload),
        }
    }

    /// A part of a message that is kept until it is received.
    fn fill(&mut self, state: &mut PeerState, route: Route, id: MessageId, payload: &[u8]) {
        let Some(message) = self.queues.get_mut(id) else {
            // Received messages are never removed while they fill; a peer that sends
            // more than it announced is the only way here.
            state.streams[route.place()] = Stream::Idle;
            return;
        };
        let Body::Filling { block, got, .. } = &mut message.body else { return };
        let room = &mut block.bytes_mut()[*got..];
        let take = payload.len().min(room.len());
        room[..take].copy_from_slice(&payload[..take]);
        self.filled_message(state, route, id, take);
    }

    /// The next `part` bytes of a kept message lie where they belong.
    fn filled_message(&mut self, state: &mut PeerState, route: Route, id: MessageId, part: usize) {
        let Some(message) = self.queues.get_mut(id) else { return };
        let Body::Filling { block, got, claimed } = &mut message.body else { return };
        *got += part;
        let (done, claimed) = (*got == block.bytes().len(), *claimed);
        state.ledger(route).add(Counter::CopiedOut, part as u64);
        state.ledger(route).add(Counter::BufferedHere, part as u64);
        if !done {
            return;
        }
        state.streams[route.place()] = Stream::Idle;
        match claimed {
            None => {
                let body = std::mem::replace(&mut message.body, Body::Offered { offer: NO_OFFER, route });
                if let Body::Filling { block, .. } = body {
                    message.body = Body::Whole(block);
                }
            }
            Some(request) => {
                if let Some(Message { envelope, body: Body::Filling { block, .. }, .. }) =
                    self.queues.remove(id)
                {
                    self.deliver_block(request, envelope, block);
                }
            }
        }
    }

    /// Data that waits at the sender is announced.
    fn offer(&mut self, peer: u32, state: &mut PeerState, route: Route, header: &Header, payload: &[u8]) {
        let Ok(offer) = Offer::decode(payload) else { return };
        let header = &sensible(header);
        let envelope = Self::envelope(state, header);
        let ledger = state.ledger(route);
        let body = Body::Offered { offer, route };
        if header.order != state.expected {
            let id = self.queues.store(Message::new(envelope, peer, header.flags, body));
            state.early.push((header.order, id));
            return;
        }
        state.expected = state.expected.wrapping_add(1);
        ledger.add(Counter::ArrivedBytes, header.length);
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
            state.answers.push_back(Answer { route, header: Header::answer(Kind::Done, offer.cookie, 0) });
        } else {
            ledger.add(Counter::Unexpected, 1);
            if offer.cookie & ASKING != 0 {
                let header = Header::answer(Kind::Unposted, offer.cookie, 0);
                state.answers.push_back(Answer { route, header });
            }
            if header.flags & FETCH_AT_ONCE != 0 {
                self.fetch_unexpected(peer, route, envelope, header.flags, offer);
            } else {
                let id = self.queues.store(Message::new(envelope, peer, header.flags, body));
                self.enqueue(id);
            }
        }
        if !state.early.is_empty() {
            self.release_early(peer, state);
        }
    }

    /// Fetches data that nobody has asked for yet: a receive without a pattern
    /// takes it, and the message waits for the receive.
    fn fetch_unexpected(&mut self, peer: u32, route: Route, envelope: Envelope, flags: u16, offer: Offer) {
        let body = Body::Filling { block: Block::EMPTY, got: 0, claimed: None };
        let id = self.queues.store(Message::new(envelope, peer, flags, body));
        self.enqueue(id);
        self.fetch_for(id, peer, route, envelope, offer);
    }

    /// The sender of an offer cannot keep its data any longer.
    fn fetch_offered(&mut self, peer: u32, state: &PeerState, route: Route, cookie: u64) {
        let early = state.early.iter().map(|&(_, id)| id);
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
    fn answer(&mut self, state: &mut PeerState, route: Route, header: &Header, payload: &[u8]) {
        let from = state.tid;
        let Some((id, receive)) = self.requests.receive_at(header.order) else { return };
        if receive.matched.is_none_or(|envelope| envelope.from != from || envelope.length != header.length) {
            return;
        }
        self.receive_part(state, route, id, 0, header.length, payload);
    }

    /// The receiver has the data of an offer.
    fn done(&mut self, state: &mut PeerState, header: &Header) {
        let Some(offered) = state.offers.remove(&header.length) else { return };
        if header.order != ask::CREDITED {
            state.outstanding -= offered.cost.min(state.outstanding);
        }
        if let Some(request) = offered.request {
            self.requests.finish(request, Outcome::Sent);
        }
    }

    /// A message no longer takes memory here: the sender gets its credit back, some at a time.
    #[inline]
    pub(crate) fn consume(&mut self, state: &mut PeerState, cost: u64) {
        state.owed += if state.advance == 0 { cost } else { state.less_advance(cost) };
        if state.owed >= self.settings.credit / 8 {
            let header = Header::answer(Kind::Credit, state.owed, 0);
            state.answers.push_back(Answer { route: state.route, header });
            state.owed = 0;
        }
    }

    /// A stored message has been matched. One whose data stays with the sender
    /// takes no memory here; its sender gets the credit back with the answer.
    pub(crate) fn consume_message(&mut self, state: &mut PeerState, id: MessageId) {
        let Some(message) = self.queues.get(id) else { return };
        if !matches!(message.body, Body::Offered { .. }) || message.flags & FETCH_AT_ONCE != 0 {
            self.consume(state, message.envelope.length + OVERHEAD);
        }
    }

    /// Gives a whole message to a receive.
    pub(crate) fn deliver_block(&mut self, id: RequestId, envelope: Envelope, block: Block) {
        let Some(receive) = self.requests.receive(id) else { return };
        receive.matched = Some(envelope);
        match receive.into {
            Destination::Block | Destination::Lazily | Destination::ByReference => {
                receive.block = Some(block)
            }
            Destination::User(_) | Destination::Pieces(_) => {
                receive.write(0, block.bytes());
                self.ledger.add(Counter::CopiedOut, envelope.length);
                self.ledger.add(Counter::CopiedFromHere, envelope.length);
                if let Some(memory) = block.into_memory() {
                    self.pool.give(memory);
                }
            }
        }
        self.finish_receive(id);
    }

    /// Keeps a message that came from no peer until it is received.
    pub(crate) fn enqueue_foreign(&mut self, peer: u32, envelope: Envelope, block: Block) {
        let id = self.queues.store(Message::new(envelope, peer, 0, Body::Whole(block)));
        self.enqueue(id);
    }

    /// All data of a receive is in place.
    #[inline]
    pub(crate) fn finish_receive(&mut self, id: RequestId) {
        let Some(receive) = self.requests.take_receive(id) else { return };
        let Some(envelope) = receive.matched else { return };
        if let Some(message) = receive.stands_for {
            self.finish_unexpected(id, message, receive.block);
            return;
        }
        if !receive.again {
            self.count_received(&envelope);
        }
        self.requests
            .finish(id, Outcome::Received(Completed { envelope, block: receive.block, remote: None }));
    }

    /// A message is with its receiver, or as good as.
    pub(crate) fn count_received(&mut self, envelope: &Envelope) {
        self.ledger.add(Counter::Received, 1);
        self.ledger.add(Counter::ReceivedBytes, envelope.length);
        self.record_received(envelope);
    }

    /// Data fetched for a message that nobody had asked for is in place.
    fn finish_unexpected(&mut self, id: RequestId, message: MessageId, block: Option<Block>) {
        self.requests.finish(id, Outcome::Cancelled);
        self.requests.take(id);
        let Some(stored) = self.queues.get_mut(message) else { return };
        let Some(block) = block else { return };
        let Body::Filling { claimed, .. } = stored.body else { return };
        stored.body = Body::Whole(block);
        if let Some(request) = claimed
            && let Some(Message { envelope, body: Body::Whole(block), .. }) = self.queues.remove(message)
        {
            self.deliver_block(request, envelope, block);
        }
    }

    /// Makes a stored message visible to receives, and to whoever asks why the task waits.
    pub(crate) fn enqueue(&mut self, id: MessageId) {
        self.queues.enqueue(id, &self.ledger);
    }

    /// Hides a message from receives; it stays stored.
    pub(crate) fn hide(&mut self, id: MessageId) {
        self.queues.hide(id, &self.ledger);
    }

    /// Takes a message out of matching; it stays stored.
    pub(crate) fn extract(&mut self, id: MessageId) {
        self.queues.extract(id, &self.ledger);
    }

    /// Publishes how many sends are under way, after those to one peer may have changed.
    #[inline]
    pub(crate) fn publish_sends(&mut self, state: &mut PeerState) {
        let now = state.unfinished() as u64;
        if now != state.shown {
            self.waiting_sends = self.waiting_sends + now - state.shown;
            state.shown = now;
            self.ledger.set(Counter::WaitingSends, self.waiting_sends);
        }
    }

    /// Publishes how much waits here.
    #[inline]
    pub(crate) fn publish_waiting(&self) {
        self.ledger.set(Counter::WaitingMessages, self.queues.waiting() as u64);
        self.ledger.set(Counter::WaitingBytes, self.queues.bytes_here);
    }
}

/// A length is what a peer says it is. Of one that no memory can have so much is kept that sums of many stay numbers.
#[inline]
fn sensible(header: &Header) -> Header {
    const LONGEST: u64 = 1 << 47;
    Header { length: header.length.min(LONGEST), ..*header }
}

/// Stands in a message for the moment in which its body changes.
const NO_OFFER: Offer = Offer { cookie: 0, address: 0 };
