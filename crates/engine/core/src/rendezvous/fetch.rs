//! Fetching: how offered data comes to its receive. If the link can copy, the engine copies the part that the sender
//! has filled. Otherwise it requests the data, which comes as a stream. If the memory outlives the sender, the engine
//! may leave the data in place.

use super::learned::Way;
use crate::core::{Copier, Core, Fetch, Placed, Pulling};
use crate::ids::{MessageId, RequestId};
use crate::ledger::Counter;
use crate::matching::{Body, Message};
use crate::memory::{MOST_PLACES, places_in};
use crate::parting::farewell::News;
use crate::peers::{Asking, Peer, Peers};
use crate::receiving::message::Block;
use crate::requests::{Completed, Destination, Outcome, Receive, Remote};
use crate::sending::scattered;
use parvum_transport::{Link, PullRefused, RemoteMemory};
use parvum_wire::Kind;
use parvum_wire::frame::{ASKING, FETCH_AT_ONCE, Offer};
use std::io::IoSliceMut;

/// From this length on, the sender of data in place copies a part, while it waits for the end.
pub(crate) const TOGETHER: usize = 256 << 10;

/// A reader of a peer's memory: its link, or a thread without the link.
pub(crate) trait Reads {
    /// As [`Link::pull`].
    fn pull(&mut self, from: &[RemoteMemory], into: &mut [IoSliceMut<'_>]) -> Result<usize, PullRefused>;
    /// As [`Link::pull_together`].
    fn pull_together(
        &mut self,
        cookie: u64,
        at: u64,
        from: &[RemoteMemory],
        into: &mut [u8],
    ) -> Result<(), PullRefused>;
    /// As [`Link::show`].
    fn show(&mut self, from: RemoteMemory, take: &mut dyn FnMut(&[u8])) -> Result<usize, PullRefused>;
    /// As [`Link::can_pull`].
    fn can_pull(&self, address: u64) -> bool;
}

impl Reads for dyn Link + '_ {
    fn pull(&mut self, from: &[RemoteMemory], into: &mut [IoSliceMut<'_>]) -> Result<usize, PullRefused> {
        Link::pull(self, from, into)
    }

    fn pull_together(
        &mut self,
        cookie: u64,
        at: u64,
        from: &[RemoteMemory],
        into: &mut [u8],
    ) -> Result<(), PullRefused> {
        Link::pull_together(self, cookie, at, from, into)
    }

    fn show(&mut self, from: RemoteMemory, take: &mut dyn FnMut(&[u8])) -> Result<usize, PullRefused> {
        Link::show(self, from, take)
    }

    fn can_pull(&self, address: u64) -> bool {
        Link::can_pull(self, address)
    }
}

/// The places of data in several pieces of its sender's memory, from the sender's list. An invalid list is not read.
pub(crate) fn listed(
    link: &mut dyn Link,
    offer: &Offer,
    length: usize,
) -> Result<Vec<RemoteMemory>, PullRefused> {
    listed_for(link, offer, length)
}

fn listed_for<R: Reads + ?Sized>(
    reads: &mut R,
    offer: &Offer,
    length: usize,
) -> Result<Vec<RemoteMemory>, PullRefused> {
    let mut list = vec![0; offer.listed().min(MOST_PLACES) * 16];
    let place = RemoteMemory { address: offer.address, length: list.len() };
    if reads.pull(&[place], &mut [IoSliceMut::new(&mut list)])? < list.len() {
        return Err(PullRefused::NotPermitted);
    }
    let places = places_in(&list);
    let all = places.iter().try_fold(0usize, |sum, place| sum.checked_add(place.length));
    if all != Some(length) {
        return Err(PullRefused::NotPermitted);
    }
    Ok(places)
}

/// The places of the data of an offer from byte `from` on, with the total number of bytes.
pub(super) fn places_of<R: Reads + ?Sized>(
    reads: &mut R,
    offer: &Offer,
    from: usize,
    length: usize,
) -> Result<Vec<RemoteMemory>, PullRefused> {
    Ok(match offer.listed() {
        0 => vec![RemoteMemory { address: offer.address.wrapping_add(from as u64), length: length - from }],
        _ => behind(listed_for(reads, offer, length)?, from),
    })
}

/// The places without the first bytes in them.
pub(crate) fn behind(places: Vec<RemoteMemory>, mut skip: usize) -> Vec<RemoteMemory> {
    let rest = places.into_iter().filter_map(|RemoteMemory { address, length }| {
        let gone = skip.min(length);
        skip -= gone;
        (gone < length)
            .then(|| RemoteMemory { address: address.wrapping_add(gone as u64), length: length - gone })
    });
    rest.collect()
}

/// Copies what is there of a message's data behind its first `got` bytes to its receive, at most `most` bytes. How many bytes, and how
/// many it wanted in all.
pub(super) fn copy<R: Reads + ?Sized>(
    reads: &mut R,
    offer: &Offer,
    (got, length): (usize, usize),
    most: usize,
    receive: &mut Receive,
) -> Result<(usize, usize), PullRefused> {
    let left = length - got;
    let wanted = receive.room_behind(got).min(left);
    if wanted == 0 {
        return Ok((0, 0));
    }
    if offer.address == 0 {
        return Err(PullRefused::NotPermitted);
    }
    let places = places_of(reads, offer, got, length)?;
    let least = if receive.is_alone { usize::MAX } else { TOGETHER };
    let now = wanted.min(most);
    let done = match &mut receive.into {
        Destination::Scattered(into) => scattered::pull(reads, &places, (got, now), &mut **into)?,
        _ => match receive.rooms(got, left.min(most)).all() {
            [only] if now == wanted && only.len() >= least && reads.can_pull(places[0].address) => {
                reads.pull_together(Offer::name(offer.cookie), got as u64, &places, only)?;
                wanted
            }
            rooms => reads.pull(&places, rooms)?,
        },
    };
    Ok((done, wanted))
}

impl Core {
    /// Makes the recorded fetches; the links are free here. Answers at once if no other code does.
    #[inline]
    pub(crate) fn run_fetches(&mut self, peers: &mut Peers, and_push: bool) {
        if !self.fetches.is_empty() {
            self.run_all_fetches(peers, and_push);
        }
    }

    fn run_all_fetches(&mut self, peers: &mut Peers, and_push: bool) {
        // A receive whose message is lost may take another, whose data is to be fetched too.
        while !self.fetches.is_empty() {
            let spare = std::mem::take(&mut self.spare);
            let mut fetches = std::mem::replace(&mut self.fetches, spare);
            for fetch in fetches.drain(..) {
                self.fetch(peers, fetch);
                if and_push {
                    self.push(peers, fetch.peer as usize);
                }
            }
            self.spare = fetches;
        }
    }

    /// Gets offered data into a receive, or begins to.
    fn fetch(&mut self, peers: &mut Peers, fetch: Fetch) {
        let Fetch { peer, route, offer, into, .. } = fetch;
        let index = peer as usize;
        if peers.is_dead(index) {
            return self.pulling.push(Pulling { fetch, got: None, copier: Copier::Engine });
        }
        let Peer { links, state } = &mut peers[index];
        let Some(receive) = self.requests.receive(into) else { return };
        let Some(envelope) = receive.matched else { return };
        let ledger = state.ledger(route);
        let asks = offer.cookie & ASKING != 0 && offer.address == 0 && envelope.length > 0;
        // Before the sender has sent the address, it is not known whether the data may stay in place.
        let is_early = asks && matches!(receive.into, Destination::Lazily | Destination::ByReference);
        if receive.block.is_none() && !receive.into.is_the_program_s() && !is_early {
            let by_reference = matches!(receive.into, Destination::ByReference);
            let may_stay = !matches!(receive.into, Destination::Block)
                && offer.address != 0
                && (offer.listed() == 0 || by_reference);
            let mut link = links[route.place()].as_mut().filter(|_| may_stay);
            let kept = link.as_mut().and_then(|link| link.kept(offer.address, envelope.length as usize));
            let refers = by_reference && link.is_some_and(|link| link.can_pull(offer.address));
            if kept.is_some() || refers {
                let remote = Some(Remote { peer, route, offer, kept, envelope });
                self.count_received(&envelope);
                ledger.add(Counter::Pulled, 1);
                let completed = Completed { envelope, block: None, remote };
                return self.requests.finish(into, Outcome::Received(completed));
            }
            if may_stay && links[route.place()].as_ref().is_some_and(|link| link.lends(offer.address)) {
                return self.pulling.push(Pulling { fetch, got: None, copier: Copier::Engine });
            }
            receive.block = Block::new(envelope.length, &mut self.pool);
            if receive.block.is_none() {
                state.outbox.answer(route, Kind::Done, offer.cookie, 0);
                self.requests.finish(into, Outcome::NoMemory(envelope));
                return self.list_for_push(peers, index);
            }
        }
        if asks {
            state.incoming.wanted.push((offer.cookie, into));
            state.outbox.answer(route, Kind::Ready, offer.cookie, into.index);
            return self.list_for_push(peers, index);
        }
        self.pull(peers, fetch, 0);
    }

    /// Copies what is there of the data.
    fn pull(&mut self, peers: &mut Peers, fetch: Fetch, got: usize) {
        let Fetch { peer, route, offer, into, .. } = fetch;
        let index = peer as usize;
        if peers.is_dead(index) {
            return self.pulling.push(Pulling { fetch, got: Some(got), copier: Copier::Engine });
        }
        let Peer { links, state } = &mut peers[index];
        let Some(receive) = self.requests.receive(into) else { return };
        let Some(envelope) = receive.matched else { return };
        if let (0, Some(learned)) = (got, &state.incoming.learned) {
            receive.is_alone = learned.copies_alone(envelope.length);
        }
        if self.leaves_copies_of < usize::MAX
            && offer.address != 0
            && let left = envelope.length as usize - got
            && receive.room_behind(got).min(left) >= self.leaves_copies_of
            && links[route.place()].as_mut().is_some_and(|link| link.puller().is_some())
        {
            self.copies_left += 1;
            return self.pulling.push(Pulling { fetch, got: Some(got), copier: Copier::AnyThread });
        }
        let pulled = match &mut links[route.place()] {
            None => Err(PullRefused::Gone),
            Some(link) => copy(&mut **link, &offer, (got, envelope.length as usize), usize::MAX, receive),
        };
        self.after_pull(peers, fetch, got, pulled);
    }

    /// Handles the end of a copy after `got` bytes, from the numbers of copied and wanted bytes.
    pub(super) fn after_pull(
        &mut self,
        peers: &mut Peers,
        fetch: Fetch,
        got: usize,
        pulled: Result<(usize, usize), PullRefused>,
    ) {
        let Fetch { peer, route, offer, into, .. } = fetch;
        let index = peer as usize;
        let Some(receive) = self.requests.receive(into) else { return };
        let Some(envelope) = receive.matched else { return };
        let (again, is_alone) = (receive.again, receive.is_alone);
        let Peer { links, state } = &mut peers[index];
        let ledger = state.ledger(route);
        match pulled {
            Ok((part, wanted)) if part < wanted => {
                let (got, rest) = (got + part, wanted - part);
                let copier = match rest >= self.leaves_copies_of {
                    true if part > 0 => Copier::AnyThread,
                    true => Copier::Later,
                    false => Copier::Engine,
                };
                self.copies_left += u64::from(copier == Copier::AnyThread);
                self.pulling.push(Pulling { fetch, got: Some(got), copier });
            }
            Ok(_) => {
                ledger.add(Counter::Pulled, u64::from(!again));
                ledger.add(Counter::PulledBytes, envelope.length);
                if let (Some(clock), Some(learned)) = (self.clock, &mut state.incoming.learned)
                    && let (Some(order), Some(link)) = (envelope.order, &mut links[route.place()])
                {
                    if state.incoming.waits_for.take().is_some() {
                        link.want_message(0);
                    }
                    let way = match link.lends(offer.address) {
                        true => Way::Lent,
                        false if is_alone || envelope.length < TOGETHER as u64 => Way::Alone,
                        false => Way::Together,
                    };
                    learned.end(order, envelope.length, way, clock());
                }
                state.outbox.answer(route, Kind::Done, offer.cookie, 0);
                self.finish_receive(into);
            }
            Err(PullRefused::NotPermitted) => {
                ledger.add(Counter::Refused, 1);
                state.outbox.answer(route, Kind::Clear, offer.cookie, into.index);
            }
            // Its place is another's.
            Err(PullRefused::Gone) if state.tid != envelope.from => {
                ledger.add(Counter::Lost, 1);
                self.wait_again(peers, into, envelope.from);
            }
            // The peer has died, and this task knows it before the daemon reports it. Nothing behind this message may
            // be received.
            Err(PullRefused::Gone) => {
                self.pulling.push(Pulling { fetch, got: Some(got), copier: Copier::Engine });
                return peers.farewells.learn(envelope.from, News::Dead);
            }
        }
        self.list_for_push(peers, index);
    }

    /// Copies data that peers are reading from this task's memory: a waiting task has no other work. Whether there was
    /// something.
    pub(crate) fn help(&mut self, peers: &mut Peers) -> bool {
        let mut helped = false;
        self.placed.retain(|&Placed { peer, route, cookie }| {
            let Peer { links, state } = &mut peers[peer as usize];
            let Some(offered) = state.offers.all.get(&cookie) else { return false };
            let Some(link) = &mut links[route.place()] else { return false };
            if matches!(offered.asked, Asking::No | Asking::Placed)
                && let Some((from, length)) = link.part_to_put(cookie)
            {
                let source = &offered.source;
                let is_within =
                    from.checked_add(length as u64).is_some_and(|end| end <= source.length as u64);
                match is_within {
                    true => source.part(from as usize, length, |part| link.put_part(Some(part))),
                    false => link.put_part(None),
                }
                helped = true;
            }
            true
        });
        helped
    }

    /// Copies the data that was filled in since. Whether anything moved.
    #[cold]
    pub(crate) fn go_on_pulling(&mut self, peers: &mut Peers) -> bool {
        let mut moved = false;
        for pulling in std::mem::take(&mut self.pulling) {
            let Pulling { fetch, got, copier } = pulling;
            if copier != Copier::Engine {
                let copier = if copier == Copier::Later { Copier::AnyThread } else { copier };
                self.copies_left += u64::from(copier != pulling.copier);
                self.pulling.push(Pulling { copier, ..pulling });
                continue;
            }
            let into = fetch.into;
            match got {
                Some(got) => self.pull(peers, fetch, got),
                None => self.fetch(peers, fetch),
            }
            let still = self.pulling.iter().find(|other| other.fetch.into == into);
            moved |= still.is_none_or(|still| still.got > got);
            self.push(peers, pulling.fetch.peer as usize);
        }
        moved
    }

    /// The message whose data its sender has not filled in is available again, in its old place. `false` when the
    /// receive waits for no such data, or the message cannot go back.
    pub(crate) fn give_up_pull(&mut self, peers: &mut Peers, id: RequestId) -> bool {
        let may_go_back = |pulling: &Pulling| {
            pulling.fetch.into == id
                && pulling.copier != Copier::Taken
                && pulling.fetch.back.is_some_and(|(_, flags)| flags & FETCH_AT_ONCE == 0)
        };
        let Some(at) = self.pulling.iter().position(may_go_back) else { return false };
        let Fetch { peer, route, offer, back, .. } = self.pulling.swap_remove(at).fetch;
        let (Some(((arrival, put_back), flags)), Some(receive)) = (back, self.requests.receive(id)) else {
            return false;
        };
        let Some(envelope) = receive.matched.take() else { return false };
        if let Some(memory) = receive.block.take().and_then(Block::into_memory) {
            drop(self.pool.give(memory));
        }
        let body = Body::Offered { offer, route };
        let message = Message { arrival, put_back, ..Message::new(envelope, peer, flags, body) };
        let message = self.queues.store(message);
        self.queues.unhide(message);
        self.offer_again(peers, message);
        true
    }

    /// Takes the data of a message of a peer that goes into memory of this task, if all of it lies in memory that
    /// stays. Whether it does.
    pub(crate) fn rescue(&mut self, peers: &mut Peers, id: MessageId) -> bool {
        let Some(message) = self.queues.get(id) else { return false };
        let (length, index) = (message.envelope.length, message.peer as usize);
        let Body::Offered { offer, route } = message.body else {
            return matches!(message.body, Body::NoMemory);
        };
        let Some(link) = &mut peers[index].links[route.place()] else { return false };
        let Some(data) = link.kept(offer.address, length as usize) else { return false };
        let body = match Block::new(length, &mut self.pool) {
            Some(mut block) => {
                data.read(0, block.bytes_mut());
                self.queues.bytes_here += length;
                Body::Whole(block)
            }
            None => Body::NoMemory,
        };
        if let Some(message) = self.queues.get_mut(id) {
            message.body = body;
        }
        true
    }

    /// Receives whose sender is gone before it has filled in their data.
    pub(crate) fn take_pulls_from(&mut self, peers: &mut Peers, index: usize) -> Vec<RequestId> {
        self.make_copies_from(peers, index);
        self.go_on_pulling(peers);
        let pulling = &mut self.pulling;
        let lost = pulling.extract_if(.., |pulling| pulling.fetch.peer as usize == index);
        lost.map(|pulling| pulling.fetch.into).collect()
    }
}
