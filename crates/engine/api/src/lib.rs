//! Parvum's side for interfaces: the core API between many interfaces and one engine.
//!
//! A process has one engine, however many interface libraries it loads. The engine is in `libparvum.so.0`. An interface
//! library contains no engine: it opens `libparvum.so.0` and calls the engine through a [`Table`] of C functions.
//! [`CoreApi`] is the table with Rust's types. The loader keeps one copy of a library per process, so two interfaces
//! get the same table, the same endpoint, the same identity.
//!
//! The table is an ABI: fields are only ever added at its end, and `version`
//! changes when the meaning of one does.

#![deny(unsafe_code)]

#[allow(unsafe_code)]
mod api;
#[allow(unsafe_code)]
pub mod ledger;
#[allow(unsafe_code)]
mod open;
#[allow(unsafe_code)]
pub mod pointers;
#[allow(unsafe_code)]
mod scattered;
#[allow(unsafe_code)]
mod segments;
mod table;
mod words;

pub use api::{CoreApi, Data, Receiving, Request, SendTo};
pub use open::OpenError;
pub use parvum_wire::{Buffering, Completion, Counter};
pub use segments::{SegmentPart, SegmentRound};
pub use table::{
    ANY_CONTEXT, ANY_TASK, Came, Enrolled, Message, MpiCall, Notes, Outgoing, Pattern, Piece, Progress,
    REMOTE, Reading, Room, RoomKind, Scattered, Space, Status, TABLE_VERSION, Table, TagKind, Wanted, call,
    segment,
};
pub use words::Words;
