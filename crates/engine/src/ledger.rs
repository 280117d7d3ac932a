//! The ledger: what happened to the messages, counted where it happens.
//!
//! The cells are written by one thread with plain stores and may lie in a page
//! that other processes read while the program runs or hangs.

use std::sync::atomic::{AtomicU64, Ordering};

/// What is counted. The numbers are the cells' places in a task's page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Counter {
    /// Messages sent.
    Sent = 0,
    /// Bytes in them.
    SentBytes = 1,
    /// Messages received.
    Received = 2,
    /// Bytes in them.
    ReceivedBytes = 3,
    /// Bytes this task copied into a transport's memory or socket.
    CopiedIn = 4,
    /// Bytes this task copied out of a transport's memory or socket.
    CopiedOut = 5,
    /// Messages fetched straight from the sender's memory.
    Pulled = 6,
    /// Bytes in them.
    PulledBytes = 7,
    /// Messages that found a receive posted.
    Expected = 8,
    /// Messages that found none.
    Unexpected = 9,
    /// Bytes of unexpected messages buffered here, at the receiver.
    BufferedHere = 10,
    /// Bytes copied to be kept at the sender until they could leave.
    BufferedAtSender = 11,
    /// Sends that waited for credit.
    CreditStalls = 12,
    /// Messages discarded because no receive was posted, as their sender asked.
    Discarded = 13,
    /// Messages whose sender died before the data could be had.
    Lost = 14,
    /// Single copies that the system refused: the data was streamed instead.
    Refused = 15,
    /// Messages sent over each route (`Route as usize` is added).
    SentOver = 16,
    /// Unexpected messages waiting now.
    WaitingMessages = 20,
    /// Bytes of data of messages waiting now that lie in this task's memory.
    WaitingBytes = 21,
    /// Sends not yet complete now.
    WaitingSends = 22,
}

/// A task's counters.
#[derive(Clone, Copy)]
pub struct Ledger {
    cells: &'static [AtomicU64; Ledger::CELLS],
}

impl Ledger {
    /// How many cells there are, named or not.
    pub const CELLS: usize = 32;

    /// A ledger in memory that somebody else may read.
    pub fn new(cells: &'static [AtomicU64; Ledger::CELLS]) -> Ledger {
        Ledger { cells }
    }

    /// A ledger that only this process reads. The memory is never given back.
    pub fn private() -> Ledger {
        Ledger { cells: Box::leak(Box::new([const { AtomicU64::new(0) }; Ledger::CELLS])) }
    }

    /// Adds to a counter.
    #[inline]
    pub fn add(&self, counter: Counter, amount: u64) {
        self.add_at(counter as usize, amount);
    }

    /// Adds to the cell at `place`.
    #[inline]
    pub(crate) fn add_at(&self, place: usize, amount: u64) {
        // Relaxed, and no read-modify-write: one writer; readers want a recent value and no order.
        let cell = &self.cells[place];
        cell.store(cell.load(Ordering::Relaxed).wrapping_add(amount), Ordering::Relaxed);
    }

    /// Sets a counter that goes up and down.
    #[inline]
    pub(crate) fn set(&self, counter: Counter, value: u64) {
        // Relaxed: as in `add_at`.
        self.cells[counter as usize].store(value, Ordering::Relaxed);
    }

    /// A counter's present value.
    pub fn read(&self, counter: Counter) -> u64 {
        // Relaxed: as in `add_at`.
        self.cells[counter as usize].load(Ordering::Relaxed)
    }
}
