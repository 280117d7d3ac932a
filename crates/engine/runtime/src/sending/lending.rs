//! The engine's memory that interfaces hold, by name: lent blocks, and data that is still at its sender.

use crate::runtime::Runtime;
use parvum_api::REMOTE;
use parvum_engine::{Block, Remote};

impl Runtime {
    /// Keeps a block that an interface has, and names it.
    pub(crate) fn lend(&mut self, block: Block) -> u64 {
        self.services.lent.keep(block)
    }

    /// Keeps what an interface knows of data that is with its sender, and names it.
    pub(crate) fn lend_remote(&mut self, remote: Remote) -> u64 {
        self.services.remotes.keep(remote) | REMOTE
    }

    /// Takes the data of that name out of the list.
    pub(crate) fn take_remote(&mut self, handle: u64) -> Option<Remote> {
        if handle & REMOTE == 0 { None } else { self.services.remotes.take(handle & !REMOTE) }
    }

    /// The lent block of that name.
    pub(crate) fn lent(&self, handle: u64) -> Option<&Block> {
        self.services.lent.get(handle)
    }

    /// Takes a block back. Its memory, if the engine does not keep that: for the caller to free when it has given the lock back.
    pub(crate) fn give_back(&mut self, handle: u64) -> Option<Vec<u8>> {
        if let Some(remote) = self.take_remote(handle) {
            self.engine.release_remote(remote);
            return None;
        }
        self.services.lent.take(handle).and_then(|block| self.engine.recycle(block))
    }
}
