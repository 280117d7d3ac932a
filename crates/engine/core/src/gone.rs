//! A peer goes: what it had sent in full is received, and everything that waited for it is over, and told so.

use crate::engine::Engine;
use crate::ledger::Counter;
use crate::message::Block;
use crate::peer::{Offered, Peer, PeerState, Stream};
use crate::queues::{Body, MessageId};
use crate::requests::{Outcome, RequestId};
use parvum_transport::Route;
use parvum_wire::Tid;
use std::collections::{HashSet, VecDeque};

/// Tasks that have gone lately. An id may be another task's later, so this is a memory of what was just said, no more.
#[derive(Default)]
pub(crate) struct Departed {
    order: VecDeque<Tid>,
    all: HashSet<Tid>,
}

impl Departed {
    /// So many are remembered.
    const MOST: usize = 4096;

    fn remember(&mut self, peer: Tid) {
        if !self.all.insert(peer) {
            return;
        }
        self.order.push_back(peer);
        if self.order.len() > Self::MOST
            && let Some(oldest) = self.order.pop_front()
        {
            self.all.remove(&oldest);
        }
    }

    pub(crate) fn has(&self, peer: Tid) -> bool {
        !self.all.is_empty() && self.all.contains(&peer)
    }

    pub(crate) fn forget(&mut self, peer: Tid) {
        if self.all.remove(&peer) {
            self.order.retain(|other| *other != peer);
        }
    }
}

impl Engine {
    /// One link broke. The peer may be reachable otherwise, but what was under way is not resent.
    pub(crate) fn close(&mut self, index: usize, route: Route) {
        let tid = self.peers[index].state.tid;
        // What it had filled in can be read as long as there is the link.
        let early = self.peers[index].state.early.iter().map(|&(_, id)| id).collect::<Vec<_>>();
        for id in self.core.queues.of_peer(index as u32).into_iter().chain(early) {
            self.rescue(id);
        }
        self.peers[index].links[route.place()] = None;
        self.peers[index].state.limits[route.place()] = None;
        self.polled.retain(|&entry| entry != (index as u32, route));
        if self.peers[index].state.route == route || self.peers[index].links.iter().all(Option::is_none) {
            self.peer_gone(tid);
        }
    }

    /// The machine says that `peer` is gone. What it had sent in full is received first. A receive that took from it the
    /// beginning of a message waits again, unless it wanted a message from that peer alone; then everything else that
    /// waited for it is over.
    pub fn peer_gone(&mut self, peer: Tid) {
        if peer == self.me || self.departed.has(peer) {
            return;
        }
        let Some(index) = self.by_tid.get(&peer).map(|&index| index as usize) else {
            // One that was never joined is remembered as gone all the same, and not waited for.
            self.departed.remember(peer);
            return self.end_receives_from(peer);
        };
        for route in Route::all() {
            while self.peers[index].links[route.place()].is_some() && self.poll(index, route) {}
        }
        if self.departed.has(peer) {
            // The end of a link said so too.
            return;
        }
        self.departed.remember(peer);
        self.polled.retain(|&(polled, _)| polled != index as u32);
        self.drop_sends_to(index);
        let lost = self.drop_messages_from(index);
        self.vacate(index);
        for receive in lost {
            self.wait_again(receive, peer);
        }
        self.end_receives_from(peer);
        self.core.publish_waiting();
    }

    fn end_receives_from(&mut self, peer: Tid) {
        for id in self.core.queues.posted_for(peer) {
            self.core.queues.withdraw(id);
            self.core.requests.finish(id, Outcome::Gone(peer));
        }
    }

    /// Gives the peer's place to whoever comes next. What it had sent in full is nobody's now.
    fn vacate(&mut self, index: usize) {
        let nobody = self.own_peer() as u32;
        self.core.queues.reassign(index as u32, nobody);
        let Peer { links, state } = &mut self.peers[index];
        *links = [const { None }; Route::BOUND];
        self.core.publish_sends(state);
        self.by_tid.remove(&state.tid);
        if self.last.0 == state.tid {
            self.last = (self.me, nobody);
        }
        // Nobody has this id: what still names the place does not find the peer.
        *state = PeerState::new(Tid(0), state.route, self.core.ledger.others());
        self.vacant.push(index as u32);
    }

    pub(crate) fn drop_sends_to(&mut self, index: usize) {
        let Peer { state, .. } = &mut self.peers[index];
        let tid = state.tid;
        let pending = state.queue.drain(..).chain(state.cleared.drain(..)).map(|pending| pending.request);
        let mut over: Vec<_> = pending.collect();
        over.extend(state.current.take().map(|(_, pending)| pending.request));
        for (_, Offered { request, .. }) in state.offers.drain() {
            match request {
                Some(request) => over.push(request),
                None => self.core.ledger.add(Counter::Lost, 1),
            }
        }
        state.answers.clear();
        state.unflushed = false;
        state.queued = 0;
        self.core.publish_sends(state);
        for request in over {
            if self.core.requests.is_known(request) {
                self.core.requests.finish(request, Outcome::Gone(tid));
            } else {
                // Its sender was told long ago that its memory was free; now it is told here.
                self.core.ledger.add(Counter::Lost, 1);
            }
        }
    }

    /// Drops messages whose data can no longer be had; whole ones stay. The receives that had been given to them.
    fn drop_messages_from(&mut self, index: usize) -> Vec<RequestId> {
        let tid = self.peers[index].state.tid;
        let mut early = std::mem::take(&mut self.peers[index].state.early);
        early.sort_by_key(|&(order, _)| order.wrapping_sub(self.peers[index].state.expected));
        for (_, id) in early {
            self.core.enqueue(id);
        }
        let mut lost = self.take_pulls_from(index);
        for stream in std::mem::replace(&mut self.peers[index].state.streams, [Stream::Idle; Route::BOUND]) {
            match stream {
                Stream::Message(id) => lost.extend(self.lose_message(id)),
                Stream::Receive { id, .. } => lost.push(id),
                Stream::Idle | Stream::Skip { .. } => {}
            }
        }
        lost.extend(self.take_claims_on(index));
        // Behind a message that is lost nothing of that peer is received: who gets its messages gets the first ones.
        let expected = self.peers[index].state.expected;
        let age = |order: Option<u32>| order.map_or(u32::MAX, |order| expected.wrapping_sub(order));
        let mut oldest_lost = 0;
        for &id in &lost {
            let matched = self.core.requests.receive(id).and_then(|receive| receive.matched);
            oldest_lost = matched.map_or(oldest_lost, |envelope| age(envelope.order).max(oldest_lost));
        }
        for id in self.core.queues.of_peer(index as u32) {
            let Some(message) = self.core.queues.get(id) else { continue };
            let (is_whole, age) = (matches!(message.body, Body::Whole(_)), age(message.envelope.order));
            if age < oldest_lost || !(is_whole || self.rescue(id)) {
                oldest_lost = oldest_lost.max(age);
                lost.extend(self.lose_message(id));
            }
        }
        for id in self.core.requests.receives() {
            let matched = self.core.requests.receive(id).and_then(|receive| receive.matched);
            if matched.is_some_and(|envelope| envelope.from == tid) && !lost.contains(&id) {
                lost.push(id);
            }
        }
        self.core.ledger.add(Counter::Lost, lost.len() as u64);
        lost
    }

    /// Drops a message. The receive that had been given to it.
    fn lose_message(&mut self, id: MessageId) -> Option<RequestId> {
        if self.core.queues.is_extracted(id) {
            self.core.queues.lose_extracted(id);
            self.core.ledger.add(Counter::Lost, 1);
            return None;
        }
        self.core.hide(id);
        match self.core.queues.remove(id)?.body {
            Body::Filling { claimed: Some(receive), .. } => Some(receive),
            _ => {
                self.core.ledger.add(Counter::Lost, 1);
                None
            }
        }
    }

    /// The message that a receive was given to cannot come any more. A receive that any task could satisfy waits again, in
    /// its old place, as if the message had never begun to come.
    pub(crate) fn wait_again(&mut self, id: RequestId, gone: Tid) {
        let Some(receive) = self.core.requests.receive(id) else { return };
        if let Some(message) = receive.stands_for {
            // Nobody knows of this one, but somebody may wait for the message that it was for.
            self.core.requests.finish(id, Outcome::Gone(gone));
            self.core.requests.take(id);
            if let Some(waits) = self.lose_message(message) {
                self.wait_again(waits, gone);
            }
            return;
        }
        if receive.only || receive.pattern.from.is_some() {
            return self.core.requests.finish(id, Outcome::Gone(gone));
        }
        receive.matched = None;
        let (pattern, turn, urgent) = (receive.pattern, receive.turn, receive.urgent);
        if let Some(memory) = receive.block.take().and_then(Block::into_memory) {
            self.core.pool.give(memory);
        }
        match self.core.queues.find_match(&pattern) {
            Some(message) => self.take_unexpected(message, id),
            None => self.core.queues.post(turn, pattern, id, urgent),
        }
    }
}
