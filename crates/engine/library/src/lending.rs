//! What the interfaces hold of the engine's memory: blocks that were lent, and data that is still with its sender, by name.

use crate::runtime::Runtime;
use parvum_engine::{Block, PullRefused, Remote};
use parvum_waist::REMOTE;

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

    /// Reads data that was left where it lies.
    pub(crate) fn read_remote(&mut self, handle: u64, from: u64, out: &mut [u8]) -> Result<(), PullRefused> {
        let remote = self.services.remotes.get(handle & !REMOTE).ok_or(PullRefused::NotPermitted)?;
        self.engine.read_remote(remote, from, out)
    }

    /// The lent block of that name.
    pub(crate) fn lent(&self, handle: u64) -> Option<&Block> {
        self.services.lent.get(handle)
    }

    /// Takes a block back.
    pub(crate) fn give_back(&mut self, handle: u64) {
        if let Some(remote) = self.take_remote(handle) {
            return self.engine.release_remote(remote);
        }
        if let Some(block) = self.services.lent.take(handle) {
            self.engine.recycle(block);
        }
    }
}

/// Things by name: that of a place, counted from 1. A place that is free is used again, the last one first.
pub(crate) struct Kept<T> {
    places: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Kept<T> {
    pub(crate) const fn new() -> Kept<T> {
        Kept { places: Vec::new(), free: Vec::new() }
    }

    fn keep(&mut self, thing: T) -> u64 {
        let at = self.free.pop().unwrap_or_else(|| {
            self.places.push(None);
            self.places.len() as u32 - 1
        });
        self.places[at as usize] = Some(thing);
        u64::from(at) + 1
    }

    fn get(&self, name: u64) -> Option<&T> {
        self.places.get((name as usize).wrapping_sub(1))?.as_ref()
    }

    fn take(&mut self, name: u64) -> Option<T> {
        let at = (name as usize).wrapping_sub(1);
        let thing = self.places.get_mut(at)?.take();
        if thing.is_some() {
            self.free.push(at as u32);
        }
        thing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_used_again_when_its_thing_was_taken_and_not_before() {
        let mut kept = Kept::new();
        let names = ["a", "b", "c"].map(|thing| kept.keep(thing));
        assert_eq!(names, [1, 2, 3], "0 names nothing");
        assert_eq!(kept.get(2), Some(&"b"));
        assert_eq!([kept.take(2), kept.take(2), kept.take(0), kept.take(9)], [Some("b"), None, None, None]);
        assert_eq!(kept.get(2), None);
        assert_eq!([kept.keep("d"), kept.keep("e")], [2, 4]);
        assert_eq!(
            [1, 2, 3, 4].map(|name| kept.get(name).copied()),
            [Some("a"), Some("d"), Some("c"), Some("e")]
        );
    }
}
