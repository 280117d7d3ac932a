//! Fetching: how offered data comes to its receive. It is copied where the link can, as far as its sender has filled it in;
//! or asked for, and comes as a stream; or left where it lies, if that memory outlives its sender.

use crate::bins::Order;
use crate::engine::Engine;
use crate::ledger::Counter;
use crate::memory::{MOST_PLACES, places_in};
use crate::message::{Block, Envelope, Pattern};
use crate::peer::{Answer, Peer};
use crate::queues::{Body, Message, MessageId};
use crate::receive::{Destination, Receive};
use crate::requests::{Completed, Outcome, RequestId, State};
use parvum_transport::{Kept, Link, Place, PullRefused, Route};
use parvum_wire::frame::{ASKING, FETCH_AT_ONCE, Offer};
use parvum_wire::{Header, Kind};
use std::io::IoSliceMut;
use std::sync::Arc;

/// Offered data that shall come to a receive.
#[derive(Clone, Copy)]
pub(crate) struct Fetch {
    pub(crate) peer: u32,
    pub(crate) route: Route,
    pub(crate) offer: Offer,
    pub(crate) into: RequestId,
    /// The message's place among all and its flags, if it may go back there.
    pub(crate) back: Option<(Order, u16)>,
}

/// Offered data that its sender has not filled in yet.
#[derive(Clone, Copy)]
pub(crate) struct Pulling {
    fetch: Fetch,
    /// Bytes that are here. None of data that is left where it lies, as soon as all of it is there: a copy less than to follow
    /// the sender into a block, and read that.
    got: Option<usize>,
}

/// Data of a received message that lies where its sender has put it: to be read with [`Engine::read_remote`], and released
/// as soon as it is not needed any more.
pub struct Remote {
    peer: u32,
    route: Route,
    offer: Offer,
    /// The data, in memory that stays when the sender goes. None: it is in the sender's own.
    kept: Option<Arc<dyn Kept>>,
    envelope: Envelope,
}

impl Remote {
    /// The message as it was before it was received.
    pub(crate) fn into_message(self) -> Message {
        let Remote { peer, route, offer, envelope, .. } = self;
        Message::new(envelope, peer, 0, Body::Offered { offer, route })
    }
}

impl std::fmt::Debug for Remote {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Remote").field("envelope", &self.envelope).finish_non_exhaustive()
    }
}

/// Copies data that lies in several places of its sender's memory, which it lists there. What is no such list is not read.
fn pull_listed(
    link: &mut dyn Link,
    offer: &Offer,
    length: usize,
    into: &mut [IoSliceMut<'_>],
) -> Result<usize, PullRefused> {
    let mut list = vec![0; offer.listed().min(MOST_PLACES) * 16];
    let place = Place { address: offer.address, length: list.len() };
    if link.pull(&[place], &mut [IoSliceMut::new(&mut list)])? < list.len() {
        return Err(PullRefused::NotPermitted);
    }
    let places = places_in(&list);
    let all = places.iter().try_fold(0usize, |sum, place| sum.checked_add(place.length));
    if all != Some(length) {
        return Err(PullRefused::NotPermitted);
    }
    link.pull(&places, into)
}

impl Engine {
    /// Gets offered data into a receive, or begins to.
    pub(crate) fn fetch(&mut self, fetch: Fetch) {
        let Fetch { peer, route, offer, into, .. } = fetch;
        let index = peer as usize;
        let Peer { links, state } = &mut self.peers[index];
        let Some(receive) = self.core.requests.receive(into) else { return };
        let Some(envelope) = receive.matched else { return };
        let ledger = state.ledger(route);
        if receive.block.is_none() && !receive.into.is_the_program_s() {
            let may_stay =
                !matches!(receive.into, Destination::Block) && offer.address != 0 && offer.listed() == 0;
            let mut link = links[route.place()].as_mut().filter(|_| may_stay);
            let kept = link.as_mut().and_then(|link| link.kept(offer.address, envelope.length as usize));
            let refers = matches!(receive.into, Destination::ByReference)
                && link.is_some_and(|link| link.can_pull(offer.address));
            if kept.is_some() || refers {
                let remote = Some(Remote { peer, route, offer, kept, envelope });
                self.core.count_received(&envelope);
                ledger.add(Counter::Pulled, 1);
                let completed = Completed { envelope, block: None, remote };
                return self.core.requests.finish(into, Outcome::Received(completed));
            }
            if may_stay && links[route.place()].as_ref().is_some_and(|link| link.lends(offer.address)) {
                return self.core.pulling.push(Pulling { fetch, got: None });
            }
            receive.block = Block::new(envelope.length, &mut self.core.pool);
            if receive.block.is_none() {
                let header = Header::answer(Kind::Done, offer.cookie, 0);
                state.answers.push_back(Answer { route, header });
                self.core.requests.finish(into, Outcome::NoMemory(envelope));
                return self.list_for_push(index);
            }
        }
        if offer.cookie & ASKING != 0 && offer.address == 0 && envelope.length > 0 {
            let header = Header::answer(Kind::Ready, offer.cookie, into.index);
            state.answers.push_back(Answer { route, header });
            return self.list_for_push(index);
        }
        self.pull(fetch, 0);
    }

    /// Copies what is there of the data.
    fn pull(&mut self, fetch: Fetch, got: usize) {
        let Fetch { peer, route, offer, into, .. } = fetch;
        let index = peer as usize;
        let Peer { links, state } = &mut self.peers[index];
        let Some(receive) = self.core.requests.receive(into) else { return };
        let Some(envelope) = receive.matched else { return };
        let ledger = state.ledger(route);
        let again = receive.again;
        let left = envelope.length as usize - got;
        let mut rooms = receive.rooms(got, left);
        let wanted: usize = rooms.all().iter().map(|room| room.len()).sum();
        let pulled = match &mut links[route.place()] {
            None => Err(PullRefused::Gone),
            Some(_) if wanted == 0 => Ok(0),
            Some(_) if offer.address == 0 => Err(PullRefused::NotPermitted),
            Some(link) if offer.listed() > 0 => pull_listed(&mut **link, &offer, left, rooms.all()),
            Some(link) => {
                let place = Place { address: offer.address + got as u64, length: left };
                link.pull(&[place], rooms.all())
            }
        };
        match pulled {
            Ok(part) if part < wanted => {
                self.core.pulling.push(Pulling { fetch, got: Some(got + part) });
            }
            Ok(_) => {
                ledger.add(Counter::Pulled, u64::from(!again));
                ledger.add(Counter::PulledBytes, envelope.length);
                let header = Header::answer(Kind::Done, offer.cookie, 0);
                state.answers.push_back(Answer { route, header });
                self.core.finish_receive(into);
            }
            Err(PullRefused::NotPermitted) => {
                ledger.add(Counter::Refused, 1);
                let header = Header::answer(Kind::Clear, offer.cookie, into.index);
                state.answers.push_back(Answer { route, header });
            }
            // Its place is another's.
            Err(PullRefused::Gone) if self.peers[index].state.tid != envelope.from => {
                ledger.add(Counter::Lost, 1);
                self.wait_again(into, envelope.from);
            }
            // It has died, and this is known here before the machine says so. Nothing behind this message may be received.
            Err(PullRefused::Gone) => {
                self.core.pulling.push(Pulling { fetch, got: Some(got) });
                return self.peer_gone(envelope.from);
            }
        }
        self.list_for_push(index);
    }

    /// Whether a sender is still filling in what a receive takes.
    #[inline]
    pub fn is_pulling(&self) -> bool {
        !self.core.pulling.is_empty()
    }

    /// Copies what has been filled in meanwhile. Whether anything moved.
    #[cold]
    pub(crate) fn go_on_pulling(&mut self) -> bool {
        let mut moved = false;
        for pulling in std::mem::take(&mut self.core.pulling) {
            let Pulling { fetch, got } = pulling;
            let into = fetch.into;
            match got {
                Some(got) => self.pull(fetch, got),
                None => self.fetch(fetch),
            }
            let still = self.core.pulling.iter().find(|other| other.fetch.into == into);
            moved |= still.is_none_or(|still| still.got > got);
            self.push(pulling.fetch.peer as usize);
        }
        moved
    }

    /// The message whose data its sender has not filled in is anybody's again, in its old place. `false` when the receive
    /// waits for no such data, or the message cannot go back.
    pub(crate) fn give_up_pull(&mut self, id: RequestId) -> bool {
        let may_go_back = |pulling: &Pulling| {
            pulling.fetch.into == id
                && pulling.fetch.back.is_some_and(|(_, flags)| flags & FETCH_AT_ONCE == 0)
        };
        let Some(at) = self.core.pulling.iter().position(may_go_back) else { return false };
        let Fetch { peer, route, offer, back, .. } = self.core.pulling.swap_remove(at).fetch;
        let (Some(((arrival, put_back), flags)), Some(receive)) = (back, self.core.requests.receive(id))
        else {
            return false;
        };
        let Some(envelope) = receive.matched.take() else { return false };
        if let Some(memory) = receive.block.take().and_then(Block::into_memory) {
            self.core.pool.give(memory);
        }
        let body = Body::Offered { offer, route };
        let message = Message { arrival, put_back, ..Message::new(envelope, peer, flags, body) };
        let message = self.core.queues.store(message);
        self.core.queues.unhide(message);
        self.offer_again(message);
        true
    }

    /// Takes the data of a message of a peer that goes into memory of this task, if all of it lies in memory that
    /// stays. Whether it does.
    pub(crate) fn rescue(&mut self, id: MessageId) -> bool {
        let Some(message) = self.core.queues.get(id) else { return false };
        let (length, index) = (message.envelope.length, message.peer as usize);
        let Body::Offered { offer, route } = message.body else {
            return matches!(message.body, Body::NoMemory);
        };
        let Some(link) = &mut self.peers[index].links[route.place()] else { return false };
        let Some(data) = link.kept(offer.address, length as usize) else { return false };
        let body = match Block::new(length, &mut self.core.pool) {
            Some(mut block) => {
                data.read(0, block.bytes_mut());
                self.core.queues.bytes_here += length;
                Body::Whole(block)
            }
            None => Body::NoMemory,
        };
        if let Some(message) = self.core.queues.get_mut(id) {
            message.body = body;
        }
        true
    }

    /// Receives whose data their sender has not filled in, and will not: it is gone.
    pub(crate) fn take_pulls_from(&mut self, index: usize) -> Vec<RequestId> {
        self.go_on_pulling();
        let pulling = &mut self.core.pulling;
        let lost = pulling.extract_if(.., |pulling| pulling.fetch.peer as usize == index);
        lost.map(|pulling| pulling.fetch.into).collect()
    }

    /// Copies `into.len()` bytes from byte `from` of data that was left where it lies. Fails when the message has not so
    /// many, or when the data was in its sender's own memory and is gone with it, or not to be had for the moment.
    pub fn read_remote(&mut self, remote: &Remote, from: u64, into: &mut [u8]) -> Result<(), PullRefused> {
        let within = from.checked_add(into.len() as u64).is_some_and(|end| end <= remote.envelope.length);
        if !within {
            return Err(PullRefused::NotPermitted);
        }
        let Peer { links, state } = &mut self.peers[remote.peer as usize];
        match &remote.kept {
            Some(kept) => kept.read(from as usize, into),
            // Its place may be another's now.
            None if state.tid != remote.envelope.from => return Err(PullRefused::Gone),
            None => {
                let link = links[remote.route.place()].as_mut().ok_or(PullRefused::Gone)?;
                let place = Place { address: remote.offer.address + from, length: into.len() };
                link.pull(&[place], &mut [IoSliceMut::new(into)])?;
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
                // What was kept whole can be read whole.
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
            self.fetch(Fetch { peer, route, offer, into, back: None });
            self.push(peer as usize);
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
            let header = Header::answer(Kind::Done, remote.offer.cookie, 0);
            state.answers.push_back(Answer { route: remote.route, header });
            self.push(remote.peer as usize);
        }
    }
}
