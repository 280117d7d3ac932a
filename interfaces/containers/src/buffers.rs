//! The pool of network buffers: fixed at the start, and growing in service if it may.

/// A buffer in use: its holder has it alone until the pool gets it back.
#[derive(Debug)]
pub struct NetworkBuffer {
    bytes: Box<[u8]>,
    /// Which one it is.
    number: usize,
    /// The number of used bytes.
    pub length: usize,
}

impl NetworkBuffer {
    /// Which one of its pool it is.
    pub fn number(&self) -> usize {
        self.number
    }

    /// All of its memory.
    pub fn memory(&mut self) -> &mut [u8] {
        &mut self.bytes
    }

    /// The used bytes.
    pub fn used(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

/// The pool.
#[derive(Debug)]
pub struct NetworkBufferFreeList {
    free: Vec<NetworkBuffer>,
    size: usize,
    made: usize,
    may_grow: bool,
    grown: usize,
    refused: u64,
}

impl NetworkBufferFreeList {
    /// A pool with this number of buffers of this size. `may_grow`: whether `get` may ever make more.
    pub fn new(size: usize, count: usize, may_grow: bool) -> NetworkBufferFreeList {
        let mut list =
            NetworkBufferFreeList { free: Vec::new(), size, made: 0, may_grow, grown: 0, refused: 0 };
        for _ in 0..count {
            let buffer = list.make();
            list.free.push(buffer);
        }
        list
    }

    fn make(&mut self) -> NetworkBuffer {
        self.made += 1;
        NetworkBuffer { bytes: vec![0; self.size].into(), number: self.made - 1, length: 0 }
    }

    /// Returns a free buffer. If all buffers are in use, the pool grows, if it may and the caller wants this. Otherwise
    /// the call returns none.
    pub fn get(&mut self, may_grow: bool) -> Option<NetworkBuffer> {
        if let Some(buffer) = self.free.pop() {
            return Some(buffer);
        }
        if self.may_grow && may_grow {
            self.grown += 1;
            return Some(self.make());
        }
        self.refused += 1;
        None
    }

    /// Gives a buffer back. One of another pool is thrown away.
    pub fn put(&mut self, mut buffer: NetworkBuffer) {
        if buffer.bytes.len() == self.size && buffer.number < self.made {
            buffer.length = 0;
            self.free.push(buffer);
        }
    }

    /// Whether this number of buffers is free now.
    pub fn has(&self, count: usize) -> bool {
        self.may_grow || count <= self.free.len()
    }

    /// How many are free.
    pub fn free(&self) -> usize {
        self.free.len()
    }

    /// How many are in use.
    pub fn in_use(&self) -> usize {
        self.made - self.free.len()
    }

    /// The number of buffers that were made in service.
    pub fn grown(&self) -> usize {
        self.grown
    }

    /// How often there was none.
    pub fn refused(&self) -> u64 {
        self.refused
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffer_pool_returns_free_buffers_and_may_grow() {
        let mut fixed = NetworkBufferFreeList::new(100, 2, false);
        let (one, two) = (fixed.get(true).expect("free"), fixed.get(true).expect("free"));
        assert_ne!(one.number(), two.number());
        assert!(fixed.get(true).is_none());
        fixed.put(one);
        assert_eq!((fixed.free(), fixed.in_use(), fixed.grown(), fixed.refused()), (1, 1, 0, 1));
        let mut growing = NetworkBufferFreeList::new(100, 1, true);
        let first = growing.get(false).expect("free");
        assert!(growing.get(false).is_none(), "this caller does not want it");
        let second = growing.get(true).expect("made");
        assert_eq!((second.number(), growing.grown()), (1, 1));
        growing.put(first);
        growing.put(second);
        assert_eq!((growing.free(), growing.in_use()), (2, 0));
        fixed.put(two);
        growing.put(NetworkBufferFreeList::new(7, 1, false).get(false).expect("free"));
        assert_eq!(growing.free(), 2, "another pool's");
    }

    #[test]
    fn buffer_is_never_lost_or_handed_out_twice() {
        let mut pool = NetworkBufferFreeList::new(16, 8, true);
        let (mut held, mut random) = (Vec::new(), 7u64);
        for _ in 0..100_000 {
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            if (random >> 33).is_multiple_of(2) && held.len() < 20 {
                let buffer = pool.get(true).expect("it may grow");
                assert!(held.iter().all(|other: &NetworkBuffer| other.number() != buffer.number()));
                held.push(buffer);
            } else if !held.is_empty() {
                pool.put(held.swap_remove((random >> 40) as usize % held.len()));
            }
            assert_eq!(pool.in_use(), held.len());
        }
        held.into_iter().for_each(|buffer| pool.put(buffer));
        assert_eq!((pool.in_use(), pool.free()), (0, 8 + pool.grown()));
    }
}
