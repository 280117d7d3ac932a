//! The tasks of one run as numbered nodes, and what all of them do together.
//!
//! NX, CMMD and their kin number the processes of a program from 0 and have operations in which all take part: barriers,
//! broadcasts, reductions, scans. This crate has them once, over the waist: [`Partition`] knows who is who, and the
//! operations ([`together`](Together)) are made of ordinary messages in a context of their own, so that they never meet
//! the program's.
//!
//! All nodes must call the same operations in the same order, as those systems ask. Messages of one pair keep their order,
//! so an operation needs no number to tell it from the one before.

#![forbid(unsafe_code)]

mod members;
mod together;

pub use members::Partition;
pub use together::{Exchange, Together};
