//! How much of a block is filled: the one word that sender and receiver of a long message share.

use crate::sync::{AtomicU64, Ordering};

/// A separate cache line before the data of the block.
#[repr(C, align(64))]
pub(crate) struct Fill(AtomicU64);

impl Fill {
    /// Nothing is filled. Before the peer hears of the block.
    pub(crate) fn begin(&self) {
        // Relaxed: the peer hears of the block through the ring, which orders this before.
        self.0.store(0, Ordering::Relaxed);
    }

    /// Marks this number of bytes as filled: the peer may read them.
    pub(crate) fn advance(&self, to: usize) {
        // Release: partner of the acquire in `filled`: what is counted can be read.
        self.0.store(to as u64, Ordering::Release);
    }

    /// How many bytes are filled.
    #[inline]
    pub(crate) fn filled(&self) -> usize {
        // Acquire: partner of the release in `advance`.
        self.0.load(Ordering::Acquire) as usize
    }
}

#[cfg(all(test, loom))]
mod model {
    use super::*;
    use crate::sync::UnsafeCell;
    use loom::sync::Arc;

    #[test]
    fn fill_makes_data_visible_to_reader() {
        loom::model(|| {
            let shared = Arc::new((Fill(AtomicU64::new(0)), [UnsafeCell::new(0u8), UnsafeCell::new(0u8)]));
            let sender = loom::thread::spawn({
                let shared = shared.clone();
                move || {
                    for (at, cell) in shared.1.iter().enumerate() {
                        // SAFETY: written once, before it is counted.
                        cell.with_mut(|byte| unsafe { *byte = 7 });
                        shared.0.advance(at + 1);
                    }
                }
            });
            for cell in &shared.1[..shared.0.filled()] {
                // SAFETY: counted, so it is not written any more.
                assert_eq!(cell.with(|byte| unsafe { *byte }), 7);
            }
            sender.join().expect("no panic");
        });
    }
}
