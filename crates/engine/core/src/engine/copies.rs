//! Copies that threads make while other threads use the engine. See `rendezvous/copies.rs`.

use super::Engine;
use crate::KeptBytes;
use crate::core::{Copier, Pulling};
use crate::ids::RequestId;
use crate::ledger::Counter;
use crate::peers::Peer;
use crate::rendezvous::{Copy, ReadBy, RemoteReader};
use crate::requests::Remote;
use parvum_transport::Loan;
use parvum_wire::Tid;
use std::sync::Arc;

/// Fewer bytes that a sender keeps are copied under the lock: to copy them takes as long as a wake-up.
const LONG_TO_KEEP: usize = 1 << 20;

/// The bytes that are copied at a time for a message that another thread may soon wait for.
const PORTION: usize = 1 << 20;

impl Engine {
    /// Leaves copies of this number of bytes or more to threads from now on. A waiting thread takes them with
    /// [`Engine::take_copy`].
    pub fn leave_copies_of(&mut self, bytes: usize) {
        self.core.leaves_copies_of = bytes;
    }

    /// Times long messages by this clock from now on, to learn which protocol is faster for them. A tick may be of any length.
    pub fn learn_by(&mut self, clock: fn() -> u64) {
        self.core.clock = Some(clock);
    }

    /// Whether there is a copy that no thread has taken.
    #[inline]
    pub fn has_copies(&self) -> bool {
        !self.core.pulling.is_empty()
            && self.core.pulling.iter().any(|pulling| pulling.copier == Copier::AnyThread)
    }

    /// Whether no thread has taken the copy that this receive waits for.
    pub fn has_copy_for(&self, receive: RequestId) -> bool {
        let is_it = |pulling: &Pulling| pulling.copier == Copier::AnyThread && pulling.fetch.into == receive;
        self.core.pulling.iter().any(is_it)
    }

    /// The number of ended operations and of copies left to threads so far. While this number stays the same, waiting
    /// threads have no more work.
    #[inline]
    pub fn changes(&self) -> u64 {
        self.core.requests.finished + self.core.copies_left
    }

    /// Takes the copy of a receive that is wanted: all of the data that is there. To be run without the lock, and given back.
    pub fn take_copy(&mut self, is_wanted: impl Fn(RequestId) -> bool) -> Option<Copy> {
        self.core.take_copy(&mut self.peers, is_wanted, usize::MAX)
    }

    /// Takes the oldest copy: a portion of the data. To be run without the lock, and given back.
    pub fn take_any_copy(&mut self) -> Option<Copy> {
        let portion = PORTION.min(self.core.leaves_copies_of);
        self.core.take_copy(&mut self.peers, |_| true, portion)
    }

    /// Memory that the link has lent to the last message, and that the engine has not filled. The caller fills it with
    /// the message's data, without the lock, before the program may reuse the memory of the data. The receiver reads
    /// behind it.
    #[inline]
    pub fn take_unfilled(&mut self) -> Option<Arc<dyn Loan>> {
        self.core.unfilled.take()
    }

    /// Memory for a copy of a message of this length to `to`, which its sender should keep, if the link has no memory
    /// for it and the message is not short. The caller copies the data there without the lock, and sends the copy as
    /// data that is kept anyway. Without that [`Engine::send`] would copy under the lock.
    pub fn memory_to_keep(&mut self, to: Tid, length: usize) -> Option<KeptBytes> {
        if length < self.core.leaves_copies_of.max(LONG_TO_KEEP) || to == self.me() {
            return None;
        }
        let index = self.peers.index_of(to)?;
        let is_lent = self.peers[index].lend(length).is_some();
        (!is_lent).then(|| self.core.kept.take(length))
    }

    /// An object that reads the data of a message that stays in place, without the lock. `None`: only the engine can.
    pub fn reader_of(&mut self, remote: &Remote) -> Option<RemoteReader> {
        let Peer { links, state } = &mut self.peers[remote.peer as usize];
        let length = remote.envelope.length as usize;
        let of = match &remote.kept {
            Some(kept) => ReadBy::Kept(kept.clone()),
            None if state.tid != remote.envelope.from => return None,
            None => ReadBy::Puller(links[remote.route.place()].as_mut()?.puller()?, remote.offer),
        };
        Some(RemoteReader { of, length })
    }

    /// The thread that took this copy will never give it back: a signal handler has jumped out of it. The receive is
    /// cancelled, and other receives may get its message. Data that had gone to memory of the program's own is the
    /// program's.
    pub fn abandon_copy(&mut self, receive: RequestId) {
        self.core.abandon_copy(&mut self.peers, receive);
        self.wind_up();
    }

    /// Counts data that a [`RemoteReader`] has read.
    pub fn count_read(&mut self, remote: &Remote, bytes: u64) {
        let state = &self.peers[remote.peer as usize].state;
        state.ledger(remote.route).add(Counter::PulledBytes, bytes);
    }

    /// Gives a copy back. Whether bytes were copied, or the copy was the last of its message.
    pub fn end_copy(&mut self, copy: Copy) -> bool {
        let moved = self.core.end_copy(&mut self.peers, copy);
        self.wind_up();
        moved
    }
}
