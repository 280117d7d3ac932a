//! The allocated parts of the heap. Process 0 keeps the list; the memory itself is not looked at.

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
    /// Whether it has changed since it was last written down.
    changed: bool,
}

impl Allocator {
    pub(crate) fn new(heap: u64, page: u64) -> Allocator {
        let blocks = (heap / 4 * 3).next_multiple_of(page).min(heap);
        let free = BTreeMap::from([(0, blocks)]);
        Allocator { page, free, used: HashMap::new(), end: blocks, limit: heap, changed: false }
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
        self.changed = true;
        Some(at)
    }

    /// Gives a block back; `false`: there is none that begins there.
    pub(crate) fn give_back(&mut self, at: u64) -> bool {
        let Some(mut size) = self.used.remove(&at) else { return false };
        self.changed = true;
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

    /// Pages that are never freed, and so were never used before; `None` when there is no room.
    pub(crate) fn take_for_good(&mut self, size: u64) -> Option<u64> {
        let size = size.max(1).checked_next_multiple_of(self.page)?;
        self.limit = self.limit.checked_sub(size).filter(|&limit| limit >= self.end)?;
        self.changed = true;
        Some(self.limit)
    }

    /// The memory after the end of the growing part, which becomes longer by this size; `None` when there is no room.
    pub(crate) fn grow(&mut self, more: u64) -> Option<u64> {
        let old = self.end;
        let end = old.checked_add(more).filter(|&end| end <= self.limit)?;
        self.end = end;
        self.changed = true;
        Some(old)
    }

    /// All of it, when it has changed since this was last asked.
    pub(crate) fn written(&mut self) -> Option<Vec<u8>> {
        if !std::mem::take(&mut self.changed) {
            return None;
        }
        let heads = [self.end, self.limit, self.free.len() as u64];
        let blocks = self.free.iter().chain(&self.used).flat_map(|(&at, &size)| [at, size]);
        Some(heads.into_iter().chain(blocks).flat_map(u64::to_le_bytes).collect())
    }

    /// Becomes what was written; without that, what it was in the beginning.
    pub(crate) fn read(&mut self, heap: u64, written: Option<&[u8]>) {
        *self = Allocator::new(heap, self.page);
        let words = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("eight"));
        let words: Vec<u64> = written.unwrap_or_default().chunks_exact(8).map(words).collect();
        if let [end, limit, free, blocks @ ..] = &words[..] {
            let pairs: Vec<(u64, u64)> = blocks.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
            let (free, used) = pairs.split_at((*free as usize).min(pairs.len()));
            (self.end, self.limit) = (*end, *limit);
            self.free = free.iter().copied().collect();
            self.used = used.iter().copied().collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heap_blocks_are_disjoint_and_reusable() {
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
    fn full_heap_returns_none() {
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
    fn allocator_reads_back_as_written() {
        let heap = 1 << 20;
        let mut one = Allocator::new(heap, 4096);
        assert_eq!(one.written(), None);
        let kept = [one.take(100), one.take(9000), one.take(5)];
        assert!(one.give_back(kept[1].expect("room")) && one.grow(4096).is_some());
        let written = one.written().expect("it has changed");
        assert_eq!(one.written(), None);
        let mut other = Allocator::new(heap, 4096);
        other.read(heap, Some(&written));
        // A freed address is not a block, and an allocated address is.
        assert!(!other.give_back(kept[1].expect("room")));
        assert!(one.give_back(kept[0].expect("room")) && other.give_back(kept[0].expect("room")));
        for size in [8192, 1, 100_000, 1 << 19] {
            assert_eq!(one.take(size), other.take(size));
        }
        assert_eq!(one.grow(1), other.grow(1));
        other.read(heap, None);
        assert_eq!(other.take(16), Some(0));
    }

    #[test]
    fn permanent_allocation_lies_at_heap_end() {
        let mut heap = Allocator::new(1 << 20, 4096);
        assert_eq!(heap.take_for_good(5000), Some((1 << 20) - 8192));
        assert_eq!(heap.take_for_good(1), Some((1 << 20) - 12288));
        assert_eq!((heap.take_for_good(1 << 18), heap.grow(1 << 18)), (None, None));
        assert_eq!(heap.grow((1 << 18) - 12288), Some(3 << 18));
        assert_eq!((heap.take_for_good(1), heap.take_for_good(u64::MAX)), (None, None));
    }
}
