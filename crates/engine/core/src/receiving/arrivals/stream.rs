//! The parts of a message that is under way: into the receive that has it, or into memory where it waits for one.

use crate::core::Core;
use crate::ids::{MessageId, RequestId};
use crate::ledger::Counter;
use crate::matching::{Body, Message};
use crate::peers::{PeerState, Stream};
use parvum_transport::Route;
use parvum_wire::frame::Offer;

impl Core {
    /// Writes the next part of a matched message, and finishes it with the last.
    #[inline]
    pub(super) fn receive_part(
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
            state.incoming.streams[route.place()] = Stream::Idle;
            self.finish_receive(id);
        } else {
            state.incoming.streams[route.place()] = Stream::Receive { id, got, length };
        }
    }

    /// The destination of the next bytes of the message under way.
    pub(super) fn room(&mut self, state: &PeerState, route: Route, most: usize) -> &mut [u8] {
        match state.incoming.streams[route.place()] {
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
    pub(super) fn filled(&mut self, state: &mut PeerState, route: Route, part: usize) {
        match state.incoming.streams[route.place()] {
            Stream::Receive { id, got, length } => {
                self.received_part(state, route, id, got + part as u64, length, part)
            }
            Stream::Message(id) => self.filled_message(state, route, id, part),
            Stream::Idle | Stream::Skip { .. } => {}
        }
    }

    /// A message goes on.
    pub(super) fn more(&mut self, state: &mut PeerState, route: Route, payload: &[u8]) {
        match state.incoming.streams[route.place()] {
            Stream::Idle => {}
            Stream::Receive { id, got, length } => self.receive_part(state, route, id, got, length, payload),
            Stream::Skip { left } => {
                state.incoming.streams[route.place()] =
                    Stream::skip(left.saturating_sub(payload.len() as u64));
            }
            Stream::Message(id) => self.fill(state, route, id, payload),
        }
    }

    /// A part of a message that is kept until it is received.
    fn fill(&mut self, state: &mut PeerState, route: Route, id: MessageId, payload: &[u8]) {
        let Some(message) = self.queues.get_mut(id) else {
            // Received messages are never removed while they fill; a peer that sends
            // more than it announced is the only way here.
            state.incoming.streams[route.place()] = Stream::Idle;
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
        state.incoming.streams[route.place()] = Stream::Idle;
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
}

/// Stands in a message for the moment in which its body changes.
const NO_OFFER: Offer = Offer { cookie: 0, address: 0 };
