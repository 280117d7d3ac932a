//! What a program is told about a message.

use crate::objects::numbers::{ANY_SOURCE, ANY_TAG, PROC_NULL};

/// `MPI_Status`: 20 bytes, as MPICH lays them out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Status {
    pub(crate) count_low: u32,
    /// Bit 0: cancelled; the other 31 are bits 32 to 62 of the count.
    pub(crate) count_high: u32,
    /// The sender's rank.
    pub source: i32,
    /// The message's tag.
    pub tag: i32,
    /// An error code; only calls that complete several requests set it.
    pub error: i32,
}

impl Status {
    /// Of nothing: what waiting for no request gives.
    pub const EMPTY: Status =
        Status { count_low: 0, count_high: 0, source: ANY_SOURCE, tag: ANY_TAG, error: 0 };
    /// Of a message from nobody.
    pub const FROM_NOBODY: Status = Status { source: PROC_NULL, ..Status::EMPTY };

    /// Of a message of so many bytes.
    #[inline]
    pub fn of(source: i32, tag: i32, bytes: u64) -> Status {
        let mut status = Status { source, tag, ..Status::EMPTY };
        status.set_bytes(bytes);
        status
    }

    /// The words that are the library's own.
    pub fn words(&self) -> [u32; 2] {
        [self.count_low, self.count_high]
    }

    /// The same status with such words.
    pub fn with_words(self, [count_low, count_high]: [u32; 2]) -> Status {
        Status { count_low, count_high, ..self }
    }

    /// How many bytes have come.
    pub fn bytes(&self) -> u64 {
        u64::from(self.count_low) | u64::from(self.count_high >> 1) << 32
    }

    /// Says how many bytes have come.
    #[inline]
    pub fn set_bytes(&mut self, bytes: u64) {
        self.count_low = bytes as u32;
        self.count_high = ((bytes >> 32) as u32) << 1 | self.count_high & 1;
    }

    /// Whether the operation was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.count_high & 1 != 0
    }

    /// Says whether the operation was cancelled.
    pub fn set_cancelled(&mut self, cancelled: bool) {
        self.count_high = self.count_high & !1 | u32::from(cancelled);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_has_size_that_compiled_programs_expect() {
        assert_eq!(size_of::<Status>(), 20);
        let mut status = Status::of(3, 7, 5 << 32 | 9);
        status.set_cancelled(true);
        assert_eq!((status.bytes(), status.is_cancelled()), (5 << 32 | 9, true));
        assert_eq!((status.count_low, status.count_high), (9, 5 << 1 | 1));
    }
}
