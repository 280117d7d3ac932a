//! The places of the bytes of received messages before the program had them, and the calls that copied them.

use crate::task::Task;
use parvum_api::Counter;
use std::sync::atomic::{AtomicU64, Ordering};

/// The calls for which copies are counted; the numbers are the same as in `nx.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(crate) enum Call {
    Crecv = 0,
    Irecv = 1,
    Msgwait = 2,
    Msgdone = 3,
    Global = 4,
    Other = 5,
}

const CALLS: usize = 6;

/// Copied in each call.
static COPIED: [AtomicU64; CALLS] = [const { AtomicU64::new(0) }; CALLS];
/// The engine's count when it was last looked at.
static SEEN: AtomicU64 = AtomicU64::new(0);
/// Bytes received, as far as there was room for them.
static RECEIVED: AtomicU64 = AtomicU64::new(0);

/// Like `struct nx_buffering` of `nx.h`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Buffering {
    received: i64,
    direct: i64,
    buffered: i64,
    kept_by_sender: i64,
    dropped: i64,
    copied: [i64; CALLS],
}

/// Counts a message that the program has now.
#[inline]
pub(crate) fn received(bytes: u64) {
    // Relaxed, and no read-modify-write: as the engine counts. Threads of a program that receive at the same time may
    // lose each other's.
    RECEIVED.store(RECEIVED.load(Ordering::Relaxed).wrapping_add(bytes), Ordering::Relaxed);
}

/// Writes what was copied since the last look to the account of a call.
#[inline]
pub(crate) fn copied_in(task: &Task, call: Call) {
    // Relaxed, here and below: counters, for people.
    let now = task.cells[Counter::CopiedFromHere as usize].load(Ordering::Relaxed);
    let before = SEEN.load(Ordering::Relaxed);
    if now != before {
        SEEN.store(now, Ordering::Relaxed);
        COPIED[call as usize].fetch_add(now.wrapping_sub(before), Ordering::Relaxed);
    }
}

/// The account so far.
pub(crate) fn buffering(task: &Task) -> Buffering {
    copied_in(task, Call::Other);
    let counters = task.api.counters();
    let copied = std::array::from_fn(|call| COPIED[call].load(Ordering::Relaxed) as i64);
    let received = RECEIVED.load(Ordering::Relaxed) as i64;
    Buffering {
        received,
        direct: received - copied.iter().sum::<i64>(),
        buffered: counters[Counter::BufferedHere as usize] as i64,
        kept_by_sender: counters[Counter::BufferedAtSender as usize] as i64,
        dropped: counters[Counter::Discarded as usize] as i64,
        copied,
    }
}
