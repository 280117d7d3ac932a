//! Copies of data that could not leave at once, in memory that later copies reuse. Memory of the system would come page
//! by page, and go back after each burst.

use crate::memory::Keep;
use crate::receiving::message::Pool;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, PoisonError};

/// Shorter copies the allocator keeps by itself.
const SHORTEST: usize = 4 << 10;

/// The pool for the memory of copies.
#[derive(Clone, Default)]
pub(crate) struct KeptMemory(Arc<Mutex<Pool>>);

impl KeptMemory {
    /// Memory for a copy of this length, with arbitrary contents.
    pub(crate) fn take(&self, length: usize) -> Kept {
        let pooled = if length >= SHORTEST { self.pool().take(length) } else { None };
        let memory = pooled.unwrap_or_else(|| vec![0; length]);
        Kept { memory, length, home: self.clone() }
    }

    fn pool(&self) -> impl DerefMut<Target = Pool> {
        // A panic there leaves memory that is in the pool or is not.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A copy. Its memory goes back when it is dropped.
pub struct Kept {
    memory: Vec<u8>,
    length: usize,
    home: KeptMemory,
}

impl Deref for Kept {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.memory[..self.length]
    }
}

impl DerefMut for Kept {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.memory[..self.length]
    }
}

impl Keep for Kept {}

impl Drop for Kept {
    fn drop(&mut self) {
        if self.length >= SHORTEST {
            let rest = self.home.pool().give(std::mem::take(&mut self.memory));
            drop(rest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn freed_memory_is_reused() {
        let memory = KeptMemory::default();
        let mut one = memory.take(SHORTEST);
        one[0] = 7;
        let place = one.as_ptr();
        drop(one);
        let again = memory.take(SHORTEST);
        assert_eq!((again.as_ptr(), again.len()), (place, SHORTEST));
        assert_ne!(memory.take(SHORTEST).as_ptr(), place, "it is in use");
        assert_eq!(memory.take(5).len(), 5);
        drop(again);
        assert_eq!(memory.take(SHORTEST - 1000).len(), SHORTEST - 1000, "short ones are none of the pool's");
        assert_eq!(memory.take(SHORTEST).as_ptr(), place);
    }
}
