//! Data of a received message that was left where it lies.

use super::Engine;
use crate::core::Fetch;
use crate::ids::RequestId;
use crate::ledger::Counter;
use crate::peers::Peer;
use crate::receiving::message::{Block, Pattern};
use crate::rendezvous::{behind, listed};
use crate::requests::{Completed, Destination, Outcome, Receive, Remote, State};
use parvum_transport::{PullRefused, RemoteMemory};
use parvum_wire::Kind;
use parvum_wire::frame::Offer;

impl Engine {
    /// Copies `into.len()` bytes from byte `from` of data that was left where it lies. Fails if the message is shorter,
    /// or if the data was in its sender's own memory and is gone or not accessible at the moment.
    pub fn read_remote(&mut self, remote: &Remote, from: u64, into: &mut [u8]) -> Result<(), PullRefused> {
        let within = from.checked_add(into.len() as u64).is_some_and(|end| end <= remote.envelope.length);
        if !within {
            return Err(PullRefused::NotPermitted);
        }
        let Peer { links, state } = &mut self.peers[remote.peer as usize];
        match &remote.kept {
            Some(kept) => kept.read(from as usize, into),
            // Another peer may have its place now.
            None if state.tid != remote.envelope.from => return Err(PullRefused::Gone),
            None => {
                let link = links[remote.route.place()].as_mut().ok_or(PullRefused::Gone)?;
                let (one, many);
                let places: &[RemoteMemory] = match remote.offer.listed() {
                    0 => {
                        one = [RemoteMemory {
                            address: remote.offer.address.wrapping_add(from),
                            length: into.len(),
                        }];
                        &one
                    }
                    _ => {
                        let all = listed(&mut **link, &remote.offer, remote.envelope.length as usize)?;
                        many = behind(all, from as usize);
                        &many
                    }
                };
                link.pull_together(Offer::name(remote.offer.cookie), from, places, into)?;
            }
        }
        state.ledger(remote.route).add(Counter::PulledBytes, into.len() as u64);
        Ok(())
    }

    /// Gets all of the data into a block, and releases it.
    pub fn fetch_remote(&mut self, remote: Remote) -> RequestId {
        let Remote { peer, route, offer, envelope, .. } = remote;
        if remote.kept.is_some() {
            let outcome = match Block::new(envelope.length, &mut self.core.pool) {
                // A message that was kept completely can be read completely.
                Some(mut block) => match self.read_remote(&remote, 0, block.bytes_mut()) {
                    Ok(()) => Outcome::Received(Completed { envelope, block: Some(block), remote: None }),
                    Err(_) => Outcome::Gone(envelope.from),
                },
                None => Outcome::NoMemory(envelope),
            };
            self.release_remote(remote);
            let id = self.core.requests.insert(State::Sending, false);
            self.core.requests.finish(id, outcome);
            return id;
        }
        let plain = Receive::new(Pattern::ANY, Destination::Block, false);
        let receive = Receive { matched: Some(envelope), only: true, again: true, ..plain };
        let into = self.core.requests.insert(State::Receiving(receive), false);
        if self.peers[peer as usize].state.tid == envelope.from {
            self.core.fetches.push(Fetch { peer, route, offer, into, back: None });
            self.wind_up();
        } else {
            self.core.requests.finish(into, Outcome::Gone(envelope.from));
        }
        into
    }

    /// Tells the sender that the data is not needed any more.
    pub fn release_remote(&mut self, remote: Remote) {
        let state = &mut self.peers[remote.peer as usize].state;
        // Else it is gone, and its place perhaps another's.
        if state.tid == remote.envelope.from {
            state.outbox.answer(remote.route, Kind::Done, remote.offer.cookie, 0);
            self.core.push(&mut self.peers, remote.peer as usize);
            self.wind_up();
        }
    }
}
