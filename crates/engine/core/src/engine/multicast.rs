//! One message to several peers, part by part to all of them in turn.
//!
//! Links that share a connection then carry each part once (`Link::send_alike`). In everything else, such as order,
//! credit and a receiver that ends, it is a message to each peer.

use super::Engine;
use crate::ids::RequestId;
use crate::ledger::Counter;
use crate::memory::Source;
use crate::peers::{Group, PeerState, Pending};
use crate::requests::State;
use crate::sending::credit::OVERHEAD;
use crate::sending::outgoing::{Buffering, Outgoing, SendError, Sent};
use parvum_transport::{Gather, Route};
use parvum_wire::{Header, Kind, Tid};
use std::sync::Arc;

impl Engine {
    /// Starts to send a message to each of several peers over `route`, whichever they prefer, to each under its tag.
    /// Returns the result of [`Engine::send`] for each receiver. The call ignores the receiver, the tag and the
    /// completion of the message: its send is complete when the memory of the data may be reused.
    ///
    /// # Safety
    /// As for [`Engine::send`], until all are over.
    pub unsafe fn multicast(
        &mut self,
        to: &[(Tid, i32)],
        route: Route,
        message: &Outgoing<'_>,
    ) -> Vec<Result<Sent, SendError>> {
        let indices: Vec<_> = to.iter().map(|&(tid, _)| self.index_over(tid, route)).collect();
        self.multicasts += 1;
        let members = indices.iter().flatten().map(|&index| index as u32).collect();
        let group = Arc::new(Group { number: self.multicasts, members });
        let started: Vec<_> = indices
            .into_iter()
            .zip(to)
            .map(|(found, &(_, tag))| {
                found.map(|index| {
                    // SAFETY: the caller's promise.
                    let source = unsafe { Source::new(message.pieces, message.keep.clone()) };
                    self.start_in_step(index, route, tag, message, source, &group)
                })
            })
            .collect();
        let mut moved = true;
        while moved {
            moved = false;
            for &index in &group.members {
                moved |= self.core.push(&mut self.peers, index as usize);
            }
        }
        let copy = message.buffering == Buffering::AtSender && message.keep.is_none();
        let sent = started
            .into_iter()
            .map(|started| {
                let (index, request, room) = started?;
                if copy {
                    self.own_rest(index, request);
                }
                Ok(self.outcome_so_far(request, room && (copy || message.keep.is_some())))
            })
            .collect();
        self.wind_up();
        sent
    }

    /// A peer that can be reached over `route`.
    fn index_over(&mut self, tid: Tid, route: Route) -> Result<usize, SendError> {
        let Some(index) = self.peers.index_of(tid) else { return Err(self.no_way_to(tid)) };
        let peer = &self.peers[index];
        peer.links[route.place()].as_ref().map(|_| index).ok_or(SendError::NotAttached(tid))
    }

    /// Puts the message in line for one peer: which peer, the request, and whether there is credit.
    fn start_in_step(
        &mut self,
        index: usize,
        route: Route,
        tag: i32,
        message: &Outgoing<'_>,
        source: Source,
        group: &Arc<Group>,
    ) -> (usize, RequestId, bool) {
        let length = Gather::new(message.pieces).len() as u64;
        let request = self.core.requests.insert(State::Sending, false);
        let credit = self.core.settings.credit;
        let state = &mut self.peers[index].state;
        let frame = state.limits[route.place()].map_or(u64::MAX, |limits| limits.frame as u64);
        let header = Header {
            kind: Kind::Start,
            flags: 0,
            tag,
            context: message.context,
            length,
            meta: message.meta,
            order: state.outbox.next_order,
        };
        state.outbox.next_order = state.outbox.next_order.wrapping_add(1);
        let cost = OVERHEAD + length;
        let mut pending = Pending {
            request,
            header,
            source,
            sent: 0,
            offer: false,
            owned: message.keep.is_some() || message.buffering == Buffering::AtSender,
            handed: false,
            cost,
            group: None,
        };
        let room = state.credit.outstanding + state.outbox.queued < credit;
        self.core.record_sent(state.tid, route, &header);
        if state.outbox.is_idle() && state.credit.outstanding < credit {
            count(state, route, length, frame);
            state.credit.outstanding += cost;
            pending.group = Some(group.clone());
            state.outbox.current = Some((route, pending));
        } else {
            // Behind others it goes alone, over the peer's own route.
            count(state, state.route, length, frame);
            if state.credit.outstanding >= credit {
                state.ledger(state.route).add(Counter::CreditStalls, 1);
            }
            state.outbox.enqueue(pending);
        }
        (index, request, room)
    }
}

fn count(state: &PeerState, route: Route, length: u64, frame: u64) {
    state.ledger(route).add(Counter::Sent, 1);
    state.ledger(route).add(Counter::SentBytes, length);
    if length > frame {
        state.ledger(route).add(Counter::SentCopied, 1);
        state.ledger(route).add(Counter::LongBytes, length);
    }
}
