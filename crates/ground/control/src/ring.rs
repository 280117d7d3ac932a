//! The ring of a recording: its owner writes one record after the other and never waits, a reader copies what is there
//! at any time.
//!
//! The reader learns from the count of records, read before and after, which of those that it copied were being written
//! anew meanwhile:
//!
//! ```text
//! writer of record n                reader of record i
//!   fence                             written -> w
//!   the words, in place n mod size    the words, from place i mod size
//!   written = n + 1                   fence
//!                                     written -> w', and i counts if i + size > w'
//! ```
//!
//! Who has read a word of record n sees at least n in `written` afterwards, and so drops the record that lay there
//! before. Checked under loom.

#[cfg(loom)]
use loom::sync::atomic::{AtomicU64, Ordering, fence};
#[cfg(not(loom))]
use std::sync::atomic::{AtomicU64, Ordering, fence};

/// The words of one record.
pub type RecordCells = [AtomicU64; 4];
/// Bytes in one.
pub const RECORD_BYTES: usize = 32;

/// So many records ahead memory is made ready to be written.
#[cfg(not(loom))]
const AHEAD: u64 = 8;

/// A ring of records, seen by its writer or by a reader.
#[derive(Clone, Copy)]
pub struct Ring<'a> {
    pub(crate) written: &'a AtomicU64,
    /// As many as a power of two.
    pub(crate) places: &'a [RecordCells],
}

impl Ring<'_> {
    /// Writes one record over the oldest. For one writer at a time.
    #[inline]
    pub fn put(&self, words: [u64; 4]) {
        // Relaxed: nobody else writes it.
        let number = self.written.load(Ordering::Relaxed);
        // Partner: the fence in `read`.
        fence(Ordering::Release);
        let place = &self.places[number as usize & (self.places.len() - 1)];
        for (cell, word) in place.iter().zip(words) {
            cell.store(word, Ordering::Relaxed);
        }
        // Release: partner of the acquire in `read`, which then finds the words.
        self.written.store(number + 1, Ordering::Release);
        // What the task writes next, a message for a peer perhaps, becomes visible after the next records only: their memory
        // must be at hand by then.
        #[cfg(not(loom))]
        parvum_sync::fetch_for_writing(&self.places[(number + AHEAD) as usize & (self.places.len() - 1)]);
    }

    /// How many records were ever written.
    pub fn written(&self) -> u64 {
        self.written.load(Ordering::Acquire)
    }

    /// Copies at most `most` records from number `from` on, or from the oldest that is still there. Gives the number
    /// of the first one as well; without any, that of the next to be written.
    pub fn read(&self, from: u64, most: usize) -> (u64, Vec<[u64; 4]>) {
        let size = self.places.len() as u64;
        // Acquire: partner of the release in `put`.
        let written = self.written.load(Ordering::Acquire);
        let first = from.clamp(written.saturating_sub(size), written);
        let last = written.min(first.saturating_add(most as u64));
        let copy = |number: u64| {
            let place = &self.places[number as usize & (self.places.len() - 1)];
            place.each_ref().map(|cell| cell.load(Ordering::Relaxed))
        };
        let mut records: Vec<_> = (first..last).map(copy).collect();
        // Partner: the fence in `put`.
        fence(Ordering::Acquire);
        let now = self.written.load(Ordering::Relaxed);
        // The place after the last one may be half written.
        let whole = now.saturating_add(1).saturating_sub(size).clamp(first, last);
        records.drain(..(whole - first) as usize);
        (whole, records)
    }
}

#[cfg(test)]
pub(crate) mod memory {
    use super::*;

    /// Memory for a ring.
    pub struct Memory {
        written: AtomicU64,
        places: Vec<RecordCells>,
    }

    impl Memory {
        pub fn new(size: usize) -> Memory {
            let cells = || [0; 4].map(AtomicU64::new);
            Memory { written: AtomicU64::new(0), places: std::iter::repeat_with(cells).take(size).collect() }
        }

        pub fn ring(&self) -> Ring<'_> {
            Ring { written: &self.written, places: &self.places }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::memory::Memory;

    #[test]
    fn full_ring_keeps_newest_and_counts_all() {
        let memory = Memory::new(8);
        let ring = memory.ring();
        assert_eq!(ring.read(0, 100), (0, Vec::new()));
        (0..5).for_each(|n| ring.put([n; 4]));
        assert_eq!(ring.read(0, 100), (0, (0..5).map(|n| [n; 4]).collect()));
        assert_eq!(ring.read(3, 1), (3, vec![[3; 4]]));
        (5..21).for_each(|n| ring.put([n; 4]));
        assert_eq!(ring.written(), 21);
        // The oldest place is the next to be written: it does not count.
        assert_eq!(ring.read(0, 100), (14, (14..21).map(|n| [n; 4]).collect()));
        assert_eq!(ring.read(19, 100), (19, vec![[19; 4], [20; 4]]));
        assert_eq!(ring.read(21, 100), (21, Vec::new()));
    }

    #[test]
    fn ring_reader_never_sees_half_a_record() {
        const COUNT: u64 = 300_000;
        let memory = Memory::new(16);
        let word = |n: u64| [n, n ^ 0xffff, n << 7, !n];
        let mut seen = 0;
        std::thread::scope(|scope| {
            scope.spawn(|| (0..COUNT).for_each(|n| memory.ring().put(word(n))));
            let mut next = 0;
            while next < COUNT {
                let (first, records) = memory.ring().read(next, 5);
                assert!(first >= next);
                for (number, record) in (first..).zip(&records) {
                    assert_eq!(*record, word(number));
                }
                seen += records.len();
                next = first + records.len() as u64;
            }
        });
        assert!(seen >= 15, "the last ones at least are whole: {seen}");
    }
}

#[cfg(all(test, loom))]
mod model {
    use super::memory::Memory;
    use loom::sync::Arc;
    use loom::thread;

    #[test]
    fn ring_reader_skips_record_being_written() {
        loom::model(|| {
            let memory = Arc::new(Memory::new(2));
            memory.ring().put([1; 4]);
            let writer = memory.clone();
            let thread = thread::spawn(move || {
                writer.ring().put([2; 4]);
                writer.ring().put([3; 4]);
            });
            let (first, records) = memory.ring().read(0, 9);
            for (number, record) in (first..).zip(records) {
                assert_eq!(record, [number + 1; 4]);
            }
            thread.join().expect("the writer");
            assert_eq!(memory.ring().read(0, 9), (2, vec![[3; 4]]));
        });
    }
}
