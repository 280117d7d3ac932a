//! The control block: one page of memory that a task shares with its daemon, its
//! peers and outside readers.
//!
//! The daemon makes the control block (a sealed memfd) and hands it to the task; it
//! hands it to every peer that connects as well. Through it
//! - a peer or the daemon wakes the task ([`ControlBlock::ring`]),
//! - the daemon says that a control message waits ([`ControlBlock::announce_control`]),
//! - peers say which of very many has brought something ([`ControlBlock::announce`]),
//! - the task tells whoever looks what it is and what it waits for.
//!
//! Behind the control block lie the ledgers of the task's pairs ([`CounterBook`]): peer and route by peer and route, what was sent,
//! received, copied and kept. A [`Recording`] is a file of its own: what the task did, for `parvum trace`.
//!
//! Everything in the control block is an atomic, written by plain stores: a reader never
//! blocks the task, and a task that died half way leaves nothing locked. All
//! `unsafe` of the crate is in `map`, in `ticks`, which reads the processor's counter, and in `fences`, which asks the kernel for some.

#![deny(unsafe_code)]

#[cfg(not(loom))]
mod bell;
#[cfg(not(loom))]
mod block;
#[cfg(not(loom))]
mod book;
mod door;
mod inbox;
#[cfg(not(loom))]
mod layout;
#[cfg(not(loom))]
#[allow(unsafe_code)]
mod map;
#[cfg(not(loom))]
mod recording;
mod ring;
#[cfg(not(loom))]
mod routes;
#[cfg(not(loom))]
mod text;
#[cfg(not(loom))]
#[allow(unsafe_code)]
mod ticks;
#[cfg(not(loom))]
mod times;
#[cfg(not(loom))]
mod words;

#[cfg(not(loom))]
pub use bell::Bell;
#[cfg(not(loom))]
pub use block::{ControlBlock, ControlError, Operation, WaitingFor, check_seals, monotonic_ns};
#[cfg(not(loom))]
pub use book::{CounterBook, PairCounters, Taken, Unmatched, totals};
pub use door::Door;
pub use inbox::{Marks, PLACES};
#[cfg(not(loom))]
pub use layout::{
    A_GROUP, COUNTER_NAMES, COUNTERS, FILE_BYTES, GROUP_BYTES, HELD, HELD_LOCKS, Identity, Layout, MAGIC,
    MEMORY, MEMORY_COUNTS, MEMORY_WAY, NAME_BYTES, PAGE_BYTES, PAIR_PEER, PAIRS, PROGRAM_BYTES, PairCells,
    SENT_OVER, UNMATCHED, UnmatchedCells, VERSION, Waiting,
};
#[cfg(not(loom))]
pub use recording::{Happening, RECORDING_BYTES, Recording};
pub use ring::{RECORD_BYTES, Ring};
#[cfg(not(loom))]
pub use routes::{ROUTE_NAME_BYTES, ROUTES};
#[cfg(not(loom))]
pub use ticks::{Clock, Moment};
#[cfg(not(loom))]
pub use times::Times;
#[cfg(not(loom))]
pub use words::WORDS_BYTES;
