//! Looking at links for what has come, and at once doing what follows from it.

use crate::core::Core;
use crate::peers::{Peer, Peers};
use crate::receiving::arrivals::Arrivals;
use parvum_transport::Route;

/// Frames taken from one link before the next is looked at.
const FRAMES_AT_A_TIME: usize = 32;

impl Core {
    /// Receives the frames that have come over a link. Whether anything has, or the link is no more.
    #[inline]
    pub(crate) fn poll(&mut self, peers: &mut Peers, index: usize, route: Route) -> bool {
        let Peer { links, state } = &mut peers[index];
        let Some(link) = &mut links[route.place()] else { return false };
        let mut arrivals = Arrivals { core: self, peer: index as u32, state, route };
        let got = link.receive(FRAMES_AT_A_TIME, &mut arrivals);
        match got {
            Ok(0) => false,
            Ok(_) => {
                self.after_arrivals(peers, index);
                true
            }
            Err(_) => {
                self.close(peers, index, route);
                true
            }
        }
    }

    /// Does what could not be done while the link was lent out.
    pub(crate) fn after_arrivals(&mut self, peers: &mut Peers, index: usize) {
        self.run_fetches(peers, false);
        if peers.is_published_late(index) {
            let awaited = self.queues.first_posted_for(peers[index].state.tid);
            peers.publish_anew(index, awaited);
        }
        if peers[index].state.has_output(self.settings.credit) {
            self.push(peers, index);
        }
        self.publish_sends(&mut peers[index].state);
        self.publish_waiting();
        if !peers.farewells.is_empty() {
            peers.heard(index);
        }
    }

    /// One link broke. The peer may have other links, but data that was under way is not resent.
    #[cold]
    pub(crate) fn close(&mut self, peers: &mut Peers, index: usize, route: Route) {
        // The filled data can be read as long as the link exists.
        self.make_copies_from(peers, index);
        let early: Vec<_> = peers[index].state.incoming.early.iter().map(|&(_, id)| id).collect();
        for id in self.queues.of_peer(index as u32).into_iter().chain(early) {
            self.rescue(peers, id);
        }
        if peers.detach(index, route) {
            peers.cut(index);
        }
    }

    /// Polls the peers that have marked new data in the inbox. Whether anything moved.
    pub(crate) fn poll_marked(&mut self, peers: &mut Peers) -> bool {
        /// Marks that are looked at before the caller has its turn.
        const AT_A_TIME: usize = 256;
        let mut moved = false;
        for index in peers.take_again() {
            moved |= self.poll_placed(peers, index);
        }
        for _ in 0..AT_A_TIME {
            match peers.next_marked() {
                None => return moved,
                // A peer did not know its place.
                Some(0) => {
                    (1..peers.len() as u32).for_each(|index| moved |= self.poll_placed(peers, index));
                }
                Some(place) => moved |= self.poll_placed(peers, place),
            }
        }
        // There may be more, so no thread sleeps now.
        true
    }

    fn poll_placed(&mut self, peers: &mut Peers, index: u32) -> bool {
        let Some(route) = peers.placed_over(index) else { return false };
        let moved = self.poll(peers, index as usize, route);
        if moved {
            peers.look_again(index);
        }
        moved
    }
}
