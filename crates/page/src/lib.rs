//! The task page: one page of memory that a task shares with its daemon, its
//! peers and outside readers.
//!
//! The daemon makes the page (a sealed memfd) and hands it to the task; it
//! hands it to every peer that connects as well. Through it
//! - a peer or the daemon wakes the task ([`TaskPage::ring`]),
//! - the daemon says that a control message waits ([`TaskPage::announce_control`]),
//! - the task tells whoever looks what it is and what it waits for.
//!
//! A page of another kind is a [`MeetingPage`]: the barrier of a group.
//!
//! Everything in the page is an atomic, written by plain stores: a reader never
//! blocks the task, and a task that died half way leaves nothing locked. All
//! `unsafe` of the crate is in `map`.

#![deny(unsafe_code)]

mod door;
#[cfg(not(loom))]
mod layout;
#[cfg(not(loom))]
#[allow(unsafe_code)]
mod map;
mod meeting;
#[cfg(not(loom))]
mod meeting_page;
#[cfg(not(loom))]
mod page;

pub use door::Door;
#[cfg(not(loom))]
pub use layout::{
    CALLS, COUNTER_NAMES, COUNTERS, Identity, Layout, MAGIC, NAME_BYTES, PAGE_BYTES, PROGRAM_BYTES, VERSION,
    Waiting,
};
pub use meeting::{Arrival, LARGEST_MEETING, Meeting, Outcome};
#[cfg(not(loom))]
pub use meeting_page::MeetingPage;
#[cfg(not(loom))]
pub use page::{Awake, PageError, TaskPage, WaitingFor, monotonic_ns};
