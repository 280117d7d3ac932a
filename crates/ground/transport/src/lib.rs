//! The contract between the engine and whatever carries its frames.
//!
//! A [`Link`] joins two tasks over one route. The engine drives it: it hands
//! frames over, asks for arrived ones, and never blocks inside. What a
//! transport can do it says once, in [`Limits`]; the engine chooses a protocol
//! from that at set-up and not for every message.
//!
//! A transport says who it is in one constant, its [`Transport`]: number, name, limits and needs. Whoever builds it in lists
//! that constant (`crates/engine/runtime/src/connecting/transports.rs`); everybody else knows routes by number and asks for their names.
//!
//! [`conformance`] is the contract as a test suite. Every transport runs it;
//! see [`own`] for the shortest complete transport.

#![forbid(unsafe_code)]

pub mod conformance;
mod gather;
mod link;
pub mod own;
mod route;

pub use gather::Gather;
pub use link::{
    Alike, Inbox, Kept, Limits, Link, Loan, PullRefused, Puller, Refused, RemoteMemory, Sink,
    show_by_portions, show_pulled,
};
pub use route::{Needs, Route, Transport};
