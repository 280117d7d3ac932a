//! Parting from a peer: its complete messages are received, and everything that waited for it ends with an error.
//!
//! `farewell` decides when; this code does it.

use crate::core::Core;
use crate::ids::RequestId;
use crate::ledger::Counter;
use crate::matching::{Body, Claim};
use crate::peers::{OWN_PEER, Peers, Stream};
use crate::requests::Outcome;
use parvum_transport::Route;
use parvum_wire::Tid;

impl Core {
    /// Parts from all peers that send nothing more.
    #[cold]
    pub(crate) fn see_off(&mut self, peers: &mut Peers) {
        // A peer whose data a thread copies is seen off when the copy is back.
        while let Some(peer) = peers.farewells.next_ending(|peer| self.is_copied_from(peers, peer)) {
            match peers.seek(peer) {
                Some(index) => self.part_from(peers, index),
                // A peer that was never joined also counts as gone, without a wait.
                None => peers.farewells.is_over(peer),
            }
            self.end_receives_from(peer);
            self.run_fetches(peers, true);
            self.publish_waiting();
        }
    }

    /// The complete messages of the peer are received first. A receive that took from it the beginning of a message
    /// waits again, unless it wanted a message from that peer alone.
    fn part_from(&mut self, peers: &mut Peers, index: usize) {
        let peer = peers[index].state.tid;
        for route in Route::all() {
            // The peer's end may be known before a query has shown its last data.
            if let Some(link) = &mut peers[index].links[route.place()] {
                link.look_anew();
            }
            while peers[index].links[route.place()].is_some() && self.poll(peers, index, route) {}
        }
        self.run_fetches(peers, true);
        self.drop_sends_to(peers, index);
        let lost = self.drop_messages_from(peers, index);
        // Its complete messages belong to no peer now.
        self.queues.reassign(index as u32, OWN_PEER);
        self.publish_sends(&mut peers[index].state);
        peers.vacate(index);
        peers.farewells.is_over(peer);
        for receive in lost {
            self.wait_again(peers, receive, peer);
        }
    }

    pub(crate) fn end_receives_from(&mut self, peer: Tid) {
        for id in self.queues.posted_for(peer) {
            self.queues.withdraw(id);
            self.requests.finish(id, Outcome::Gone(peer));
        }
    }

    /// Drops messages whose data can no longer be had; whole ones stay. The receives that had been given to them.
    fn drop_messages_from(&mut self, peers: &mut Peers, index: usize) -> Vec<RequestId> {
        let tid = peers[index].state.tid;
        for id in peers[index].state.incoming.take_early() {
            self.enqueue(id);
        }
        let mut lost = self.take_pulls_from(peers, index);
        for stream in
            std::mem::replace(&mut peers[index].state.incoming.streams, [Stream::Idle; Route::BOUND])
        {
            match stream {
                Stream::Message(id) => lost.extend(self.lose_message(id)),
                Stream::Receive { id, .. } => lost.push(id),
                Stream::Idle | Stream::Skip { .. } => {}
            }
        }
        lost.extend(self.take_claims_on(index));
        // After a lost message no message of this peer is received: receivers get its first messages, without a gap.
        let expected = peers[index].state.incoming.expected;
        let age = |order: Option<u32>| order.map_or(u32::MAX, |order| expected.wrapping_sub(order));
        let mut oldest_lost = 0;
        for &id in &lost {
            let matched = self.requests.receive(id).and_then(|receive| receive.matched);
            oldest_lost = matched.map_or(oldest_lost, |envelope| age(envelope.order).max(oldest_lost));
        }
        for id in self.queues.of_peer(index as u32) {
            let Some(message) = self.queues.get(id) else { continue };
            let (is_whole, age) = (matches!(message.body, Body::Whole(_)), age(message.envelope.order));
            if age < oldest_lost || !(is_whole || self.rescue(peers, id)) {
                oldest_lost = oldest_lost.max(age);
                lost.extend(self.lose_message(id));
            }
        }
        for id in self.requests.receives() {
            let matched = self.requests.receive(id).and_then(|receive| receive.matched);
            if matched.is_some_and(|envelope| envelope.from == tid) && !lost.contains(&id) {
                lost.push(id);
            }
        }
        self.ledger.add(Counter::Lost, lost.len() as u64);
        lost
    }

    /// A peer is gone: receives that have claimed its incomplete messages lose them. Who they are.
    fn take_claims_on(&mut self, index: usize) -> Vec<RequestId> {
        let mut lost = Vec::new();
        for Claim { receive, message } in self.queues.claims.take_all() {
            let is_lost = self.queues.get(message).is_none_or(|stored| {
                stored.peer as usize == index && matches!(stored.body, Body::Filling { .. })
            });
            if is_lost {
                self.queues.remove(message);
                lost.push(receive);
            } else {
                self.queues.claims.add(Claim { receive, message });
            }
        }
        lost
    }
}
