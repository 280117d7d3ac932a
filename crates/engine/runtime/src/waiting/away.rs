//! The work that threads of this process do without the lock.

use crate::waiting::waiters::{Word, own_word};
use parvum_engine::RequestId;
use std::sync::Arc;

/// From this number of bytes on, releasing and retaking the lock pays off: the copy takes about 25 us.
pub(crate) const LONG: usize = 256 << 10;

/// The work that threads do without the lock.
#[derive(Default)]
pub(crate) struct Away {
    /// How many threads do some: the runtime stays until all of them are back.
    pub(crate) threads: usize,
    /// The copies among it.
    pub(crate) copies: Vec<Copying>,
}

/// A copy that a thread makes.
pub(crate) struct Copying {
    pub(crate) receive: RequestId,
    /// By which its thread is known, and where its stack was.
    pub(crate) word: Arc<Word>,
    pub(crate) frame: usize,
}

impl Away {
    pub(crate) fn is_nobody(&self) -> bool {
        self.threads == 0
    }

    /// Drops copies of this thread that never come back: a signal handler has jumped out of them. Their place on the
    /// stack is free again, because `here` is above it.
    pub(crate) fn take_abandoned(&mut self, here: usize) -> Vec<RequestId> {
        if self.copies.is_empty() {
            return Vec::new();
        }
        let own = own_word();
        let is_dead = |copy: &mut Copying| Arc::ptr_eq(&copy.word, &own) && copy.frame < here;
        let dead: Vec<_> = self.copies.extract_if(.., is_dead).map(|copy| copy.receive).collect();
        self.threads -= dead.len();
        dead
    }
}
