//! Long copies apart from the engine: a thread takes a copy, makes it while other threads use the engine, and gives it back.
//!
//! ```text
//! the engine, under the caller's lock        a thread, without the lock
//!   a long message is matched, its data lies with its sender
//!   take_copy   ------------------------->   Copy: memory of the receive, and what reads the peer's memory
//!                                              run: copies, as far as the sender has filled the data in
//!   end_copy    <-------------------------   the memory comes back with what was copied
//! ```
//!
//! A copy that a thread has taken holds its receive. Until the copy is back, the receive cannot complete, be cancelled
//! or get another message, and the engine does not part from the sender. The memory of the receive therefore stays
//! valid while a thread writes there.

use super::fetch::{Reads, copy, places_of};
use crate::core::{Copier, Core, Pulling};
use crate::ids::RequestId;
use crate::peers::Peers;
use crate::requests::{Destination, Outcome, Receive};
use parvum_transport::{Kept, PullRefused, Puller, RemoteMemory};
use parvum_wire::Tid;
use parvum_wire::frame::Offer;
use std::io::IoSliceMut;
use std::sync::Arc;

/// A copy that a thread has taken. Dropping it instead of giving it back would leave its receive waiting for ever.
#[must_use]
pub struct Copy {
    into: RequestId,
    puller: Arc<dyn Puller>,
    offer: Offer,
    /// Bytes of the message that were here before, and its length.
    extent: (usize, usize),
    /// The maximum number of bytes to copy.
    most: usize,
    /// The receive whose memory is written; it replaces the stored receive during this time.
    memory: Receive,
    /// How many bytes were copied, and how many are wanted.
    copied: Result<(usize, usize), PullRefused>,
}

impl Copy {
    /// The receive that the copy is for.
    pub fn receive(&self) -> RequestId {
        self.into
    }

    /// Copies what is there of the data. It may take as long as a copy of the whole message, and as long as the sender writes its last
    /// piece.
    pub fn run(&mut self) {
        self.copied = copy(&mut Apart(&*self.puller), &self.offer, self.extent, self.most, &mut self.memory);
    }
}

/// Reads by a thread that does not have the link.
struct Apart<'a>(&'a dyn Puller);

impl Reads for Apart<'_> {
    fn pull(&mut self, from: &[RemoteMemory], into: &mut [IoSliceMut<'_>]) -> Result<usize, PullRefused> {
        self.0.pull(from, into)
    }

    fn pull_together(
        &mut self,
        cookie: u64,
        at: u64,
        from: &[RemoteMemory],
        into: &mut [u8],
    ) -> Result<(), PullRefused> {
        self.0.pull_together(cookie, at, from, into)
    }

    fn show(&mut self, from: RemoteMemory, take: &mut dyn FnMut(&[u8])) -> Result<usize, PullRefused> {
        self.0.show(from, take)
    }

    fn can_pull(&self, address: u64) -> bool {
        self.0.can_pull(address)
    }
}

/// Reads data of a message that was left where it lies, by any thread.
pub struct RemoteReader {
    pub(crate) of: ReadBy,
    pub(crate) length: usize,
}

/// How it is read.
pub(crate) enum ReadBy {
    /// It lies in memory that stays when the sender goes.
    Kept(Arc<dyn Kept>),
    /// It lies in the sender's own memory.
    Puller(Arc<dyn Puller>, Offer),
}

impl RemoteReader {
    /// As [`Engine::read_remote`](crate::Engine::read_remote).
    pub fn read(&self, from: u64, into: &mut [u8]) -> Result<(), PullRefused> {
        let from = usize::try_from(from).map_err(|_| PullRefused::NotPermitted)?;
        if from.checked_add(into.len()).is_none_or(|end| end > self.length) {
            return Err(PullRefused::NotPermitted);
        }
        match &self.of {
            ReadBy::Kept(kept) => {
                kept.read(from, into);
                Ok(())
            }
            ReadBy::Puller(puller, offer) => {
                let places = places_of(&mut Apart(&**puller), offer, from, self.length)?;
                puller.pull_together(Offer::name(offer.cookie), from as u64, &places, into)
            }
        }
    }
}

impl Core {
    /// See [`Engine::take_copy`](crate::Engine::take_copy).
    pub(crate) fn take_copy(
        &mut self,
        peers: &mut Peers,
        is_wanted: impl Fn(RequestId) -> bool,
        most: usize,
    ) -> Option<Copy> {
        let is_it =
            |pulling: &&mut Pulling| pulling.copier == Copier::AnyThread && is_wanted(pulling.fetch.into);
        let pulling = self.pulling.iter_mut().find(is_it)?;
        let fetch = pulling.fetch;
        let link = peers[fetch.peer as usize].links[fetch.route.place()].as_mut();
        let (Some(puller), Some(receive)) =
            (link.and_then(|link| link.puller()), self.requests.receive(fetch.into))
        else {
            // The engine finds out why.
            pulling.copier = Copier::Engine;
            return None;
        };
        let (envelope, got) = (receive.matched?, pulling.got?);
        pulling.copier = Copier::Taken;
        let into = std::mem::replace(&mut receive.into, Destination::Block);
        let (block, is_alone) = (receive.block.take(), receive.is_alone);
        let memory = Receive { block, is_alone, ..Receive::new(receive.pattern, into, false) };
        receive.is_taken = true;
        let extent = (got, envelope.length as usize);
        Some(Copy { into: fetch.into, puller, offer: fetch.offer, extent, most, memory, copied: Ok((0, 1)) })
    }

    /// See [`Engine::end_copy`](crate::Engine::end_copy).
    pub(crate) fn end_copy(&mut self, peers: &mut Peers, ended: Copy) -> bool {
        let Copy { into, memory, copied, extent: (got, _), .. } = ended;
        let is_it = |pulling: &Pulling| pulling.fetch.into == into && pulling.copier == Copier::Taken;
        let Some(at) = self.pulling.iter().position(is_it) else { return false };
        let fetch = self.pulling.swap_remove(at).fetch;
        let Some(receive) = self.requests.receive(into) else { return false };
        (receive.into, receive.block, receive.is_taken) = (memory.into, memory.block, false);
        self.after_pull(peers, fetch, got, copied);
        self.push(peers, fetch.peer as usize);
        !matches!(copied, Ok((0, 1..)))
    }

    /// See [`Engine::abandon_copy`](crate::Engine::abandon_copy).
    pub(crate) fn abandon_copy(&mut self, peers: &mut Peers, id: RequestId) {
        let is_it = |pulling: &&mut Pulling| pulling.fetch.into == id && pulling.copier == Copier::Taken;
        let Some(pulling) = self.pulling.iter_mut().find(is_it) else { return };
        pulling.copier = Copier::Engine;
        if let Some(receive) = self.requests.receive(id) {
            receive.is_taken = false;
        }
        if self.give_up_pull(peers, id) {
            self.requests.finish(id, Outcome::Cancelled);
            self.requests.take(id);
        } else {
            // It cannot go back among the messages: the engine gets the data once more, and then the message goes back.
            self.given_up.push(id);
        }
    }

    /// Whether a thread copies data of this peer.
    pub(crate) fn is_copied_from(&self, peers: &Peers, peer: Tid) -> bool {
        let is_from = |pulling: &Pulling| {
            pulling.copier == Copier::Taken && peers[pulling.fetch.peer as usize].state.tid == peer
        };
        self.pulling.iter().any(is_from)
    }

    /// The engine makes the copies of this peer's data that no thread has taken, because the link for reading ends
    /// soon.
    pub(crate) fn make_copies_from(&mut self, peers: &mut Peers, index: usize) {
        let is_its = |pulling: &Pulling| {
            pulling.fetch.peer as usize == index
                && matches!(pulling.copier, Copier::AnyThread | Copier::Later)
        };
        if !self.pulling.iter().any(is_its) {
            return;
        }
        self.pulling
            .iter_mut()
            .filter(|pulling| is_its(pulling))
            .for_each(|pulling| pulling.copier = Copier::Engine);
        let leaves = std::mem::replace(&mut self.leaves_copies_of, usize::MAX);
        self.go_on_pulling(peers);
        self.leaves_copies_of = leaves;
    }
}
