//! What the interfaces hold of the engine's memory: blocks that were lent, and data that is still with its sender, by name.

use crate::runtime::Runtime;
use parvum_engine::{Block, PullRefused, Remote};
use parvum_waist::REMOTE;

impl Runtime {
    /// Keeps a block that an interface has, and names it.
    pub(crate) fn lend(&mut self, block: Block) -> u64 {
        keep(&mut self.lent, block)
    }

    /// Keeps what an interface knows of data that is with its sender, and names it.
    pub(crate) fn lend_remote(&mut self, remote: Remote) -> u64 {
        keep(&mut self.remotes, remote) | REMOTE
    }

    /// Takes the data of that name out of the list.
    pub(crate) fn take_remote(&mut self, handle: u64) -> Option<Remote> {
        let at = ((handle & !REMOTE) as usize).checked_sub(1)?;
        if handle & REMOTE == 0 { None } else { self.remotes.get_mut(at)?.take() }
    }

    /// Reads data that was left where it lies.
    pub(crate) fn read_remote(&mut self, handle: u64, from: u64, out: &mut [u8]) -> Result<(), PullRefused> {
        let at = ((handle & !REMOTE) as usize).wrapping_sub(1);
        let remote = self.remotes.get(at).and_then(Option::as_ref).ok_or(PullRefused::NotPermitted)?;
        self.engine.read_remote(remote, from, out)
    }

    /// The lent block of that name.
    pub(crate) fn lent(&self, handle: u64) -> Option<&Block> {
        self.lent.get((handle as usize).checked_sub(1)?)?.as_ref()
    }

    /// Takes a block back.
    pub(crate) fn give_back(&mut self, handle: u64) {
        if let Some(remote) = self.take_remote(handle) {
            return self.engine.release_remote(remote);
        }
        let at = (handle as usize).wrapping_sub(1);
        if let Some(block) = self.lent.get_mut(at).and_then(Option::take) {
            self.engine.recycle(block);
        }
    }
}

/// Puts a thing into the first free place; names it by that place, counted from 1.
fn keep<T>(list: &mut Vec<Option<T>>, thing: T) -> u64 {
    let free = list.iter().position(Option::is_none);
    let at = free.unwrap_or_else(|| {
        list.push(None);
        list.len() - 1
    });
    list[at] = Some(thing);
    at as u64 + 1
}
