//! Who has which part of the heap. Process 0 keeps the list; the memory itself is not looked at.

use std::collections::{BTreeMap, HashMap};

/// Small blocks lie at multiples of this, larger ones at pages of their own.
const GRAIN: u64 = 16;

/// The parts of a heap, by their places in it.
pub(crate) struct Allocator {
    page: u64,
    /// Free parts: where they begin, and how long they are.
    free: BTreeMap<u64, u64>,
    used: HashMap<u64, u64>,
    /// The last quarter grows from its start ([`Allocator::grow`]).
    end: u64,
    limit: u64,
}

impl Allocator {
    pub(crate) fn new(heap: u64, page: u64) -> Allocator {
        let blocks = (heap / 4 * 3).next_multiple_of(page).min(heap);
        let free = BTreeMap::from([(0, blocks)]);
        Allocator { page, free, used: HashMap::new(), end: blocks, limit: heap }
    }

    /// A block; `None` when there is no room. Blocks of a page or more share no page with others.
    pub(crate) fn take(&mut self, size: u64) -> Option<u64> {
        let grain = if size >= self.page { self.page } else { GRAIN };
        let size = size.max(1).checked_next_multiple_of(grain)?;
        let fits = |(&start, &length): (&u64, &u64)| {
            let at = start.next_multiple_of(grain);
            (at + size <= start + length).then_some((start, length, at))
        };
        let (start, length, at) = self.free.iter().find_map(fits)?;
        self.free.remove(&start);
        if at > start {
            self.free.insert(start, at - start);
        }
        if at + size < start + length {
            self.free.insert(at + size, start + length - at - size);
        }
        self.used.insert(at, size);
        Some(at)
    }

    /// Gives a block back; `false`: there is none that begins there.
    pub(crate) fn give_back(&mut self, at: u64) -> bool {
        let Some(mut size) = self.used.remove(&at) else { return false };
        let mut start = at;
        if let Some(behind) = self.free.remove(&(at + size)) {
            size += behind;
        }
        if let Some((&before, &length)) = self.free.range(..at).next_back()
            && before + length == at
        {
            start = before;
            size += length;
        }
        self.free.insert(start, size);
        true
    }

    /// Pages that are never given back, and so have been used for nothing else; `None` when there is no room.
    pub(crate) fn take_for_good(&mut self, size: u64) -> Option<u64> {
        let size = size.max(1).checked_next_multiple_of(self.page)?;
        self.limit = self.limit.checked_sub(size).filter(|&limit| limit >= self.end)?;
        Some(self.limit)
    }

    /// What lies behind the end of the growing part, which is so much longer from then on; `None` when there is no room.
    pub(crate) fn grow(&mut self, more: u64) -> Option<u64> {
        let old = self.end;
        let end = old.checked_add(more).filter(|&end| end <= self.limit)?;
        self.end = end;
        Some(old)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_apart_and_come_back() {
        let mut heap = Allocator::new(1 << 20, 4096);
        let small: Vec<u64> = (0..10).map(|size| heap.take(size).expect("room")).collect();
        assert!(small.windows(2).all(|pair| pair[0] + 16 <= pair[1]));
        let large = heap.take(5000).expect("room");
        let other = heap.take(3).expect("room");
        assert!(large.is_multiple_of(4096) && !(large..large + 8192).contains(&other));
        assert!(!heap.give_back(large + 16) && heap.give_back(large) && !heap.give_back(large));
        small.into_iter().chain([other]).for_each(|at| assert!(heap.give_back(at)));
        // All of it is one piece again.
        assert_eq!((heap.free.len(), heap.take(3 << 18)), (1, Some(0)));
    }

    #[test]
    fn a_heap_that_is_used_up_gives_nothing() {
        let mut heap = Allocator::new(1 << 20, 4096);
        assert_eq!((heap.take(1 << 20), heap.take(u64::MAX)), (None, None));
        let mut count = 0;
        while heap.take(4096).is_some() {
            count += 1;
        }
        assert_eq!((count, heap.take(1)), (192, None));
        assert_eq!(heap.grow(1 << 18), Some(3 << 18));
        assert_eq!((heap.grow(1), heap.grow(0)), (None, Some(1 << 20)));
    }

    #[test]
    fn what_is_taken_for_good_lies_at_the_end() {
        let mut heap = Allocator::new(1 << 20, 4096);
        assert_eq!(heap.take_for_good(5000), Some((1 << 20) - 8192));
        assert_eq!(heap.take_for_good(1), Some((1 << 20) - 12288));
        assert_eq!((heap.take_for_good(1 << 18), heap.grow(1 << 18)), (None, None));
        assert_eq!(heap.grow((1 << 18) - 12288), Some(3 << 18));
        assert_eq!((heap.take_for_good(1), heap.take_for_good(u64::MAX)), (None, None));
    }
}
